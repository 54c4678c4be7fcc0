"""The face for models: the Model Context Protocol, over the standard streams of a process and over HTTP."""
