"""What it is compared with: a FastAPI route that embeds a text and inserts one row, durably, and nothing else.

python -m bench.serving.plain FOLDER     # prints its address; SIGTERM ends it
"""

from __future__ import annotations

import json
import sqlite3
import sys
import threading
from pathlib import Path
from typing import Annotated

import uvicorn
from fastapi import Body, FastAPI

from bench.floor import open_sqlite
from mnemic import wiring
from mnemic.config import Settings
from mnemic.shells.http.running import address_of, listening


def app_of(folder: Path) -> FastAPI:
    embedder = wiring.build_embedder(Settings())
    path = folder / "plain.db"
    first = open_sqlite(path)
    first.execute("CREATE TABLE memory (key INTEGER PRIMARY KEY, user TEXT, text TEXT, vector BLOB)")
    first.close()
    held = threading.local()
    app = FastAPI()

    def connection() -> sqlite3.Connection:
        if not hasattr(held, "connection"):
            held.connection = open_sqlite(path)
            held.connection.execute("PRAGMA busy_timeout=30000")
        return held.connection  # type: ignore[no-any-return]

    @app.post("/add", status_code=201)
    def add(user: Annotated[str, Body()], text: Annotated[str, Body()]) -> dict[str, int]:
        vector = embedder.embed([text])[0]
        sql = "INSERT INTO memory (user, text, vector) VALUES (?, ?, ?)"
        return {"key": connection().execute(sql, (user, text, vector.tobytes())).lastrowid or 0}

    return app


if __name__ == "__main__":
    listener = listening("127.0.0.1", 0)
    print(json.dumps({"address": address_of(listener)}), flush=True)
    uvicorn.Server(uvicorn.Config(app_of(Path(sys.argv[1])), access_log=False, log_config=None)).run([listener])
