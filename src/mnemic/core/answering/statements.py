"""Questions about a person's attributes: which value holds, which held before, by memories and by plain statements.

A message that has not been refined yet is read with the same rules that refine it, so that an answer does not depend
on background work. A question that fits no attribute of the tree is not answered here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from mnemic.core.answering.asking import Asked, Wants
from mnemic.core.answering.endings import asks_any, closes, ends, tells_end
from mnemic.core.answering.moments import day
from mnemic.core.answering.roots import roots
from mnemic.core.answering.stated import TAKEN_BACK, Standing, Statement, Topic
from mnemic.core.extraction import extract
from mnemic.core.wording import akin, same_value
from mnemic.model.moment import TimeSpan
from mnemic.model.query import Hit
from mnemic.text import fold, sentence_spans, stem, words

_KIN: Final = (
    "sister brother mother mum mom father dad son daughter niece nephew aunt uncle cousin grandmother grandfather "
    "grandma grandpa wife husband"
)
_ANIMAL: Final = "dog|cat|puppy|kitten|rabbit|parrot|horse|turtle|fish|hamster|bird|pet"
_WHICH_PLACE: Final = r"(?:what|which) (?:city|cities|towns?|countr(?:y|ies)|places?)"
_DOES: Final = "do|does|did|is|are|has|have"
_PARTNER: Final = "partner|boyfriend|girlfriend|husband|wife|fiance|fiancee|spouse"

_RULES: Final = tuple(
    (re.compile(pattern), attributes)
    for pattern, attributes in (
        (r"\bhow (?:do|does|did) .+ (?:feel|think)\b", ("preference.like", "preference.prefers")),
        (r"\bfavou?rite (?P<noun>[a-z]+(?: [a-z]+)?)", ("preference.favourite",)),
        (rf"\b(?:where|{_WHICH_PLACE}) (?:{_DOES}) .*\b(?:li(?:ves?|ving|ved)|based)\b", ("home.place",)),
        (r"\bhome (?:town|city)\b", ("home.place",)),
        (r"^(?:do|does|is|are|am) .*\bliv(?:e|ing) in\b", ("home.place",)),
        (r"^(?:do|does|is|are|am) .*\bwork(?:ing)? (?:at|for)\b", ("work.employer",)),
        (r"^what (?:do|does) (?:[\w'-]+ ){1,3}(?<!\bto )do(?: now| these days)?\s*\?*$", ("work.job",)),
        (r"\bwhere (?:do|does|did|is|has) .*\b(?:work|working|worked|employed)\b|\bemployer\b", ("work.employer",)),
        (r"\bfor (?:a living|work)\b|\b(?:jobs?|professions?|occupation)\b|\bwork as\b|\bjob title\b", ("work.job",)),
        (r"\bbirthday\b", ("identity.birthday",)),
        (r"\bhow old\b|\b(?:what|which) age\b|'s age\b", ("identity.age",)),
        (r"\ballerg(?:ic|y|ies)\b", ("health.allergy",)),
        (rf"\b(?:names?|called|who)\b.*\b(?P<species>{_ANIMAL})s?\b", ("possession.pet",)),
        (rf"^what .*\b(?P<species>{_ANIMAL})s?\b.*\b(?:called|names?)\b", ("possession.pet",)),
        (rf"^(?:do|does|have|has) .*\b(?:a|an|any) (?P<species>{_ANIMAL})s?\s*\?*$", ("possession.pet",)),
        (rf"\b(?:what|which|how many|does) .*\b(?P<species>{_ANIMAL})s\b.*\b(?:have|has|owns?)\b", ("possession.pet",)),
        (rf"\b(?:names?|called|who)\b.*\b(?:{_PARTNER})\b|\b(?:dating|married to|engaged to)\b", ("relation.partner",)),
        (rf"\bmy (?:{_PARTNER})(?:'s name| called)\b", ("relation.partner",)),
        (rf"^(?:do|does|have|has) .*\b(?:a|an|any) (?:{_PARTNER})\s*\?*$", ("relation.partner",)),
        (rf"^is [\w-]+ (?:still )?(?:my|[\w-]+'s) (?:{_PARTNER})\s*\?*$", ("relation.partner",)),
        (r"^(?:do|does) .*\b(?:have|own|drive) (?:a|an|any|the|my) (?:car|vehicle)\s*\?*$", ("possession.vehicle",)),
        (r"^(?:do|does) .*\b(?:have|own) (?:a|an|any|the|my) (?:house|flat)\s*\?*$", ("possession.home",)),
        (rf"\b(?:names?|called|who)\b.*\b(?P<kin>{'|'.join(_KIN.split())})s?\b", ("relation.",)),
        (r"\brelationship status\b|\b(?:single|married|engaged)\b", ("relation.status",)),
        (r"\blanguages?\b.*\blearn", ("language.learning",)),
        (r"\blanguages?\b", ("language.speaks",)),
        (r"\b(?:originally from|home country|where (?:is|are) .* from)\b", ("identity.origin", "identity.birthplace")),
        (r"\bwhere (?:was|were) .* born\b", ("identity.birthplace",)),
        (r"\bnationality\b", ("identity.nationality",)),
        (r"\breligion\b", ("identity.religion",)),
        (r"\bnickname\b", ("identity.nickname",)),
        (r"\b(?:car|vehicle)\b.*\b(?:drive|have|own)|\bdrives?\b", ("possession.vehicle",)),
        (r"\b(?:diet|vegetarian|vegan)\b", ("diet.kind",)),
        (r"\bhobb(?:y|ies)\b", ("interest.hobby",)),
        (r"\b(?:what|which) (?:subject|degree|major)|\bmajor in\b", ("education.field", "education.degree")),
        (r"\bwhat (?:is|does|do) .* study", ("education.field", "education.degree")),
        (r"\b(?:which|what) (?:school|university|college)\b", ("education.school",)),
        (r"\b(?:medicine|medication)s?\b", ("health.medication",)),
    )
)  # fmt: skip
_OWNED: Final = ("possession.", "relation.partner")
_DENIED: Final = re.compile(
    r"n['\u2019]t\b|\b(?:no longer|not|never|broke up|sold|hates?|dislikes?|gave up|stopped|used to)\b", re.IGNORECASE
)
_NAMED: Final = re.compile(r"\b(?:named|called)\s+(?P<name>.+)$")
_POSSESSIVE: Final = re.compile(
    r"(?!(?:What|Who|Where|When|How|That|There|It)['\u2019]s)"
    r"(?P<owner>[A-Z\u00c0-\u00de][\w-]+)['\u2019]s? (?:[a-z]+ ){0,2}?(?P<kin>[a-z]+)(?: (?P<name>[A-Z]\w+))?"
)


def read_statements(hits: Sequence[Hit], over: Sequence[Hit] = ()) -> list[Statement]:
    """Return what the hits state, in the order in which it holds.

    A memory stands for what was read from its sources, for it may have been corrected since. So do the versions that
    memory holds to be `over`: closed ones, with `valid_to`, and denials.
    """
    speakers = list(dict.fromkeys(hit.speaker for hit in hits if hit.kind == "message"))
    remembered = [statement for hit in hits if hit.kind != "message" for statement in _of_memory(hit)]
    told = {
        (source.message_id, fold(each.subject), each.attribute) for each in remembered for source in each.hit.sources
    }
    shown = {(each.hit.id, each.text) for each in remembered}
    gone = [each for hit in over for each in _of_version(hit) if (hit.id, each.text) not in shown]
    read = [
        each
        for hit in hits
        if hit.kind == "message"
        for each in _of_message(hit, speakers)
        if (hit.id, fold(each.subject), each.attribute) not in told and not _is_gone(each, gone)
    ]
    owned = [each for each in (*remembered, *read) if each.polarity > 0 and each.attribute.startswith(_OWNED)]
    parted = [each for hit in hits if hit.kind == "message" for each in _parted(hit, owned)]
    return sorted([*remembered, *gone, *read, *parted], key=lambda statement: (statement.since, statement.hit.id))


def _of_memory(hit: Hit) -> list[Statement]:
    if hit.locator is not None:  # a document's metadata are its owner's
        return []
    attribute = str(hit.metadata.get("attribute", ""))
    subject, value = str(hit.metadata.get("subject", "")), str(hit.metadata.get("value", ""))
    if not attribute or not subject or not value:
        return []
    told = hit.metadata.get("polarity")
    polarity = told if isinstance(told, int) else -1 if _DENIED.search(hit.text) else 1
    ended = hit.valid_to is not None and hit.valid_to <= hit.said_at
    return [Statement(subject, attribute, value, hit.text, polarity, hit.said_at, hit, dated=False, ended=ended)]


def _of_version(hit: Hit) -> list[Statement]:
    if hit.metadata.get(TAKEN_BACK):
        return [replace(each, until=hit.valid_to, ended=False, taken_back=True) for each in _of_memory(hit)]
    return [each if each.ended else replace(each, until=hit.valid_to) for each in _of_memory(hit)]


def _parted(hit: Hit, owned: Sequence[Statement]) -> Iterator[Statement]:
    """Yield the denials of possessions, and of a partner, that later words bring: "I sold the Toyota"."""
    mine = [each for each in owned if each.since < hit.said_at and fold(each.subject) == fold(hit.speaker)]
    for start, end in sentence_spans(hit.text[:4_000]) if mine else ():
        for each in mine:
            if tells_end(each, hit.text[start:end]):
                said = f'{hit.speaker}: "{hit.text[start:end].strip()}"'
                yield replace(each, text=said, polarity=-1, since=hit.said_at, hit=hit, dated=False, until=None)


def _is_gone(read: Statement, gone: Sequence[Statement]) -> bool:
    """Tell whether memory holds over, or denied, what was read anew from the message that it stands on."""
    return any(
        fold(each.subject) == fold(read.subject)
        and each.attribute == read.attribute
        and akin(each.value, read.value)
        and any(source.message_id == read.hit.id for source in each.hit.sources)
        for each in gone
    )


def _of_message(hit: Hit, speakers: Sequence[str]) -> list[Statement]:
    others = [speaker for speaker in speakers if speaker != hit.speaker]
    listener = others[0] if len(others) == 1 else None
    return [
        Statement(
            each.subject,
            each.attribute,
            each.value,
            each.text,
            each.polarity,
            each.valid_from,
            hit,
            dated=each.time is not None,
            ended=each.valid_to is not None and each.valid_to <= hit.said_at,
        )
        for each in extract(hit.text[:4_000], speaker=hit.speaker, said_at=hit.said_at, listener=listener)
    ]


def asks_attribute(asked: Asked) -> bool:
    """Tell whether a question asks for an attribute of the tree at all."""
    if asked.wants in {Wants.TIME, Wants.SPAN, Wants.REASON} and "birthday" not in asked.low:
        return False
    return any(pattern.search(asked.low) for pattern, _ in _RULES)


def topic_of(asked: Asked, statements: Sequence[Statement]) -> Topic | None:
    """Return the attribute that a question asks for and whose; None when it asks for no attribute of anyone known."""
    for pattern, attributes in _RULES:
        match = pattern.search(asked.low)
        if match is None:
            continue
        groups = match.groupdict()
        noun = groups.get("noun") or groups.get("species") or groups.get("kin") or ""
        wanted = (f"relation.{noun}",) if groups.get("kin") else attributes
        subject = _subject(asked, statements)
        return Topic(subject, wanted, noun) if subject else None
    return None


def _subject(asked: Asked, statements: Sequence[Statement]) -> str:
    """Return whose attribute is meant: Maud of "Hanne's sister Maud", the sister's name of "Hanne's sister"."""
    owned = _POSSESSIVE.search(asked.text)
    if owned and owned["kin"] in _KIN.split():
        if owned["name"]:
            return owned["name"]
        if not re.search(r"\b(?:names?|called|who)\b", asked.low):
            kin = [
                each
                for each in statements
                if each.attribute == f"relation.{owned['kin']}" and fold(each.subject) == fold(owned["owner"])
            ]
            return kin[-1].value if kin else f"{owned['owner']}'s {owned['kin']}"
    known = {fold(statement.subject) for statement in statements}
    people = [name for name in asked.names if fold(name) in known] or list(asked.speakers)
    if owned and fold(owned["owner"]) not in {fold(name) for name in people}:
        return owned["owner"]
    return people[0] if people else (asked.names[0] if asked.names else "")


def standing(topic: Topic, asked: Asked, statements: Sequence[Statement]) -> Standing:
    """Return what holds of a topic at the time of the question (default: by the latest words), and what held before."""
    at = asked.times[0] if asked.times else None
    now: list[Statement] = []
    before: list[Statement] = []
    closing: Statement | None = None
    for each in statements:
        if at is not None and at.end is not None and each.since >= at.end:
            continue
        if fold(each.subject) == fold(topic.subject) and (gone := [old for old in now if closes(each, old)]):
            now, before, closing = [old for old in now if old not in gone], [*before, *gone], each
        if not _fits(topic, asked, each):
            continue
        if (each.ended and at is None) or _is_over(each, at):
            before.append(each)
            continue
        if each.polarity > 0 or each.attribute.startswith("preference.like"):
            gone = [old for old in now if (_is_single(each.attribute) or akin(old.value, each.value))]
            now, closing = [*(old for old in now if old not in gone), each], None
        else:
            gone = [old for old in now if ends(each, old)]
            now, closing = [old for old in now if old not in gone], each
        before.extend(old for old in gone if not same_value(old.value, each.value) or old.polarity != each.polarity)
        corrected = [old for old in now if old is not each and _denies(each.hit.text, old.value)]
        now = [old for old in now if old not in corrected]
        before.extend(corrected)
    return Standing(tuple(now), tuple(before), closing)


def _is_over(each: Statement, at: TimeSpan | None) -> bool:
    """Tell whether memory holds a statement to be over at the time of the question."""
    if each.until is None or each.taken_back:
        return each.taken_back
    return at is None or (at.start is not None and each.until <= at.start)


def replaced(hit: Hit, asked: Asked, statements: Sequence[Statement]) -> Statement | None:
    """Return the latest statement that took the place of what the question asks for and the hit says; None when that
    still holds, as far as the statements tell.
    """
    said = [
        each
        for each in statements
        if hit.id in (each.hit.id, *(source.message_id for source in each.hit.sources))
        and _is_single(each.attribute)
        and roots(each.value) & set(asked.stems)
    ]
    later = [
        each
        for each in statements
        for old in said
        if each.attribute == old.attribute
        and fold(each.subject) == fold(old.subject)
        and each.since > old.since
        and each.polarity > 0
        and not akin(each.value, old.value)
        and not each.ended
    ]
    return later[-1] if later else None


def _fits(topic: Topic, asked: Asked, each: Statement) -> bool:
    if fold(each.subject) != fold(topic.subject):
        return False
    if not any(each.attribute == name or each.attribute.startswith(f"{name}.") for name in topic.attributes):
        return False
    if topic.attributes[0] == "preference.favourite":
        kind = {stem(word) for word in words(each.attribute.rpartition(".")[2].replace("_", " "))}
        return stem(words(topic.noun)[0]) in kind or kind == {stem(word) for word in words(topic.noun)}
    if topic.attributes[0] == "possession.pet" and topic.noun != "pet":
        return topic.noun in words(each.value)
    if topic.attributes[0] == "preference.like":
        return bool(roots(each.value) & set(asked.stems))
    return True


def _is_single(attribute: str) -> bool:
    return attribute in {
        "home.place", "work.job", "work.employer", "relation.partner", "relation.status", "identity.age",
        "identity.birthday", "identity.name",
    } or attribute.startswith("preference.favourite")  # fmt: skip


def _denies(text: str, value: str) -> bool:
    """Tell whether a text says that it is not this value: "it isn't hazelnuts at all"."""
    if not value:
        return False
    return bool(
        re.search(rf"(?:n['\u2019]t|\bnot|\bno longer)\s+(?:\w+\s+){{0,1}}{re.escape(value)}\b", text, re.IGNORECASE)
    )


def shown_value(topic: Topic, statement: Statement, *, whole: bool = False) -> str:
    """Return a value as the answer shows it: the name of a named pet when names are asked for, unless `whole`."""
    named = _NAMED.search(statement.value)
    return (
        named["name"]
        if named and not whole and topic.attributes[0] == "possession.pet" and topic.noun
        else statement.value
    )


def phrase(asked: Asked, topic: Topic, held: Standing) -> str:
    """Return the answer: the values that hold, and, for one value, what held before."""
    if topic.attributes[0].startswith("preference.like"):
        return _feeling(held)
    whole = asked.wants is Wants.YES_NO
    values = list(dict.fromkeys(shown_value(topic, each, whole=whole) for each in held.now))
    earlier = [
        shown_value(topic, each, whole=whole) for each in held.before if not akin(each.value, held.now[-1].value)
    ]
    if asked.wants is Wants.COUNT:
        return f"{len(values)}: {_listed(values)}"
    if asked.wants is Wants.YES_NO:
        return (
            f"Yes: {_listed(values)}" if asks_any(asked, held.now[-1].attribute) else _yes_or_no(asked, values, earlier)
        )
    earlier = [shown_value(topic, each) for each in _told_before(held)]
    if len(values) > 1 or (asked.many and earlier and _is_single(held.now[-1].attribute)):
        text = _listed(values) if len(values) > 1 else ", then ".join(dict.fromkeys((*earlier, *values)))
        return text[:1].upper() + text[1:]
    notes = [f"since {day(held.now[-1].since)}"] if held.before and held.now[-1].dated else []
    notes.extend([f"before: {earlier[-1]}"] if earlier else [])
    text = values[0][:1].upper() + values[0][1:]
    return f"{text} ({'; '.join(notes)})" if notes else text


def _told_before(held: Standing) -> list[Statement]:
    """Return what held before and is not what holds now."""
    return [each for each in held.before if not each.taken_back and not akin(each.value, held.now[-1].value)]


def _listed(values: Sequence[str]) -> str:
    return values[0] if len(values) == 1 else f"{', '.join(values[:-1])} and {values[-1]}"


def _yes_or_no(asked: Asked, values: Sequence[str], earlier: Sequence[str]) -> str:
    """Return yes or no when the question names a value that holds, or one that no longer does; else what holds."""
    wanted = set(asked.stems)
    if any(roots(value) & wanted for value in values):
        return f"Yes: {_listed(values)}"
    if any(roots(value) & wanted for value in earlier):
        return f"No: {_listed(values)}"
    text = _listed(values)
    return text[:1].upper() + text[1:]


def _feeling(held: Standing) -> str:
    current = held.now[-1]
    earlier = [each for each in held.before if each.polarity != current.polarity and not each.taken_back]
    note = f" (before: {earlier[-1].text.rstrip('.')}, {day(earlier[-1].hit.said_at)})" if earlier else ""
    return f"{current.text.rstrip('.')}{note}"
