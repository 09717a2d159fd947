# SPDX-License-Identifier: Apache-2.0
"""What a recorder that aggregates leaves (trace/sums/): of each rank the time that its threads spent in each place, and
sums by kind of task, parallel region, worksharing construct and MPI function. Here they become the document that
`marline report DIR --json` prints. It has no records behind it, so nothing that needs an order of events."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from marline.trace import outlined, symbols
from marline.trace.passes.without_tasks.constructs import REGION, SCHEDULES, WORK_NAMES, place_of
from marline.trace.read.clock import frequency
from marline.trace.read.events import CALL_KINDS, MPI_CALLS
from marline.trace.read.reader import TraceError, read_description, read_descriptions

FORMAT = "marline-sums 1"
# The places of the breakdown, in the order in which it shows them. The first three are work.
TASKS, CONSTRUCTS, SERIAL = "tasks", "loops and regions", "serial code"
PLACES = {TASKS: "", CONSTRUCTS: "", SERIAL: "", "MPI": "", "barriers": "barrier", "taskwait": "taskwait",
          "locks": "lock", "no region": "outside"}  # fmt: skip
_OF_SORT = {"others": SERIAL, "serial": SERIAL, "task": TASKS, "region": CONSTRUCTS, "construct": CONSTRUCTS,
            "mpi": "MPI"}  # fmt: skip
Row = dict[str, Any]


def holds_sums(folder: Path) -> bool:
    """Whether the folder is a trace without records. Looks at one description only."""
    first = next(iter(sorted(folder.glob("*.json"))), None) if folder.is_dir() else None
    return first is not None and bool(read_description(first).get("aggregate"))


def read_sums(folder: Path) -> dict[int, Row]:
    """The descriptions, by rank."""
    found = read_descriptions(folder)
    for path, described in found.items():
        if not described.get("aggregate"):
            raise TraceError(f"{path}: holds records, and {folder} sums of other ranks: give each run its own folder")
    return {described["rank"]: described for described in found.values()}


def make_document(ranks: dict[int, Row]) -> Row:
    with_sums = {rank: one for rank, one in ranks.items() if one["recorded"] and one.get("sums")}
    if not with_sums:
        raise TraceError("no process has written its sums, which it does at its end: was the program killed?")
    first = ranks[min(ranks)]
    rows = list(_rows(with_sums))
    names = _Names(with_sums, rows)
    table = [_rank(rank, described) for rank, described in sorted(with_sums.items())]
    return {
        "format": FORMAT,
        "program": {"exe": first["exe"], "argv": first["argv"], "runtime": first["runtime"], "mpi": first["mpi"],
                    "hosts": sorted({one["host"] for one in ranks.values()})},
        "ranks": table,
        "total": {"threads": sum(row["threads"] for row in table),
                  "makespan_ns": max(row["makespan_ns"] for row in table),
                  "places": {place: sum(row["places"][place] for row in table) for place in PLACES}},
        "kinds": _kinds(rows, names),
        "loops": _loops(rows, names),
        "mpi": {"functions": _functions(rows)},
        "incomplete": _incomplete(ranks, with_sums),
        "notes": names.notes,
    }  # fmt: skip


def _rows(ranks: dict[int, Row]) -> Iterator[Row]:
    """All rows of all ranks, with times in ns."""
    for rank, described in ranks.items():
        ghz = frequency(described)
        for row in described["sums"]["rows"]:
            times = {f"{key}_ns": round(row[key] / ghz) for key in ("time", "waited", "least", "most", "longest")}
            yield {"rank": rank, **{key: row[key] for key in ("sort", "kind", "code", "label", "count", "bytes",
                                                              "threads")}, **times}  # fmt: skip


def _rank(rank: int, described: Row) -> Row:
    sums, ghz = described["sums"], frequency(described)
    cycles = {place: sums[key] if key else 0 for place, key in PLACES.items()}
    for row in sums["rows"]:
        cycles[_OF_SORT[row["sort"]]] += row["time"]
    return {"rank": rank, "threads": sums["threads"], "makespan_ns": round((sums["end"] - sums["begin"]) / ghz),
            "places": {place: round(value / ghz) for place, value in cycles.items()},
            "not_recorded_ns": round(sums["off"] / ghz)}  # fmt: skip


class _Names:
    """Where the code addresses of rows lie in the source."""

    def __init__(self, ranks: dict[int, Row], rows: list[Row]) -> None:
        some = [row for row in rows if row["sort"] in ("task", "region", "construct")]
        regions = [row for row in some if row["sort"] == "region"]
        found = outlined.locate(ranks, _codes(some), _codes(regions))
        self._found, self.notes = found, found.notes

    def place(self, row: Row) -> symbols.Location:
        return place_of(self._found, row["rank"], row["code"])


def _codes(rows: list[Row]) -> dict[int, np.ndarray]:
    return symbols.codes_by_rank(np.array([row["rank"] for row in rows], dtype=np.int64),
                                 np.array([row["code"] for row in rows], dtype=np.uint64))  # fmt: skip


def _kinds(rows: list[Row], names: _Names) -> list[Row]:
    """By name, over all ranks: the most time first. A kind whose tasks have not ended has no row."""
    found: dict[str, Row] = {}
    for row in rows:
        if row["sort"] != "task" or not row["count"]:
            continue
        name = row["label"] or (names.place(row).short() if row["code"] else "task")
        into = found.setdefault(name, {"name": name, "tasks": 0, "total_ns": 0, "min_ns": row["least_ns"], "max_ns": 0})
        into["tasks"] += row["count"]
        into["total_ns"] += row["time_ns"]
        into["min_ns"] = min(into["min_ns"], row["least_ns"])
        into["max_ns"] = max(into["max_ns"], row["most_ns"])
    return sorted(found.values(), key=lambda row: -row["total_ns"])


def _loops(rows: list[Row], names: _Names) -> list[Row]:
    """Regions and constructs by their place, over all ranks: the most expensive first. `imbalance`: the longest time of
    a thread over the mean, each in sum over ranks."""
    found: dict[tuple[int, symbols.Location], Row] = {}
    for row in rows:
        if row["sort"] not in ("region", "construct"):
            continue
        kind, place = row["kind"] if row["sort"] == "construct" else REGION, names.place(row)
        name = f"{WORK_NAMES.get(kind, 'region')} {place.short()}"
        into = found.setdefault((kind, place), {
            "name": name, "schedule": SCHEDULES.get(kind, ""), "function": place.function, "file": place.file,
            "line": place.line, "calls": 0, "threads": 0, "time_ns": 0, "waited_ns": 0, "longest_ns": 0, "mean_ns": 0.0,
        })  # fmt: skip
        into["calls"] += row["count"]
        into["threads"] = max(into["threads"], row["threads"])
        into["mean_ns"] += row["time_ns"] / row["threads"]
        for key in ("time_ns", "waited_ns", "longest_ns"):
            into[key] += row[key]
    for row in found.values():
        longest, mean = row.pop("longest_ns"), row.pop("mean_ns")
        row["imbalance"] = max(longest / mean, 1.0) if mean else 1.0
    return sorted(found.values(), key=lambda row: -row["time_ns"] - row["waited_ns"])


def _functions(rows: list[Row]) -> list[Row]:
    """`held`: threads were in the call; `total`: until it returned, the time included for which its task was suspended.
    Calls that concern no other process are left out, as in the report of records."""
    found: dict[str, Row] = {}
    for row in rows:
        if row["sort"] != "mpi" or not row["count"] or CALL_KINDS.get(row["code"], "local") == "local":
            continue
        name = MPI_CALLS[row["code"]]
        into = found.setdefault(name, {"name": name, "calls": 0, "held_ns": 0, "total_ns": 0, "bytes": 0})
        for key, value in (("calls", "count"), ("held_ns", "time_ns"), ("total_ns", "waited_ns"), ("bytes", "bytes")):
            into[key] += row[value]
    return sorted(found.values(), key=lambda row: -row["total_ns"])


def _incomplete(ranks: dict[int, Row], with_sums: dict[int, Row]) -> list[str]:
    lines = []
    left_out = [rank for rank, one in ranks.items() if not one["recorded"]]
    if left_out:
        lines.append(f"{len(left_out)} of {len(ranks)} ranks not recorded (MARLINE_TRACE_RANKS): sums are of the "
                     "others")  # fmt: skip
    silent = len(ranks) - len(with_sums) - len(left_out)
    if silent:
        lines.append(f"{silent} of {len(ranks)} ranks have written no sums, which they do at their end: sums are of "
                     "the others")  # fmt: skip
    if any(one["sums"]["full"] for one in with_sums.values()):
        lines.append("a process had more kinds of tasks, regions, loops and MPI functions than the 2,046 that it keeps "
                     "apart: the time of the others counts as serial code")  # fmt: skip
    return lines
