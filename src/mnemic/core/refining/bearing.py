"""Whether the words of a quote bear a statement out: about whom they are, and whether they say that it is so at all.

What is only asked, wished, supposed or denied is not said, and what somebody says of themselves is not about another.
The words that tell this are known for some languages; what is said in others is believed by its quote alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Final

from mnemic.model.message import StoredMessage
from mnemic.text import STOP_WORDS, fold, likely, sentence_spans, stem, words

_FIRST: Final = {
    "en": "i im ive id ill me my mine myself we our ours us",
    "de": "ich mich mir mein meine meinen meinem meiner wir uns unser unsere",
    "nl": "ik mij mijn wij ons onze",
    "sv": "jag mig min mina mitt vi oss",
    "da": "jeg mig min mine mit vi os vores",
    "fr": "je jai jetais mon ma mes moi nous notre nos",
    "es": "yo mi mis me nosotros",
    "pt": "eu meu minha meus minhas",
    "it": "io mio mia miei mie noi",
}
_SECOND: Final = {
    "en": "you your yours youre youve youd youll yourself",
    "de": "du dich dir dein deine deinen deinem deiner ihr euch euer sie ihnen",
    "nl": "je jij jou jouw jullie u uw",
    "sv": "du dig din dina ditt ni er",
    "da": "du dig din dine dit jer jeres",
    "fr": "tu te toi ton ta tes vous votre vos",
    "es": "tu te ti tus usted ustedes vosotros",
    "pt": "voce tu te teu tua seu sua",
    "it": "tu ti tuo tua lei voi",
}
_FIRST_SIGNS: Final = "我咱私僕俺"
_SECOND_SIGNS: Final = "你您君"
_THIRD: Final = frozenset("he she they her hers his him their them hes shes theyre hed shed it its who whose".split())

_NOT: Final = frozenset(
    """not never dont doesnt didnt cant cannot isnt wasnt arent werent wont havent hasnt hadnt couldnt wouldnt aint
    neither nor""".split()
)
_NO_DENIAL: Final = frozenset("wait help only just forget mind".split())
"""What follows a "can't" or "don't" that denies nothing."""

_DENIES: Final = _NOT | frozenset(
    """no longer stopped quit gave given without former formerly used avoids dislikes hates refuses ended cancelled
    canceled lost instead unable gone neither nobody nothing sold left""".split()
)
_WAS: Final = frozenset("was were had".split())
_SUPPOSES: Final = re.compile(r"\b(?:if|unless|wish(?:es|ed)?|imagine|suppose|as though)\b[^,;:]*\Z", re.IGNORECASE)
_WISHES: Final = re.compile(
    r"\b(?:i'd|i would|wish i|i might|i may|i could|maybe i|maybe i'll|perhaps i|i want(?: to)?|i wanted(?: to)?"
    r"|i'm thinking of|i'm considering)\s(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_UNREAL: Final = frozenset(
    "would wish wishes want wants wanted hope hopes might may could should consider considers thinks if".split()
)
_NEAR: Final = 3  # words between a denial and what it denies
_ASKED: Final = ("?", "\uff1f", "\u061f")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a message at `start:end`."""

    message: StoredMessage
    start: int
    end: int

    @property
    def words(self) -> str:
        """The words themselves."""
        return self.message.text[self.start : self.end]

    @property
    def sentence(self) -> str:
        """The sentences that the words stand in."""
        text = self.message.text
        over = [(start, end) for start, end in sentence_spans(text) if start < self.end and self.start < end]
        return text[over[0][0] : over[-1][1]] if over else text

    @property
    def led(self) -> str:
        """What stands before the words in their sentence, with them."""
        text = self.message.text
        starts = [start for start, end in sentence_spans(text) if start <= self.start < end]
        return text[starts[0] if starts else 0 : self.end]


def about_another(subject: str, quotes: Sequence[Quote], speakers: Collection[str]) -> bool:
    """Tell whether all the quotes are about somebody else than the subject: whoever says them, as a rule.

    `speakers` are folded.
    """
    speaks = fold(subject) in speakers
    return all((_not_of_a_speaker if speaks else _not_of_a_third)(subject, quote) for quote in quotes)


def _not_of_a_speaker(subject: str, quote: Quote) -> bool:
    sentence = quote.sentence
    if (
        fold(quote.message.speaker) == fold(subject)
        or _names(sentence, subject)
        or _has(sentence, _SECOND, _SECOND_SIGNS)
    ):
        return False
    return is_english(quote.message.text) or _has(sentence, _FIRST, _FIRST_SIGNS)


def _not_of_a_third(subject: str, quote: Quote) -> bool:
    said = quote.words
    if _names(said, subject) or not is_english(quote.message.text):
        return False
    spoken = set(words(said))
    return bool(spoken & set(_FIRST["en"].split())) and not spoken & _THIRD


def only_asked(subject: str, quotes: Sequence[Quote]) -> bool:
    """Tell whether all the quotes stand in questions that say nothing of the subject."""
    return all(_is_asked(subject, quote) for quote in quotes)


def _is_asked(subject: str, quote: Quote) -> bool:
    sentence = quote.sentence.rstrip(" \"'\u201d\u2019)")
    if not sentence.endswith(_ASKED):
        return False
    return fold(quote.message.speaker) != fold(subject) or (
        is_english(quote.message.text) and not _has(sentence, _FIRST, _FIRST_SIGNS)
    )


def denied(value: str, statement: str, quotes: Iterable[Quote], *, was: bool) -> bool:
    """Tell whether a quote in English denies the value, and the statement does not. `was`: it tells of what is over."""
    stated = set(words(statement))
    if stated & _DENIES:
        return False
    over = was or bool(stated & _WAS)
    return any(_denies(words(quote.led), value, over=over) for quote in quotes if is_english(quote.message.text))


def _denies(said: Sequence[str], value: str, *, over: bool) -> bool:
    wanted = {stem(word) for word in words(value) if word not in STOP_WORDS}
    for place, word in enumerate(said):
        after = said[place + 1 : place + 2 + _NEAR]
        denies = word in _NOT or (word == "used" and after[:1] == ["to"] and not over)
        if denies and after and after[0] not in _NO_DENIAL and wanted & {stem(each) for each in after}:
            return True
    return False


def only_supposed(value: str, statement: str, quotes: Iterable[Quote]) -> bool:
    """Tell whether a quote in English only wishes for the value or supposes it, and the statement tells it as so."""
    if not _UNREAL.isdisjoint(words(statement)):
        return False
    return all(_is_supposed(quote, value) for quote in quotes)


def _is_supposed(quote: Quote, value: str) -> bool:
    led = quote.led.replace("\u2019", "'")
    if not is_english(quote.message.text):
        return False
    if _SUPPOSES.search(led[: len(led) - len(quote.words)]):
        return True
    wished = _WISHES.search(led)
    wanted = {stem(word) for word in words(value) if word not in STOP_WORDS}
    return wished is not None and bool(wanted & {stem(each) for each in islice(words(wished["rest"]), 6)})


def is_english(text: str) -> bool:
    """Tell whether a text is surely in English."""
    return likely(set(words(text)), text) == ()


def _names(text: str, subject: str) -> bool:
    return not {word for word in words(subject) if word not in STOP_WORDS}.isdisjoint(words(text))


def _has(text: str, listed: Mapping[str, str], signs: str) -> bool:
    spoken = set(words(text))
    languages = ("en", *(likely(spoken, text) or ()))
    told = " ".join(listed.get(language, "") for language in languages)
    return not spoken.isdisjoint(told.split()) or any(sign in text for sign in signs)
