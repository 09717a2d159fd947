# SPDX-License-Identifier: Apache-2.0
"""The flame graph of sampled call stacks (assets/flame.js draws it), and the table of their functions. Only of traces
that have samples."""

from __future__ import annotations

from typing import Any

from marline.report.sections.names import place_of_function
from marline.trace.analysis import Analysis
from marline.units import count, duration

from ..encode import ColumnFile
from ..html import Row, number, share, table, time, words

Document = dict[str, Any]

_SECTION = """\
<section id="flame" class="card" aria-label="flame graph">
  <div class="tools" role="toolbar" aria-label="flame graph">
    <h2>Where CPU time goes</h2>
    <span class="group"><button type="button" id="flame-home" title="all of it (Home)">All of it</button></span>
    <span class="group search">
      <input type="search" id="flame-search" placeholder="Search functions" aria-label="search functions by name">
      <output id="flame-found" aria-live="polite"></output>
    </span>
  </div>
  <p class="note">{count} samples of call stacks, {time} of CPU time. A bar is a function, as wide as its time with all
  that it calls, which lies below it; under "all" are the kinds of tasks, regions and serial code. Click a bar to widen
  it; arrow keys move. The table of functions has the same numbers.</p>
  <div id="flame-bars" class="flame" role="group" aria-label="call stacks by CPU time"></div>
  <div id="flame-state" class="state" aria-live="polite"></div>
</section>
"""


def section(document: Document) -> str:
    found = document["samples"]
    if not found["samples"]:
        return ""
    return _SECTION.format(count=count(found["samples"]), time=duration(found["time_ns"]))


def add_flame(of: Analysis, columns: ColumnFile) -> dict[str, Any] | None:
    """Adds the tree's columns. Returns the names in it; of a trace without samples, nothing."""
    if not len(of["samples"].stacks.first):
        return None
    tree = of["flame"].shown()
    columns.add("flame.parent", tree.parent)
    columns.add("flame.name", tree.name)
    columns.add("flame.time", tree.time)
    return {"names": tree.names, "owners": 1 + len(of["samples"].owners.names)}


def functions(document: Document) -> str:
    found = document["samples"]
    rows = [Row((words(place_of_function(row)), time(row["own_ns"]), share(row["own_ns"], found["time_ns"]),
                 time(row["total_ns"]), share(row["total_ns"], found["time_ns"]), number(row["samples"]),
                 words(row["owner"]))) for row in found["functions"]]  # fmt: skip
    heads = ("function", "own", "share", "with what it calls", "share of that", "samples", "mostly in")
    return table("functions", "Functions by CPU time", heads, rows, "The line is the one with most samples.")
