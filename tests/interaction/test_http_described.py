"""The server keeps to its own description: schemathesis calls each operation with examples of its making.

A bounded number of them; `python -m bench.conformance` makes thousands, with the same checks.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.config import SchemathesisConfig
from schemathesis.core.errors import InvalidSchema

from bench.conformance import CONFIGURED
from mnemic import Memory
from mnemic.api import acting
from mnemic.model.caller import LOCAL
from mnemic.shells.http.app import build
from mnemic.wire.routes import ROUTES
from tests.interaction.http_served import PATIENCE, guarded, serving

BOUNDED = settings(
    max_examples=3, deadline=None, derandomize=True, database=None, phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)  # fmt: skip


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Memory, str]]:
    with guarded(tmp_path_factory.mktemp("described"), worker=False) as memory:
        with acting(LOCAL):
            memory.add(["I moved to Porto last week.", "I like tea."], user="ann", session="monday", wait=True)
            secret = memory.keys.create("all", powers=["read", "write", "admin"]).secret
        yield memory, secret


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_each_operation_does_as_it_is_described(served: tuple[Memory, str], mode: GenerationMode) -> None:
    memory, secret = served
    config = SchemathesisConfig.from_str(CONFIGURED)
    with serving(memory) as (address, _):
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json", config=config)
        faults = list(_faults(schema, {"Authorization": f"Bearer {secret}"}, mode))
    assert not faults, "\n\n".join(faults)


def _faults(schema: Any, headers: dict[str, str], mode: GenerationMode) -> Iterator[str]:
    seen = 0
    for found in schema.get_all_operations():
        operation = found.ok()
        seen += 1

        try:
            _called(operation, headers, mode)()
        except (AssertionError, BaseExceptionGroup) as error:
            yield f"{operation.label}: {error}"
        except InvalidSchema as error:  # its Python face reads prefixItems as an older draft did; the bench has these
            if "-> items" not in str(error):
                yield f"{operation.label}: {error}"
        except Unsatisfiable:  # a call without parameters cannot be given wrong ones
            assert mode is GenerationMode.NEGATIVE
    assert seen > len(ROUTES)


def _called(operation: Any, headers: dict[str, str], mode: GenerationMode) -> Callable[[], None]:
    """Return what calls an operation with some examples."""

    @BOUNDED
    @given(case=operation.as_strategy(generation_mode=mode))
    def call(case: Any) -> None:
        if operation.path.endswith(("/events", "/stream")) and operation.method == "get":
            case.query = {**(case.query or {}), "timeout": 0}  # else nobody ends it
        case.call_and_validate(headers=headers, timeout=PATIENCE)

    return call


def test_the_description_names_no_field_that_never_leaves_the_process(served: tuple[Memory, str]) -> None:
    told = build(served[0]).openapi()
    names = {name for each in told["components"]["schemas"].values() for name in each.get("properties", {})}
    assert "cube_key" not in names
    assert "key" not in told["components"]["schemas"]["Cube"]["properties"]
    assert "key" in told["components"]["schemas"]["NewKey"]["properties"]


def test_every_reference_of_the_description_leads_somewhere(served: tuple[Memory, str]) -> None:
    told = build(served[0]).openapi()
    text = json.dumps(told)
    for part in text.split('"$ref": "#/components/schemas/')[1:]:
        assert part.partition('"')[0] in told["components"]["schemas"]
    words = {each["operationId"]: each for path in told["paths"].values() for each in path.values()}
    assert len(words) == sum(map(len, told["paths"].values())), "operation ids are unique"
    assert all(len(words[route.verb]["description"]) > 20 for route in ROUTES)
