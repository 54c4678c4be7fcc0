"""LoCoMo's shared photos: are they found by what they show? `python -m bench.photos`.

A turn that shares a photo has what somebody looked for to choose it (`query`), which nobody said. That is searched for,
once where the photo's caption came with the turn as a part, and once in the words alone.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from bench.corpus import LOCOMO
from mnemic import Memory

_BATCH: Final = 200
_LOOKED: Final = (1, 5, 10)


@dataclass(frozen=True, slots=True)
class Photo:
    """A photo that was shared: in which turn, what it shows, and what was looked for to choose it."""

    turn: str
    caption: str
    sought: str


def photos_of(sample: Mapping[str, Any]) -> list[Photo]:
    return [
        Photo(str(turn["dia_id"]), str(turn["blip_caption"]), str(turn["query"]))
        for turn in _turns(sample)
        if turn.get("blip_caption") and turn.get("query")
    ]


def _turns(sample: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    for value in sample["conversation"].values():
        if isinstance(value, list):
            yield from value


def messages_of(sample: Mapping[str, Any], *, captions: bool) -> list[dict[str, Any]]:
    """Return the turns as messages, photos as parts with their captions, or left out."""
    found = []
    for turn in _turns(sample):
        parts: list[dict[str, Any]] = [{"type": "text", "text": turn["text"]}] if turn.get("text") else []
        if captions and turn.get("blip_caption"):
            parts.append({"type": "image", "caption": turn["blip_caption"]})
        if parts:
            found.append({"role": "user", "name": turn["speaker"], "content": parts, "id": turn["dia_id"]})
    return found


def found_at(memory: Memory, user: str, photos: Sequence[Photo]) -> list[int]:
    """Return at which place each photo's turn is found, counted from 1; 0 for those that are not among the first."""
    places = []
    for photo in photos:
        hits = memory.search(f"a photo of {photo.sought}", user=user, limit=max(_LOOKED), kinds="message")
        places.append(next((at for at, hit in enumerate(hits, 1) if hit.external_id == photo.turn), 0))
    return places


def measure(samples: Sequence[Mapping[str, Any]], *, captions: bool, **settings: Any) -> list[int]:
    places: list[int] = []
    with TemporaryDirectory() as folder, Memory(folder, settings={"worker": False, **settings}) as memory:
        for number, sample in enumerate(samples):
            said = messages_of(sample, captions=captions)
            for start in range(0, len(said), _BATCH):
                memory.add(said[start : start + _BATCH], user=f"user-{number}")
            places += found_at(memory, f"user-{number}", photos_of(sample))
    return places


def share(places: Sequence[int], most: int) -> float:
    """Return the share of places that are among the first `most`."""
    return sum(1 <= place <= most for place in places) / max(len(places), 1)


def main() -> None:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else LOCOMO
    samples = json.loads(path.read_text("utf-8"))
    print("| turns | photos | in the first 1 | 5 | 10 | seconds |\n| --- | --- | --- | --- | --- | --- |")
    for captions, name in ((True, "with captions"), (False, "words alone")):
        began = time.perf_counter()
        places = measure(samples, captions=captions)
        shares = " | ".join(f"{share(places, most):.0%}" for most in _LOOKED)
        print(f"| {name} | {len(places)} | {shares} | {time.perf_counter() - began:.0f} |", flush=True)


if __name__ == "__main__":
    main()
