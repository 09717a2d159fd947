# SPDX-License-Identifier: Apache-2.0
"""`marline report A B`: what the second run of a program took more than the first, in all and by kind of task.

A ratio is the value of the second run over that of the first. For work it is the work time inflation, for messages the
communication time inflation (R. Pereira, thesis, 2023, 4.1.2), which compare the same tasks: where a kind has another
number of tasks in the second run, the time per task is compared, too.

Of several runs of each side, figures are medians, and `p` says how likely their difference is if both sides are equally
fast (history.py)."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from marline.report.history import SURE
from marline.report.metrics import program
from marline.report.several.runs import ENOUGH_RUNS, chance, is_sure, median_of, values
from marline.trace.analysis import Analysis
from marline.units import count, duration

FORMAT = "marline-compare 1"
SAME = 0.05  # a ratio within this of 1 gets no colour
MOST_KINDS = 12  # in the text
MOST_CAUSES = 3
LEAST_CHANGE = 0.01  # of a cause of lost time: of all thread time of the first run


def summary(of: Analysis) -> dict[str, Any]:
    """What is compared of one run."""
    table, discovery, kinds = (of.document(name) for name in ("breakdown", "discovery", "work_by_kind"))
    total = table["total"]
    return {
        "program": program(of), "ranks": len(table["ranks"]), "threads": total["threads"],
        "makespan_ns": total["makespan_ns"], "work_ns": total["work_ns"], "idle_ns": total["idle_ns"],
        "overhead_ns": total["overhead_ns"], "discovery_ns": round(1e9 * discovery["seconds"]),
        "creation_ns": sum(row["creating_ns"] for row in discovery["ranks"]),
        "in_mpi_ns": sum(row["in_mpi_ns"] for row in kinds),
        "communication_ns": sum(row["communication_ns"] for row in kinds), "causes": total["causes"],
        "efficiency": of.document("efficiency"), "kinds": kinds,
        "regions": _by_name(of.document("regions"), "count", "total_ns"),
        "loops": _by_name(of.document("loops")["constructs"], "calls", "time_ns"),
        "calls": _by_name(of.document("mpi_waits")["functions"], "calls", "total_ns"),
    }  # fmt: skip


def _by_name(table: Sequence[dict[str, Any]], times: str, total: str) -> list[dict[str, Any]]:
    """All rows of a name as one."""
    found: dict[str, dict[str, Any]] = {}
    for row in table:
        one = found.setdefault(row["name"], {"name": row["name"], "times": 0, "total_ns": 0})
        one["times"] += row[times]
        one["total_ns"] += row[total]
    return list(found.values())


TABLES = ("regions", "loops", "calls")  # of rows with a name, a number and a time


def compare(first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The document of the summaries of both sides."""
    sides = first, second
    one, other = median_of(first), median_of(second)
    names = [key for key, value in one.items() if key.endswith("_ns") and isinstance(value, (int, float))]
    return {
        "format": FORMAT,
        "runs": [{key: run[key] for key in run if key not in ("kinds", "causes", *TABLES)} | {"count": len(side)}
                 for run, side in zip((one, other), sides)],
        "ratios": {name.removesuffix("_ns"): _ratio(other[name], one[name]) for name in names},
        "p": {name.removesuffix("_ns"): chance(*([run[name] for run in side] for side in sides)) for name in names},
        "causes": [row | {"p": chance(*([run["causes"].get(row["name"], 0) for run in side] for side in sides))}
                   for row in _causes(one["causes"], other["causes"])],
        "kinds": [row | {"p": chance(*(values(side, "kinds", row["name"], "work_ns") for side in sides))}
                  for row in _kinds(one["kinds"], other["kinds"])],
        **{name: _times(name, one[name], other[name], sides) for name in TABLES},
    }  # fmt: skip


def _times(table: str, first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]],
           sides: Sequence[Sequence[dict[str, Any]]]) -> list[dict[str, Any]]:  # fmt: skip
    """Rows of both sides by name, the greatest change of time first."""
    left, right = ({row["name"]: row for row in rows} for rows in (first, second))
    nothing = {"times": 0, "total_ns": 0}
    rows = []
    for name in dict.fromkeys([*left, *right]):
        pair = left.get(name, nothing), right.get(name, nothing)
        rows.append({"name": name, **{key: [one[key] for one in pair] for key in nothing},
                     "ratio": _ratio(pair[1]["total_ns"], pair[0]["total_ns"]),
                     "p": chance(*(values(side, table, name, "total_ns") for side in sides))})  # fmt: skip
    return sorted(rows, key=lambda row: -abs(row["total_ns"][1] - row["total_ns"][0]))


def _ratio(value: float, reference: float) -> float | None:
    return value / reference if reference else None


def _causes(first: dict[str, int], second: dict[str, int]) -> list[dict[str, Any]]:
    """What threads did in their time, the greatest change first."""
    rows = [{"name": name, "first_ns": first.get(name, 0), "second_ns": second.get(name, 0)}
            for name in dict.fromkeys([*first, *second])]  # fmt: skip
    return sorted(rows, key=lambda row: -abs(row["second_ns"] - row["first_ns"]))


def _kinds(first: Sequence[dict[str, Any]], second: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Kinds of both runs by name, the greatest change of work first."""
    nothing = {"tasks": 0, "work_ns": 0, "in_mpi_ns": 0, "messages": 0, "communication_ns": 0}
    left, right = ({row["name"]: row for row in rows} for rows in (first, second))
    table = []
    for name in dict.fromkeys([*left, *right]):
        one, other = left.get(name, nothing), right.get(name, nothing)
        pairs = {key: [one[key], other[key]] for key in nothing}
        table.append({"name": name, **pairs, "work_ratio": _ratio(other["work_ns"], one["work_ns"]),
                      "work_per_task_ratio": _ratio(_each(other), _each(one)),
                      "communication_ratio": _ratio(other["communication_ns"], one["communication_ns"])})  # fmt: skip
    return sorted(table, key=lambda row: -abs(row["work_ns"][1] - row["work_ns"][0]))


def _each(row: dict[str, Any]) -> float:
    return row["work_ns"] / row["tasks"] if row["tasks"] else 0.0


# The text ---------------------------------------------------------------------------------------------------------

TOTALS = (("makespan", "makespan"), ("work", "work"), ("idle", "idle"), ("overhead", "overhead"),
          ("discovery", "discovery"), ("creation", "in code that creates tasks"), ("in_mpi", "held by MPI"),
          ("communication", "messages under way"))  # fmt: skip


def print_comparison(document: dict[str, Any], names: Sequence[str], console: Console) -> None:
    for letter, name, run in zip("AB", names, document["runs"]):
        words = " ".join(run["program"]["argv"][1:])
        shape = f"{run['ranks']} rank{'s' * (run['ranks'] > 1)}, {run['threads']} threads"
        shape += f", median of {run['count']} runs" if run["count"] > 1 else ""
        console.print(f"{letter}  {name}: {shape}" + (f"; {words}" if words else ""), soft_wrap=True)
    console.print()
    console.print(_totals(document))
    console.print()
    console.print(_table_of_kinds(document))
    messages = _table_of_messages(document)
    if messages.row_count:
        console.print()
        console.print(messages)
    lines = _said_causes(document)
    if lines:
        console.print()
    for line in lines:
        console.print(line)
    if several_runs(document):
        console.print()
        console.print(f"p: how likely such a difference is by chance; from {SURE} on it has no colour. With fewer than "
                      f"{ENOUGH_RUNS} runs of each, none is sure.")  # fmt: skip


def several_runs(document: dict[str, Any]) -> bool:
    """Of both sides: only then is anything known of chance."""
    return all(run["count"] > 1 for run in document["runs"])


def ratio_text(value: float | None, better: str = "less", p: float | None = None) -> Text:
    """Green where the second run is better, red where it is worse, without a colour where this may be chance."""
    if value is None:
        return Text("-")
    if not is_sure(p):
        return Text(f"{value:.2f}")
    worse = value > 1 + SAME if better == "less" else value < 1 - SAME
    improved = value < 1 - SAME if better == "less" else value > 1 + SAME
    return Text(f"{value:.2f}", style="red" if worse else "green" if improved else "")


def _columns(*titles: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column(titles[0], overflow="ellipsis", no_wrap=True)
    for title in titles[1:]:
        table.add_column(title, justify="right", no_wrap=True)
    return table


def _totals(document: dict[str, Any]) -> Table:
    several = several_runs(document)
    table = _columns("", "A", "B", "B / A", *(("p",) if several else ()))
    first, second = document["runs"]
    for name, text in TOTALS:
        if first[f"{name}_ns"] or second[f"{name}_ns"]:
            p = document["p"][name]
            table.add_row(text, duration(first[f"{name}_ns"]), duration(second[f"{name}_ns"]),
                          ratio_text(document["ratios"][name], p=p), *((_p_text(p),) if several else ()))  # fmt: skip
    values = [run["efficiency"]["parallel"] for run in document["runs"]]
    table.add_row("parallel efficiency", *(f"{100 * value:.1f} %" for value in values),
                  ratio_text(_ratio(values[1], values[0]), "more"))  # fmt: skip
    return table


def _p_text(p: float | None) -> str:
    return "" if p is None else f"{p:.2g}"


def _table_of_kinds(document: dict[str, Any]) -> Table:
    several = several_runs(document)
    table = _columns("work by change", "tasks A", "B", "work A", "B", "B / A", "each", *(("p",) if several else ()))
    for row in document["kinds"][:MOST_KINDS]:
        table.add_row(row["name"], *map(count, row["tasks"]), *map(duration, row["work_ns"]),
                      ratio_text(row["work_ratio"], p=row["p"]), ratio_text(row["work_per_task_ratio"], p=row["p"]),
                      *((_p_text(row["p"]),) if several else ()))  # fmt: skip
    if len(document["kinds"]) > MOST_KINDS:
        table.add_row(f"... {len(document['kinds']) - MOST_KINDS} more (--json)")
    return table


def _table_of_messages(document: dict[str, Any]) -> Table:
    table = _columns("sent by", "messages A", "B", "under way A", "B", "B / A")
    for row in document["kinds"]:
        if any(row["messages"]):
            table.add_row(row["name"], *map(count, row["messages"]), *map(duration, row["communication_ns"]),
                          ratio_text(row["communication_ratio"]))  # fmt: skip
    return table


def _said_causes(document: dict[str, Any]) -> list[str]:
    first = document["runs"][0]
    whole = first["work_ns"] + first["idle_ns"] + first["overhead_ns"]
    lines = []
    for row in [row for row in document["causes"] if row["name"] != "work_body"][:MOST_CAUSES]:
        change = row["second_ns"] - row["first_ns"]
        if abs(change) > LEAST_CHANGE * whole:
            lines.append(f"{duration(abs(change))} {'more' if change > 0 else 'less'} thread time in "
                         f"{row['name'].replace('_', ': ', 1).replace('_', ' ')}")  # fmt: skip
    return lines
