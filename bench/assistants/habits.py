"""How somebody types, and how an assistant dresses its replies. Holes of a text stay as they are."""

from __future__ import annotations

import random
import re
from typing import Final

HABITS: Final = ("plain", "plain", "lower", "hasty", "chatty")
_HOLE: Final = re.compile(r"(\{[^}]*\})")
_START: Final = re.compile(r"(^|[.!?] )([A-Z])(?=[a-z']|\s)")
_WORD: Final = re.compile(r"[a-z]{5,}")
_SHIFTS: Final = (
    "Different topic.", "Unrelated:", "Okay, something else.", "Before I forget.", "New question.",
    "Oh, one more thing.", "Changing the subject.", "Quick one.", "While I have you.", "Side note.",
)  # fmt: skip
_RETURNS: Final = ("Back to the other thing:", "As I was saying.", "Where were we, ah yes.", "Sorry, back to before.")
_OPENERS: Final = (
    "Sure!", "Of course.", "Happy to help.", "Good question.", "No problem.", "Let me see.", "Certainly.",
)  # fmt: skip
_CLOSERS: Final = (
    "Let me know if you'd like more detail.", "Would you like me to adjust anything?", "Tell me how it goes.",
    "I can go deeper into any of these.", "Does that help?", "If something does not fit, say so and I will change it.",
    "Shall I write that up as a checklist?", "Anything else I can do for you today?",
)  # fmt: skip


def typed(text: str, habit: str, chance: random.Random) -> str:
    """Return what a user of this habit would have typed."""
    parts = _HOLE.split(text)
    if habit == "plain" or "\n" in text:
        return text
    for place in range(0, len(parts), 2):
        if habit == "lower":
            parts[place] = _lowered(parts[place], begins=place == 0)
        elif habit == "hasty":
            parts[place] = _hurried(parts[place], chance)
    joined = "".join(parts)
    return _excited(joined, chance) if habit == "chatty" else joined


def _lowered(text: str, *, begins: bool) -> str:
    low = _START.sub(lambda found: found[1] + found[2].lower() if found[1] or begins else found[0], text)
    return re.sub(r"\bI\b", "i", low)


def _hurried(text: str, chance: random.Random) -> str:
    def slip(found: re.Match[str]) -> str:
        word = found[0]
        if chance.random() > 0.04:
            return word
        place = chance.randrange(1, len(word) - 1)
        swapped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
        return swapped if chance.random() < 0.6 else word[:place] + word[place + 1 :]

    return _WORD.sub(slip, text).replace("'m ", "m ").replace("n't ", "nt ").replace("'s ", "s ")


def _excited(text: str, chance: random.Random) -> str:
    if chance.random() < 0.3:
        text = chance.choice(("Hah, ", "Ooh, ", "Hmm, ", "Ok so, ")) + text
    return text[:-1] + "!!" if text.endswith(".") and chance.random() < 0.3 else text


def shifted(text: str, chance: random.Random, *, back: bool) -> str:
    """Return a user's turn, often with a word that the topic changes or goes back to one before; short ones never."""
    if len(text.split()) < 6 or chance.random() > 0.35:
        return text
    return f"{chance.choice(_RETURNS if back else _SHIFTS)} {text}"


def dressed(text: str, chance: random.Random, *, first: bool) -> str:
    """Return an assistant's reply with the phrases that assistants are fond of; `first` on a topic, it may agree."""
    if len(text.split()) < 12 or text.endswith("?"):
        return text
    if first and chance.random() < 0.3:
        text = f"{chance.choice(_OPENERS)} {text}"
    closes = len(text.split()) >= 25 and chance.random() < 0.3
    return f"{text} {chance.choice(_CLOSERS)}" if closes else text
