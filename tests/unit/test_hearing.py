"""A model behind `/audio/transcriptions` writes down what is said, with times, or says why it does not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from mnemic.backends.models.hearing import ServedHearing
from mnemic.errors import InputError, LanguageError
from mnemic.model.seen import Utterance
from mnemic.testing.loopback import Answer, Loopback, Request

KEY = "sk-secret-4711"
SEGMENTS = {
    "text": "Hello there. How are you?",
    "duration": 4.5,
    "segments": [
        {"start": 2.5, "end": 4.5, "text": " How are you?", "speaker": "B"},
        {"start": 0, "end": 2.5, "text": " Hello there."},
        {"start": 4.5, "end": 4.6, "text": "  "},
    ],
}


class Remote:
    """Starts servers and models that ask them; nothing is slept, and the waits are on record."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self.waits: list[float] = []
        self.sound = folder / "sound"
        self.sound.write_bytes(b"RIFF\0\0\0\0WAVE\xff")

    def start(self, *answers: Answer, tries: int = 3) -> tuple[ServedHearing, Loopback]:
        left = list(answers)

        def respond(_request: Request) -> Answer:
            return left.pop(0) if len(left) > 1 else left[0]

        server = Loopback(respond)
        server.start()
        self._stack.callback(server.stop)
        url = f"http://127.0.0.1:{server.port}/v1"
        hearing = ServedHearing(url, KEY, "whisper-1", timeout=0.5, tries=tries, sleep=self.waits.append)
        self._stack.callback(hearing.close)
        return hearing, server


@pytest.fixture
def remote(tmp_path: Path) -> Iterator[Remote]:
    with ExitStack() as stack:
        yield Remote(stack, tmp_path)


def test_what_is_said_comes_in_order_with_times_and_speakers(remote: Remote) -> None:
    hearing, server = remote.start(Answer(SEGMENTS))
    assert hearing.hear(remote.sound, "audio/mpeg") == [
        Utterance(0.0, 2.5, "Hello there."), Utterance(2.5, 4.5, "How are you?", "B"),
    ]  # fmt: skip
    (request,) = server.requests
    assert (request.path, request.headers["authorization"]) == ("/v1/audio/transcriptions", f"Bearer {KEY}")
    form = str(request.body["form"])
    for part in ('name="model"\r\n\r\nwhisper-1', "verbose_json", 'filename="sound.mp3"', "RIFF\0\0\0\0WAVE\xff"):
        assert part in form


@pytest.mark.parametrize(
    "body, heard",
    [
        ({"text": "Hello"}, [Utterance(0.0, 0.0, "Hello")]),
        ({"text": " Hello ", "duration": 2, "segments": []}, [Utterance(0.0, 2.0, "Hello")]),
        ({"text": "Hello", "segments": [{"text": "Hello", "start": "x", "end": float("inf")}]},
         [Utterance(0.0, 0.0, "Hello")]),
        ({"text": "", "segments": []}, []),
        ({"text": "a\ud800b"}, [Utterance(0.0, 0.0, "a\ufffdb")]),
    ],
)  # fmt: skip
def test_servers_that_tell_less_are_believed_as_far_as_they_do(remote: Remote, body: Any, heard: Any) -> None:
    hearing, _ = remote.start(Answer(body))
    assert hearing.hear(remote.sound, "audio/wav") == heard


@pytest.mark.parametrize("body", [[], "text", {}, {"text": None}, {"error": "x"}])
def test_what_is_no_transcript_is_none(remote: Remote, body: Any) -> None:
    hearing, _ = remote.start(Answer(body))
    with pytest.raises(LanguageError, match="no transcript") as caught:
        hearing.hear(remote.sound, "audio/wav")
    assert caught.value.fields["passing"]


def test_what_may_pass_is_tried_again_after_the_wait_that_is_asked_for(remote: Remote) -> None:
    busy = Answer({"error": "busy"}, status=429, headers={"retry-after": "3"})
    hearing, server = remote.start(busy, Answer(status=503), Answer(SEGMENTS))
    assert len(hearing.hear(remote.sound, "audio/wav")) == 2
    assert len(server.requests) == 3
    assert remote.waits == [3.0, 1.0]


@pytest.mark.parametrize("status, passing", [(401, False), (404, False), (413, False), (500, True), (429, True)])
def test_a_refusal_tells_what_to_do_and_never_the_key(remote: Remote, status: int, passing: bool) -> None:
    hearing, server = remote.start(Answer({"error": f"your key {KEY} is bad"}, status=status))
    with pytest.raises(LanguageError, match=f"status {status}") as caught:
        hearing.hear(remote.sound, "audio/wav")
    assert caught.value.fields["passing"] is passing
    assert len(server.requests) == (3 if passing else 1)
    assert KEY not in str(caught.value)
    assert KEY not in repr(hearing.__dict__)


def test_a_server_that_says_nothing_is_left(remote: Remote) -> None:
    hearing, _ = remote.start(Answer(stall=True), tries=1)
    with pytest.raises(LanguageError, match=r"within 0\.5 s"):
        hearing.hear(remote.sound, "audio/wav")


def test_a_server_that_is_not_there_is_told(remote: Remote) -> None:
    hearing, server = remote.start(Answer(), tries=1)
    server.stop()
    remote._stack.pop_all().callback(hearing.close)
    with pytest.raises(LanguageError, match=r"could not be reached.*hear_base_url"):
        hearing.hear(remote.sound, "audio/wav")


@pytest.mark.parametrize(
    "url, key, model", [("ftp://x", "", "m"), ("http://x", "schl\u00fcssel", "m"), ("http://x", "", "")]
)
def test_settings_that_cannot_be_right_name_themselves(url: str, key: str, model: str) -> None:
    with pytest.raises(InputError, match=r"^hear_"):
        ServedHearing(url, key, model, timeout=1, tries=1)
