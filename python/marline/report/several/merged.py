# SPDX-License-Identifier: Apache-2.0
"""`marline report --merge PART ...`: one report of the reports of single nodes (`marline report DIR --here --json`), so
that the records need not leave their nodes.

What is a sum over threads, calls or tasks is added up. What compares ranks of several nodes, such as the critical path,
efficiencies and who waited for whom, is in no part, and so not in the whole."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from marline.errors import Refusal
from marline.report import text, without_tasks
from marline.report.metrics import FORMAT as PART_FORMAT
from marline.report.sections.functions import functions
from marline.trace.passes.thread_time.causes import CAUSES
from marline.units import duration, percent

FORMAT = "marline-merged 1"
NOT_KNOWN = ("efficiency, critical path, bounds, late sends and the causes of waiting for other nodes: a report of all "
             "records has them")  # fmt: skip
MOST_CAUSES = 6
_SAMPLED = ("own_ns", "total_ns", "samples")
_PARTS = ("work_ns", "idle_ns", "overhead_ns")
_OF_OTHERS = re.compile(r"\d+ ranks? of \d+ ")  # what one node says of ranks that are in other parts
_KEYS = ("program", "ranks", "total", "graph", "kinds", "mpi", "regions", "marks", "samples", "remarks",
         "incomplete")
Row = dict[str, Any]


def merge(files: Sequence[Path]) -> dict[str, Any]:
    parts = [_read(file) for file in files]
    first = parts[0]["program"]
    for file, part in zip(files, parts):
        if (part["program"]["exe"], part["program"]["argv"]) != (first["exe"], first["argv"]):
            raise Refusal(f"{file} is of another run than {files[0]}: give the parts of one run")
    ranks = sorted((row for part in parts for row in part["ranks"]), key=lambda row: row["rank"])
    twice = [rank for rank, times in Counter(row["rank"] for row in ranks).items() if times > 1]
    if twice:
        raise Refusal(f"rank {twice[0]} is in two of the parts: give each node's part once")
    # A part names the ranks that its node does not have; one that is in no part may be known to some of them only.
    left_out = sorted({rank for part in parts for rank in part["program"]["left_out"]} - {row["rank"] for row in ranks})
    return {
        "format": FORMAT,
        "program": first | {"hosts": sorted({host for part in parts for host in part["program"]["hosts"]}),
                            "records": sum(part["program"]["records"] for part in parts),
                            "ranks_left_out": len(left_out), "left_out": left_out},
        "ranks": ranks, "total": _total(parts),
        "graph": {key: sum(part["graph"][key] for part in parts) for key in ("tasks", "edges")},
        "kinds": _by_name(parts, lambda part: part["kinds"]),
        "mpi": {"functions": _by_name(parts, lambda part: part["mpi"]["functions"])},
        "samples": _samples([part["samples"] for part in parts]),
        "regions": [row for part in parts for row in part["regions"]],
        "marks": [row for part in parts for row in part["marks"]],
        "remarks": _distinct(part["remarks"] for part in parts),
        "incomplete": [line for part in parts for line in part["incomplete"] if not _OF_OTHERS.match(line)],
    }  # fmt: skip


def _read(file: Path) -> dict[str, Any]:
    try:
        part = json.loads(file.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise Refusal(f"{file}: not a report ({error}): give what `marline report DIR --here --json` prints") from error
    found = part.get("format") if isinstance(part, dict) else None
    if found != PART_FORMAT or any(key not in part for key in _KEYS) or "left_out" not in part["program"]:
        raise Refusal(f"{file}: format {found!r}, expected {PART_FORMAT!r}: give what `marline report DIR --here "
                      "--json` of this version prints")  # fmt: skip
    return part


def _total(parts: Sequence[Row]) -> Row:
    totals = [part["total"] for part in parts]
    causes: Counter[str] = Counter()
    for total in totals:
        causes.update(total["causes"])
    sums = {name: sum(total[name] for total in totals) for name in ("threads", *_PARTS)}
    whole = max(sum(sums[name] for name in _PARTS), 1)
    shares = {name.replace("_ns", "_share"): sums[name] / whole for name in _PARTS}
    return {"makespan_ns": max(total["makespan_ns"] for total in totals), **sums, **shares, "causes": dict(causes)}


def _by_name(parts: Sequence[Row], rows_of: Callable[[Row], Iterable[Row]]) -> list[Row]:
    """Rows of one name are one: numbers are added up, but for least and most."""
    found: dict[str, Row] = {}
    for part in parts:
        for row in rows_of(part):
            if row["name"] not in found:
                found[row["name"]] = dict(row)
                continue
            into = found[row["name"]]
            for key, value in row.items():
                if isinstance(value, int):
                    combine = min if key.startswith("min_") else max if key.startswith("max_") else _add
                    into[key] = combine(into[key], value)
                elif key == "places":
                    into[key] = _by_name([into, row], lambda one: one["places"])
    return sorted(found.values(), key=lambda row: -row["total_ns"])


def _add(a: int, b: int) -> int:
    return a + b


def _samples(parts: Sequence[Row]) -> Row:
    """Functions of one name and file are one. Its line, and what it is mostly in, are those of the part where it owns
    most."""
    by_function: dict[tuple[str, str], Row] = {}
    for row in sorted((row for part in parts for row in part["functions"]), key=lambda row: -row["own_ns"]):
        into = by_function.setdefault((row["name"], row["file"]), row | dict.fromkeys(_SAMPLED, 0))
        for key in _SAMPLED:
            into[key] += row[key]
    owners: dict[str, Row] = {}
    for row in (row for part in parts for row in part["owners"]):
        into = owners.setdefault(row["name"], row | {"samples": 0, "time_ns": 0, "functions": []})
        for key in ("samples", "time_ns"):
            into[key] += row[key]
        into["functions"] = _functions_of_owner([*into["functions"], *row["functions"]])
    return {
        "hz": max(part["hz"] for part in parts),
        **{key: sum(part[key] for part in parts) for key in ("samples", "time_ns")},
        "functions": sorted(by_function.values(), key=lambda row: (-row["own_ns"], -row["total_ns"])),
        "owners": sorted(owners.values(), key=lambda row: -row["time_ns"]),
        "notes": _distinct(part["notes"] for part in parts),
    }  # fmt: skip


def _functions_of_owner(rows: Sequence[Row]) -> list[Row]:
    found: dict[tuple[str, str], Row] = {}
    for row in sorted(rows, key=lambda row: -row["own_ns"]):
        into = found.setdefault((row["name"], row["file"]), row | {"own_ns": 0})
        into["own_ns"] += row["own_ns"]
    return sorted(found.values(), key=lambda row: -row["own_ns"])


def _distinct(lines: Iterable[Iterable[str]]) -> list[str]:
    return list(dict.fromkeys(line for some in lines for line in some))


def print_merged(document: dict[str, Any], console: Console) -> None:
    parts = [text.header(document), text.breakdown(document), _causes(document["total"])]
    parts += [text.kinds(document)] if document["kinds"] else []
    parts += [without_tasks.mpi(document)] if document["mpi"]["functions"] else []
    parts += [functions(document)] if document["samples"]["samples"] else []
    parts += [text.regions(document)] if document["regions"] or document["marks"] else []
    notes = text.lines()
    notes.add_row("not known", NOT_KNOWN)
    if left_out := document["program"]["left_out"]:
        ranks = f"rank{'s'[: len(left_out) > 1]} {_in_ranges(left_out)}"
        notes.add_row("incomplete", f"no part has {ranks}: figures are of the others")
    for title in ("remark", "incomplete"):
        for line in document["remarks" if title == "remark" else title]:
            notes.add_row(title, line)
    for part in (*parts, notes):
        text.print_part(part, console)
        console.print()


def _in_ranges(numbers: Sequence[int]) -> str:
    """Ascending numbers: [1, 2, 3, 7] -> "1-3, 7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _causes(total: Row) -> Table:
    """What thread time was, other than work, the most first."""
    words = {cause.name: cause.text for cause in CAUSES}
    whole = sum(total[name] for name in _PARTS)
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("threads did not work", overflow="ellipsis", no_wrap=True)
    for title in ("sum", "share"):
        table.add_column(title, justify="right", no_wrap=True)
    lost = sorted(((time, name) for name, time in total["causes"].items() if not name.startswith("work")), reverse=True)
    for time, name in lost[:MOST_CAUSES]:
        table.add_row(words.get(name, name), duration(time), percent(time, whole))
    return table
