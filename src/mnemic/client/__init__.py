"""Clients of a server: the verbs of `mnemic.Memory` over HTTP, with its values and its errors."""

from mnemic.client.async_client import AsyncClient
from mnemic.client.async_line import AsyncStream
from mnemic.client.client import Client
from mnemic.client.line import Stream

__all__ = ["AsyncClient", "AsyncStream", "Client", "Stream"]
