# SPDX-License-Identifier: Apache-2.0
"""`python3 -m marline.trace.export DIR --perfetto OUT --png OUT`: a trace folder as files that people look at.

`export` is the function behind it, for the `marline` command.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

try:
    import numpy as np
except ImportError as missing:
    if __name__ != "__main__":
        raise
    sys.exit(f"marline: reading a trace needs NumPy: {missing}: python3 -m pip install numpy matplotlib")

from .perfetto import write_perfetto
from .picture import Picture, interpret
from .reader import TraceError, read_trace


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


def export(folder: str | Path, perfetto: str | Path | None = None, png: str | Path | None = None) -> Picture:
    """Reads the trace in `folder`, writes the files asked for, and returns what it has read. Raises TraceError."""
    picture = interpret(read_trace(folder))
    if perfetto is not None:
        write_perfetto(picture, perfetto)
    if png is not None:
        try:
            from .gantt import write_png  # only here: Matplotlib is slow to load, and a Perfetto file does not need it
        except ImportError as error:
            raise TraceError(f"cannot draw {png}: {error}: python3 -m pip install matplotlib") from error
        write_png(picture, png)
    return picture


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
