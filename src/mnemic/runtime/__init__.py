"""The engine room: the worker that runs jobs."""
