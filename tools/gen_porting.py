#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the table of steps in docs/guide/porting.md from the results of studies/lulesh_grain.yaml, so that no figure
is typed by hand: each form's best number of tasks per loop, its time, and the ratio to the better `parallel for` of
stock runtimes measured in turns with it.

    gen_porting.py [ROOT]            writes the table
    gen_porting.py --check [ROOT]    exit 1 if the page is not what this would write
"""
from __future__ import annotations

import json
import sys
from pathlib import Path

BEGIN, END = "<!-- figures: tools/gen_porting.py -->\n", "<!-- end of figures -->"
RESULTS = Path("docs/results/lulesh_grain/results.json")
COMMAND = "marline study studies/lulesh_grain.yaml -o docs/results/lulesh_grain && tools/gen_porting.py"
BASELINES = ("for gcc12+libgomp", "for clang19+libomp")
STEPS = [
    ("1 `for`", "for gcc12+libgomp", "GCC's runtime"),
    ("1 `for`", "for clang19+libomp", "LLVM's runtime"),
    ("1 `for`", "for clang19+marline", "Marline"),
    ("2 `tasks`", "tasks gcc12+libgomp", "GCC's runtime"),
    ("2 `tasks`", "tasks clang19+libomp", "LLVM's runtime"),
    ("3 `tasks`, lists prepared once", "tasks clang19+marline", "Marline"),
    ("4 `persistent`, barrier", "persistent clang19+marline, barrier", "Marline"),
    ("4 `persistent`, nowait", "persistent clang19+marline, nowait", "Marline"),
    ("4 `persistent`, replay", "persistent clang19+marline, replay", "Marline"),
]


def cells(document: dict, figure: str, variant: str) -> dict[int, dict]:
    """By the number of tasks per loop; points without a median are left out."""
    return {row["parameters"]["tasks"]: row["variants"][variant] for row in document["results"]
            if row["figure"] == figure and "spread" in row["variants"].get(variant, {})}


def row(document: dict, step: str, variant: str, runtime: str) -> str:
    times = cells(document, "elapsed_s", variant)
    if not times:
        return f"| {step} | {runtime} | | no run ended | | |"
    best = min(times, key=lambda tasks: times[tasks]["spread"]["median"])
    discovery = cells(document, "discovery_s", variant).get(best)
    ratio = times[best].get("ratio")
    shown = [str(best) if discovery else "", f"{times[best]['spread']['median']:.3f}",
             (f"{ratio['value']:.2f} [{ratio['low']:.2f}, {ratio['high']:.2f}]" if ratio
              else "baseline" if variant in BASELINES else ""),
             f"{1e3 * discovery['spread']['median']:.2f}" if discovery else ""]
    return f"| {step} | {runtime} | {' | '.join(shown)} |"


def table(root: Path) -> str:
    if not (root / RESULTS).exists():
        return f"Not measured yet: `{COMMAND}` fills this table.\n"
    document = json.loads((root / RESULTS).read_text())
    machine = document["machines"][0]
    size = document["settings"]["parameters"]
    lines = ["| step | runtime | tasks per loop | s | over the better `for` of stock runtimes | creating tasks, ms |",
             "|---|---|---:|---:|---:|---:|", *(row(document, *step) for step in STEPS), "",
             f"`-s {size['size'][0]} -i {size['cycles'][0]}`, two threads, {machine['cpu']}, load "
             f"{machine['load'][0]:.1f} before the runs; medians, ratios with 95 % intervals, each form at its best "
             "number of tasks per loop.",
             "[All of the study](../results/lulesh_grain/README.md)."]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    check = arguments[:1] == ["--check"]
    root = Path(arguments[-1]) if len(arguments) > check else Path(__file__).resolve().parent.parent
    page = root / "docs" / "guide" / "porting.md"
    text = page.read_text()
    before, rest = text.split(BEGIN)
    made = before + BEGIN + table(root) + END + rest.split(END, 1)[1]
    if check:
        if made != text:
            print(f"{page} is not what gen_porting.py would write", file=sys.stderr)
        return int(made != text)
    page.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
