"""What a passage is like, read off its surface."""

from __future__ import annotations

import pytest

from mnemic.text import Trait, traits_of


@pytest.mark.parametrize(
    "text, traits",
    [
        ("", Trait(0)),
        ("I like tea.", Trait(0)),
        ("Do you like tea?", Trait.ASKS),
        ("\u4f60\u559c\u6b22\u8336\u5417\uff1f", Trait.ASKS),
        ("I have 3 cats.", Trait.NUMBER),
        ("I have three cats.", Trait.NUMBER),
        ("We met yesterday.", Trait.TIME),
        ("That was in 2021.", Trait.NUMBER | Trait.TIME),
        ("Then, with Bo, we left.", Trait.NAME),
        ("I saw Bo with Fay there.", Trait.NAME | Trait.TWO_NAMES),
        ("I saw Bo with Fay, Max was out.", Trait.NAME | Trait.TWO_NAMES | Trait.THREE_NAMES),
        ("Look!\n[image: a cat]", Trait.PICTURE),
    ],
)
def test_traits_are_read_off_the_surface(text: str, traits: Trait) -> None:
    assert Trait(traits_of(text)) == traits
