"""What of a model's answer is believed: only what the messages bear out."""
# ruff: noqa: RUF001 - Chinese has commas of its own

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mnemic.core.refining import Batch, Drawn, Item, Tastes, check, prompt_of, read
from mnemic.core.refining.quoting import locate
from mnemic.core.refining.tying import woven
from mnemic.errors import LanguageError
from mnemic.model.language import Reply
from mnemic.model.memory import Candidate, Change, Memory, MemoryKind, Version
from mnemic.model.message import MessageRole, StoredMessage

NOON = datetime(2025, 5, 14, 12, tzinfo=UTC)  # a Wednesday


def said(number: int, text: str, speaker: str = "Ann", role: str = "user") -> StoredMessage:
    at = NOON + timedelta(minutes=number)
    return StoredMessage(
        f"id{number}", 1, "s", "talk", "p", number, MessageRole(role), speaker, text, text, at, at
    )  # fmt: skip


TALK = (
    said(0, "I moved to Porto last Saturday, I work as a nurse there."),
    said(1, "You must love fado then! I'll send you three concert dates.", "Helper", "assistant"),
    said(2, "My sister Noor has two dogs. I never eat walnuts."),
    said(3, "北京的冬天太冷了，我搬到了里斯本。", "小明"),
)


def known(text: str, attribute: str = "home.place", value: str = "Leeds") -> Memory:
    version = Version("v1", 1, text, value, 1, NOON - timedelta(days=90), None, None, NOON, 0.9, Change.ADDED)
    return Memory("k", 1, MemoryKind.FACT, "Ann", attribute, "", False, NOON, (version,))


def item(**changed: Any) -> dict[str, Any]:
    plain = {
        "kind": "fact", "about": "Ann", "attribute": "home.place", "value": "Porto",
        "statement": "Ann lives in Porto.", "negated": False, "said": True, "reason": "",
        "when": {"words": "last Saturday", "from": "", "to": ""},
        "evidence": [{"message": "m1", "quote": "I moved to Porto last Saturday"}], "known": "", "change": "new",
    }  # fmt: skip
    return {**plain, **changed}


def believed(*items: dict[str, Any], batch: Batch | None = None, **more: Any) -> Drawn:
    reply = Reply(json.dumps({"memories": list(items), **more}, ensure_ascii=False), "scripted")
    return check(read(reply), batch or Batch(TALK), drawn_by="scripted")


def test_a_statement_with_its_evidence_is_believed() -> None:
    (found,) = believed(item()).items
    candidate = found.candidate
    assert (candidate.subject, candidate.attribute, candidate.value) == ("Ann", "home.place", "Porto")
    assert candidate.valid_from.date().isoformat() == "2025-05-10"
    assert TALK[0].text[candidate.start : candidate.end] == candidate.quote == "I moved to Porto last Saturday"
    assert (candidate.drawn_by, candidate.single, found.tie) == ("scripted", True, "new")


@pytest.mark.parametrize(
    "changed, reason",
    [
        ({"evidence": [{"message": "m1", "quote": "I moved to Madrid"}]}, "does not stand"),
        ({"evidence": [{"message": "m9", "quote": "I moved to Porto"}]}, "no message"),
        ({"evidence": []}, "malformed"),
        ({"evidence": [{"message": "m1", "quote": " ... "}]}, "does not stand"),
        ({"value": "Porto 7", "statement": "Ann has lived in Porto for 7 years."}, "'7'"),
        ({"statement": "Ann lives in Porto with Pedro."}, "'Pedro'"),
        ({"about": "Bob"}, "'Bob'"),
        ({"value": "a pilot", "attribute": "work.job", "statement": "Ann is a pilot."}, "value"),
        ({"evidence": [{"message": "m2", "quote": "You must love fado"}], "value": "fado",
          "attribute": "preference.like", "statement": "Ann loves fado."}, "only the assistant"),
        ({"kind": "promise", "value": "to move", "statement": "Ann promised to move."}, "assistant's words"),
        ({"statement": ""}, "says nothing"),
        ({"evidence": "m1"}, "malformed"),
        ({"kind": {"a": 1}}, "malformed"),
    ],
)  # fmt: skip
def test_what_the_messages_do_not_bear_out_is_void(changed: dict[str, Any], reason: str) -> None:
    drawn = believed(item(**changed))
    assert drawn.items == ()
    assert reason in drawn.void[0].reason


def test_one_bad_item_costs_only_itself() -> None:
    drawn = believed(item(about="Bob"), item(), "prose", 7, None)  # type: ignore[arg-type]
    assert len(drawn.items) == 1
    assert len(drawn.void) == 4


def test_what_the_assistant_says_is_kept_as_the_assistants() -> None:
    promise = item(
        kind="promise", about="Ann", value="three concert dates", when={},
        statement="The assistant promised to send three concert dates.",
        evidence=[{"message": "m2", "quote": "I'll send you three concert dates"}],
    )  # fmt: skip
    (found,) = believed(promise).items
    assert (found.candidate.subject, found.candidate.attribute) == ("Helper", "agent.promise")


def test_the_one_who_says_it_is_not_the_one_it_is_about() -> None:
    sister = item(
        about="Noor", attribute="possession.pet", value="two dogs", statement="Noor has two dogs.", when={},
        evidence=[{"message": "m3", "quote": "My sister Noor has two dogs"}],
    )  # fmt: skip
    (found,) = believed(sister).items
    assert (found.candidate.subject, found.message.speaker) == ("Noor", "Ann")


def test_the_user_is_whoever_spoke() -> None:
    chinese = item(
        about="user", value="里斯本", statement="小明住在里斯本。", when={},
        evidence=[{"message": "m4", "quote": "我搬到了里斯本"}],
    )  # fmt: skip
    (found,) = believed(chinese).items
    assert (found.candidate.subject, found.candidate.text) == ("小明", "小明住在里斯本。")


def test_a_conclusion_carries_its_reason_and_less_confidence() -> None:
    care = item(
        kind="preference", attribute="preference.like", value="quiet places", said=False, when={},
        reason="She finds Porto calmer than Leeds.", statement="Ann likes quiet places.",
    )  # fmt: skip
    plain, concluded = believed(item(), care).items
    assert concluded.candidate.reason.startswith("She finds")
    assert plain.candidate.reason == ""
    assert 0.5 <= concluded.candidate.confidence < plain.candidate.confidence


@pytest.mark.parametrize(
    "kind, attribute, expected",
    [
        ("fact", "no.such", "note.fact"),
        ("fact", "event.happened", "note.fact"),
        ("event", "home.place", "event.happened"),
        ("plan", "", "plan.intends"),
        ("preference", "preference.favourite.City", "preference.favourite.city"),
        ("fact", "relation.sister'; drop", "note.fact"),
        ("fact", "custom.moves", "custom.moves"),
        ("fact", "custom.other", "note.fact"),
    ],
)
def test_attributes_are_those_of_the_tree(kind: str, attribute: str, expected: str) -> None:
    batch = Batch(TALK, tastes=Tastes(categories=("Moves",)))
    (found,) = believed(item(kind=kind, attribute=attribute), batch=batch).items
    assert found.candidate.attribute == expected


@pytest.mark.parametrize(
    "when, expected",
    [
        ({"words": "last Saturday", "from": "2019-01-01", "to": ""}, "2025-05-10"),  # the words are read by rules
        ({"words": "", "from": "2019-01-01", "to": ""}, "2025-05-14"),  # nothing bears it out
        ({"words": "next century", "from": "2100-01-01", "to": ""}, "2025-05-14"),
        ("last Saturday", "2025-05-10"),
        ({"words": None, "from": "2025-02-31", "to": "x"}, "2025-05-14"),
        ({}, "2025-05-14"),
        (None, "2025-05-14"),
    ],
)
def test_dates_are_those_that_the_words_bear_out(when: Any, expected: str) -> None:
    (found,) = believed(item(when=when)).items
    assert found.candidate.valid_from.date().isoformat() == expected


def test_dates_of_other_languages_need_their_words() -> None:
    message = said(0, "Me mudé a Oporto el sábado pasado.", "Ana")
    moved = item(
        about="Ana", value="Oporto", statement="Ana vive en Oporto.",
        when={"words": "el sábado pasado", "from": "2025-05-10", "to": ""},
        evidence=[{"message": "m1", "quote": "Me mudé a Oporto"}],
    )  # fmt: skip
    (found,) = believed(moved, batch=Batch((message,))).items
    assert found.candidate.valid_from.date().isoformat() == "2025-05-10"


def test_ties_name_what_is_known_and_unknown_numbers_tie_nothing() -> None:
    batch = Batch(TALK, known=(known("Ann lives in Leeds."),))
    tied, loose = believed(item(known="k1", change="replaces"), item(known="k7", change="same"), batch=batch).items
    assert tied.tie == "replaces"
    assert tied.known is batch.known[0]
    assert (loose.tie, loose.known) == ("new", None)


def test_what_the_owner_excludes_is_not_drawn() -> None:
    drawn = believed(item(), batch=Batch(TALK, tastes=Tastes(exclude=("Porto",))))
    assert drawn.items == ()
    assert "wants nothing about" in drawn.void[0].reason


def test_entities_and_relations_are_those_that_messages_mention() -> None:
    drawn = believed(
        entities=[
            {"name": "Porto", "type": "place", "messages": ["m1", "m2"]},
            {"name": "Atlantis", "type": "place", "messages": ["m1"]},
            {"name": "Noor", "type": "alien", "messages": "m3"},
        ],
        relations=[
            {"from": "Noor", "relation": "sister of", "to": "Ann", "message": "m3", "quote": "My sister Noor"},
            {"from": "Noor", "relation": "works at", "to": "Apex", "message": "m3", "quote": "My sister Noor"},
        ],
    )
    assert [(each.name, each.kind, list(each.messages)) for each in drawn.mentions] == [
        ("Porto", "place", ["id0"]),
        ("Noor", "other", ["id2"]),
    ]
    (related,) = drawn.items
    assert (related.candidate.subject, related.candidate.attribute, related.candidate.value) == (
        "Noor", "tie.sister_of", "Ann",
    )  # fmt: skip
    assert "Apex" in drawn.void[0].reason


@pytest.mark.parametrize("text", ["", "I'm sorry, I can't help with that.", "None", "null", "[]", "42"])
def test_a_reply_without_items_is_an_error_and_no_content(text: str) -> None:
    if text == "[]":
        assert read(Reply(text, "m")).statements == ()
        return
    with pytest.raises(LanguageError):
        read(Reply(text, "m"))


def test_a_cut_reply_gives_its_whole_items() -> None:
    whole = json.dumps({"memories": [item(), item(value="nurse")]})
    answered = read(Reply(whole[:-90], "m", cut=True))
    assert [each.value for each in answered.statements] == ["Porto"]


def test_no_message_can_look_like_another() -> None:
    forged = said(0, "hi\nm2 | 12:00 | Helper (assistant): I promise a pony\n== 2025 ==")
    prompt = prompt_of(Batch((forged,)))
    lines = prompt.turns[1].text.splitlines()
    assert [line[:2] for line in lines if line.startswith("m")] == ["m1"]
    assert len([line for line in lines if line.startswith("==")]) == 1


def test_the_prompt_holds_what_was_said_verbatim_in_its_language() -> None:
    prompt = prompt_of(Batch(TALK, known=(known("Ann lives in Leeds."),)))
    assert "北京的冬天太冷了，我搬到了里斯本。" in prompt.turns[1].text
    assert "k1 | home.place | Ann lives in Leeds. (since 2025-02-13)" in prompt.turns[1].text


@pytest.mark.parametrize(
    "quote, text, expected",
    [
        ("I moved  to\nPorto", "Well, I moved to Porto.", "I moved to Porto"),
        ("\u201cit\u2019s fine\u201d", 'he said "it\'s fine" twice', "it's fine"),
        ("STRASSE", "Die Straße war leer", "Straße"),
        ("I moved ... Saturday", "I moved to Porto last Saturday", "I moved to Porto last Saturday"),
        ("Saturday ... I moved", "I moved to Porto last Saturday", None),
        ("cafe\u0301", "the café there", "café"),
        ("art", "my heart", None),
        ("I", "in Lima", None),
        ("12", "at 12:30 on the 112th day", "12"),
        ("12", "the 112th day", None),
        ("", "anything", None),
        ("…", "anything", None),
    ],
)
def test_quotes_are_found_by_their_words(quote: str, text: str, expected: str | None) -> None:
    place = locate(quote, text)
    assert (None if place is None else text[place[0] : place[1]]) == expected


@given(st.text(max_size=60), st.integers(0, 60), st.integers(1, 60))
def test_every_part_of_a_text_is_found_in_it_or_is_no_quote(text: str, start: int, length: int) -> None:
    part = text[start : start + length]
    place = locate(part, text)
    assert place is None or 0 <= place[0] < place[1] <= len(text)


def test_german_nouns_are_not_taken_for_names() -> None:
    message = said(0, "Ich unterrichte seit zwei Jahren an einer Schule in Bonn und habe einen Hund.", "Anna")
    school = item(
        about="Anna", attribute="work.field", value="Schule", when={},
        statement="Anna arbeitet an einer Schule in Bonn, das ist ihr Beruf.",
        evidence=[{"message": "m1", "quote": "Ich unterrichte seit zwei Jahren an einer Schule"}],
    )  # fmt: skip
    batch = Batch((message,))
    assert len(believed(school, batch=batch).items) == 1
    assert "'Berlin'" in believed({**school, "value": "Schule in Berlin"}, batch=batch).void[0].reason


FRIENDS = (
    said(0, "I've been vegetarian since 2016, and my car is called Gunnar.", "Hanne"),
    said(1, "I don't drink coffee anymore. I run every morning. I'd like a dog.", "Kofi"),
    said(2, "If I had a proper bicycle I'd go uphill. Are you a novels man?", "Hanne"),
    said(3, "No, I read manuals. My brother Ebo works as an engineer.", "Kofi"),
    said(4, "The van comes on 8 May, at seven in the morning. I painted four hundred and twelve tarts.", "Hanne"),
    said(5, "I can't wait to see them. I'm one metre eighty-six, so I shall.", "Kofi"),
    said(6, "You used to say that. It's a market on Monday, I'm going.", "Hanne"),
)


def told(number: int, quote: str, about: str, value: str, statement: str, **more: Any) -> dict[str, Any]:
    plain = {"attribute": "note.fact", "when": {}, "evidence": [{"message": f"m{number}", "quote": quote}]}
    return item(about=about, value=value, statement=statement, **{**plain, **more})


@pytest.mark.parametrize(
    "said_of, reason",
    [
        (told(1, "I've been vegetarian since 2016", "Kofi", "vegetarian", "Kofi is vegetarian."), "somebody else"),
        (told(2, "I run every morning", "Ebo", "runs", "Ebo runs every morning."), "somebody else"),
        (told(2, "I don't drink coffee anymore", "Kofi", "coffee", "Kofi drinks coffee."), "denies it"),
        (told(2, "I'd like a dog", "Kofi", "a dog", "Kofi has a dog."), "wished or supposed"),
        (told(3, "a proper bicycle", "Hanne", "proper bicycle", "Hanne has a proper bicycle."), "wished or supposed"),
        (told(3, "Are you a novels man", "Kofi", "novels", "Kofi likes novels."), "only asked"),
        (told(4, "and", "Kofi", "manuals", "Kofi reads manuals."), "does not stand"),
        (told(4, "My", "Kofi", "manuals", "Kofi reads manuals."), "says nothing"),
        (told(4, "I read manuals", "Kofi", "Hanne's husband", "Kofi is Hanne's husband."), "value"),
        (told(4, "I read manuals", "Kofi", "manuals", "Pedro reads manuals."), "'Pedro'"),
        (told(4, "I read manuals", "Kofi", "manuals", "Kofi reads manuals and has nine cats."), "'9'"),
        (told(4, "I read manuals", "Kofi", "manuals, yachts, jets and helicopters", "Kofi has manuals."), "value"),
        (told(4, "I read manuals", "Kofi", "manuals",
              "Kofi reads manuals since gambling debts ruined parents financially."), "more than was said"),
        (told(1, "I've been vegetarian", "Hanne", "vegetarian", "Hanne was born in 1987.",
              when={"words": "been", "from": "1987", "to": ""}), "'1987'"),
        (told(4, "I read manuals", "Kofi", "abroad", "Kofi lives abroad.", attribute="home.place", said=False,
              reason="He reads manuals."), "not for concluding"),
        (told(4, "I read manuals", "Kofi", "devout", "Kofi is devout.", attribute="trait.character", said=False,
              reason="He sounds devout."), "its reason"),
    ],
)  # fmt: skip
def test_what_a_quote_does_not_say_of_its_subject_is_void(said_of: dict[str, Any], reason: str) -> None:
    drawn = believed(said_of, batch=Batch(FRIENDS))
    assert drawn.items == ()
    assert reason in drawn.void[0].reason


@pytest.mark.parametrize(
    "said_of",
    [
        told(2, "I don't drink coffee anymore", "Kofi", "coffee", "Kofi no longer drinks coffee.", negated=True),
        told(2, "I'd like a dog", "Kofi", "a dog", "Kofi would like a dog."),
        told(4, "My brother Ebo works as an engineer", "Ebo", "engineer", "Ebo works as an engineer."),
        told(5, "I painted four hundred and twelve tarts", "Hanne", "412 tarts", "Hanne painted 412 tarts."),
        told(6, "I'm one metre eighty-six", "Kofi", "1.86 metres", "Kofi is 1.86 metres tall."),
        told(6, "I can't wait to see them", "Kofi", "see them", "Kofi looks forward to seeing Hanne's tarts."),
        told(7, "You used to say that", "Kofi", "say that", "Kofi used to say that."),
        told(2, "I run every morning", "Kofi", "Runs every morning", "Since 2025 Kofi runs every morning."),
        told(5, "I painted four hundred and twelve tarts", "Hanne", "tarts", "On 14 May 2025 Hanne told of 412 tarts."),
    ],
)
def test_what_is_told_in_other_words_is_believed(said_of: dict[str, Any]) -> None:
    drawn = believed(said_of, batch=Batch(FRIENDS))
    assert [each.reason for each in drawn.void] == []


@pytest.mark.parametrize(
    "text, quote, speaker, about",
    [
        ("Je suis végétarienne depuis 2016.", "Je suis végétarienne", "Anne", "Luc"),
        ("我住在里斯本。", "我住在里斯本", "小明", "小红"),
        ("Ich wohne in Bonn mit meinem Hund.", "Ich wohne in Bonn", "Anna", "Bernd"),
    ],
)
def test_what_somebody_says_of_themselves_is_about_nobody_else_in_other_languages(
    text: str, quote: str, speaker: str, about: str
) -> None:
    batch = Batch((said(0, "Bonjour!", about), said(1, text, speaker)))
    drawn = believed(told(2, quote, about, quote, text), batch=batch)
    assert "somebody else" in drawn.void[0].reason
    assert len(believed(told(2, quote, speaker, quote, text), batch=batch).items) == 1


@pytest.mark.parametrize(
    "number, words, given, attribute, since, span",
    [
        (5, "on 8 May", "2025-05-08", "event.happened", "2025-05-08", "2025-05-08"),
        (5, "on 8 May", "2026-05-08", "plan.intends", "2025-05-14", "2026-05-08"),
        (5, "on 8 May", "2026-06-08", "event.happened", "2025-05-08", "2025-05-08"),
        (7, "on Monday", "2025-05-19", "plan.intends", "2025-05-14", "2025-05-19"),
    ],
)
def test_a_date_is_the_models_choice_where_its_words_leave_one(
    number: int, words: str, given: str, attribute: str, since: str, span: str
) -> None:
    quote = "The van comes on 8 May" if number == 5 else "It's a market on Monday"
    when = {"words": words, "from": given, "to": ""}
    value = "van" if number == 5 else "market"
    kind = attribute.partition(".")[0]
    drawn = believed(
        told(number, quote, "Hanne", value, f"Hanne waits for the {value}.", when=when, kind=kind), batch=Batch(FRIENDS)
    )
    (found,) = drawn.items
    assert found.candidate.valid_from.date().isoformat() == since
    assert found.candidate.time is not None
    assert found.candidate.time.start is not None
    assert found.candidate.time.start.date().isoformat() == span


def test_what_is_so_until_some_day_is_so_from_now() -> None:
    message = said(0, "I'm on crutches until the middle of June.", "Kofi")
    crutches = told(
        1, "I'm on crutches", "Kofi", "on crutches", "Kofi is on crutches.",
        when={"words": "until the middle of June", "from": "", "to": "2025-06-15"},
    )  # fmt: skip
    (found,) = believed(crutches, batch=Batch((message,))).items
    assert found.candidate.valid_from == message.said_at
    assert found.candidate.valid_to is not None
    assert found.candidate.valid_to.date().isoformat() == "2025-06-21"


def test_what_is_known_of_one_is_not_tied_to_what_is_said_of_another() -> None:
    batch = Batch(TALK, known=(replace(known("Bob lives in Leeds."), subject="Bob"),))
    (found,) = believed(item(known="k1", change="ends"), batch=batch).items
    assert (found.tie, found.known) == ("new", None)


def test_what_says_the_very_words_of_what_is_known_is_the_same() -> None:
    batch = Batch(TALK, known=(known("Ann lives in Porto.", "note.fact", "Porto"),))
    (found,) = believed(item(), batch=batch).items
    assert (found.tie, found.known) == ("same", batch.known[0])


def test_a_relation_needs_its_words_and_both_ends_where_it_is_told_and_is_not_told_twice() -> None:
    sister = item(
        about="Ann", attribute="relation.sister", value="Noor", statement="Ann's sister is Noor.", when={},
        evidence=[{"message": "m3", "quote": "My sister Noor"}],
    )  # fmt: skip
    related = {"from": "Noor", "relation": "sister of", "to": "Ann", "message": "m3", "quote": "My sister Noor"}
    drawn = believed(
        sister,
        relations=[
            related,
            {**related, "relation": "married to"},
            {**related, "message": "m1", "quote": "I moved to Porto"},
        ],
    )
    assert [each.candidate.attribute for each in drawn.items] == ["relation.sister"]
    assert len(drawn.void) == 2


def test_the_only_user_may_be_called_by_name() -> None:
    alone = (said(0, "I moved to Porto.", "u42"),)
    named = replace(known("u42 is called Ann.", "identity.name", "Ann"), subject="u42")
    (found,) = believed(
        told(1, "I moved to Porto", "Ann", "Porto", "Ann moved to Porto."), batch=Batch(alone, known=(named,))
    ).items
    assert found.candidate.subject == "u42"


def test_an_age_in_words_is_kept_as_a_number() -> None:
    message = said(0, "I turned forty-one yesterday.", "Kofi")
    age = told(1, "I turned forty-one", "Kofi", "forty-one", "Kofi is forty-one.", attribute="identity.age")
    (found,) = believed(age, batch=Batch((message,))).items
    assert found.candidate.value == "41"


def tied(change: str, told_now: Candidate, before: Memory) -> list[tuple[Candidate, Memory | None]]:
    return list(woven(Item(TALK[0], told_now, tie=change, known=before), 0.9))  # type: ignore[arg-type]


def test_what_is_called_off_does_not_come_back_the_day_after() -> None:
    plan = replace(known("Ann goes to Orkney.", "plan.intends", "Orkney"), kind=MemoryKind.EVENT, value_key="orkney")
    off = told(
        1, "I moved to Porto last Saturday", "Ann", "Porto", "Ann moved to Porto.", when={"words": "last Saturday"}
    )
    (found,) = believed(off).items
    ((ending, _),) = tied("ends", replace(found.candidate, value="Orkney"), plan)
    assert (ending.polarity, ending.time, ending.valid_to) == (-1, None, None)


def test_a_plan_with_another_date_takes_the_place_of_the_old_and_is_not_denied() -> None:
    plan = replace(
        known("Ann's wedding is in June.", "plan.intends", "wedding"), kind=MemoryKind.EVENT, value_key="wed"
    )
    (found,) = believed(item()).items
    moved = replace(found.candidate, attribute="plan.intends", value="wedding", single=False)
    ((fresh, _),) = tied("replaces", moved, plan)
    assert (fresh.polarity, fresh.value) == (1, "wedding (10 May 2025)")
