from __future__ import annotations

from pathlib import Path

import pytest

from mnemic.api import Memory
from mnemic.core.fusion import chance
from mnemic.core.holding import ALONE, RIVALS, Clues, are_several, likelihood
from tests.services.opened import open_memory, talk


def test_the_nearer_the_best_passages_the_likelier_an_answer() -> None:
    near, far = (likelihood(Clues(rivals=False, values={"nearness": value})) for value in (0.6, 0.1))
    assert 0 < far < 0.5 < near < 1
    assert set(ALONE) == {"offset", "nearness"}


def test_what_others_say_of_the_matter_makes_an_answer_less_likely() -> None:
    clues = {name: 0.0 for name in RIVALS if name != "offset"}
    ours, theirs = (likelihood(Clues(rivals=True, values={**clues, "cover": value})) for value in (0.3, -0.3))
    assert theirs < 0.5 < ours


@pytest.mark.parametrize(
    "speakers, several",
    [(("Ann", "assistant"), False), (("Ann", "Ben"), True), (("user", "Assistant", ""), False), ((), False)],
)
def test_roles_are_nobody_that_a_question_could_mean(speakers: tuple[str, ...], several: bool) -> None:
    assert are_several(speakers) is several


def test_chances_stay_within_bounds() -> None:
    assert 0 < chance(-1e9) < chance(0) == 0.5 < chance(1e9) <= 1


def test_search_tells_how_likely_memory_holds_an_answer(tmp_path: Path) -> None:
    with Memory(tmp_path / "real", settings={"worker": False}) as memory:
        nothing = memory.search("Where did I park?", user="ann").confidence
        memory.add([{"role": "user", "name": "Ann", "content": "I parked by the old mill."}], user="ann")
        asked, never = (memory.search(words, user="ann").confidence for words in ("Where did I park?", "Who is Nils?"))
    assert nothing is None
    assert asked is not None and never is not None and never < 0.5 < asked <= 1


def test_nothing_is_known_with_an_embedder_that_was_not_measured(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        talk(memory, [("Ann", "I parked by the old mill.")], day=2)
        assert memory.search("Where did I park?", user="ann").confidence is None
