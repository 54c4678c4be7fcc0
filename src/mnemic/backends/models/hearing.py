"""A model that writes down what is said, at any server with OpenAI's `/audio/transcriptions` route.

It decides what of an answer is believed: segments with their times where the server gives them, else the text alone.
Silence is no fault; an answer without text is. Passing faults are tried again, a bounded number of times.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic import tracing
from mnemic.backends.models.http_json import HIDDEN, HINTS, asked_wait, is_passing
from mnemic.backends.models.line import Place
from mnemic.errors import LanguageError
from mnemic.model.seen import Utterance
from mnemic.text import clean

if TYPE_CHECKING:
    import httpx2

_OWN: Final = "https://api.openai.com/v1"
_FIRST_WAIT: Final = 0.5  # seconds before the second try, doubled with each
_LONGEST_WAIT: Final = 30.0
_SHOWN: Final = 300  # characters of what a server said in an error
_SUFFIXES: Final[Mapping[str, str]] = {
    "audio/mpeg": "mp3", "audio/mp3": "mp3", "audio/wav": "wav", "audio/x-wav": "wav", "audio/mp4": "m4a",
    "audio/ogg": "ogg", "audio/flac": "flac", "audio/webm": "webm", "audio/aac": "aac", "audio/amr": "amr",
}  # fmt: skip


class ServedHearing:
    """`Hearing` over HTTP. Threads may share it; connections are opened at first use and kept until `close`."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        model: str,
        *,
        timeout: float,
        tries: int,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._place = Place(base_url, api_key, model, timeout, tries, "hear")
        self.name = model
        self._sleep = sleep
        self._client: httpx2.Client | None = None

    def hear(self, sound: Path, media: str) -> Sequence[Utterance]:
        """Return what is said, in order. Raises `LanguageError`."""
        for attempt in range(1, self._place.tries + 1):
            try:
                return self._utterances(self._asked(sound, media))
            except LanguageError as error:
                if not error.fields.get("passing") or attempt == self._place.tries:
                    raise
                asked = error.fields.get("retry_after")
                wait = float(asked) if isinstance(asked, int | float) else _FIRST_WAIT * 2.0 ** (attempt - 1)
                if wait > _LONGEST_WAIT:
                    raise
                self._sleep(wait)
        raise self._fault("is given no tries: set llm_tries to 1 or more", passing=False)  # pragma: no cover

    def close(self) -> None:
        """End the connections; a later call opens them again."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _asked(self, sound: Path, media: str) -> Any:
        import httpx2  # noqa: PLC0415 - imported at the first request

        place = self._place
        headers = {"accept": "application/json", **tracing.headers()}
        if place.api_key:
            headers["authorization"] = f"Bearer {place.api_key}"
        form = {"model": place.model, "response_format": "verbose_json", "timestamp_granularities[]": "segment"}
        name = f"sound.{_SUFFIXES.get(media, 'wav')}"  # servers go by the suffix
        url = f"{(place.base_url or _OWN).rstrip('/')}/audio/transcriptions"
        try:
            with sound.open("rb") as opened:
                files = {"file": (name, opened, media or "application/octet-stream")}
                response = self._open().post(url, data=form, files=files, headers=headers)
        except httpx2.TimeoutException as error:
            raise self._fault(f"did not answer within {place.timeout:g} s", passing=True) from error
        except httpx2.TransportError as error:
            told = f"could not be reached: {type(error).__name__}; check that the server runs and hear_base_url"
            raise self._fault(told, passing=True) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise self._fault(f"cannot be asked: {type(error).__name__}", passing=False) from error
        return self._read(response)

    def _read(self, response: httpx2.Response) -> Any:
        if response.status_code != 200:
            passing = is_passing(response.status_code)
            said = self._without_key(" ".join(response.text.split()))[:_SHOWN]
            hint = HINTS.get(response.status_code, "try again later" if passing else "check hear_base_url")
            raise self._fault(
                f"answered with status {response.status_code}: {said}; {hint}", passing=passing,
                status=response.status_code, wait=asked_wait(response.headers, time.time()),
            )  # fmt: skip
        try:
            return response.json()
        except ValueError as error:
            raise self._fault("answered with something that is not JSON; check hear_base_url", passing=True) from error

    def _open(self) -> httpx2.Client:
        from mnemic.backends.models.bounded_http import bounded_client  # noqa: PLC0415 - imported at the first request

        if self._client is None:
            self._client = bounded_client(self._place.timeout)
        return self._client

    def _utterances(self, body: Any) -> list[Utterance]:
        if not isinstance(body, Mapping) or not isinstance(body.get("text"), str):
            raise self._fault("answered with something that is no transcript", passing=True)
        segments = body.get("segments")
        found = (
            [_utterance(each) for each in segments if isinstance(each, Mapping)] if isinstance(segments, list) else []
        )
        told = [each for each in found if each.text]
        if told:
            return sorted(told, key=lambda each: each.start)
        text = clean(body["text"]).strip()
        return [Utterance(0.0, _seconds(body.get("duration")), text)] if text else []

    def _without_key(self, text: str) -> str:
        return text.replace(self._place.api_key, HIDDEN) if self._place.api_key else text

    def _fault(
        self, what: str, *, passing: bool, status: int | None = None, wait: float | None = None
    ) -> LanguageError:
        where = f" at {self._place.shown}" if self._place.base_url else ""
        told = self._without_key(f"{self._place.model}{where} {what}")
        return LanguageError(told, passing=passing, retry_after=wait, status=status, model=self._place.model)


def _utterance(segment: Mapping[str, Any]) -> Utterance:
    text = clean(str(segment.get("text") or "")).strip()
    speaker = segment.get("speaker")
    start = _seconds(segment.get("start"))
    return Utterance(start, max(start, _seconds(segment.get("end"))), text, str(speaker) if speaker else "")


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return 0.0
    return max(float(value), 0.0)
