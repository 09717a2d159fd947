# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of `marline report --json`: reports of all kinds of programs are as it says, it describes all that is
there, and it refuses what it should."""
from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from handmade_kinds import TRACES
from in_process import document_of, report


@pytest.fixture(scope="module")
def validator() -> Any:
    """The class that checks documents against a schema of this version."""
    return pytest.importorskip("jsonschema").Draft202012Validator


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    result = report("--json-schema")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    return {name: document_of(make(tmp_path_factory.mktemp(name))) for name, make in TRACES.items()}


def test_it_is_a_schema(validator: Any, schema: dict[str, Any]) -> None:
    validator.check_schema(schema)


@pytest.mark.parametrize("name", TRACES)
def test_a_report_is_as_the_schema_says(
    validator: Any, schema: dict[str, Any], documents: dict[str, Any], name: str
) -> None:
    validator(schema).validate(documents[name])


@pytest.mark.parametrize("name", TRACES)
def test_each_key_is_described(schema: dict[str, Any], documents: dict[str, Any], name: str) -> None:
    """A new key of the document wants a line in python/marline/report/schema.json."""
    unknown = [key for key in documents[name] if key not in schema["properties"]]
    assert unknown == [], "describe them in python/marline/report/schema.json"
    assert [key for key, value in schema["properties"].items()
            if not value.get("description", schema["$defs"].get(str(value.get("$ref")), {}))] == []


def changed(value: Any, schema: dict[str, Any], root: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The value without each of the keys that it must have, at any depth, once per list."""
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]] | schema
    if isinstance(value, dict):
        for key in schema.get("required", []):
            yield key, {name: one for name, one in value.items() if name != key}
        for key, inner in schema.get("properties", {}).items():
            for name, one in changed(value.get(key), inner, root):
                yield f"{key}.{name}", value | {key: one}
    elif isinstance(value, list) and value:
        for name, one in changed(value[0], schema.get("items", {}), root):
            yield f"[0].{name}", [one, *value[1:]]


def test_what_lacks_a_key_is_refused(validator: Any, schema: dict[str, Any], documents: dict[str, Any]) -> None:
    check, count = validator(schema), 0
    for name, document in changed(documents["ranks"], schema, schema):
        count += 1
        assert not check.is_valid(document), name
    assert count > 100


@pytest.mark.parametrize(("path", "value"), [
    (("format",), "marline-report 2"), (("total", "work_ns"), "100"), (("total", "idle_share"), -0.1),
    (("ranks", 0, "model"), "threads"), (("graph", "tasks"), -1), (("graph", "depth"), 1.5),
    (("communication", "peers", 0, "direction"), "both"), (("remarks",), "none"), (("overlap", "ratio"), "0.5"),
])
def test_a_wrong_value_is_refused(
    validator: Any, schema: dict[str, Any], documents: dict[str, Any], path: tuple[str | int, ...], value: Any
) -> None:
    document = copy.deepcopy(documents["ranks"])
    at: Any = document
    for step in path[:-1]:
        at = at[step]
    assert path[-1] in at or isinstance(at, list)
    at[path[-1]] = value
    assert not validator(schema).is_valid(document)
