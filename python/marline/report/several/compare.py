# SPDX-License-Identifier: Apache-2.0
"""`marline report A B`: what the second run of a program took more than the first, in all and by kind of task.

A ratio is the value of the second run over that of the first. For work it is the work time inflation, for messages the
communication time inflation (R. Pereira, thesis, 2023, 4.1.2), which compare the same tasks: where a kind has another
number of tasks in the second run, the time per task is compared, too."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from marline.report.metrics import program
from marline.trace.analysis import Analysis
from marline.units import count, duration

FORMAT = "marline-compare 1"
PASSES = ("breakdown", "discovery", "efficiency", "work_by_kind")
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
    }  # fmt: skip


def compare(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    """The document of two summaries."""
    names = [key for key, value in first.items() if key.endswith("_ns") and isinstance(value, int)]
    return {
        "format": FORMAT,
        "runs": [{key: run[key] for key in run if key not in ("kinds", "causes")} for run in (first, second)],
        "ratios": {name.removesuffix("_ns"): _ratio(second[name], first[name]) for name in names},
        "causes": _causes(first["causes"], second["causes"]),
        "kinds": _kinds(first["kinds"], second["kinds"]),
    }


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


def ratio_text(value: float | None, better: str = "less") -> Text:
    """Green where the second run is better, red where it is worse."""
    if value is None:
        return Text("-")
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
    table = _columns("", "A", "B", "B / A")
    first, second = document["runs"]
    for name, text in TOTALS:
        if first[f"{name}_ns"] or second[f"{name}_ns"]:
            table.add_row(text, duration(first[f"{name}_ns"]), duration(second[f"{name}_ns"]),
                          ratio_text(document["ratios"][name]))  # fmt: skip
    values = [run["efficiency"]["parallel"] for run in document["runs"]]
    table.add_row("parallel efficiency", *(f"{100 * value:.1f} %" for value in values),
                  ratio_text(_ratio(values[1], values[0]), "more"))  # fmt: skip
    return table


def _table_of_kinds(document: dict[str, Any]) -> Table:
    table = _columns("work by change", "tasks A", "B", "work A", "B", "B / A", "each")
    for row in document["kinds"][:MOST_KINDS]:
        table.add_row(row["name"], *map(count, row["tasks"]), *map(duration, row["work_ns"]),
                      ratio_text(row["work_ratio"]), ratio_text(row["work_per_task_ratio"]))  # fmt: skip
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
