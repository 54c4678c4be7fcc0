"""Fetching addresses over HTTP, so that what people name can reach the public internet and nothing else."""
