# SPDX-License-Identifier: Apache-2.0
"""Conditions on the numbers of a report, for scripts: `--fail-if "efficiency<0.8"` (docs/guide/scripts.md).

A condition is a path to a number of the JSON document, a comparison, and a number with or without a unit. The path has
the document's own names, so that there is one way to say where a number is; only `efficiency` is short for
`total.work_share`. In a list `[NAME]` chooses the row of that name, `[3]` of that rank, device or position, `[*]` all
rows: then the condition holds if it holds for any of them."""

from __future__ import annotations

import difflib
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from marline.errors import USAGE, Refusal
from marline.units import count, duration, percent

SHORT = {"efficiency": "total.work_share"}
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<=": operator.le, ">=": operator.ge, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip
_TIMES = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
_STEP = r'\w+|\[(?:"[^"]*"|[^\]"]*)\]'
_CONDITION = re.compile(r"\s*(?P<path>\w+(?:\.\w+|\[(?:\"[^\"]*\"|[^\]\"]*)\])*)\s*"
                        r"(?P<comparison><=|>=|==|!=|<|>)\s*"
                        r"(?P<value>[-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(?P<unit>ns|us|ms|s|%)?\s*")  # fmt: skip
_EXAMPLE = 'write for example "efficiency<80%" or "critical_path.span_ns>2ms"'
_NUMBERS_OF_ROWS = ("rank", "device")  # what a row of a list may be called by, beside its name


@dataclass(frozen=True)
class Condition:
    """`value` is in nanoseconds if it has a unit of time, and a share of 1 if it is in per cent."""

    text: str
    steps: tuple[str, ...]
    comparison: str
    value: float
    unit: str


@dataclass(frozen=True)
class Absent:
    """Rows that are only in the document if there is something to say, and what they are if not: zero."""

    names: tuple[str, ...]


def parse(text: str) -> Condition:
    """Refuses what is no condition."""
    match = _CONDITION.fullmatch(text)
    if match is None:
        raise Refusal(f"--fail-if {text!r}: not a condition: {_EXAMPLE}", USAGE)
    try:
        value = float(match["value"])
    except ValueError:
        raise Refusal(f"--fail-if {text!r}: {match['value']!r} is not a number: {_EXAMPLE}", USAGE) from None
    unit = match["unit"] or ""
    value *= 0.01 if unit == "%" else _TIMES.get(unit, 1.0)
    steps = re.findall(_STEP, SHORT.get(match["path"], match["path"]))
    return Condition(" ".join(text.split()), tuple(steps), match["comparison"], value, unit)


def failures(conditions: Iterable[Condition], document: dict[str, Any], absent: dict[str, Absent]) -> list[str]:
    """A line for each number for which a condition holds. `absent`: by path, what may be missing there."""
    lines = []
    for condition in conditions:
        compare = _COMPARISONS[condition.comparison]
        for place, value in _numbers(condition, document, absent):
            if compare(value, condition.value):
                of = f"{place} is" if "[*]" in condition.steps else "it is"
                lines.append(f"failed: {condition.text}: {of} {_shown(place, value, condition)}")
    return lines


def _numbers(condition: Condition, document: Any, absent: dict[str, Absent]) -> Iterator[tuple[str, float]]:
    """Where the path leads, and the number there."""
    for place, value in _walk(condition, document, "", condition.steps, absent):
        if value is None:
            raise Refusal(f"--fail-if {condition.text!r}: {place} has no value in this trace: leave the condition out")
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise Refusal(f"--fail-if {condition.text!r}: {place} is no number{_inside(value)}")
        if condition.unit and (condition.unit in _TIMES) != _is_time(place):
            wanted = "a time: give it in ns, us, ms or s" if _is_time(place) else "no time: give a number, or %"
            raise Refusal(f"--fail-if {condition.text!r}: {place} is {wanted}")
        yield place, float(value) * (_TIMES["s"] if place.endswith("seconds") and condition.unit else 1.0)


def _is_time(place: str) -> bool:
    return place.endswith("seconds") or ".causes." in place or any(step.endswith("_ns") for step in place.split("."))


def _inside(value: Any) -> str:
    """What to go on with."""
    if isinstance(value, dict):
        return f"; it has: {', '.join(value)}"
    return f" but a list of {len(value)} rows: choose one by [NAME], or all by [*]" if isinstance(value, list) else ""


def _walk(condition: Condition, value: Any, place: str, steps: tuple[str, ...],
          absent: dict[str, Absent]) -> Iterator[tuple[str, Any]]:  # fmt: skip
    if not steps:
        yield place, value
        return
    step, rest = steps[0], steps[1:]
    if step.startswith("["):
        for name, row in _rows(condition, value, place, step[1:-1].strip('"'), absent):
            if row is None:
                yield f"{place}[{name}]", 0.0
            else:
                yield from _walk(condition, row, f"{place}[{name}]", rest, absent)
        return
    inner = f"{place}.{step}" if place else step
    if isinstance(value, dict) and step in value:
        yield from _walk(condition, value[step], inner, rest, absent)
    elif isinstance(value, dict) and step in _may_lack(place, absent):
        yield inner, 0.0
    else:
        known = [*value, *_may_lack(place, absent)] if isinstance(value, dict) else []
        raise Refusal(f"--fail-if {condition.text!r}: the report has no {inner}" + _meant(step, known, value))


def _may_lack(place: str, absent: dict[str, Absent]) -> tuple[str, ...]:
    """Of a rank's causes: the same as of the total's."""
    found = absent.get("total.causes" if place.endswith(".causes") else place)
    return found.names if found else ()


def _rows(condition: Condition, value: Any, place: str, wanted: str,
          absent: dict[str, Absent]) -> list[tuple[str, Any]]:  # fmt: skip
    if not isinstance(value, list):
        raise Refusal(f"--fail-if {condition.text!r}: {place} is no list: leave [{wanted}] out{_inside(value)}")
    if wanted == "*":
        return [(_name(row, number), row) for number, row in enumerate(value)]
    rows = [(wanted, row) for number, row in enumerate(value) if _name(row, number) == wanted]
    if rows:
        return rows
    known = [_name(row, number) for number, row in enumerate(value)]
    if wanted in _may_lack(place, absent):
        return [(wanted, None)]
    known += _may_lack(place, absent)
    raise Refusal(f"--fail-if {condition.text!r}: {place} has no row {wanted!r}" + _meant(wanted, known, value))


def _name(row: Any, number: int) -> str:
    if not isinstance(row, dict):
        return str(number)
    return str(row.get("name", next((row[key] for key in _NUMBERS_OF_ROWS if key in row), number)))


def _meant(wanted: str, known: list[str], value: Any) -> str:
    near = difflib.get_close_matches(wanted, known, 1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(known)}" if known else f": it is {'an empty list' if value == [] else 'no table'}"


def _shown(place: str, value: float, condition: Condition) -> str:
    if _is_time(place) and (condition.unit or not place.endswith("seconds")):
        return duration(value)
    return percent(value, 1) if condition.unit == "%" else count(value) if value == int(value) else f"{value:.4g}"
