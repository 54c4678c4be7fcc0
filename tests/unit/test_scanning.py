"""Rows are multiplied as their 32-bit floats would be, and a large view gives what multiplying all of it would."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest
from numpy.typing import NDArray

from mnemic.core.asked import Asks
from mnemic.core.ranking import Question, Weights, look, rank
from mnemic.core.scanning import nearness, products, worked_out
from mnemic.model.index import CubeView, Ids, Posting, codes_of, widened

SIZE, WIDTH, TALK = 12_000, 384, 40


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True), dtype=np.float32)


@lru_cache(maxsize=1)
def vectors() -> NDArray[np.float32]:
    """Sentences around subjects, none far from the mean of all, as sentence embedders give."""
    chance = np.random.default_rng(3)
    subjects = chance.standard_normal((300, WIDTH), dtype=np.float32) + np.float32(0.5)
    return unit(subjects[chance.integers(300, size=SIZE)] + chance.standard_normal((SIZE, WIDTH), dtype=np.float32))


@lru_cache(maxsize=1)
def large() -> CubeView:
    places = np.arange(SIZE, dtype=np.int32)
    previous = np.where(places % TALK > 0, places - 1, -1).astype(np.int32)
    following = np.where((places % TALK < TALK - 1) & (places < SIZE - 1), places + 1, -1).astype(np.int32)
    rows = vectors().astype(np.float16)
    exact = widened(rows)
    norms = np.where(previous >= 0, np.linalg.norm(exact + exact[previous], axis=1), 1).astype(np.float32)
    none = np.zeros(SIZE, dtype=np.int32)
    return CubeView(
        cube_key=1, revision=1, keys=places.astype(np.int64), kinds=none.astype(np.int16),
        owners=Ids(places.astype("S8")), versions=Ids(np.zeros(SIZE, dtype="S1")), sessions=places // TALK,
        positions=places, speakers=places % 3, said_at=none.astype(np.int64),
        valid_to=np.full(SIZE, 1 << 60, dtype=np.int64), lengths=places % 20 + 3, starts=none, ends=none,
        traits=none.astype(np.int16),
        live=np.ones(SIZE, dtype=np.bool_), previous=previous, following=following, pair_norms=norms, vectors=rows,
        codes=codes_of(rows), kind_names=["message"], speaker_names=["a", "b", "c"],
        session_ids=[str(number) for number in range(SIZE // TALK)],
    )  # fmt: skip


def asked(count: int) -> NDArray[np.float32]:
    chance = np.random.default_rng(9)
    near = vectors()[chance.integers(SIZE, size=count)]
    return unit(near + unit(chance.standard_normal((count, WIDTH), dtype=np.float32)) * np.float32(0.8))


def postings(vector: NDArray[np.float32], seed: int) -> list[Posting]:
    """Words that stand anywhere, and a little more often near the answer."""
    chance = np.random.default_rng(seed)
    near = np.argsort(-(vectors() @ vector))[:200]
    found = [np.unique([*chance.integers(SIZE, size=size), *near[chance.random(200) < 0.05]]) for size in (9, 90, 900)]
    return [(keys.astype(np.int64), np.ones(len(keys), dtype=np.int64)) for keys in found]


@pytest.mark.parametrize("rows", [0, 1, 255, 256, 1000])
def test_halves_multiply_as_their_floats(rows: int) -> None:
    chance = np.random.default_rng(rows)
    halves = (chance.standard_normal((rows, 48)) * 10.0 ** -chance.integers(0, 9, (rows, 48))).astype(np.float16)
    some = [chance.standard_normal(48).astype(np.float32) for _ in range(3)]
    assert np.array_equal(widened(halves), halves.astype(np.float32))
    found = products(halves, some)
    assert found.shape == (3, rows)
    for row, vector in zip(found, some, strict=True):
        assert np.allclose(row, halves.astype(np.float32) @ vector, rtol=1e-5, atol=1e-6)
        assert np.array_equal(row, products(halves, [vector])[0]), "a question's products depend on the others"


def test_codes_tell_signs_whatever_the_width() -> None:
    rows = np.random.default_rng(1).standard_normal((50, 70)).astype(np.float16)
    codes = codes_of(rows)
    assert len(codes) == 2
    differing = sum(np.bitwise_count(code ^ code[0]).astype(int) for code in codes)
    assert np.array_equal(differing, ((rows > 0) != (rows[0] > 0)).sum(axis=1))


@pytest.mark.parametrize("share", [1.0, 0.3, 0.01, 0.001])
@pytest.mark.parametrize("worded", [False, True])
def test_a_large_view_finds_what_multiplying_all_of_it_finds(share: float, worded: bool) -> None:
    view, found = large(), []
    exact = replace(view, codes=())
    eligible = np.random.default_rng(5).random(SIZE) < share
    for number, vector in enumerate(asked(25)):
        words = postings(vector, number) if worded else []
        question = Question(vector, ["x"] * len(words), frozenset(), frozenset(), Asks(0), [], [], 0)
        best, same = (
            [item.place for item in rank(each, looked, weights=Weights(), fusion=None, limit=10)]
            for each in (view, exact)
            for looked in (look(each, question, words, eligible=eligible, weights=Weights()),)
        )
        assert eligible[best].all()
        assert len(best) == len(same)
        found.append(len(set(best) & set(same)) / len(same))
    assert np.mean(found) >= 0.98


def test_what_is_near_by_code_has_its_true_cosine() -> None:
    view = large()
    for vector in asked(10):
        true, found = products(view.vectors, [vector])[0], nearness(view, vector, None, None)
        best = np.argsort(-true)[:10]
        assert np.array_equal(found[best], true[best])
        assert not np.array_equal(found, true), "all of it was multiplied"


def test_several_questions_share_the_work_of_a_small_view_only() -> None:
    view, questions = large(), list(asked(2))
    assert worked_out(view, questions) == [None, None]
    small = replace(view, codes=())
    assert worked_out(small, questions[:1]) == [None]
    known = worked_out(small, [questions[0], None, questions[1]])
    assert known[1] is None and known[2] is not None
    assert np.array_equal(known[2], products(small.vectors, [questions[1]])[0])
