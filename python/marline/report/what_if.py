# SPDX-License-Identifier: Apache-2.0
"""`marline report --what-if`, and what the model of the scheduler expects from the advice of a report."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from rich.table import Table
from rich.text import Text

from marline.report.causes import GRAIN
from marline.trace.analysis import Analysis, AnalysisError
from marline.trace.what_if.language import parse
from marline.trace.what_if.predict import Prediction, WhatIf
from marline.units import duration, percent

MOST_BOUNDS = 3
LEAST_BOUND = 0.01
WORTH_EXPECTING = 0.005  # of the makespan: less than that is no gain
WORTH_TRUSTING = 0.1  # a model that misses the run itself by more knows little of another one


def _larger_tasks(figures: Mapping[str, Any]) -> str:
    part = figures["grain_median_ns"] / max(GRAIN * figures["overhead_per_task_ns"], 1)
    factor = np.format_float_positional(part, precision=2, fractional=False, trim="-")  # never with an exponent
    return f"overhead x{factor}, creation x{factor}"


def _one_thread_more(figures: Mapping[str, Any]) -> str:
    """The model knows no cores: threads that take turns would each have one. 0 cores: their number is not known."""
    return "" if 0 < figures["cores_per_node"] <= figures["threads_per_node"] else "threads +1"


# By the name of a rule (causes.py): the change that its advice would make in the best case.
# Empty: the model knows no such change.
ADVICE: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "fine grain": _larger_tasks,
    "discovery": lambda _: "creation x0.5",
    "communication": lambda _: "network x0",
    "tied tasks": lambda _: "untied",
    "MPI at work": _one_thread_more,
    "imbalance": lambda _: "balance",
    "narrow graph": lambda _: "priorities path",
    "last tasks": lambda _: "priorities path",
}


def predictions(of: Analysis, texts: Sequence[str]) -> list[dict[str, Any]]:
    """A document for each text of changes."""
    asked = [parse(text) for text in texts]
    if not asked:
        return []
    if left_out := len(of.trace.left_out()):
        raise AnalysisError(f"--what-if needs all ranks, and the records of {left_out} are not here: record the run "
                            "without MARLINE_TRACE_RANKS, read it without --here")  # fmt: skip
    model = WhatIf(of)
    return [model.predict(changes).document() for changes in asked]


def add_expected(of: Analysis, causes: Sequence[dict[str, Any]], figures: Mapping[str, Any]) -> None:
    """To the biggest cause: what its advice would change, if the model knows such a change, its own run is near the
    one that was recorded, and the change gains anything."""
    for cause in causes[:1]:
        text = ADVICE[cause["name"]](figures) if cause["name"] in ADVICE else ""
        if not text:
            continue
        found: Prediction = WhatIf(of).predict(parse(text))
        is_near = found.measured > 0 and abs(found.as_is / found.measured - 1) <= WORTH_TRUSTING
        if is_near and found.gain <= -WORTH_EXPECTING:
            command = f'marline report {shlex.quote(of.trace.folder)} --what-if "{text}"'
            cause["expected"] = {"what_if": text, "change": found.gain, "command": command}


def expected_text(expected: Mapping[str, Any]) -> str:
    """`command`, which shows the prediction, stands after it."""
    return f"{signed(expected['change'])} of the time at most, says the model of the run"


def signed(change: float) -> str:
    """-0.123 -> "-12.3 %"."""
    return f"{100 * change:+.1f} %"


def table(found: Mapping[str, Any]) -> Table:
    """One prediction, a line per figure."""
    lines = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column()
    lines.add_row("what if", ", ".join(found["changes"]))
    lines.add_row("measured", duration(found["measured_ns"]))
    lines.add_row("model as it was", f"{duration(found['model_ns'])}, {signed(found['model_error'])} beside the run")
    lines.add_row("predicted", f"{duration(found['predicted_ns'])}, {signed(found['change'])}")
    whole = sum(row["total_ns"] for row in found["bounds"])
    parts = [row for row in found["bounds"][:MOST_BOUNDS] if row["total_ns"] >= LEAST_BOUND * whole]
    if parts:
        lines.add_row("then bounded by", "; ".join(f"{row['name']} {percent(row['total_ns'], whole)}" for row in parts))
    if found["not_judged"]:
        lines.add_row(Text("not judged", style="yellow"), f"{', '.join(found['not_judged'])}: no study has compared "
                      "such predictions with runs (docs/guide/what-if.md)")  # fmt: skip
    if abs(found["model_error"]) > WORTH_TRUSTING:
        lines.add_row(Text("remark", style="yellow"), "the model does not come near the run itself: trust it little")
    return lines
