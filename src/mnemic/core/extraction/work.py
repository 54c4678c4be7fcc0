"""What somebody works as and for whom, and how that starts and ends."""

from __future__ import annotations

import re
from typing import Final

from mnemic.core.extraction.grammar import Clause
from mnemic.core.extraction.phrases import cut_tail, is_name, points_outside, strip_determiner, value_of
from mnemic.core.extraction.statements import change, state
from mnemic.core.extraction.tastes import Rules
from mnemic.model.memory import Candidate

_JOB_SUFFIX: Final = re.compile(r"\w{2,}(?:er|or|ist|ian|eer|ant|man|woman|smith|wright|yst|herd)$")
_JOBS: Final = frozenset(
    """nurse chef cook lawyer doctor paramedic judge pilot clerk guide coach nanny au-pair vet surgeon midwife dean
    scribe
    model mechanic intern freelancer student apprentice postdoc paralegal therapist monk priest rabbi imam pastor
    soldier
    cashier barista bartender secretary attorney architect scientist analyst electrician plumber carpenter builder
    farmer
    dentist pharmacist professor teacher engineer developer programmer designer writer journalist editor photographer
    musician artist actor actress dancer singer dj producer director manager ceo cto founder entrepreneur consultant
    accountant banker broker salesperson salesman marketer recruiter librarian curator translator interpreter tutor
    lecturer researcher biologist chemist physicist mathematician economist historian psychologist counselor counsellor
    firefighter officer detective guard sailor captain fisherman beekeeper gardener florist baker butcher tailor
    hairdresser barber beautician driver courier postman firewoman streamer youtuber blogger influencer astronaut
    waiter waitress janitor cleaner caretaker carer homemaker housewife
    luthier glazier mason stonemason seamstress stewardess poet referee umpire jockey masseuse masseur aide executive
    sommelier diplomat trainee sysadmin acrobat clown nutritionist dietitian""".split()
)
_NOT_JOBS: Final = frozenset(
    """believer lover beginner winner survivor newcomer supporter sucker loner perfectionist optimist pessimist
    feminist minimalist
    fighter member follower stranger sister brother mother father daughter hater helper learner dreamer listener
    keeper owner
    partner number human person man woman reader swimmer hiker runner morning-person introvert traveler traveller
    thinker
    realist foodie collector viewer gamer walker eater drinker sleeper smoker talker user teenager senior minor
    cancer monster
    disaster outsider insider planner procrastinator overthinker sinner quitter neighbor foreigner christian vegetarian
    elder youngster toddler bookworm grandmother grandfather stepmother stepfather godmother godfather volunteer
    librarian-at-heart
    contender finisher player customer superstar star leader mover caregiver lifesaver giant descendant participant
    giver
    beginner-level vegan pescatarian libertarian humanitarian egalitarian adult little better bigger whatever other
    together over under
    never ever another rather either further former later older younger longer stronger happier winter summer power
    hunter
    consumer debtor creditor visitor spectator admirer adventurer explorer wanderer romantic-er nicer matter letter
    water
    paper dinner supper order border corner minister-of-fun proponent believer-in worrier warrior pleaser""".split()
)
_ROLE: Final = re.compile(
    r"(?:(?:currently|now|also|a|an|the|still) ){0,3}(?P<role>[\w'/ -]{2,50}?)(?: (?:at|for"
    r"|with) (?P<firm>(?:the |a |an )?\w.{1,50})| in (?P<place>.{2,40})| by (?:trade|profession|training))?$"
)
_AS: Final = re.compile(
    r"(?:\w+ ){0,2}?as (?:an?|the|their) (?P<role>[\w'/ -]{2,50}?)(?: (?:at|for"
    r"|with) (?P<firm>.{2,50})| (?:in|on) (?P<place>.{2,40}))?$"
)
_FOR: Final = re.compile(r"(?:(?:full|part)[- ]time |remotely |nights |now |there ){0,2}(?:at|for) (?P<firm>.{2,60})")
_FIELD: Final = re.compile(r"in (?P<field>.{2,40})")
_TOO_PLAIN: Final = frozenset(
    "team company house place school office store job firm organization organisation same company other company".split()
)
_NOT_FIRMS: Final = frozenset(
    "home work least last first night times weekends myself me us it him her them this that free "
    "while fun money some hours years months weeks long".split()
)


def working(clause: Clause) -> list[Candidate]:
    """Read "I work as a beekeeper at X", "I work for Y", "I no longer work at Z", "I work in publishing"."""
    if clause.topic or clause.tense in {"future", "going_to", "can"}:
        return []
    rest = _no_tail(clause.rest)
    match = _AS.match(rest)
    if match is not None:
        return _job(clause, "work", "as", match["role"], match["firm"])
    match = _FOR.match(rest.lower())
    if match is not None:
        return _employer(clause, "work", rest[match.start("firm") :])
    match = _FIELD.match(rest.lower())
    if match is not None and clause.tense in {"present", "used_to", "perfect"}:
        field = value_of(rest[match.start("field") :], 4)
        if (
            field
            and not is_name(field)
            and not re.search(r"city|suburb|town|village|country", field)
            and field.split()[-1].lower() not in {"office", "garden", "home", "morning", "team"}
        ):
            said = re.match(r"an? |the ", rest[match.start("field") :])
            shown = f"in {said.group() if said else ''}{field}"
            return state(clause, "work.field", field, "work", shown, confidence=0.8)
    return []


def _no_tail(rest: str) -> str:
    return _FOR_LONG.split(re.split(r",|\sand\s", cut_tail(re.split(r",", rest)[0], 14, keep_as=True))[0])[0].strip()


_FOR_LONG: Final = re.compile(
    r"\s(?:for|over) (?:a (?:while|bit|few|couple|decade|year|long)|now|years|months|ages|\d|(?:two|three|four"
    r"|five|six|seven"
    r"|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|many|some|several|over|about|nearly|almost|more"
    r"|most|half"
    r"|the (?:last|past|best))\b)"
)


def _job(clause: Clause, verb: str, prep: str, role: str, firm: str | None) -> list[Candidate]:
    role = role.strip()
    if not is_job(role):
        return []
    article = "an" if role[0].lower() in "aeiou" else "a"
    lead = f"{prep} {article}" if prep else article
    found = state(clause, "work.job", role, verb, f"{lead} {role}")
    if firm and role.split()[-1].lower() in {"student", "pupil", "undergraduate", "postgraduate"}:
        school = strip_determiner(cut_tail(firm, 6))
        named = is_name(school) and not points_outside(school)
        return found + (state(clause, "education.school", school, "study", f"at {firm}") if named else [])
    return found + (_employer(clause, "work", firm) if firm else [])


def is_job(role: str) -> bool:
    """Tell whether a phrase names an occupation: its last word is one, or looks like one."""
    words = role.lower().split()
    if not words or len(words) > 5 or points_outside(role):
        return False
    if any(
        word
        in {
            "big",
            "huge",
            "bit",
            "good",
            "great",
            "bad",
            "better",
            "best",
            "fast",
            "slow",
            "terrible",
            "natural",
            "born",
            "real",
            "of",
            "such",
        }
        for word in words
    ):
        return False
    last = words[-1]
    return last in _JOBS or (bool(_JOB_SUFFIX.match(last)) and last not in _NOT_JOBS)


def _employer(clause: Clause, verb: str, said: str) -> list[Candidate]:
    firm = cut_tail(said, 7)
    firm = re.split(r"\s(?:as|and|with|since|but|full|part|on|from|to)\b|,", firm)[0].strip()
    plain = strip_determiner(firm)
    if (
        not plain
        or points_outside(plain)
        or plain.split()[0].lower() in _NOT_FIRMS
        or plain.lower() in _TOO_PLAIN
        or re.match(r"\d", plain)
    ):
        return []
    definite = firm.lower().startswith(("a ", "an ", "the "))
    if not (is_name(plain) or definite or plain[0].isupper()) or len(plain.split()) > 6:
        return []
    return state(clause, "work.employer", plain, verb, f"at {firm}")


def being_employed(clause: Clause) -> list[Candidate]:
    """Read "I'm a night nurse at St Brannoc's", "I'm retired", "I'm self-employed", "I'm between jobs"."""
    if clause.tense not in {"present", "used_to", "past", "perfect"}:
        return []
    status = re.match(
        r"(?:now |currently |finally |officially |semi-)?(?P<status>retired|unemployed|self-employed"
        r"|between jobs|out of work|jobless)(?:$|[ ,.!])",
        clause.low_rest,
    )
    if status is not None and not clause.topic:
        return state(clause, "work.status", status["status"], "be", status["status"])
    rest = _no_tail(clause.rest)
    if clause.tense == "past" and clause.time is None and not _was_long(clause, rest):
        return []
    if clause.topic and not re.fullmatch(r"(?:day |current |new |main )?(?:job|profession|occupation)", clause.topic):
        return []
    article = re.match(r"(?:as )?(?:an?|the) ", rest.lower())
    match = _ROLE.match(rest[article.end() :]) if article else None
    if match is None or (article and article.group().startswith("the") and not match["firm"]):
        return []
    if (match["firm"] or "").lower() == "heart":
        return []
    return _job(clause, "be", "", match["role"], match["firm"])


def _was_long(clause: Clause, rest: str) -> bool:
    """Tell whether "was a nurse" speaks of a trade: for years, or of kin and nothing else: "My mother was a nurse"."""
    return _FOR_LONG.search(f" {clause.low_rest}") is not None or (clause.kin is not None and rest == clause.rest)


def speaking_as(clause: Clause) -> list[Candidate]:
    """Read "As a night nurse, I sleep badly"; the clause's rest is all of its words."""
    match = re.match(
        r"as an? (?P<role>[\w' -]{3,40})(?: myself)?, (?:i|we|i'm|i've|my)(?! (?:would|might|could|should)) ",
        clause.low_rest,
    )
    return _job(clause, "be", "", clause.rest[match.start("role") : match.end("role")], None) if match else []


_NEW_JOB: Final = re.compile(
    r"(?:my |a |the |this )?(?:new |first |dream |full-time |part-time |better |great "
    r"|summer ){0,3}(?:job|position|role|gig)"
    r"(?: (?:as (?:an?|the) (?P<role>[\w' -]{2,40}?)))?(?: (?:at|with|for) (?P<firm>.{2,50}))?$"
)
_BEGAN: Final = {
    "start": "started",
    "get": "got",
    "land": "landed",
    "begin": "began",
    "accept": "accepted",
    "take": "took",
    "find": "found",
}


def new_job(clause: Clause) -> list[Candidate]:
    """Read "I started a new job at Lumen Optics yesterday" and "I got a job as a baker"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    began = _BEGAN[clause.verb]
    rest = _no_tail(clause.rest)
    match = _NEW_JOB.match(rest)
    if match is not None and (match["role"] or match["firm"]):
        return _began(clause, rest, match["role"], match["firm"], began)
    match = re.match(r"working(?: as (?:an?|the) (?P<role>[\w' -]{2,40}?))?(?: (?:at|for) (?P<firm>.{2,50}))?$", rest)
    if match is not None and clause.verb in {"start", "begin"} and (match["role"] or match["firm"]):
        return _began(clause, rest, match["role"], match["firm"], began)
    if clause.verb == "get":
        return _got(clause)
    return []


def _began(clause: Clause, rest: str, role: str | None, firm: str | None, began: str) -> list[Candidate]:
    found: list[Candidate] = []
    plain = strip_determiner(firm or "")
    if role and is_job(role):
        found += change(clause, "work.job", role, f"{began} {rest}")
    if plain and not points_outside(plain):
        found += change(clause, "work.employer", plain, f"{began} {rest}")
    return found


def _got(clause: Clause) -> list[Candidate]:
    rest = cut_tail(clause.rest, 12)
    low = rest.lower()
    match = re.match(r"promoted(?: to (?P<role>[\w' -]{2,40}))?$", low)
    if match is not None:
        role = strip_determiner(rest[match.start("role") :]) if match["role"] else ""
        if role:
            return change(clause, "work.job", role, f"got promoted to {role}")
        return change(clause, "work.status", "promoted", "got promoted")
    match = re.match(r"(?P<how>laid off|fired|let go|made redundant)(?: (?:from|by|at) (?P<firm>.{2,50}))?", low)
    if match is None:
        match = re.match(r"(?P<how>hired)(?: (?:at|by|as) (?P<firm>.{2,50}))?", low)
    if match is None:
        return []
    firm = strip_determiner(cut_tail(rest[match.start("firm") :], 6)) if match["firm"] else ""
    if match["how"] == "hired":
        return change(clause, "work.employer", firm, f"got hired by {firm}") if firm and is_name(firm) else []
    if firm and not re.match(r"(?:my |job|work)", firm.lower()):
        return change(clause, "work.employer", firm, f"got {match['how']} from {firm}", polarity=-1)
    return change(clause, "work.status", match["how"], f"got {match['how']}")


def let_go(clause: Clause) -> list[Candidate]:
    """Read "I was laid off last month" and "I've been promoted to head gardener"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    return (
        _got(clause) if re.match(r"(?:laid off|fired|let go|made redundant|promoted|hired)\b", clause.low_rest) else []
    )


def leaving(clause: Clause) -> list[Candidate]:
    """Read "I quit my job at the cannery", "I left Lumen Optics", "I lost my job"."""
    if clause.tense not in {"past", "perfect"} or clause.negated or clause.topic:
        return []
    rest = _no_tail(clause.rest)
    word = {"quit": "quit", "leave": "left", "lose": "lost", "resign": "resigned"}[clause.verb]
    match = re.match(
        r"(?:from )?(?:my|the|an?|being an?) (?P<old>(?:old |previous |corporate |day "
        r"|\w+ )?)job(?: (?:as (?:an?|the) (?P<role>[\w' -]{2,40}?)))?(?: (?:at|with|for"
        r"|in) (?P<firm>.{2,50}))?$",
        rest,
    )
    if match is None:
        return []
    found: list[Candidate] = []
    if match["firm"]:
        found += change(clause, "work.employer", strip_determiner(match["firm"]), f"{word} {rest}", polarity=-1)
    if match["role"]:
        found += change(clause, "work.job", match["role"], f"{word} {rest}", polarity=-1)
    return found or change(clause, "work.status", f"{word} job", f"{word} their job")


def retiring(clause: Clause) -> list[Candidate]:
    """Read "I retired in 2019"."""
    if clause.tense not in {"past", "perfect"} or clause.topic or clause.low_rest.startswith("to "):
        return []
    return change(clause, "work.status", "retired", "retired")


def running_firm(clause: Clause) -> list[Candidate]:
    """Read "I run a small bakery" and "I own a bookshop"."""
    if clause.tense not in {"present", "used_to"} or clause.topic:
        return []
    match = re.match(
        r"(?:my own|our own|my|a|an|our|the|the local) (?P<firm>(?:[\w'-]+ ){0,3}?(?:business|shop"
        r"|bakery|studio|store|company|agency|restaurant|cafe|café|bookshop|gallery"
        r"|clinic|practice|farm|school|blog|channel|podcast|startup|firm|bar|salon|gym))\b",
        clause.low_rest,
    )
    if match is None:
        return []
    firm = clause.rest[match.start("firm") : match.end("firm")]
    return state(clause, "work.job", f"runs {firm}", clause.verb, clause.rest[: match.end()], confidence=0.8)


def teaching(clause: Clause) -> list[Candidate]:
    """Read "My wife Edda teaches chemistry"."""
    if clause.tense not in {"present", "used_to"} or clause.topic:
        return []
    what = re.split(r"\s(?:at|in|to)\s", cut_tail(clause.rest, 9))[0]
    if not what or points_outside(what) or len(what.split()) > 4 or "class" in what:
        return []
    return state(clause, "work.job", f"teaches {what}", "teach", what)


RULES: Rules = {
    "work": (working,),
    "teach": (teaching,),
    "be": (being_employed, let_go),
    **dict.fromkeys(_BEGAN, (new_job,)),
    "quit": (leaving,),
    "leave": (leaving,),
    "lose": (leaving,),
    "retire": (retiring,),
    "run": (running_firm,),
    "own": (running_firm,),
}
