# SPDX-License-Identifier: Apache-2.0
"""`marline reuse FOOTPRINT [TRACE]`: how much memory a schedule of tasks moves through caches of given sizes."""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict
from pathlib import Path

from marline.errors import Refusal

EPILOG = """FOOTPRINT is what the program writes of one iteration (lulesh --footprint). Without TRACE its tasks run one
after another, or, if it is of parallel loops, phase by phase on as many cores as it has shares; with TRACE, a run
recorded by `marline run --trace`, as they ran there, or as --cores cores would run them."""
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="marline reuse", epilog=EPILOG,
                                     description="Says how much memory a schedule of tasks moves through "
                                     "caches.")  # fmt: skip
    parser.add_argument("footprint", type=Path, metavar="FOOTPRINT", help="what each task of an iteration touches")
    parser.add_argument("trace", type=Path, nargs="?", metavar="TRACE", help="the recorded run of the same tasks")
    parser.add_argument("--loops", action="store_true", help="the footprint is of parallel loops, a share per core")
    parser.add_argument("--iterations", type=_whole, default=3, help="without TRACE (3); the first does not count")
    parser.add_argument("--cores", type=_whole, help="simulate so many cores instead of those recorded")
    parser.add_argument("--order", choices=("depth", "breadth"), default="depth",
                        help="which ready task a simulated core takes: of its last one's successors, or the "
                        "oldest")  # fmt: skip
    parser.add_argument("--creation-ns", type=float, help="simulated: time per creation of a task (as recorded)")
    parser.add_argument("--private", type=_bytes, default=1 << 20, metavar="SIZE", help="each core's cache (1M)")
    parser.add_argument("--shared", type=_bytes, default=32 << 20, metavar="SIZE", help="the cache of all (32M)")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    return parser.parse_args(arguments)


def _whole(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 4096:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to 4096")
    return int(text)


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text)
    if not found or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a size such as 512K or 32M")
    return int(found[1]) * UNITS[found[2]]


def main(arguments: list[str], _: Path) -> int:
    options = parse(arguments)
    if options.cores and not options.trace:
        raise Refusal("--cores simulates the graph of a recorded run: name its TRACE; a footprint of loops has the "
                      "number of cores in it")  # fmt: skip
    try:
        from marline.reuse import caches, footprint
    except ImportError as error:
        raise Refusal(f"{error}: reuse needs NumPy; python3 -m pip install numpy") from error
    table = footprint.read_footprint(options.footprint)
    schedule = _schedule(options, table)
    if not schedule.iteration.any():
        raise Refusal("one iteration only: nothing is cached in the first, so it does not count; take two or more")
    touches = caches.touches_of(schedule, table)
    private = caches.private_distances(touches)
    moved = caches.traffic(touches, private, options.private // table.granule, options.shared // table.granule)
    document = {"cores": int(schedule.core.max()) + 1, "iterations": int(schedule.iteration.max()) + 1,
                "private_bytes": options.private, "shared_bytes": options.shared, "line_bytes": table.granule,
                "makespan_ns": schedule.makespan if options.trace else None, "lines": asdict(moved),
                "distances": caches.histogram(touches, private[0])}  # fmt: skip
    print(json.dumps(document, indent=1) if options.json else _text(document))
    return 0


def _schedule(options: argparse.Namespace, table: "footprint.Footprint") -> "caches.Schedule":  # noqa: F821
    from marline.reuse import schedules

    if options.trace is None:
        made = schedules.of_loops if options.loops else schedules.in_sequence
        return made(table, options.iterations)
    recorded = schedules.Recorded(options.trace, table)
    if options.cores is None:
        return recorded.as_recorded()
    creation = recorded.creation() if options.creation_ns is None else options.creation_ns
    return recorded.simulated(options.cores, options.order, creation)


def _text(document: dict) -> str:
    def size(lines: float) -> str:
        return f"{lines * document['line_bytes'] / (1 << 20):10.2f} MiB"

    lines = document["lines"]
    rest = lines["private"] - lines["from_cores"] - lines["from_memory"]
    rows = [f"{document['cores']} cores, {document['iterations']} iterations; caches of "
            f"{document['private_bytes'] >> 10} KiB for each core and {document['shared_bytes'] >> 10} KiB for all",
            "", "per iteration",
            f"  touched                {size(lines['touched'])}",
            f"  into private caches    {size(lines['private'])}",
            f"    from other cores     {size(lines['from_cores'])}",
            f"    from the shared one  {size(rest)}",
            f"    from memory          {size(lines['from_memory'])}"]  # fmt: skip
    if document["makespan_ns"]:
        rows.append(f"makespan  {document['makespan_ns'] * 1e-6:.3f} ms")
    return "\n".join(rows)
