#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a rank send earlier with priorities? Records apps/cholesky on two ranks of one thread under several values of
MARLINE_PRIORITY, prints figures of each (medians over the runs), and draws their timelines below one another.

    bench/early_sending.py                                    # the table
    bench/early_sending.py --delay 1000 --png early.png       # each message takes 1 ms more; and the picture

Runs take turns, so that a disturbance of the machine meets all values alike. Orders of tasks hardly depend on the
machine, times do. Figures:

    makespan   from the start of the first task of the factorisation to the end of its last
    sent       median time at which a message is sent, as a part of the makespan
    arrived    likewise, at which its receiver has it
    between    updates (gemm, syrk) that a rank does between the first and the last message of a panel, on average
    idle       part of the ranks' time without a task
"""
from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))

from marline.trace.analysis import Analysis  # noqa: E402  (the path above is what finds it)
from marline.trace.passes.picture import Picture  # noqa: E402
from marline.trace.read.calls import kind_mask  # noqa: E402
from marline.trace.read.reader import read_trace  # noqa: E402

GENERATE, PANEL, UPDATE = "task_fill", ("task_potrf", "task_trsm"), ("task_syrk", "task_gemm")
COLORS = {PANEL: "#1b7837", UPDATE: "#b8d8b8"}
SEND_COLOR = "#d6604d"


@dataclass
class Run:
    """One recorded factorisation. All arrays of rows of tasks."""

    picture: Picture
    panel: np.ndarray  # True for tasks of these kinds
    update: np.ndarray
    sends: np.ndarray  # rows that send, each with
    column: np.ndarray  # the panel that its message is of
    receives: np.ndarray

    @classmethod
    def read(cls, folder: Path, order: int, tile: int) -> Run:
        picture = Analysis(read_trace(folder))["picture"]
        names = np.array([name.split(maxsplit=1)[0] for name in picture.kind_names])[picture.kind_of_task]
        calls, tasks = picture.calls, picture.tasks
        # The last round: what was created after the matrix had been generated for the last time.
        generated = [tasks.end[(names == GENERATE) & (tasks.rank == rank)].max() for rank in (0, 1)]
        last = tasks.created > np.array(generated)[tasks.rank]
        send, receive = (tasks.index(calls.task[kind_mask(calls, kind)]) for kind in ("send", "receive"))
        tiles = -(-order // tile)  # on a grid of 2 x 1, the tag of tile (m, k) is m // 2 * tiles + k
        column = calls.tag[kind_mask(calls, "send")] % tiles
        sends = (send >= 0) & last[send]
        return cls(picture, np.isin(names, PANEL) & last, np.isin(names, UPDATE) & last, send[sends], column[sends],
                   receive[(receive >= 0) & last[receive]])  # fmt: skip

    @property
    def span(self) -> tuple[int, int]:
        tasks, mine = self.picture.tasks, self.panel | self.update
        return int(tasks.start[mine].min()), int(tasks.end[mine].max())

    @property
    def makespan(self) -> float:
        first, last = self.span
        return (last - first) / 1e6

    def part(self, time: np.ndarray) -> float:
        first, last = self.span
        return float(np.median(time - first) / (last - first))

    def sent(self) -> float:
        return self.part(self.picture.tasks.start[self.sends])

    def arrived(self) -> float:
        return self.part(self.picture.tasks.end[self.receives])

    def between(self, rank: int) -> np.ndarray:
        """Updates between the first and the last message of each panel of which the rank sends at least two."""
        tasks = self.picture.tasks
        updates = np.sort(tasks.start[self.update & (tasks.rank == rank)])
        found = []
        for column in np.unique(self.column).tolist():
            starts = tasks.start[self.sends[(self.column == column) & (tasks.rank[self.sends] == rank)]]
            if len(starts) > 1:
                found.append(np.diff(np.searchsorted(updates, [starts.min(), starts.max()]))[0])
        return np.array(found)

    def waits(self, rank: int) -> np.ndarray:
        """For each send of a task that was created after the rank's first send: tasks that do not send and that the
        rank started after it was ready and before it."""
        tasks, edges = self.picture.tasks, self.picture.edges
        ready = tasks.created.copy()
        np.maximum.at(ready, edges.sink, tasks.end[edges.source])
        others = np.ones(len(tasks.id), dtype=bool)
        others[self.sends] = False
        started = np.sort(tasks.start[others & (tasks.rank == rank)])
        mine = self.sends[tasks.rank[self.sends] == rank]
        mine = mine[tasks.created[mine] > tasks.start[mine].min()]
        return np.searchsorted(started, tasks.start[mine]) - np.searchsorted(started, ready[mine])

    def idle(self) -> float:
        first, last = self.span
        runs = self.picture.runs
        inside = np.clip(runs.end, first, last) - np.clip(runs.start, first, last)
        explicit = (self.picture.tasks.index(runs.task) >= 0) & ~runs.waits
        return 1 - float(inside[explicit].sum()) / (2 * (last - first))


def record(options: argparse.Namespace, value: str, folder: Path) -> Run:
    """One run with MARLINE_PRIORITY=value, or without ("none")."""
    prefix = options.prefix.resolve()
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    environment |= {} if value == "none" else {"MARLINE_PRIORITY": value}
    program = [str(prefix / "apps" / "cholesky-gcc12-openmpi"), "-n", str(options.n), "-b", str(options.b),
               "-p", "2x1", "-r", str(options.rounds), "--no-check"]  # fmt: skip
    if options.delay:
        environment["MPI_DELAY_US"] = str(options.delay)
        shim = prefix / "bench" / "delay" / "openmpi" / "libmpi-delay.so"
        program = ["sh", "-c", f'LD_PRELOAD="$LD_PRELOAD:{shim}" exec "$@"', "sh", *program]
    command = [str(prefix / "bin" / "marline"), "run", "-n", "2", "-t", "1", "--mpi", "openmpi", "--trace", str(folder)]
    ended = subprocess.run([*command, "--", *program], env=environment, capture_output=True, text=True, check=False)
    if ended.returncode != 0:
        sys.exit(f"early_sending.py: {' '.join(program)}\n{ended.stdout}{ended.stderr}")
    return Run.read(folder, options.n, options.b)


def table(runs: dict[str, list[Run]]) -> str:
    width = max(len(value) for value in runs)
    lines = [f"{'':{width}}{'makespan':>12}{'sent':>8}{'arrived':>9}{'between':>9}{'idle':>8}"]
    for value, of in runs.items():
        between = [np.concatenate([run.between(0), run.between(1)]).mean() for run in of]
        figures = ([run.makespan for run in of], [run.sent() for run in of], [run.arrived() for run in of], between,
                   [run.idle() for run in of])  # fmt: skip
        lines.append("{:{}}{:9.1f} ms{:8.2f}{:9.2f}{:9.1f}{:8.1%}".format(value, width, *map(np.median, figures)))
    return "\n".join(lines)


def draw(runs: dict[str, list[Run]], path: Path) -> None:
    """Of each value the fastest run, which was disturbed least; all on one axis of time."""
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    figure = Figure(figsize=(12, 0.6 + 1.25 * len(runs)))
    axes, ticks = figure.subplots(), []
    for row, (value, of) in enumerate(runs.items()):
        run = min(of, key=lambda one: one.makespan)
        first, last = run.span
        tasks, parts = run.picture.tasks, run.picture.runs
        place = tasks.index(parts.task)
        for rank in (0, 1):
            y = 2.6 * row + rank
            ticks.append((y, f"{value}, rank {rank}"))
            for kinds, member in ((UPDATE, run.update), (PANEL, run.panel)):
                mine = (place >= 0) & member[place] & (parts.rank == rank)
                bars = np.stack([parts.start[mine] - first, parts.end[mine] - parts.start[mine]], axis=1) / 1e6
                axes.broken_barh(bars, (y - 0.32, 0.64), facecolors=COLORS[kinds])
            sent = tasks.start[run.sends[tasks.rank[run.sends] == rank]]
            axes.vlines((sent - first) / 1e6, y - 0.48, y - 0.32, colors=SEND_COLOR, linewidth=0.9)
        axes.vlines((last - first) / 1e6, 2.6 * row - 0.5, 2.6 * row + 1.5, colors="black", linewidth=1)
    axes.set_yticks([y for y, _ in ticks], [text for _, text in ticks], fontsize=8)
    axes.set_xlabel("time [ms]")
    axes.set_xlim(left=0)
    axes.invert_yaxis()
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.legend(handles=[Patch(color=COLORS[PANEL], label="panel: potrf, trsm"),
                         Patch(color=COLORS[UPDATE], label="update: syrk, gemm"),
                         Line2D([], [], color=SEND_COLOR, marker="|", linestyle="", label="a message is sent"),
                         Line2D([], [], color="black", marker="|", linestyle="", label="end")],
                fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False)  # fmt: skip
    figure.savefig(path, dpi=110, bbox_inches="tight")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("values", nargs="*", default=["none", "SA", "FA"], metavar="VALUE", help="of MARLINE_PRIORITY")
    parser.add_argument("--prefix", type=Path, default=ROOT / "build" / "release", help="the build tree")
    parser.add_argument("-n", type=int, default=3072, help="order of the matrix (3072)")
    parser.add_argument("-b", type=int, default=128, help="edge of a tile (128)")
    parser.add_argument("--runs", type=int, default=5, help="of each value (5)")
    parser.add_argument("--delay", type=int, default=0, metavar="US", help="microseconds that a message takes more (0)")
    parser.add_argument("--rounds", type=int, default=2, help="factorisations in a run, of which the last counts (2)")
    parser.add_argument("--png", type=Path, metavar="FILE", help="draw the timelines")
    options = parser.parse_args()
    runs: dict[str, list[Run]] = {value: [] for value in options.values}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(options.runs):
            for place, (value, of) in enumerate(runs.items()):
                of.append(record(options, value, Path(folder) / f"{place}-{number}"))
        if options.png:
            draw(runs, options.png)
    print(table(runs))


if __name__ == "__main__":
    main()
