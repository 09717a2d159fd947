#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""LULESH on more ranks and cores than there are: records the form `tasks` on one and on 27 ranks of this machine, and
simulates cubes of up to 1,000 ranks with the recorded tasks, their costs, dependences and messages.

    scaling.py [--prefix build/release] [--cores N] [--edges N,...] [--weak SIZE] [--strong SIZE] [--tasks N,...]
               [--per-face N,...] [--latency US] [--dear US] [--bandwidth BYTES] [--cycles N] [--markdown FILE]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))

import recorded  # noqa: E402
import simulation  # noqa: E402

JOIN = 3.0  # us: of a phase's start and end on all cores of a rank
RECORDED_CYCLES = {1: 24, 3: 8}  # by ranks along an edge


def numbers(text: str) -> list[int]:
    return [int(word) for word in text.split(",")]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prefix", type=Path, default=Path("build/release"), help="Marline, and apps/ beside it")
    parser.add_argument("--cores", type=int, default=16, help="of a rank (16)")
    parser.add_argument("--edges", type=numbers, default=[1, 2, 3, 4, 5, 6, 10],
                        help="ranks along an edge of the cubes")  # fmt: skip
    parser.add_argument("--weak", type=int, default=45, help="elements along an edge of each rank's cube (45)")
    parser.add_argument("--strong", type=int, default=180, help="elements along an edge of the cube of all ranks (180)")
    parser.add_argument("--tasks", type=numbers, default=[16, 64], help="tasks per loop; the best counts (16,64)")
    parser.add_argument("--per-face", type=numbers, default=[1, 4],
                        help="messages per exchange at a face; likewise (1,4)")  # fmt: skip
    parser.add_argument("--latency", type=float, default=2.0, help="us (2)")
    parser.add_argument("--dear", type=float, default=4.0, help="us more for each task with a message, in a column (4)")
    parser.add_argument("--bandwidth", type=float, default=12e3, help="bytes per us, out of each rank (12000)")
    parser.add_argument("--cycles", type=int, default=6, help="simulated; the first does not count (6)")
    parser.add_argument("--markdown", type=Path, help="write the page there instead of printing it")
    options = parser.parse_args()
    if options.cycles < 3:
        parser.error(f"--cycles {options.cycles}: at least 3, as the first does not count")
    if not divided(options):
        parser.error(f"--strong {options.strong}: no cube of more than 8 ranks (--edges) shares its elements equally")
    return options


def divided(options: argparse.Namespace) -> list[int]:
    """Cubes that share the strong mesh; smaller ones would need more memory than most machines have."""
    return [edge for edge in options.edges if edge > 2 and options.strong % edge == 0]


@dataclass(frozen=True)
class Grain:
    per_loop: int  # tasks
    per_face: int  # messages


@dataclass(frozen=True)
class Point:
    """A cube of ranks; times in us per cycle."""

    ranks: int
    size: int
    loops: simulation.Found
    tasks: simulation.Found
    dear: simulation.Found  # the same, where messages cost more
    grain: Grain  # of `tasks`


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        self._options, self._folder = options, folder
        self._runs: dict[tuple[int, int, Grain], recorded.Run] = {}
        self._message_costs: dict[tuple[int, int], recorded.MessageCosts] = {}

    def run(self, edge: int, size: int, grain: Grain) -> recorded.Run:
        """A recorded run of one thread per rank, with costs as of a rank alone; `edge`: 1 or 3."""
        if edge == 1:
            grain = Grain(grain.per_loop, self._options.per_face[0])  # it has no face
        key = edge, size, grain
        if key not in self._runs:
            blocks = ("-tel", str(grain.per_loop), "-tnl", str(grain.per_loop))
            run = recorded.read_run(self._record(edge, size, "tasks", grain.per_face, *blocks), edge)
            if edge > 1:
                recorded.at_speed_of(self.run(1, size, grain), run)
            self._runs[key] = run
        return self._runs[key]

    def message_costs(self, size: int, per_face: int) -> recorded.MessageCosts:
        key = size, per_face
        if key not in self._message_costs:
            self._message_costs[key] = recorded.read_message_costs(self._record(3, size, "for", per_face))
        return self._message_costs[key]

    def _record(self, edge: int, size: int, form: str, per_face: int, *blocks: str) -> Path:
        trace = self._folder / "-".join(map(str, (edge, size, form, per_face, *blocks)))
        marline = [str(self._options.prefix / "bin" / "marline")]
        program = str(self._options.prefix / "apps" / "lulesh-gcc12-openmpi")
        words = [*marline, "run", "-n", str(edge**3), "-t", "1", "--trace", str(trace), "--", program, "-q",
                 "-s", str(size), "-i", str(RECORDED_CYCLES[edge]), "--form", form,
                 "-rpf", str(per_face), *blocks]  # fmt: skip
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("OMP_", "MARLINE_"))}
        result = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            sys.exit(f"scaling: {' '.join(words)}: status {result.returncode}: {result.stderr.strip()}")
        return trace

    def ranks(self, edge: int, size: int, grain: Grain) -> dict[int, simulation.Cycle]:
        """By the number of the recorded rank that stands for ranks of a cube."""
        return self.run(1 if edge == 1 else 3, size, grain).ranks

    def point(self, edge: int, size: int) -> Point:
        per_face = self._options.per_face if edge > 1 else self._options.per_face[:1]
        grains = [Grain(tasks, messages) for messages in per_face for tasks in self._options.tasks]
        loops = min((self._as_loops(edge, size, grain) for grain in grains), key=lambda found: found.cycle)
        found = [(self._as_tasks(edge, size, grain, 0.0), grain) for grain in grains]
        tasks, grain = min(found, key=lambda pair: pair[0].cycle)
        dear = self._as_tasks(edge, size, grain, self._options.dear) if edge > 1 else tasks
        return Point(edge**3, size, loops, tasks, dear, grain)

    def _as_loops(self, edge: int, size: int, grain: Grain) -> simulation.Found:
        cores = self._options.cores
        costs = self.message_costs(size, grain.per_face) if edge > 1 else None
        cycles = {rank: recorded.as_loops(cycle, costs, cores, JOIN)
                  for rank, cycle in self.ranks(edge, size, grain).items()}  # fmt: skip
        return self._simulate(edge, cycles, 1, 0.0)

    def _as_tasks(self, edge: int, size: int, grain: Grain, dearer: float) -> simulation.Found:
        alone = self.run(1, size, grain)
        costs = self.message_costs(size, grain.per_face) if edge > 1 else None
        cycles = {rank: recorded.as_tasks(cycle, costs, alone.overhead, dearer)
                  for rank, cycle in self.ranks(edge, size, grain).items()}  # fmt: skip
        return self._simulate(edge, cycles, self._options.cores, alone.creation)

    def _simulate(self, edge: int, ranks: dict[int, simulation.Cycle], cores: int, creation: float) -> simulation.Found:
        options = self._options
        machine = simulation.Machine(cores, options.latency, options.bandwidth, creation)
        return simulation.simulate(
            edge, lambda place: ranks[0 if edge == 1 else recorded.stands_for(place, edge)], machine, options.cycles)

    def alone(self) -> recorded.Run:
        return self.run(1, self._options.weak, Grain(self._options.tasks[-1], self._options.per_face[0]))

    def check(self) -> tuple[float, float]:
        """us of a cycle of one rank on one core: as recorded, and as simulated."""
        alone = self.alone()
        cycle = recorded.as_tasks(alone.ranks[0], None, alone.overhead, 0.0)
        return alone.elapsed, self._simulate(1, {0: cycle}, 1, alone.creation).cycle


HEAD = """# LULESH on more ranks and cores than there are

Made by `bench/lulesh/scaling.py`; not edited.

Cubes of ranks with {cores} cores each, simulated from recorded runs of one thread per rank: one rank alone, and 27 \
on this
machine ({machine}, {processors} cores). These have all 27 kinds of rank that a larger cube has: at an end of an axis \
or not. What
is recorded of each: the tasks of a cycle, what each waits for and which messages it sends. Blocks cost what they cost \
rank 0
alone, which has more of the dearest region than others. A message costs what the cheapest of its kind has cost, and its
bytes besides, since on shared cores ranks wait for one another in MPI. It
takes {latency:g} us, and {bandwidth:g} GB/s out of its rank; a reduction takes twice that latency for each \
level of a tree.

- `for` does the same work in phases that are shared out equally and take {join:g} us to begin and end, five in \
a cycle. Its main
  thread sends, waits and applies between them. Number of messages per face: the best of {per_face}.
- `tasks` are created by one of the cores ({creation:.2f} us each), and cost {overhead:.2f} us besides their \
work. One core of a
  rank at a time is in a task with a message, though these pack outside of MPI. Tasks per loop and messages per \
face, which
  the columns say: the best of {tasks} and {per_face}. *Dear messages*: `tasks` / `for`, where each task with a message
  costs {dear:g} us more, and `for`'s messages do not.

What is not in it: caches and memory bandwidth, so none of what tasks gain by using data again; noise of the machine;
contention in the network. Simulated, one rank on one core takes {simulated:.1f} ms per cycle, recorded {real:.1f} ms.
"""


def table(title: str, points: list[Point], weak: bool) -> list[str]:
    lines = ["", f"## {title}", "",
             "| ranks | elements of a rank | `for` ms | `tasks` ms | tasks per loop | messages per face | `tasks` / "
             "`for` | efficiency of `for` | of `tasks` | cores at work in `tasks` | dear messages |",
             "|" + "---:|" * 11]  # fmt: skip
    first = points[0]
    for point in points:
        ideal = 1.0 if weak else first.ranks / point.ranks
        kept = [ideal * of(first) / of(point) for of in (lambda p: p.loops.cycle, lambda p: p.tasks.cycle)]
        loops, tasks = point.loops.cycle, point.tasks.cycle
        lines.append(f"| {point.ranks:,} | {point.size}^3 | {loops / 1e3:.3f} | {tasks / 1e3:.3f} | "
                     f"{point.grain.per_loop} | {point.grain.per_face} | {tasks / loops:.2f} | {kept[0]:.0%} | "
                     f"{kept[1]:.0%} | {point.tasks.busy:.0%} | {point.dear.cycle / loops:.2f} |")  # fmt: skip
    return lines


def words(found: list[int]) -> str:
    return " and ".join(map(str, found))


def page(options: argparse.Namespace, bench: Bench) -> str:
    weak = [bench.point(edge, options.weak) for edge in options.edges]
    strong = [bench.point(edge, options.strong // edge) for edge in divided(options)]
    real, simulated = bench.check()
    alone = bench.alone()
    head = HEAD.format(cores=options.cores, machine=platform.machine(), processors=len(os.sched_getaffinity(0)),
                       latency=options.latency, dear=options.dear, bandwidth=options.bandwidth / 1e3, join=JOIN,
                       creation=alone.creation, overhead=alone.overhead, tasks=words(options.tasks),
                       per_face=words(options.per_face), simulated=simulated / 1e3, real=real / 1e3)  # fmt: skip
    lines = table("The same mesh on each rank", weak, True) + table("The same mesh for all of them", strong, False)
    return head + "\n".join(lines) + "\n"


def main() -> None:
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        try:
            text = page(options, Bench(options, Path(folder)))
        except recorded.Unusable as error:
            sys.exit(f"scaling: {error}")
    if options.markdown:
        options.markdown.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
