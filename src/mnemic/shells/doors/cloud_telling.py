"""How MemOS cloud answers: `{code, message, data}`, code 0 for success, and families of codes for errors.

400xx parameters, 401xx the key, 403xx what it may and its quota, 404xx what is not there, 50xxx the service, 501xx
knowledge bases and tasks. The HTTP status says the same, as clients look at nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.responses import Response

from mnemic.errors import InputError, MnemicError, TooLargeError
from mnemic.shells.doors.asking import Json
from mnemic.wire.problems import plain_error

CODES: Final[Mapping[int, int]] = {
    401: 40100,
    403: 40300,
    404: 40400,
    409: 40900,
    412: 41200,
    413: 41300,
    429: 42900,
    502: 50200,
    503: 50300,
    504: 50400,
}
BAD_INPUT: Final = 40000
TOO_LARGE: Final[Mapping[str, int]] = {"files": 50103, "file": 50104, "form": 50105}
"""The codes of what is too large of files, by what it is too large for (`per` of the error)."""

NO_TASK: Final = 50131
CODE: Final = "memos_code"
"""The field of an error that says its code here, where it is not that of its status."""

_INPUT: Final = 400  # clients here know no 422


def answered(data: Any, message: str = "ok") -> Json:
    """Return a call's reply."""
    return Json({"code": 0, "message": message, "data": data})


def tell(error: MnemicError, status: int, request_id: str) -> Response:
    """Tell an error: the HTTP status, a code of the family, and what a program needs in `error`."""
    shown = _INPUT if status == 422 else status
    code = BAD_INPUT if shown == _INPUT else CODES.get(shown, 50000 if shown >= 500 else BAD_INPUT)
    told = plain_error(error)
    own = told.pop(CODE, None)
    if isinstance(error, TooLargeError):
        own = TOO_LARGE.get(str(error.fields.get("per")), own)
    body = {"code": own or code, "message": str(error), "data": None, "error": told, "request_id": request_id}
    if isinstance(error, InputError):
        body["field"] = error.field
    return Json(body, shown)
