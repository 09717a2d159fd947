# SPDX-License-Identifier: Apache-2.0
"""A trace folder as files that people look at: read once, analysed once, written to each of the views asked for."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from .analysis import Analysis
from .chrome import write_chrome
from .perfetto import write_perfetto
from .picture import Picture
from .progress import Progress, no_progress
from .reader import Trace, TraceError, read_trace
from .timeline import timeline


@dataclass(frozen=True)
class Views:
    """The files to write; None: not that one."""

    perfetto: str | Path | None = None
    chrome: str | Path | None = None
    png: str | Path | None = None
    svg: str | Path | None = None

    def __bool__(self) -> bool:
        return any((self.perfetto, self.chrome, self.png, self.svg))


def load(folder: str | Path, progress: Progress = no_progress) -> Trace:
    """The trace in `folder`, whose processes know where they were read from: symbols are kept there."""
    trace = read_trace(folder, progress)
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
            said += _said(views.perfetto, "open it in https://ui.perfetto.dev", drawn.left_out)
        if views.chrome:
            write_chrome(drawn, views.chrome, progress)
            said += _said(views.chrome, "open it in chrome://tracing", drawn.left_out)
    if views.png or views.svg:
        try:
            from . import gantt  # only here: Matplotlib is slow to load, and the other files do not need it
        except ImportError as error:
            missing = views.png or views.svg
            raise TraceError(f"cannot draw {missing}: {error}: python3 -m pip install matplotlib") from error
        if views.png:
            said += _said(views.png, "Gantt chart", gantt.write_png(of["picture"], views.png))
        if views.svg:
            said += _said(views.svg, "Gantt chart", gantt.write_svg(of["picture"], views.svg))
    return said


def _said(path: str | Path, what: str, left_out: list[str]) -> list[str]:
    return [f"{path}: {what}", *(f"{path} leaves out: {text}" for text in left_out)]


def export(folder: str | Path, perfetto: str | Path | None = None, png: str | Path | None = None) -> Picture:
    """Reads the trace in `folder`, writes the files asked for, and returns what it has read. Raises TraceError."""
    of = Analysis(load(folder))
    write_views(of, Views(perfetto=perfetto, png=png))
    return of["picture"]


def summary(picture: Picture) -> str:
    """A few lines that say what the trace holds and what it lacks."""
    tasks, suspensions = picture.tasks, picture.suspensions
    lines = [
        f"{len(picture.trace.ranks)} rank(s), {len(picture.trace.time)} records, "
        f"{len(tasks.id)} tasks ({int(np.count_nonzero(tasks.end >= 0))} completed), {len(picture.edges.source)} edges",
        f"{len(picture.calls.call)} MPI calls, {len(picture.suspended_calls)} of them with the task suspended; "
        f"{len(picture.messages.send)} messages; {len(suspensions.task)} suspensions",
    ]
    return "\n".join(lines + [f"incomplete: {text}" for text in picture.trace.cut])


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="marline.trace.export", description="Export a Marline trace folder.")
    parser.add_argument("folder", help="what MARLINE_TRACE_DIR named when the program ran")
    parser.add_argument("--perfetto", metavar="FILE", help="write a trace for https://ui.perfetto.dev")
    parser.add_argument("--png", metavar="FILE", help="draw a Gantt chart")
    options = parser.parse_args(arguments)
    try:
        picture = export(options.folder, options.perfetto, options.png)
    except (TraceError, OSError) as error:
        print(f"marline: {error}", file=sys.stderr)
        return 1
    print(summary(picture))
    return 0


if __name__ == "__main__":
    sys.exit(main())
