"""Which part of a spread-out queue a cube belongs to: the same in every process, release and language."""

from __future__ import annotations

from typing import Final

_WORD: Final = (1 << 64) - 1


def shard_of(cube_key: int, shards: int) -> int:
    """Return the shard of a cube, from 0 to `shards` - 1. Raises `ValueError` for less than one shard.

    Keys are given out in order, so they are mixed first, by the finalizer of SplitMix64 (Steele, Lea and Flood, "Fast
    Splittable Pseudorandom Number Generators", OOPSLA 2014): cubes that were made together come to different shards.
    """
    if shards < 1:
        raise ValueError("there is one shard at least")
    mixed = (cube_key + 0x9E3779B97F4A7C15) & _WORD
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _WORD
    return (mixed ^ (mixed >> 31)) % shards
