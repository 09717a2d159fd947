# SPDX-License-Identifier: Apache-2.0
"""The language of `--what-if`: changes, separated by commas.

    NAME xF          the work of all tasks of a kind, or inside of a region, takes F times as long; * and ? in names
    network xF       a message or collective takes F times as long to arrive; +TIME instead of xF: so much longer
    threads N        so many threads on each rank; also xF and +N
    devices xF       each device does F times as much at once, as F devices in its place would
    overhead xF      starting tasks, waking threads and barriers cost F times as much
    creation xF      code that creates tasks, outside of tasks, takes F times as long; +TIME: so much longer per task
    priorities path  of ready tasks, the one comes first that has the longest path to the end before it
    first NAME       tasks of this kind come first
    untied           suspended tasks go on on any thread
    balance          each rank has the same work per thread: that of the ranks' mean
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from ..registry import AnalysisError

SHORT = "--what-if"
_NUMBER = r"\d+(?:\.\d*)?|\.\d+"
_FACTOR = re.compile(rf"(?P<name>.*\S)\s+[x*](?P<factor>{_NUMBER})$")
_ADDED = re.compile(rf"(?P<name>\S+)\s+\+\s*(?P<value>{_NUMBER})\s*(?P<unit>ns|us|ms|s)?$")
_PLAIN = re.compile(r"(?P<name>\S+)\s+(?P<value>\S.*)$")
_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
MOST_NAMES = 20  # in a message
_LARGEST = 10**6  # a factor, or a number of threads, above this one is a slip
_HELP = ("write NAME xF, network xF, network +TIME, threads N, devices xF, overhead xF, creation xF, creation +TIME, "
         "priorities path, first NAME, untied or balance, separated by commas (docs/guide/what-if.md)")  # fmt: skip

NETWORK, THREADS, DEVICES, OVERHEAD, CREATION, PRIORITIES, FIRST, UNTIED, BALANCE, NAMED = (
    "network", "threads", "devices", "overhead", "creation", "priorities", "first", "untied", "balance", "named",
)  # fmt: skip
_WITH_FACTOR = (NETWORK, THREADS, DEVICES, OVERHEAD, CREATION)
_NOT_MODELLED = {
    "ranks": "the model has the ranks of the trace, and cannot know what others would compute and send: record a run "
             "with more ranks",
    "grain": "the model neither cuts tasks nor joins them: record a run with another grain, or ask for overhead xF",
    "placement": "the model does not know caches and memories: record a run with another placement",
}  # fmt: skip


@dataclass(frozen=True)
class Change:
    """One item. `what`: one of the words above; `name`: of a kind or region, a pattern; `factor` and `added` (ns, or
    threads), either; `count`: of threads."""

    what: str
    text: str
    name: str = ""
    factor: float = 1.0
    added: int = 0
    count: int = 0


def parse(text: str) -> list[Change]:
    """The changes of the text, or an AnalysisError of one line."""
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        raise AnalysisError(f"{SHORT} {_quoted(text)}: an item is empty; {_HELP}")
    return [_change(" ".join(item.split())) for item in items]


def _change(item: str) -> Change:
    word = item.split()[0]
    if word in _NOT_MODELLED and word != item:
        raise _error(item, f"not modelled: {_NOT_MODELLED[word]}")
    if item in (UNTIED, BALANCE):
        return Change(item, item)
    factor, added, plain = _FACTOR.match(item), _ADDED.match(item), _PLAIN.match(item)
    if factor:
        return _scaled(item, factor["name"], float(factor["factor"]))
    if added and added["name"] in (NETWORK, THREADS, CREATION):
        return _added(item, added["name"], added["value"], added["unit"])
    if plain and plain["name"] == THREADS:
        return Change(THREADS, item, count=_threads(item, plain["value"]))
    if plain and plain["name"] == PRIORITIES:
        return _priorities(item, plain["value"])
    if plain and plain["name"] == FIRST:
        return Change(FIRST, item, name=plain["value"])
    raise _error(item, _HELP)


def _scaled(item: str, name: str, factor: float) -> Change:
    if factor > _LARGEST:
        raise _error(item, f"the factor {factor:g} is above {_LARGEST:,}: give a smaller one")
    if name in (THREADS, DEVICES) and not factor:
        raise _error(item, f"nothing runs without {name}: give a factor above 0")
    return Change(name if name in _WITH_FACTOR else NAMED, item, "" if name in _WITH_FACTOR else name, factor)


def _added(item: str, name: str, value: str, unit: str | None) -> Change:
    if name == THREADS:
        if unit:
            raise _error(item, "a number of threads has no unit: write threads +1")
        return Change(THREADS, item, added=_threads(item, value))
    if not unit:
        raise _error(item, f"a time needs a unit (ns, us, ms or s): write {name} +50us")
    return Change(name, item, added=round(min(float(value), 10.0**9) * _UNITS[unit]))


def _threads(item: str, value: str) -> int:
    if not value.isascii() or not value.isdecimal() or not 1 <= int(value[:12]) <= _LARGEST:
        raise _error(item, f"{_quoted(value)} is not a whole number from 1 to {_LARGEST:,}; write threads 16, threads "
                           "x2 or threads +1")  # fmt: skip
    return int(value)


def _priorities(item: str, value: str) -> Change:
    if value == "path":
        return Change(PRIORITIES, item)
    if value == "off":
        raise _error(item, "not modelled: a trace does not say which priorities its tasks had; record a run without "
                           "them (OMP_MAX_TASK_PRIORITY=0)")  # fmt: skip
    raise _error(item, f"{_quoted(value)} is no order of tasks; write priorities path, or first NAME")


def matching(change: Change, names: Sequence[str]) -> list[int]:
    """Which of the names the change means, with their place in the source or without, or an error that says what there
    is."""
    bare = [name.rpartition(" ")[0] if ":" in name.rpartition(" ")[2] else name for name in names]
    for fits in (lambda name: name == change.name, lambda name: fnmatchcase(name, change.name)):
        found = [number for number, pair in enumerate(zip(names, bare)) if any(map(fits, pair))]
        if found:
            return found
    known = list(dict.fromkeys([*bare, *names]))
    near = difflib.get_close_matches(change.name, known, 1)
    raise _error(change.text, f"this run has no kind of task and no region {_quoted(change.name)}"
                 + (f", did you mean {_quoted(near[0])}?" if near else "")
                 + f"; there are: {', '.join(list(dict.fromkeys(names))[:MOST_NAMES]) or 'none'}"
                 + (", ..." if len(set(names)) > MOST_NAMES else ""))  # fmt: skip


def _error(item: str, text: str) -> AnalysisError:
    return AnalysisError(f"{SHORT} {_quoted(item)}: {text}")


def _quoted(text: str) -> str:
    """On one line, and short."""
    shown = text if len(text) <= 60 else text[:57] + "..."
    return repr(shown)
