# SPDX-License-Identifier: Apache-2.0
"""A plot of a page: its numbers, and the HTML around it. assets/plots.js draws every plot from these alone: a new one
is a function that returns a Plot, and one entry in the list of its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

# Forms: stacked areas; lines, which are steps over time; stacked bars; lines with a mark at each point.
AREA, STEPS, BARS, POINTS = "area", "steps", "bars", "points"


@dataclass(frozen=True)
class Line:
    """`values`: by x; None: not known. `color`: of CSS, or the name of one in theme.css; `shade`: from -1, black, to 1,
    white. `whole`: what it is in all, which the legend says while the pointer is elsewhere. `text`: what it counts."""

    name: str
    values: Sequence[float | None]
    color: str
    whole: float | None = None
    text: str = ""
    shade: float = 0.0
    dashed: bool = False


@dataclass(frozen=True)
class Plot:
    """`x`: where each value begins, by `axis` ("time": ns since the run began; else what the numbers are); `labels`:
    texts that stand for whole numbers of x. `unit` of the values: "ns", "%", "x" or none. `whole`: what the legend's
    numbers are while the pointer is elsewhere. `level`: a line across, and its text."""

    name: str
    title: str
    text: str
    form: str
    x: Sequence[float]
    lines: Sequence[Line]
    unit: str = ""
    axis: str = "time"
    whole: str = "mean"
    labels: Sequence[str] = ()
    level: tuple[float, str] | None = None

    def document(self) -> dict[str, Any]:
        """What plots.js reads."""
        return {key: value for key, value in asdict(self).items() if key not in ("title", "text")}

    def figure(self) -> str:
        text = f'<p class="note">{escape(self.text)}</p>' if self.text else ""
        return (f'<figure class="card" id="figure-{self.name}"><h3>{escape(self.title)}</h3>{text}'
                f'<div id="plot-{self.name}" class="plot" role="img" aria-label="{escape(self.title)}: the numbers are '
                f'in the table below"></div><details class="data"><summary>as a table</summary>'
                f'<div class="scroll" data-table="{self.name}"></div></details></figure>\n')  # fmt: skip


def figures(plots: Sequence[Plot]) -> str:
    return "".join(plot.figure() for plot in plots)


def documents(plots: Sequence[Plot]) -> list[dict[str, Any]]:
    return [plot.document() for plot in plots]
