"""Ids are opaque: whatever a caller chooses comes back as it was, and nobody reads what another one owns."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mnemic import InputError, Memory, MnemicError, NotFoundError
from mnemic.model.message import StoredMessage
from tests.services.opened import open_memory

pytestmark = pytest.mark.usefixtures("engine")

ODD_IDS = (
    str(uuid.UUID(int=7)),
    "a/b/../c",
    "what?",
    "no#1",
    "100%25",
    "a&b=c",
    "two words",
    'it\'s "quoted"',
    "semi;colon--",
    "new\nline\ttab",
    "\u5c0f\u660e",
    "\U0001f600",
    "*",
    "_",
    "%",
    "NULL",
    "007",
    "x" * 512,
)
WRONG_IDS = ("", " ", "\n", "x" * 513, "a\0b", "\ud800", True, False, 1.5, b"x", ["a"], {"a": 1}, 10**400, 10**5_000)


@pytest.fixture(scope="module")
def memory(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with open_memory(tmp_path_factory.mktemp("ids")) as opened:
        yield opened


def messages(memory: Memory, user: str | int, **options: Any) -> list[StoredMessage]:
    return [item for item in memory.list(user=user, kinds="message", **options) if isinstance(item, StoredMessage)]


@pytest.mark.parametrize("chosen", ODD_IDS, ids=lambda chosen: ascii(chosen)[:20])
def test_any_text_is_an_id_of_a_user_a_session_an_agent_a_speaker_and_a_message(memory: Memory, chosen: str) -> None:
    message = {"content": f"The code word of {chosen[:20]} is plover.", "id": chosen, "name": chosen}
    added = memory.add(message, user=chosen, session=chosen, agent=chosen)
    assert (added.stored, added.session) == (1, chosen)
    again = memory.add(message, user=chosen, session=chosen, agent=chosen)
    assert (again.stored, again.skipped[0].id) == (0, added.message_ids[0])
    hit = memory.search("plover", user=chosen, where={"session": chosen, "agent": chosen, "external_id": chosen})[0]
    assert (hit.id, hit.external_id, hit.session, hit.speaker) == (added.message_ids[0], chosen, chosen, chosen)
    assert [session.name for session in memory.sessions(user=chosen)] == [chosen]
    assert [message.external_id for message in messages(memory, chosen, session=chosen)] == [chosen]
    assert memory.search("plover", user=chosen, where={"not": {"speaker": {"eq": chosen}}}).hits == ()


@pytest.mark.parametrize("number", [0, 17, -1, 2**70])
def test_a_whole_number_is_the_id_of_its_digits(memory: Memory, number: int) -> None:
    memory.add({"content": "counted", "id": number}, user=number, session=number)
    assert memory.search("counted", user=str(number))[0].external_id == str(number)
    assert [session.name for session in memory.sessions(user=number)] == [str(number)]
    assert memory.jobs.wait(user=number) is not None


@pytest.mark.parametrize("wrong", WRONG_IDS, ids=lambda wrong: type(wrong).__name__)
@pytest.mark.parametrize("field", ["user", "session", "agent", "cube", "messages[0].id", "messages[0].name"])
def test_what_is_no_id_is_an_error_that_names_the_field(memory: Memory, field: str, wrong: object) -> None:
    message: dict[str, object] = {"content": "never stored"}
    names: dict[str, Any] = {"user": "strict"}
    if field.startswith("messages"):
        message[field.rpartition(".")[2]] = wrong
    else:
        names[field] = wrong
    with pytest.raises(InputError) as caught:
        memory.add(message, **names)
    assert caught.value.field == field
    assert not memory.list(user="strict")


@pytest.mark.parametrize("wrong", [None, *WRONG_IDS], ids=lambda wrong: type(wrong).__name__)
def test_no_call_takes_a_user_that_is_none(memory: Memory, wrong: Any) -> None:
    calls: list[Callable[[], object]] = [
        lambda: memory.add("x", user=wrong),
        lambda: memory.search("x", user=wrong),
        lambda: memory.context("x", user=wrong),
        lambda: memory.ask("x?", user=wrong),
        lambda: memory.list(user=wrong),
        lambda: memory.get("x", user=wrong),
        lambda: memory.stats(user=wrong),
        lambda: memory.sessions(user=wrong),
        lambda: memory.forget(everything=True, user=wrong),
        lambda: memory.jobs.list(user=wrong),
        lambda: memory.cubes.list(user=wrong),
        lambda: list(memory.export(user=wrong)),
    ]
    for call in calls:
        with pytest.raises(InputError) as caught:
            call()
        assert caught.value.field == "user"


@pytest.mark.parametrize("wrong", [None, *WRONG_IDS], ids=lambda wrong: type(wrong).__name__)
@pytest.mark.parametrize("verb", ["get", "history", "explain", "lock", "restore", "forget"])
def test_no_call_takes_an_id_that_is_none(memory: Memory, verb: str, wrong: object) -> None:
    given = [wrong] if verb == "forget" else wrong  # which takes a list as well
    with pytest.raises(InputError) as caught:
        getattr(memory, verb)(given, user="strict")
    assert caught.value.field == "id"


@pytest.mark.parametrize("chosen", ODD_IDS, ids=lambda chosen: ascii(chosen)[:20])
def test_an_id_that_is_not_there_is_not_found(memory: Memory, chosen: str) -> None:
    memory.add("something", user="owner")
    for verb in ("get", "history", "explain", "lock", "restore", "forget"):
        with pytest.raises(NotFoundError):
            getattr(memory, verb)(chosen, user="owner")
    for call in (
        lambda: memory.search("x", user="owner", cubes=chosen),
        lambda: memory.add("x", user="owner", cube=chosen),
        lambda: memory.jobs.wait(chosen, user="owner"),
        lambda: memory.forget(session=chosen, user="owner"),
        lambda: memory.cubes.delete(chosen, user="owner"),
    ):
        with pytest.raises(NotFoundError):
            call()
    assert len(memory.list(user="owner", kinds="message", session=chosen)) == 0


def test_users_whose_ids_share_a_beginning_or_differ_in_case_are_others(memory: Memory) -> None:
    alike = ("test_user", "test_user1", "test_user10", "test", "Test_User", "test_user ", "test%", "test_use_")
    for number, user in enumerate(alike):
        memory.add(f"My secret number is {number}.", user=user, session="same")
    for number, user in enumerate(alike):
        found = memory.search("secret number", user=user, kinds="message", limit=100)
        assert [hit.text for hit in found] == [f"My secret number is {number}."]
        assert [message.text for message in messages(memory, user, session="same")] == [found[0].text]


def test_metadata_that_claims_to_be_someone_else_changes_no_scope(memory: Memory) -> None:
    claims = {"user": "victim", "user_id": "victim", "cube": "victim", "cube_key": 1, "principal": "victim", "id": "1"}
    memory.add("I own everything.", user="victim")
    added = memory.add({"content": "I am the victim now.", "metadata": claims}, user="thief")
    assert [hit.text for hit in memory.search("victim now everything", user="victim")] == ["I own everything."]
    hit = memory.search("victim now everything", user="thief")[0]
    assert (hit.id, hit.metadata) == (added.message_ids[0], claims)
    with pytest.raises(MnemicError):
        memory.search("everything", user="thief", where={"user": "victim"})


def test_a_foreign_cube_is_one_that_is_not_there(memory: Memory) -> None:
    cube = memory.cubes.create("diary", user="keeper")
    memory.add("The treasure is under the oak.", user="keeper", cube=cube.id)
    absent: list[Callable[[str], object]] = [
        lambda each: memory.search("treasure", user="burglar", cubes=each),
        lambda each: memory.add("x", user="burglar", cube=each),
        lambda each: memory.list(user="burglar", cube=each),
        lambda each: memory.stats(user="burglar", cube=each),
        lambda each: memory.forget(everything=True, user="burglar", cube=each),
        lambda each: memory.cubes.delete(each, user="burglar"),
        lambda each: memory.jobs.list(user="burglar", cube=each),
        lambda each: list(memory.export(user="burglar", cube=each)),
        lambda each: memory.profile(user="burglar", cube=each),
    ]
    for call in absent:
        with pytest.raises(NotFoundError) as foreign:
            call(cube.id)
        with pytest.raises(NotFoundError) as missing:
            call("not-there")
        assert str(foreign.value) == str(missing.value).replace("not-there", cube.id), "the answer tells nothing"
    assert [hit.text for hit in memory.search("treasure", user="keeper", cubes=[cube.id])] == [
        "The treasure is under the oak."
    ]


@pytest.mark.parametrize("wrong", [5, b"x", {"a": 1}.items(), [], [5.5], [""], [None]], ids=repr)
def test_cubes_that_are_no_names_are_an_error(memory: Memory, wrong: Any) -> None:
    with pytest.raises(InputError, match=r"^cubes"):
        memory.search("x", user="owner", cubes=wrong)
