"""Forms of English verbs: from a form in the text to its dictionary form and tense, and back to "-s" and "-ing".

Irregular verbs come from a table; regular ones are undone by rule. A form that is both past and participle is told as
past here; the words before it say which it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Form = Literal["base", "third", "past", "participle", "ing"]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb as found: its dictionary form and the form it has in the text."""

    lemma: str
    form: Form


_IRREGULAR: Final = """
go went gone|get got gotten|have had had|do did done|make made made|take took taken|see saw seen|come came come
buy bought bought|bring brought brought|build built built|break broke broken|begin began begun|become became become
catch caught caught|choose chose chosen|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten
fall fell fallen|feel felt felt|fight fought fought|find found found|fly flew flown|forget forgot forgotten
give gave given|grow grew grown|hang hung hung|hear heard heard|hide hid hidden|hold held held|hurt hurt hurt
keep kept kept|know knew known|lead led led|learn learnt learnt|leave left left|lose lost lost|lend lent lent
meet met met|pay paid paid|put put put|quit quit quit|read read read|ride rode ridden|run ran run|say said said
sell sold sold|send sent sent|set set set|shoot shot shot|sing sang sung|sit sat sat|sleep slept slept
speak spoke spoken|spend spent spent|stand stood stood|steal stole stolen|swim swam swum|teach taught taught
tear tore torn|tell told told|think thought thought|throw threw thrown|understand understood understood
wake woke woken|wear wore worn|win won won|write wrote written|be was been|let let let|cut cut cut|hit hit hit
shut shut shut|split split split|spread spread spread|hike hiked hiked|bake baked baked|move moved moved
live lived lived|love loved loved|like liked liked|hate hated hated|dislike disliked disliked|use used used
volunteer volunteered volunteered|enjoy enjoyed enjoyed|prefer preferred preferred|adopt adopted adopted
work worked worked|study studied studied|marry married married|name named named|date dated dated
plan planned planned|retire retired retired|graduate graduated graduated|start started started|stop stopped stopped
finish finished finished|own owned owned|play played played|paint painted painted|dance danced danced
visit visited visited|join joined joined|hire hired hired|smoke smoked smoked|practice practiced practiced
practise practised practised|train trained trained|celebrate celebrated celebrated|welcome welcomed welcomed
attend attended attended|perform performed performed|organize organized organized|organise organised organised
host hosted hosted|travel travelled travelled|travel traveled traveled|receive received received
complete completed completed|participate participated participated|publish published published
purchase purchased purchased|bike biked biked|launch launched launched|open opened opened|release released released
record recorded recorded|sign signed signed|explore explored explored|camp camped camped|suffer suffered suffered
sprain sprained sprained|fracture fractured fractured|twist twisted twisted|injure injured injured
diagnose diagnosed diagnosed|apply applied applied|turn turned turned|enroll enrolled enrolled
enrol enrolled enrolled|major majored majored|pass passed passed|interview interviewed interviewed|end ended ended
cook cooked cooked|garden gardened gardened|walk walked walked|jog jogged jogged|cycle cycled cycled
call called called|watch watched watched|collect collected collected|knit knitted knitted
meditate meditated meditated|rent rented rented|donate donated donated|renovate renovated renovated
share shared shared|create created created|relocate relocated relocated|immigrate immigrated immigrated
emigrate emigrated emigrated|settle settled settled|identify identified identified|adore adored adored
detest detested detested|despise despised despised|loathe loathed loathed|mind minded minded|avoid avoided avoided
skip skipped skipped|gave gave given|want wanted wanted|need needed needed|try tried tried|help helped helped
show showed shown|serve served served|raise raised raised|earn earned earned|score scored scored|beat beat beaten
land landed landed|die died died|book booked booked|return returned returned
"""
_PAST: Final[dict[str, str]] = {}
_PARTICIPLE: Final[dict[str, str]] = {}
_BASE: Final[set[str]] = set()
for _row in _IRREGULAR.replace("\n", "|").split("|"):
    if _row.strip():
        _lemma, _past, _participle = _row.split()
        _BASE.add(_lemma)
        _PAST.setdefault(_past, _lemma)
        _PARTICIPLE.setdefault(_participle, _lemma)
_SAME: Final = frozenset(form for form, lemma in _PAST.items() if form == lemma)
_PAST["were"] = "be"
_NOT_VERBS: Final = frozenset(
    """thing things nothing something anything everything morning evening king ring spring string wedding building
    need seed speed feed weed red bed indeed hundred sacred naked wicked excited tired bored scared married engaged
    interested surprised thrilled pleased amazed blessed relaxed stressed worried delighted honored honoured inspired
    mixed fried baked grilled used based dried roasted iced smoked beloved talented skilled dedicated detailed limited
    united advanced animated shared aged flavored flavoured handmade homemade varied unexpected loved ones
    during being""".split()
)


def read_verb(word: str) -> Verb | None:
    """Return the verb that a lower-cased word is a form of; None when nothing about it looks like one."""
    if word in _PAST and word not in _SAME:
        return Verb(_PAST[word], "past")
    if word in _PARTICIPLE and word not in _BASE:
        return Verb(_PARTICIPLE[word], "participle")
    if word in _BASE:
        return Verb(word, "past" if word in _TOLD else "base")
    if word in _NOT_VERBS or len(word) < 4:
        return Verb("be", "third") if word == "is" else None
    return _read_regular(word)


def _read_regular(word: str) -> Verb | None:
    if word.endswith("ing") and len(word) > 4:
        return Verb(_undo(word[:-3]), "ing")
    if word.endswith("ed"):
        return Verb(_undo(word[:-2]), "past")
    if word in {"has", "does", "goes"}:
        return Verb({"has": "have", "does": "do", "goes": "go"}[word], "third")
    if word.endswith("s"):
        for stem in (word[:-1], word[:-2], word[:-3] + "y"):
            if stem in _BASE:
                return Verb(stem, "third")
    return None


def _undo(stem: str) -> str:
    for lemma in (stem, stem + "e", stem[:-1], stem[:-1] + "y", stem + "ie"):
        if lemma in _BASE:
            return lemma
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if stem.endswith("i"):
        return stem[:-1] + "y"
    return stem + "e" if stem.endswith(("at", "iz", "is", "ur", "uc", "as", "v", "c")) else stem


_TOLD: Final = frozenset({"quit", "hurt", "split", "hit", "cut"})
"""Forms that are past and base alike, of verbs that people use about themselves in the past."""


def is_past(word: str) -> bool:
    """Tell whether a lower-cased word can only be a past form, so that its subject may be left out."""
    return word in _PAST and word not in _SAME


def can_be_past(word: str) -> bool:
    """Tell whether a lower-cased word reads as a past form after "and": irregular, or in "-ed" and no adjective."""
    return is_past(word) or (word.endswith("ed") and len(word) > 4 and word not in _NOT_VERBS)


def known(lemma: str) -> bool:
    """Tell whether the verb is in the table."""
    return lemma in _BASE


def third(lemma: str) -> str:
    """Return the form after he or she: "goes", "studies", "lives"."""
    if lemma in {"be", "have"}:
        return {"be": "is", "have": "has"}[lemma]
    if lemma.endswith(("s", "sh", "ch", "x", "z", "o")):
        return lemma + "es"
    return lemma[:-1] + "ies" if lemma.endswith("y") and lemma[-2:-1] not in "aeiou" else lemma + "s"


_PARTICIPLE_OF: Final = {lemma: form for form, lemma in reversed(_PARTICIPLE.items())} | {"be": "been", "have": "had"}


def participle(lemma: str) -> str:
    """Return the form after "has": "been", "loved", "owned"."""
    return _PARTICIPLE_OF.get(lemma) or (lemma + "d" if lemma.endswith("e") else lemma + "ed")


def gerund(lemma: str) -> str:
    """Return the "-ing" form: "running", "living", "studying"."""
    if lemma.endswith("ie"):
        return lemma[:-2] + "ying"
    if lemma.endswith("e") and not lemma.endswith(("ee", "ye", "oe")) and lemma != "be":
        return lemma[:-1] + "ing"
    short = len(lemma) <= 4 or lemma in {"prefer", "forget", "begin"}
    if short and len(lemma) > 2 and lemma[-1] in "bdgmnprt" and lemma[-2] in "aeiou" and lemma[-3] not in "aeiou":
        return lemma + lemma[-1] + "ing"
    return lemma + "ing"
