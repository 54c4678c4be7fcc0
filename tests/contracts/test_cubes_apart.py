"""Everything in the store is of one cube: no key, no reference and no statement reaches across."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import get_type_hints

import psycopg
import pytest
from sqlalchemy import Index, Table, UniqueConstraint

from mnemic import Memory, wiring
from mnemic.backends.models.hashing import HashingEmbedder
from mnemic.backends.sql import schema
from mnemic.backends.sql.store import SqlTransaction
from mnemic.config import Settings
from mnemic.services.recall import KINDS
from mnemic.services.upkeep import Upkeep
from mnemic.testing.scripted_model import ScriptedModel
from mnemic.testing.store_contract import CHECKS
from tests.databases import ENGINES, address_of, opener, place_of, using
from tests.migrations.old_store import unpacked
from tests.services.opened import Clock, open_memory, talk
from tests.services.scripted import reply, statement
from tests.statements import ENGINES_OWN, crossing, recorded

STATEMENTS = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "REPLACE")
TALK = [
    ("ann", "I live in Porto, and I like tea and soup."),
    ("bot", "What about the garden?"),
    ("ann", "The garden needs water, the tomatoes in the garden are ripe."),
    ("bot", "The garden, I see."),
    ("ann", "I moved to Faro. The garden there has more tomatoes than the garden here."),
    ("bot", "Tomatoes in the garden!"),
    ("ann", "The garden is dry, and the tomatoes need water again."),
    ("bot", "I see."),
]

APART = [
    "SELECT id FROM message WHERE cube_key = ?",
    "SELECT message.id FROM message WHERE message.cube_key = 7 AND message.id IN ('a', 'b')",
    "SELECT m.id FROM message AS m JOIN session s ON s.cube_key = m.cube_key AND s.id = 'x' WHERE m.cube_key = ?",
    "SELECT e.id FROM entity e LEFT OUTER JOIN mention ON mention.cube_key = e.cube_key WHERE e.cube_key = ?",
    "SELECT id FROM page WHERE (cube_key = ? AND id = ?) AND position BETWEEN 1 AND 2",
    "SELECT id FROM memory m WHERE cube_key = ? AND EXISTS (SELECT 1 FROM source AS v WHERE v.cube_key = m.cube_key)",
    'SELECT m.id FROM cube JOIN memory m ON m.cube_key = cube."key" WHERE cube."key" = ?',
    "SELECT count(*) FROM cube",
    "SELECT turn FROM cube_turn WHERE cube_turn.cube_key = %(cube)s::BIGINT FOR UPDATE SKIP LOCKED",
    "SELECT id FROM job WHERE cube_key = CAST(%(cube)s AS BIGINT)",
    "SELECT id FROM job WHERE cube_key = ? UNION ALL SELECT id FROM page WHERE cube_key = ?",
    "INSERT INTO forgotten (cube_key, mark) VALUES (?, ?)",
    "INSERT INTO forgotten (cube_key, mark) SELECT cube_key, id FROM memory WHERE cube_key = ?",
    "UPDATE page SET analysed = CASE WHEN (position = 1) THEN 1 ELSE 0 END WHERE page.cube_key = ?",
    "DELETE FROM page WHERE page.cube_key = ? AND NOT (EXISTS (SELECT * FROM job j WHERE j.cube_key = page.cube_key))",
]
ACROSS = [
    ("SELECT id FROM message", ["message"]),
    ("SELECT id FROM message WHERE id = ?", ["message"]),
    ("SELECT cube_key FROM message WHERE id = ?", ["message"]),
    ("SELECT id FROM message WHERE cube_key = ? OR id = ?", ["message"]),
    ("SELECT id FROM message WHERE NOT (cube_key = ?)", ["message"]),
    ("SELECT id FROM message WHERE cube_key > ?", ["message"]),
    ("SELECT id FROM message WHERE cube_key IN (?, ?)", ["message"]),
    ("SELECT m.id FROM message AS m JOIN session AS s ON s.id = m.session_id WHERE m.cube_key = ?", ["session"]),
    ("SELECT m.id FROM message m, session s WHERE m.cube_key = s.cube_key", ["message", "session"]),
    ("SELECT e.id FROM entity e LEFT JOIN mention m ON m.cube_key = e.cube_key AND m.cube_key = ?", ["entity"]),
    ("SELECT e.id FROM entity e LEFT JOIN mention m ON m.entity_id = e.id AND e.cube_key = ?", ["entity", "mention"]),
    ("SELECT id FROM memory WHERE cube_key = ? AND id IN (SELECT memory_id FROM memory_version)", ["memory_version"]),
    ("SELECT id FROM memory m WHERE EXISTS (SELECT 1 FROM job v WHERE v.cube_key = m.cube_key)", ["job", "memory"]),
    ("SELECT 1 FROM page p WHERE 1 = (SELECT 1 FROM job j WHERE j.cube_key = p.cube_key AND j.cube_key = ?)", ["page"]),
    ('SELECT m.id FROM cube JOIN memory m ON m.cube_key = cube."key"', ["memory"]),
    ("SELECT id FROM job WHERE cube_key = ? UNION SELECT id FROM page", ["page"]),
    ("SELECT (SELECT count(*) FROM page) FROM job WHERE cube_key = ?", ["page"]),
    ("INSERT INTO forgotten (mark) VALUES (?)", ["forgotten"]),
    ("INSERT INTO forgotten (cube_key, mark) SELECT cube_key, id FROM memory", ["memory"]),
    ("UPDATE page SET analysed = 1, cube_key = ? WHERE id = ?", ["page"]),
    ("UPDATE page SET analysed = CASE WHEN cube_key = ? THEN 1 END WHERE id = ?", ["page"]),
    ("SELECT id FROM page WHERE id = CASE WHEN id = ? AND cube_key = ? AND id = ? THEN ? END", ["page"]),
    ("DELETE FROM session WHERE id = ?", ["session"]),
]  # fmt: skip


@pytest.mark.parametrize("sql", APART)
def test_a_statement_about_one_cube_is_let_through(sql: str) -> None:
    assert crossing(sql) == []


@pytest.mark.parametrize("sql, tables", ACROSS)
def test_a_statement_that_reaches_across_cubes_is_caught(sql: str, tables: list[str]) -> None:
    assert crossing(sql) == tables


@pytest.mark.parametrize("table", schema.metadata.tables.values(), ids=lambda table: table.name)
def test_keys_of_a_table_begin_with_the_cube(table: Table) -> None:
    if table in schema.REFERENCE:
        return
    assert next(iter(table.primary_key.columns)).name == "cube_key"
    assert not table.c.cube_key.nullable
    unique: list[UniqueConstraint | Index] = [each for each in table.constraints if isinstance(each, UniqueConstraint)]
    unique += [each for each in table.indexes if each.unique]
    for each in unique:
        assert "cube_key" in each.columns, f"{each.name}: what is unique is so inside of a cube"
    for reference in table.foreign_key_constraints:
        if reference.referred_table not in schema.REFERENCE:
            pairs = {(element.parent.name, element.column.name) for element in reference.elements}
            assert ("cube_key", "cube_key") in pairs, f"{reference.name}: what is referred to is of the same cube"


def test_tables_that_are_not_of_one_cube_are_few_and_named() -> None:
    names = {table.name for table in schema.REFERENCE}
    doors = {"api_key", "key_use", "audit", "reply"}
    assert names == {"store_info", "cube", "cube_grant", "erased_cube", "virtual_time", "periodic", *doors}
    assert names.isdisjoint(table.name for table in schema.CUBES)


WITHOUT_A_CUBE = {
    "turns.SqlTurns.heads": "the order of all cubes' work: the next jobs, by small indexes",
    "turns.SqlTurns.due": "the order of all cubes' work: what is due",
    "turns.SqlTurns.next_due": "the order of all cubes' work: when something is due",
    "turns.SqlTurns.catch_up": "the order of all cubes' work: what a clock that ran ahead has put off",
    "turns.SqlTurns.recall": "the order of all cubes' work: what was offered and not taken, in a sweep",
    "turns.SqlTurns.counts": "the order of all cubes' work: how much there is, for metrics",
    "documents.SqlDocuments.due": "which addresses are to be looked at again",
    "kept_blobs.SqlKeptBlobs.cubes_with_doomed": "upkeep: which cubes have files to be erased",
    "terms.SqlTerms.stale_cubes": "upkeep after an upgrade: which cubes have a job to get",
    "terms.read_anew": "upkeep after an upgrade: all cubes are read anew",
    "store.SqlStore.check": "a check-up of the whole store",
    "sizes._rows": "figures of the whole store, for metrics",
    "database.run_migrations": "tables are made anew with all that they hold",
}
"""Functions that look across cubes, and why they may. Content is reached by none."""

ON_POSTGRES = {"fulltext.count": "a check-up of the whole store"}
"""The same, of what only PostgreSQL has."""

WITHOUT_SQL = {"index.SqlIndex.no_vector", "counts.SqlCounts.bytes_on_disk"}
"""Functions of the store that send nothing to SQLite."""


@pytest.mark.parametrize("engine", ENGINES)
def test_no_statement_reaches_across_cubes(tmp_path: Path, engine: str) -> None:
    with recorded() as record, using(engine):
        for check in CHECKS:
            with place_of(engine) as place:
                check(opener(place))
        live(tmp_path / "live")
        read_by_a_model(tmp_path / "model")
        bring_up(tmp_path / "old")
    across: dict[str, str] = {}
    for by, sql in record.sent:
        loose = set(crossing(sql)) if sql.startswith(STATEMENTS) else set()
        if loose - ENGINES_OWN if engine == "sqlite" else loose:
            across[by] = sql
    assert {by: sql for by, sql in across.items() if by not in {*WITHOUT_A_CUBE, *ON_POSTGRES}} == {}
    assert functions(engine) - record.walked - WITHOUT_SQL == set(), "functions that are not walked: call them"
    if engine == "sqlite":
        assert set(across) == set(WITHOUT_A_CUBE), "what need not be let through any more"


def functions(engine: str) -> set[str]:
    """Return the functions by which the store is reached, by their names."""
    parts = [
        get_type_hints(made.func)["return"]
        for made in vars(SqlTransaction).values()
        if isinstance(made, cached_property)
    ]
    names = {
        f"{part.__module__.rpartition('.')[2]}.{part.__name__}.{name}"
        for part in parts
        for name, found in vars(part).items()
        if callable(found) and not name.startswith("_")
    }
    return {name for name in names if engine == "postgres" or not name.startswith("postgres")}


def live(folder: Path) -> None:
    """Do with a memory what its owner may do."""
    with open_memory(folder) as memory:
        for number, session in enumerate(("s1", "s2", "s3"), 1):
            talk(memory, TALK, session=session, day=number)
        memory.add("Ben's boat is called Nautilus.", user="ben", session="b")
        memory.add({"role": "user", "content": "Ann likes boats.", "id": "x1"}, user="ann", session="s1")
        memory.add({"role": "user", "content": "Ann likes boats."}, user="ann", session="s1")
        memory.jobs.wait(user="ann")
        team = memory.cubes.create("team", user="ann")
        watch = memory.watch(user="ann", cube=team.id, timeout=0)
        memory.add("We meet on Mondays.", user="ann", cube=team.id)
        assert len(list(watch)) == 1
        ask(memory)
        change(memory)
        shelve(memory)
        lines = list(memory.export(user="ann"))
        memory.load(lines, user="cleo")
        memory.load(lines, user="ann")
        memory.rebuild(user="ann", wait=True)
        forget(memory)
        memory.cubes.delete(team.id, user="ann")
        reach(memory)
        memory.check()
        memory.metrics()


def shelve(memory: Memory) -> None:
    """Keep a document in two versions, copy it, read it again, and remove it."""
    base = memory.knowledge.create("shelf", user="ann").cube.id
    memory.knowledge.add(text="The garden has tomatoes.", name="garden.txt", cube=base, user="ann", wait=True)
    added = memory.knowledge.add(text="The garden has pears.", name="garden.txt", cube=base, user="ann", wait=True)
    copy = memory.knowledge.create("copy", user="ann").cube.id
    memory.load(list(memory.export(user="ann", cube=base)), user="ann", cube=copy)
    memory.rebuild(user="ann", cube=copy, wait=True)
    memory.search("pears", user="ann")
    memory.knowledge.remove(added.id, cube=base, user="ann")


def ask(memory: Memory) -> None:
    """Search, and look at what there is."""
    cubes = [cube.id for cube in memory.cubes.list(user="ann")]
    where = {"or": [{"speaker": "ann"}, {"metadata.a": 1}, {"said_at": {"gt": "2020-01-01"}}]}
    memory.search("garden", user="ann", cubes=cubes, kinds=KINDS, where=where)
    memory.context("What about the garden?", user="ann")
    memory.ask("Where does Ann live?", user="ann")
    [said, *_] = memory.list(user="ann", kinds="message", session="s1")
    [fact, *_] = memory.list(user="ann", kinds="fact")
    for item in (said, fact):
        memory.explain(item.id, user="ann")
        memory.get(item.id, user="ann")
    memory.history(fact.id, user="ann")
    memory.profile(user="ann")
    memory.stats(user="ann")
    memory.sessions(user="ann")
    memory.entities(user="ann")


def change(memory: Memory) -> None:
    """Correct what is known."""
    [fact, *_] = memory.list(user="ann", kinds="fact")
    memory.update(fact.id, "Ann lives in Faro.", user="ann")
    memory.restore(fact.id, user="ann")
    memory.lock(fact.id, user="ann")
    memory.lock(fact.id, user="ann", locked=False)
    memory.set_profile("preference.like", "soup", user="ann")
    [made, *_] = memory.changes(user="ann")
    memory.undo(made.id, user="ann")
    memory.feedback("That is wrong, Ann does not like tea.", user="ann")
    memory.reorganize(user="ann")


def forget(memory: Memory) -> None:
    """Forget in every way."""
    [_, said, *_] = memory.list(user="ann", kinds="message", session="s1")
    [fact, *_] = memory.list(user="ann", kinds="fact")
    memory.forget(said.id, user="ann")
    memory.forget(fact.id, user="ann")
    memory.forget(user="ann", about="tomatoes")
    memory.forget(user="ann", session="s2")
    memory.forget(user="cleo", everything=True)
    memory.jobs.wait(user="ann")


def reach(memory: Memory) -> None:
    """Do what the store is asked for seldom."""
    with memory._parts.store.write() as tx:
        [cube_key] = memory._parts.scoping.for_read(tx, "ann").keys
        messages = [message.id for message in tx.messages.list(cube_key)]
        [(segment, _), *_] = tx.segments.list(cube_key)
        tx.terms.count_stale(cube_key)
        tx.entities.of_messages(cube_key, messages)
        tx.erasing.set_unread(cube_key, messages)
        tx.erasing.set_unanalysed(cube_key, segment.id)
        tx.segments.visit(cube_key, {segment.id: 1}, segment.ended_at)
        tx.segments.archive(cube_key, [segment.id])
        [job, *_] = tx.jobs.list(cube_key)
        tx.jobs.follow(cube_key, job.id, job.id)
        tx.enter_all()
        tx.turns.catch_up(segment.ended_at, segment.ended_at + timedelta(days=9_999))
        if address_of(memory.path):
            view = tx.index.view(cube_key)
            tx.near.outgrown(cube_key)
            tx.near.spread(cube_key, 5)
            tx.near.nearest(cube_key, view.vectors[0], 5)
            tx.near.cosines(cube_key, view.vectors[0], view.keys[:2])
            tx.near.pairs(cube_key, view.keys[:1], view.keys[1:2])


def read_by_a_model(folder: Path) -> None:
    """Have a language model read, answer, and give up."""
    entities = [{"name": "Sevilla", "type": "place", "messages": ["m1"]}]
    told = reply(statement("m1", "I moved to Sevilla"), entities=entities)
    model = ScriptedModel([told, *["no JSON at all"] * 20])
    limits = {"llm_daily_tokens": 1_000_000}
    settings = {"embedder": "hashing", "worker": False, "database_url": address_of(folder), **limits}
    with Memory(folder, settings=settings, llm=model) as memory:
        said = memory.add("I moved to Sevilla.", user="ann", wait=True)
        memory.entities(user="ann")
        memory.ask("Where does Ann live?", user="ann")
        memory.add("Nobody understands this.", user="ann", wait=True)
        memory.llm.usage(user="ann")
        memory.llm.calls(user="ann")
        memory.chat("Hello", user="ann", session="s")
        memory.load(list(memory.export(user="ann")), user="bea")
        memory.forget(said.message_ids[0], user="ann")


def bring_up(folder: Path) -> None:
    """Open a store of an earlier reading, do its jobs as a desk and a sweep would, and embed it anew."""
    address = address_of(folder)
    if address:
        with open_memory(folder) as memory:
            talk(memory, TALK)
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("UPDATE mnemic.store_info SET value = 'older' WHERE name = 'reading'")
    else:
        unpacked(folder, "0001")
    with open_memory(folder, clock=Clock(datetime(2027, 1, 1, tzinfo=UTC))) as memory:
        memory.search("Feier", user="ann")
        at_the_desk(memory)
        memory.jobs.wait(user="ann")
        parts = memory._parts
        Upkeep(parts.store, kept=10, settle=parts.settle).run()
    settings = Settings(home=str(folder), database_url=address, worker=False)
    parts = wiring.build(settings, embedder=HashingEmbedder(32), replacing=True)
    parts.reindex.run()
    parts.close()


def at_the_desk(memory: Memory) -> None:
    """Look after jobs."""
    memory.add("One more thing.", user="ann", task="t1")
    memory.jobs.task("t1", user="ann")
    [job, *_] = memory.jobs.list(user="ann")
    memory.jobs.get(job.id, user="ann")
    memory.jobs.counts(user="ann")
    next(iter(memory.jobs.events(user="ann")))
    for each in memory.jobs.list(user="ann"):
        if each.state == "dead":
            memory.jobs.retry(each.id, user="ann")
            memory.jobs.cancel(each.id, user="ann")
            memory.jobs.drop(each.id, user="ann")
    memory.jobs.set_share(user="ann", weight=2)
    memory.jobs.share(user="ann")
