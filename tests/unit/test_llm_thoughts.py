"""Thoughts of reasoning models are taken out, wherever a stream is cut; what only talks about them stays."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mnemic.backends.models.thoughts import ThoughtFilter, without_thoughts

FENCE = "```xml\n<think>an example</think>\n```\nSo it looks."
HARMONY = (
    "<|channel|>analysis<|message|>The user wants 4.<|end|><|start|>assistant<|channel|>commentary to=functions.x "
    "<|constrain|>json<|message|>{}<|call|><|start|>assistant<|channel|>final<|message|>It is 4 < 5.<|return|>"
)

REPLIES = [
    ("Paris.", "Paris."),
    ("", ""),
    (" \n ", ""),
    ("<think>hm</think>Paris.", "Paris."),
    (" \n<think>\nhm\n</think>\n\nParis.\n", "Paris.\n"),
    ("<think></think>Paris.", "Paris."),
    ("<THINK>hm</Think>Paris.", "Paris."),
    ("<thinking>hm</thinking>Paris.", "Paris."),
    ("<thought>hm</thought>Paris.", "Paris."),
    ("<thoughts>hm</thoughts>Paris.", "Paris."),
    ("<reasoning>hm</reasoning>Paris.", "Paris."),
    ("<seed:think>hm</seed:think>Paris.", "Paris."),
    ("[THINK]hm[/THINK]Paris.", "Paris."),
    ("<think>one</think>\n<think>two</think>\nParis.", "Paris."),
    ("<think>never closed. Paris.", ""),
    ("<think>closed by another </thinking> tag", ""),
    ("<think", "<think"),
    ("<thinker> is no tag", "<thinker> is no tag"),
    ("hm, so it is Paris\n</think>\n\nParis.", "Paris."),
    ("hm</think>", ""),
    ('hm\n</think>\n{"city": "Paris"}', '{"city": "Paris"}'),
    ("hm ```code``` hm</think>Paris.", "Paris."),
    ('{"a": 1}', '{"a": 1}'),
    ('{"a": "he wrote </think> first"}', '{"a": "he wrote </think> first"}'),
    ('[{"a": "</think>"}]', '[{"a": "</think>"}]'),
    (FENCE, FENCE),
    ("Write <think> before and </think> after it.", "Write <think> before and </think> after it."),
    ("Its end is `</think>`, always.", "Its end is `</think>`, always."),
    ('Say "</think>" to end.', 'Say "</think>" to end.'),
    ("```\n</think>\n```", "```\n</think>\n```"),
    ("<think>hm</think>Its end is </think>.", "Its end is </think>."),
    (HARMONY, "It is 4 < 5."),
    ("<|start|>assistant" + HARMONY, "It is 4 < 5."),
    ("<|channel|>final<|message|>Paris.", "Paris."),
    ("<|channel|>analysis<|message|>never ended", ""),
    ("<|channel|>analysis<|message|>hm<|end|>", ""),
    ("<|channel|>analysis", ""),
    ("<|channel|>" + "x" * 300, "<|channel|>" + "x" * 300),
    ("\u0130stanbul <think> K\u0131z", "\u0130stanbul <think> K\u0131z"),
]


def pieces(text: str, cuts: list[int]) -> list[str]:
    places = sorted({cut for cut in cuts if cut < len(text)} | {0, len(text)})
    return [text[start:end] for start, end in pairwise(places)]


def filtered(parts: list[str], *, wary: bool) -> str:
    thoughts = ThoughtFilter(wary=wary)
    return "".join([*(thoughts.feed(part) for part in parts), thoughts.end()])


@pytest.mark.parametrize("said, answer", REPLIES)
def test_the_answer_is_what_stays_without_the_thoughts(said: str, answer: str) -> None:
    assert without_thoughts(said) == answer


@pytest.mark.parametrize("said, answer", REPLIES)
def test_a_stream_cut_at_any_place_or_everywhere_gives_the_same_answer(said: str, answer: str) -> None:
    for cut in range(len(said)):
        assert filtered([said[:cut], said[cut:]], wary=True) == answer
    assert filtered(list(said), wary=True) == answer


FRAGMENTS = ["<think>", "</think>", "<thinking>", "</thinking>", "[THINK]", "[/think]", "<|channel|>", "<|start|>",
             "<|message|>", "<|end|>", "<|return|>", "analysis", "final", "<", "<|", "</", "```", "`", " ", "\n", "x",
             "Paris.", "\u0130"]  # fmt: skip
TEXTS = st.lists(st.sampled_from(FRAGMENTS), max_size=14).map("".join)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 120)))
def test_any_stream_in_any_pieces_gives_what_the_whole_gives(said: str, cuts: list[int]) -> None:
    assert filtered(pieces(said, cuts), wary=True) == without_thoughts(said)


@settings(max_examples=400, deadline=None)
@given(TEXTS, st.lists(st.integers(0, 120)))
def test_a_trusting_filter_does_not_depend_on_the_pieces_either(said: str, cuts: list[int]) -> None:
    assert filtered(pieces(said, cuts), wary=False) == filtered([said], wary=False)


@settings(max_examples=400, deadline=None)
@given(TEXTS)
def test_nothing_is_invented(said: str) -> None:
    kept = iter(said)
    assert all(letter in kept for letter in without_thoughts(said))


def test_an_answer_is_shown_as_it_comes_and_not_at_its_end() -> None:
    thoughts = ThoughtFilter()
    assert [thoughts.feed(part) for part in ("<thi", "nk>hm</thi", "nk>", "Pa", "ris")] == ["", "", "", "Pa", "ris"]


def test_a_wary_filter_shows_nothing_before_it_knows() -> None:
    thoughts = ThoughtFilter(wary=True)
    assert [thoughts.feed(part) for part in ("hm", "hm</think>", "Pa", "ris")] == ["", "", "Pa", "ris"]


def test_a_wary_filter_that_is_told_to_trust_shows_what_it_held() -> None:
    thoughts = ThoughtFilter(wary=True)
    assert thoughts.feed("Pa") == ""
    thoughts.trust()
    assert thoughts.feed("ris") == "Paris"


def test_the_limit_of_a_stream_that_is_not_wary_is_a_block_opened_in_the_prompt() -> None:
    assert filtered(["hm", "</think>", "Paris."], wary=False) == "hm</think>Paris."
    assert without_thoughts("hm</think>Paris.") == "Paris."


def test_long_thoughts_in_many_small_pieces_are_read_in_time_that_grows_with_their_length() -> None:
    said = "thinking about it " * 10_000
    parts = [said[at : at + 4] for at in range(0, len(said), 4)]
    for wrapped in (["<think>", *parts, "</think>", "Paris."], [*parts, "</think>", "Paris."]):
        assert filtered(wrapped, wary=True) == "Paris."
