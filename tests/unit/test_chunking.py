"""From blocks to passages: nothing lost, nothing too large, in order, and alike whatever happens elsewhere."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from mnemic.core.chunking import Passage, cut, indexed, sections, size_of, summary_of, summary_of_summaries
from mnemic.core.chunking.passage import PATH
from mnemic.model.document import ChunkKind
from mnemic.model.reading import Block, BlockKind, Reading

LIMIT = 96

WORDS = [
    "harbour", "tide", "the", "of", "Porto", "1842", "3.14", "北京是首都。", "x" * 300,
    "ничего", "e\u0301tude", "\ud800",
    "\u2028", "|", '"quoted."', "wait!)",
    "a", "supercalifragilistic", "👍🏽", "-", "Dr.", "e.g.", "\u00a0",
]  # fmt: skip
ENDS = ".! ?  : … 。"
PROSE = (BlockKind.PARAGRAPH, BlockKind.PARAGRAPH, BlockKind.NOTE, BlockKind.CAPTION)
LISTED = (BlockKind.LIST, BlockKind.CODE)


def sentence(chance: Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 14))) + chance.choice(ENDS)


def prose(chance: Random) -> str:
    return " ".join(sentence(chance) for _ in range(chance.randint(0, 9)))


def block(chance: Random) -> Block:
    """Return a block of any kind, of text of all sorts."""
    lines = "\n".join(sentence(chance) for _ in range(chance.randint(0, 12)))
    match chance.randint(0, 5):
        case 0:
            return Block(BlockKind.HEADING, sentence(chance), chance.randint(1, 6))
        case 1:
            return Block(chance.choice(LISTED), lines)
        case 2:
            header = chance.choice(["", sentence(chance), prose(chance)])
            return Block(BlockKind.TABLE, lines, header=header, row=chance.choice([None, chance.randint(1, 50)]))
        case _:
            return Block(chance.choice(PROSE), prose(chance))


def reading(blocks: list[Block], pages: list[int] | None = None, parts: list[str] | None = None) -> Reading:
    page, placed = 1, []
    for number, block in enumerate(blocks):
        page += pages[number] if pages and number < len(pages) else 0
        part = parts[number] if parts and number < len(parts) else ""
        placed.append(replace(block, page=page if pages is not None else None, part=part))
    return Reading("A title", placed, "text/plain", pages=page)


def covered(found: Reading, passages: list[Passage]) -> str:
    """Return what of a text stands in no passage."""
    text = found.text
    held = bytearray(len(text))
    for each in passages:
        held[each.start : each.end] = b"\x01" * (each.end - each.start)
    return "".join(char for char, inside in zip(text, held, strict=True) if not inside and not char.isspace())


def made(seed: int) -> Reading:
    """Return a document by chance: a seed in the place of many choices, which are slow to draw."""
    chance = Random(seed)
    count = chance.randint(0, 16)
    pages = chance.choice([None, [chance.randint(0, 1) for _ in range(count)]])
    parts = chance.choice([None, [chance.choice(["", "a", "b"]) for _ in range(count)]])
    return reading([block(chance) for _ in range(count)], pages, parts)


SEEDS = st.integers(0, 2**32)
READINGS = SEEDS.map(made)
OVERLAPS = st.integers(0, 2)
many = settings(deadline=None, max_examples=40)


@many
@given(READINGS, OVERLAPS)
@example(reading([Block(BlockKind.PARAGRAPH, 'He said "go." Then he left.')]), 0)
@example(reading([Block(BlockKind.HEADING, "x" * 2_000, 1), Block(BlockKind.PARAGRAPH, "y" * 2_000)]), 1)
@example(reading([Block(BlockKind.TABLE, "1 | 2", header="wide " * 400, row=1)]), 1)
def test_every_character_stands_in_a_passage_and_the_passage_says_it(found: Reading, overlap: int) -> None:
    passages = cut(found, limit=LIMIT, overlap=overlap)
    assert covered(found, passages) == ""
    for each in passages:
        told, said = found.text[each.start : each.end].split(), each.text.split()
        assert [word for word in said if word in told] != [] or not told
        assert _within(told, said), (told, said)


def _within(told: list[str], said: list[str]) -> bool:
    """Tell whether words stand in others, in order: between them, what is repeated may stand."""
    rest = iter(said)
    return all(any(word == other for other in rest) for word in told)


@many
@given(READINGS, OVERLAPS, st.integers(64, 300))
def test_no_passage_is_larger_than_the_limit_with_its_headings(found: Reading, overlap: int, limit: int) -> None:
    for each in cut(found, limit=limit, overlap=overlap):
        assert size_of(indexed(each.headings, each.text)) <= limit


@many
@given(READINGS, OVERLAPS)
@example(reading([Block(BlockKind.PARAGRAPH, "It says:"), Block(BlockKind.TABLE, "1 | 2", header="wide " * 400)]), 1)
def test_passages_follow_the_order_of_the_text_and_of_its_pages(found: Reading, overlap: int) -> None:
    passages = cut(found, limit=LIMIT, overlap=overlap)
    for before, after in pairwise(passages):
        assert before.start <= after.start
        assert before.end <= after.end
        assert (before.page or 0) <= (after.page or 0)
    for each in passages:
        assert (each.page is None) == (each.last_page is None)
        assert (each.page or 0) <= (each.last_page or 0)
        assert 0 <= each.start <= each.end <= len(found.text)


@many
@given(READINGS, OVERLAPS)
def test_the_same_text_is_cut_the_same(found: Reading, overlap: int) -> None:
    assert cut(found, limit=LIMIT, overlap=overlap) == cut(found, limit=LIMIT, overlap=overlap)


@many
@given(SEEDS, st.integers(4, 9))
def test_a_changed_page_changes_passages_of_that_page_and_its_neighbours_only(seed: int, count: int) -> None:
    chance = Random(seed)
    other, *pages = (f"{prose(chance)} So it is{chance.choice(ENDS)}" for _ in range(count + 1))
    at = chance.randrange(count)
    before = reading([Block(BlockKind.PARAGRAPH, text) for text in pages], [1] * len(pages))
    changed = [*pages[:at], other, *pages[at + 1 :]]
    after = reading([Block(BlockKind.PARAGRAPH, text) for text in changed], [1] * len(pages))
    known = {each.hash for each in cut(before, limit=LIMIT, overlap=1)}
    new = [each for each in cut(after, limit=LIMIT, overlap=1) if each.hash not in known]
    near = {at + 1, at + 2, at + 3}  # pages are counted from 2 here; the next one may begin with the end of a sentence
    assert {page for each in new for page in (each.page, each.last_page)} <= near


def test_a_sentence_put_into_a_long_text_without_pages_changes_what_is_near_it_only() -> None:
    told = [f"Sentence number {number} tells of the harbour, day {number * 7919 % 1000}." for number in range(800)]
    known = {each.hash for each in cut(_plain(told), limit=LIMIT, overlap=1)}
    for at in (3, 250, 611):
        changed = cut(_plain([*told[:at], "Something else was put in here.", *told[at:]]), limit=LIMIT, overlap=1)
        assert len(changed) > 80
        assert 1 <= sum(each.hash not in known for each in changed) <= 12, at


def _plain(told: list[str]) -> Reading:
    return reading([Block(BlockKind.PARAGRAPH, " ".join(told))])


def test_a_passage_knows_the_headings_that_lead_to_it_and_search_reads_each_once() -> None:
    found = cut(
        reading([
            Block(BlockKind.HEADING, "Guide", 1), Block(BlockKind.PARAGRAPH, "Read this first."),
            Block(BlockKind.HEADING, "Setup", 2), Block(BlockKind.HEADING, "Linux", 3),
            Block(BlockKind.PARAGRAPH, "Unpack it."), Block(BlockKind.HEADING, "Use", 2),
            Block(BlockKind.PARAGRAPH, "Call it."),
        ]),
        limit=LIMIT, overlap=1,
    )  # fmt: skip
    assert [each.headings for each in found] == [("Guide",), ("Guide", "Setup", "Linux"), ("Guide", "Use")]
    assert found[1].text == "Setup\n\nLinux\n\nUnpack it."
    assert indexed(found[1].headings, found[1].text) == "Guide > Setup > Linux\nUnpack it."


def test_a_long_path_of_headings_leaves_room_for_the_text() -> None:
    deep = [Block(BlockKind.HEADING, f"level {level} " + "of very many words " * 6, level) for level in range(1, 7)]
    found = cut(reading([*deep, Block(BlockKind.PARAGRAPH, "The text below.")]), limit=64, overlap=1)
    path = indexed(found[-1].headings, "The text below.").removesuffix("The text below.")
    assert found[-1].text.endswith("The text below.")
    assert 0 < size_of(path) <= PATH
    assert "level 6" in path


def test_a_small_table_stands_alone_and_whole_with_its_caption() -> None:
    found = cut(
        reading([
            Block(BlockKind.PARAGRAPH, "Some words before."), Block(BlockKind.CAPTION, "Table 1: towns"),
            Block(BlockKind.TABLE, "Porto | 7\nLeeds | 9", header="town | size", row=1),
            Block(BlockKind.PARAGRAPH, "Some words after."),
        ]),
        limit=LIMIT, overlap=1,
    )  # fmt: skip
    assert [each.kind for each in found] == [ChunkKind.PASSAGE, ChunkKind.TABLE, ChunkKind.PASSAGE]
    assert found[1].text == "Table 1: towns\n\ntown | size\nPorto | 7\nLeeds | 9"
    assert found[1].row == 1


def test_a_large_table_is_cut_between_rows_and_its_header_stands_above_each_part() -> None:
    rows = [f"town {number} | {number * 3}" for number in range(200)]
    block = Block(BlockKind.TABLE, "\n".join(rows), header="town | size", row=2)
    found = cut(reading([block]), limit=LIMIT, overlap=1)
    assert len(found) > 10
    assert all(each.text.startswith("town | size\n") for each in found)
    assert [line for each in found for line in each.text.split("\n")[1:]] == rows
    for each in found:
        assert each.row is not None
        assert each.text.split("\n")[1] == rows[each.row - 2]


def test_a_table_without_rows_is_found_by_its_columns() -> None:
    found = cut(reading([Block(BlockKind.TABLE, "", header="town | size", row=1)]), limit=LIMIT, overlap=1)
    assert [each.text for each in found] == ["town | size"]


def test_a_header_too_wide_to_be_repeated_is_found_and_the_rows_keep_their_room() -> None:
    names = " | ".join(f"column{number}" for number in range(80))
    found = cut(reading([Block(BlockKind.TABLE, "1 | 2\n3 | 4", header=names, row=1)]), limit=LIMIT, overlap=1)
    said = " ".join(each.text for each in found)
    assert all(f"column{number}" in said for number in range(80))
    assert found[-1].text.endswith("1 | 2\n3 | 4")


def test_code_that_fits_is_never_cut() -> None:
    code = "\n".join(f"line_{number} = {number}" for number in range(12))
    blocks = [Block(BlockKind.PARAGRAPH, "Words before it. " * 24 + "Run this:"), Block(BlockKind.CODE, code)]
    holding = [each for each in cut(reading(blocks), limit=LIMIT, overlap=1) if code in each.text]
    assert len(holding) == 1
    assert "Run this:" in holding[0].text
    assert holding[0].kind is ChunkKind.CODE


def test_a_list_that_is_cut_keeps_the_sentence_that_leads_it_in() -> None:
    items = "\n".join(f"- thing number {number} of the many things" for number in range(30))
    blocks = [Block(BlockKind.PARAGRAPH, "It is late. You need these things:"), Block(BlockKind.LIST, items)]
    found = cut(reading(blocks), limit=LIMIT, overlap=1)
    assert len(found) > 2
    assert all("You need these things:" in each.text for each in found)


def test_the_next_passage_repeats_one_sentence() -> None:
    told = [f"This is the sentence with the number {number}." for number in range(40)]
    found = cut(_plain(told), limit=LIMIT, overlap=1)
    assert len(found) > 2
    for before, after in pairwise(found):
        assert before.text.endswith(after.text.split(". ")[0] + ".")
    apart = cut(_plain(told), limit=LIMIT, overlap=0)
    assert not any(after.text.split(". ")[0] in before.text for before, after in pairwise(apart))


def test_a_sentence_that_runs_over_the_end_of_a_page_is_read_whole() -> None:
    blocks = [
        Block(BlockKind.PARAGRAPH, "A page ends. The boat left"),
        Block(BlockKind.PARAGRAPH, "at noon. Fog came."),
    ]
    first, second = cut(reading(blocks, [0, 1]), limit=LIMIT, overlap=1)
    assert (first.page, first.last_page) == (1, 1)
    assert second.text == "The boat left\n\nat noon. Fog came."
    assert (second.page, second.last_page) == (1, 2)


def test_a_heading_at_the_end_of_a_page_stands_with_what_it_is_above() -> None:
    blocks = [
        Block(BlockKind.PARAGRAPH, "The page before."), Block(BlockKind.HEADING, "Tides", 1),
        Block(BlockKind.PARAGRAPH, "They come and go."),
    ]  # fmt: skip
    found = cut(reading(blocks, [0, 0, 1]), limit=LIMIT, overlap=1)
    assert [each.text for each in found] == ["The page before.", "Tides\n\nThey come and go."]
    assert (found[1].page, found[1].last_page) == (1, 2)


def test_headings_of_a_sheet_do_not_lead_to_the_next_sheet() -> None:
    blocks = [
        Block(BlockKind.HEADING, "Costs", 1), Block(BlockKind.PARAGRAPH, "Much."), Block(BlockKind.PARAGRAPH, "Few."),
    ]  # fmt: skip
    found = cut(reading(blocks, None, ["one", "one", "two"]), limit=LIMIT, overlap=1)
    assert [(each.part, each.headings) for each in found] == [("one", ("Costs",)), ("two", ())]


@pytest.mark.parametrize("blocks", [[], [Block(BlockKind.PARAGRAPH, " \n ")], [Block(BlockKind.CODE, "\n\n")]])
def test_a_document_without_text_has_no_passages(blocks: list[Block]) -> None:
    assert cut(reading(blocks), limit=LIMIT, overlap=1) == []


def _book(chapters: int) -> Reading:
    return reading(
        [
            each
            for number in range(chapters)
            for each in (
                Block(BlockKind.HEADING, f"Chapter {number}", 1),
                *(
                    Block(BlockKind.PARAGRAPH, f"Harbour {number} has many boats, part {part}. " * 5)
                    for part in range(8)
                ),
            )
        ]
    )


def test_sections_follow_the_headings_of_the_first_two_levels() -> None:
    passages = cut(_book(3), limit=LIMIT, overlap=1)
    found = sections(passages)
    assert [each.headings for each in found] == [("Chapter 0",), ("Chapter 1",), ("Chapter 2",)]
    assert [each.first for each in found] == [0, found[0].last + 1, found[1].last + 1]
    assert found[-1].last == len(passages) - 1


def test_without_headings_sections_are_of_ten_pages_or_end_where_the_words_say() -> None:
    paged = [Block(BlockKind.PARAGRAPH, f"The harbour, page {number}. " * 9) for number in range(30)]
    found = sections(cut(reading(paged, [0] + [1] * 29), limit=LIMIT, overlap=1))
    assert len(found) == 3
    told = [f"Sentence number {number} tells of the harbour, day {number * 7919 % 1000}." for number in range(1500)]
    one, other = (cut(_plain(each), limit=LIMIT, overlap=1) for each in (told, ["A new beginning.", *told]))
    hashes = [
        {tuple(each.hash for each in found[s.first : s.last + 1]) for s in sections(found)} for found in (one, other)
    ]
    assert len(hashes[0]) > 4
    assert len(hashes[0] - hashes[1]) <= 1, "a change at the beginning changes sections far from it"


def test_a_document_of_one_section_has_none() -> None:
    assert sections(cut(_book(1), limit=LIMIT, overlap=1)) == []


def test_a_summary_is_made_of_sentences_that_stand_there() -> None:
    passages = cut(_book(4), limit=LIMIT, overlap=1)
    parts = [summary_of(passages[each.first : each.last + 1]) for each in sections(passages)]
    assert all(f"Harbour {number}" in part for number, part in enumerate(parts))
    assert summary_of_summaries(parts).split(".")[0] in " ".join(parts)


def test_a_document_of_tables_is_summed_up_by_its_beginning() -> None:
    table = Block(BlockKind.TABLE, "Porto | 7\nLeeds | 9", header="town | size", row=1)
    assert summary_of(cut(reading([table]), limit=LIMIT, overlap=1)).startswith("town | size")
    assert summary_of([]) == ""
