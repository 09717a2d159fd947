#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the report says of our applications: records each, and writes a page with its verdict, a picture of its page,
the comparison of two grains, and what --what-if predicted beside what was measured (docs/results/what_if).

    bench/reports.py --prefix build/release                                     # prints the page
    bench/reports.py --prefix build/release --markdown docs/results/reports.md  # and its pictures, into reports/

Of several recordings of a run the shortest is shown: other programs disturbed it least. Needs chromium and Pillow."""

from __future__ import annotations

import argparse
import os
import platform
import re
import sys
import tempfile
import textwrap
from argparse import Namespace
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pictures
import what_if
from marline.study.measure.machine import cpu_model  # what_if adds the folder of marline to the path
from marline.units import duration

ROOT = Path(__file__).resolve().parents[1]
RECORDINGS = 11
# Parts of a report that the page shows; the picture has the rest.
PARTS = ("biggest loss", "try next", "expected", "efficiency", "MPI", "OpenMP", "bounded by", "critical path",
         "at best", "communication", "late sends", "waits", "remark", "incomplete")  # fmt: skip


@dataclass(frozen=True)
class Run:
    program: str  # as in build/release/apps
    words: str
    options: str  # of marline trace

    def line(self) -> str:
        return f"marline trace {self.options} -- build/release/apps/{self.program} {self.words}"


@dataclass(frozen=True)
class Subject:
    """`look`: what the developer of the program sees there. `other`: another grain, and words about the comparison."""

    title: str
    name: str  # of its files
    run: Run
    look: str
    other: Run | None = None
    compared: str = ""
    what_if: str = ""  # runs of docs/results/what-if.md: their name begins so
    environment: dict[str, str] = field(default_factory=dict)
    tables: tuple[str, ...] = ()  # how the titles of the tables begin that are shown, too


SUBJECTS = (
    Subject(
        "Cholesky", "cholesky",
        Run("cholesky-clang19-openmpi", "-n 2048 -b 128 --no-check", "-n 2 -t 1"),
        """Two ranks factorise a matrix of 16 x 16 tiles. `bounded by` names the updates (`task_gemm`) first, as it
        should: they are most of the arithmetic. The line `critical path` says that many more threads would have work.
        In the picture, tasks that receive are suspended most of the time and cost no thread; at the end few tiles are
        left.""",
        Run("cholesky-clang19-openmpi", "-n 2048 -b 256 --no-check", "-n 2 -t 1"),
        """A has tiles of 128, B of 256: a tenth of the updates, each with eight times the arithmetic. `each` says
        what a task takes in B as a multiple of A: less than eight means that larger tiles make the arithmetic itself
        cheaper. The last lines say what else has changed: with fewer tiles, fewer tasks can run while others wait for
        messages.""",
        "cholesky -n 2048 -b 128", {"OPENBLAS_NUM_THREADS": "1"},
    ),
    Subject(
        "HPCCG", "hpccg",
        Run("hpccg-clang19-openmpi", "--size 48 --tiles 32 --iterations 30", "-n 1 -t 2"),
        """Conjugate gradients on one rank. `bounded by` says that most of the run is the product of the matrix and a
        vector (`task_product`), and `critical path` that more threads would have work.""",
        Run("hpccg-clang19-openmpi", "--size 48 --tiles 4 --iterations 30", "-n 1 -t 2"),
        """A has 32 tiles, B has 4: fewer and longer tasks. Fewer tasks cost less (`overhead`); but four tasks of one
        kind do not always end at the same time, and then threads wait for dependences (`idle`).""",
        "hpccg --size 48",
    ),
    Subject(
        "LULESH", "lulesh",
        Run("lulesh-clang19-openmpi", "-s 24 -i 20 -q --form tasks -tel 8 -tnl 8", "-n 1 -t 2"),
        """The loops of a time step are a few kinds of tasks here, 8 tasks of each in a step. `bounded by` has the
        kinds in the order in which faster code would pay.""",
        Run("lulesh-clang19-openmpi", "-s 24 -i 20 -q --form tasks -tel 64 -tnl 64", "-n 1 -t 2"),
        """A has 8 tasks of each kind in a step, B has 64. `overhead` and `in code that creates tasks` say what eight
        times as many tasks cost. Each kind has the same work to do in both: where `B / A` of a kind is above 1, its
        own code has become slower (work inflation), which no scheduler can mend: tasks are too fine.""",
        "lulesh -s 24 -i 20 -q --form tasks -tel 8",
    ),
    Subject(
        "Halo", "halo",
        Run("halo-clang19-openmpi", "--rows 512 --columns 2048 --blocks 16 --iterations 60", "-n 2 -t 1"),
        """Neighbours exchange a row before each iteration. Blocks that need no message run meanwhile: in the picture
        most messages are under way while their rank works.""",
        Run("halo-clang19-openmpi", "--rows 512 --columns 2048 --blocks 2 --iterations 60", "-n 2 -t 1"),
        """A has 16 blocks on each rank, B has 2. In B each block is at an edge (there is no `task_inside`), so less
        can run while a message is under way. The last lines say whether that costs more than the overhead that B
        saves.""",
        "halo --rows 512",
    ),
    Subject(
        "RTM on a cluster", "rtm",
        Run("rtm-gcc12", "--form target --shots 16 --grid 200x100", "-n 3 -t 1 --devices=cluster"),
        """The program and two more processes of this machine, which stand for nodes and together are one device. The
        program's only thread creates a target task for each shot and then waits: so `idle` is nearly all of its time,
        and the efficiencies, which are those of this thread, say nothing of the nodes. What counts is what the nodes
        did. `bounded by` names the shots' kernels. The tables tell how busy each node was, and what went from where
        to where. In the picture each node has a row of kernels with few gaps between them. Three processes share two
        cores here, so shots take different times on the two nodes, and one gets more of them. `critical path` is the
        longest shot with its transfers: so many more nodes would have work.""",
        environment={"OMP_TARGET_OFFLOAD": "mandatory"}, tables=("devices", "between devices"),
    ),
)  # fmt: skip


class Recorder:
    def __init__(self, prefix: Path, folder: Path, only: str) -> None:
        self._prefix, self.folder, self.only = prefix, folder, only
        self.marline = prefix / "bin" / "marline"

    def record(self, runs: dict[str, Run], environment: dict[str, str]) -> None:
        """By name of the trace. They take turns, so that other programs disturb all alike."""
        traces: dict[str, list[Path]] = {name: [] for name in runs}
        for number in range(RECORDINGS):
            for name, run in runs.items():
                traces[name].append(self.folder / f"{name}-{number}")
                program = [self._prefix / "apps" / run.program, *run.words.split()]
                pictures.run([self.marline, "trace", *run.options.split(), "-o", traces[name][-1], "--", *program],
                             self.folder, {**os.environ, **environment})  # fmt: skip
        for name, of_run in traces.items():
            min(of_run, key=lambda trace: pictures.makespan(self.marline, trace)).rename(self.folder / name)

    def report(self, *words: str) -> str:
        return pictures.run([self.marline, "report", *words], self.folder, {**os.environ, "COLUMNS": "80"})


def parts_of(report: str, titles: tuple[str, ...], tables: tuple[str, ...]) -> list[str]:
    """Of the text of a report: the lines of ranks, the parts with these titles in the order of the text, each with the
    lines that go on with it, and these tables."""
    found: list[str] = []
    for paragraph in report.split("\n\n"):
        lines = paragraph.split("\n")
        if re.match(r"rank +threads", lines[0]) or lines[0].startswith(tuple(f"{table}  " for table in tables)):
            found += ["", *lines]
            continue
        taken, mine = False, []
        for line in lines:
            if not line.startswith(" " * 4):
                taken = any(re.match(rf" *{re.escape(title)}  ", line) for title in titles)
            mine += [line] if taken else []
        found += ["", *mine] if mine else []
    return found[1:]


def filled(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)


def section(subject: Subject, recorder: Recorder, images: Path | None) -> Iterator[str]:
    other = f"{subject.name}-B"
    runs = {subject.name: subject.run} | ({other: subject.other} if subject.other else {})
    recorder.record(runs, subject.environment)
    yield from ("", f"## {subject.title}", "", filled(subject.look), "", "```sh")
    yield from (f"export {name}={value}" for name, value in subject.environment.items())
    yield from (subject.run.line(), "```", "", "```")
    yield from parts_of(recorder.report(subject.name), PARTS, subject.tables)
    yield "```"
    if images:
        page = recorder.folder / f"{subject.name}.html"
        recorder.report(subject.name, "--html", str(page))
        pictures.take(page, images / f"{subject.name}.png")
        yield from ("", f"![The page of this run](reports/{subject.name}.png)")
    if subject.other:
        yield from ("", filled(f"Another grain. {subject.compared}"), "", "```sh", subject.other.line(), "```", "")
        yield "```"
        yield recorder.report(subject.name, other).rstrip("\n")
        yield "```"
    if subject.what_if:
        yield from predictions(subject.what_if)


def predictions(name: str) -> Iterator[str]:
    rows = [row for row in what_if.rows(Namespace(data=what_if.DATA)) if row.line["name"].startswith(name)]
    yield from ("", "What was [predicted before the runs](what-if.md), and measured:", "")
    yield from ("| run, ranks x threads | change | before | predicted | measured |", "|---|---|---:|---:|---:|")
    for row in rows:
        times = (row.before, row.before * row.line["ratio"], row.after)
        cells = (row.line["name"], row.line["what_if"], *map(duration, times))
        yield f"| {' | '.join(cells)} |"


HEAD = """# What the report says of our applications

Made by `bench/reports.py`, which records each application, and has the sentences between the reports; not edited.
The reports are shortened to what bounds a run and its verdict. Times depend on the machine, on which other programs ran
at the same time: look at shares. Where the biggest loss is that threads had no core, the report can say little else;
run `bench/reports.py` on a quiet machine to see more. [GROMACS and CP2K](gromacs-cp2k.md) have a page of their own.
"""


def page(recorder: Recorder, images: Path | None) -> Iterator[str]:
    yield HEAD
    yield filled(f"Machine: {cpu_model()}, {os.cpu_count()} CPUs, Linux {platform.release()}. Of {RECORDINGS} "
                 "recordings of a run the shortest is shown.")
    for subject in SUBJECTS:
        if recorder.only in subject.name:
            yield from section(subject, recorder, images)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, default=ROOT / "build" / "release", help="the build tree")
    parser.add_argument("--only", default="", metavar="NAME", help="cholesky, hpccg, lulesh, halo or rtm")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the page to FILE, pictures beside it")
    options = parser.parse_args()
    images = options.markdown.resolve().parent / "reports" if options.markdown else None
    if images:
        images.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        recorder = Recorder(options.prefix.resolve(), Path(folder), options.only)
        text = "\n".join(page(recorder, images)) + "\n"
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
