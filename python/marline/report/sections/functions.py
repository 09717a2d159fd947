# SPDX-License-Identifier: Apache-2.0
"""The functions that own most of the sampled time, as a table of the text report."""

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from marline.report.sections.names import fitted, place_of_function
from marline.units import count, duration, percent

MOST_ROWS = 8
LEAST_SHARE = 0.01  # of the sampled time, for a row
MOST_OF_NAME, MOST_OF_OWNER = 35, 20  # letters


def functions(document: Mapping[str, Any]) -> Table:
    """Own time, and with what the function calls."""
    found = document["samples"]
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False)
    title = f"functions by time ({count(found['samples'])} sample{'s'[: found['samples'] != 1]})"
    table.add_column(title, overflow="ellipsis", no_wrap=True, min_width=MOST_OF_NAME, max_width=MOST_OF_NAME)
    for name in ("own", "share", "total"):
        table.add_column(name, justify="right", no_wrap=True, min_width=7)
    table.add_column("mostly in", overflow="ellipsis", no_wrap=True, min_width=MOST_OF_OWNER, max_width=MOST_OF_OWNER)
    rows = [row for row in found["functions"] if row["own_ns"] >= LEAST_SHARE * found["time_ns"]]
    for row in rows[:MOST_ROWS]:
        table.add_row(fitted(place_of_function(row), MOST_OF_NAME), duration(row["own_ns"]),
                      percent(row["own_ns"], found["time_ns"]),
                      percent(row["total_ns"], found["time_ns"]), row["owner"])  # fmt: skip
    if len(rows) > MOST_ROWS:
        table.add_row(f"... {len(rows) - MOST_ROWS} more (--json)")
    return table
