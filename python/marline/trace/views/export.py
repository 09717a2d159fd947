# SPDX-License-Identifier: Apache-2.0
"""A trace folder as files that people look at: read once, analysed once, written to each of the views asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ..analysis import Analysis
from ..passes.picture import by_region
from ..read.progress import Progress, no_progress
from ..read.reader import Trace, TraceError, read_trace
from .chrome import write_chrome
from .perfetto import write_perfetto
from .timeline import timeline


@dataclass(frozen=True)
class Views:
    """The files to write; None: not that one."""

    perfetto: str | Path | None = None
    chrome: str | Path | None = None
    png: str | Path | None = None
    svg: str | Path | None = None
    color_by: str | None = None  # a region: charts have a colour for each time that it began

    def __bool__(self) -> bool:
        return any((self.perfetto, self.chrome, self.png, self.svg))


def load(folder: str | Path, progress: Progress = no_progress, here: bool = False) -> Trace:
    """The trace in `folder`. Its processes know where they were read from: symbols are kept there."""
    trace = read_trace(folder, progress, here)
    for metadata in trace.ranks.values():
        metadata["folder"] = str(folder)
    return trace


def write_views(of: Analysis, views: Views, progress: Progress = no_progress) -> list[str]:
    """Writes what is asked for; returns in words what was written and what a file leaves out."""
    said = []
    if views.perfetto or views.chrome:
        drawn = timeline(of)
        if views.perfetto:
            write_perfetto(drawn, views.perfetto, progress)
            said += _said(views.perfetto, "open it in https://ui.perfetto.dev", *drawn.left_out)
        if views.chrome:
            write_chrome(drawn, views.chrome, progress)
            said += _said(views.chrome, "open it in chrome://tracing", *drawn.left_out)
    if views.png or views.svg:
        try:
            from . import gantt  # only here: Matplotlib is slow to load, and the other files do not need it
        except ImportError as error:
            missing = views.png or views.svg
            raise TraceError(f"cannot draw {missing}: {error}: python3 -m pip install matplotlib") from error
        picture = of["picture"] if views.color_by is None else by_region(of, views.color_by)
        if views.png:
            said += _said(views.png, "Gantt chart", *gantt.write_png(picture, views.png))
        if views.svg:
            said += _said(views.svg, "Gantt chart", *gantt.write_svg(picture, views.svg))
    return said


def _said(path: str | Path, *texts: str) -> list[str]:
    return [f"{path}: {text}" for text in texts]
