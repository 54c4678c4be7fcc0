"""A server on loopback that does of S3 what keeping files needs, for tests: it holds objects in memory.

It compares the checksums that come with uploads, wants every request signed with its key, and fails as it is told to.
Signatures themselves are not computed again: that is the library's.
"""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar, Final
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

ACCESS_KEY: Final = "AKIDTESTS"
"""The key that it knows."""

_PAGE: Final = 3  # objects that a list shows at once: the next page is to be asked for
_PATIENCE: Final = 5.0  # seconds until its threads are waited for no longer


class S3Server:
    """Serves one bucket on a free port between `start` and `stop`. `objects` maps keys to bytes and times."""

    def __init__(self, bucket: str = "files") -> None:
        self.bucket = bucket
        self.objects: dict[str, tuple[bytes, datetime]] = {}
        self.parts: dict[str, dict[int, bytes]] = {}
        self.requests: list[str] = []
        self.failing: int = 0
        """With what status requests are refused; 0: none is."""
        self.lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("_Bound", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        """Its endpoint."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def start(self) -> S3Server:
        """Begin to answer."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop answering."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(_PATIENCE)


class _Handler(BaseHTTPRequestHandler):
    owner: ClassVar[S3Server]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        key, query = self._asked()
        if key is None:
            return
        if "list-type" in query:
            self._list(query)
        elif key not in self.owner.objects:
            self._fail(404, "NoSuchKey")
        else:
            data, at = self.owner.objects[key]
            self._send(200, data, {"last-modified": _http(at), "etag": _etag(data)})

    def do_HEAD(self) -> None:
        key, _ = self._asked()
        if key is None:
            return
        if key not in self.owner.objects:
            self._send(404, b"")
            return
        data, at = self.owner.objects[key]
        headers = {"content-length": str(len(data)), "last-modified": _http(at), "etag": _etag(data)}
        self._send(200, b"", headers)

    def do_PUT(self) -> None:
        data = self._body()
        key, query = self._asked()
        if key is None or not self._is_whole(data):
            return
        if "uploadId" in query:
            with self.owner.lock:
                self.owner.parts[query["uploadId"]][int(query["partNumber"])] = data
        else:
            self._store(key, data)
        self._send(200, b"", {"etag": _etag(data)})

    def do_POST(self) -> None:
        data = self._body()
        key, query = self._asked()
        if key is None:
            return
        if "delete" in query:
            keys = [each.text or "" for each in ET.fromstring(data).iter() if each.tag.endswith("Key")]  # noqa: S314 - a test's own
            for each in keys:
                self.owner.objects.pop(each, None)
            told = "".join(f"<Deleted><Key>{escape(each)}</Key></Deleted>" for each in keys)
            self._send_xml(f"<DeleteResult>{told}</DeleteResult>")
        elif "uploads" in query:
            upload = f"upload-{time.monotonic_ns()}"
            self.owner.parts[upload] = {}
            told = f"<Bucket>{self.owner.bucket}</Bucket><Key>{escape(key)}</Key><UploadId>{upload}</UploadId>"
            self._send_xml(f"<InitiateMultipartUploadResult>{told}</InitiateMultipartUploadResult>")
        else:
            parts = self.owner.parts.pop(query["uploadId"])
            whole = b"".join(parts[number] for number in sorted(parts))
            self._store(key, whole)
            told = f"<Key>{escape(key)}</Key><ETag>{_etag(whole)}</ETag>"
            self._send_xml(f"<CompleteMultipartUploadResult>{told}</CompleteMultipartUploadResult>")

    def do_DELETE(self) -> None:
        key, query = self._asked()
        if key is None:
            return
        if "uploadId" in query:
            self.owner.parts.pop(query["uploadId"], None)
        else:
            self.owner.objects.pop(key, None)
        self._send(204, b"")

    def _asked(self) -> tuple[str | None, dict[str, str]]:
        """Return the key and the query of a request that may be answered."""
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        self.owner.requests.append(f"{self.command} {parts.path}")
        bucket, _, key = unquote(parts.path).lstrip("/").partition("/")
        signed = f"Credential={ACCESS_KEY}/" in self.headers.get("authorization", "")
        if self.owner.failing:
            self._fail(self.owner.failing, "InternalError")
        elif not signed:
            self._fail(403, "AccessDenied")
        elif bucket != self.owner.bucket:
            self._fail(404, "NoSuchBucket")
        else:
            return key, query
        return None, query

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("content-length", 0)))

    def _is_whole(self, data: bytes) -> bool:
        told = self.headers.get("x-amz-checksum-sha256")
        if told is not None and told == base64.b64encode(hashlib.sha256(data).digest()).decode():
            return True
        self._fail(400, "BadDigest")
        return False

    def _store(self, key: str, data: bytes) -> None:
        with self.owner.lock:
            self.owner.objects[key] = (data, datetime.now(UTC))

    def _list(self, query: Mapping[str, str]) -> None:
        prefix, after = query.get("prefix", ""), query.get("continuation-token", "")
        with self.owner.lock:
            found = sorted(key for key in self.owner.objects if key.startswith(prefix) and key > after)
            shown = [
                f"<Contents><Key>{escape(key)}</Key><LastModified>{at.strftime('%Y-%m-%dT%H:%M:%S.000Z')}</LastModified>"
                f"<ETag>{_etag(data)}</ETag><Size>{len(data)}</Size></Contents>"
                for key in found[:_PAGE]
                for data, at in [self.owner.objects[key]]
            ]
        more = len(found) > _PAGE
        then = f"<NextContinuationToken>{escape(found[_PAGE - 1])}</NextContinuationToken>" if more else ""
        told = f"<IsTruncated>{'true' if more else 'false'}</IsTruncated>{then}{''.join(shown)}"
        self._send_xml(f"<ListBucketResult><Prefix>{escape(prefix)}</Prefix>{told}</ListBucketResult>")

    def _send_xml(self, body: str) -> None:
        self._send(200, f'<?xml version="1.0" encoding="UTF-8"?>{body}'.encode(), {"content-type": "application/xml"})

    def _fail(self, status: int, code: str) -> None:
        body = f"<Error><Code>{code}</Code><Message>as the test wants it</Message></Error>".encode()
        self._send(status, b"" if self.command == "HEAD" else body)

    def _send(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"content-length": str(len(body)), **(headers or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its base's name for it
        """Say nothing: a test's output is its own."""


def _etag(data: bytes) -> str:
    return f'"{hashlib.sha256(data).hexdigest()[:32]}"'


def _http(at: datetime) -> str:
    return at.strftime("%a, %d %b %Y %H:%M:%S GMT")
