#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pictures of pages for the documentation: what headless Chromium shows of a page of `marline report --html`, from its
top to the legend below its timeline, in light mode, with 48 colours.

    bench/pictures.py PAGE.html PICTURE.png
    bench/pictures.py --steps --prefix build/release     # of the programs of docs/guide/three-steps.md

A picture of more than 150 KB is refused."""

from __future__ import annotations

import argparse
import io
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "e2e"))

from browser import Browser  # noqa: E402  (the path above is what finds it)

WIDTH = 1200
HIGHEST = 1600  # pixels
COLORS = 48
MOST_BYTES = 150 * 1024
STEPS = ("rows", "rows_dynamic", "rows_tasks", "rows_fast")  # of docs/guide/three-steps.md
RUNS = 5  # of a step, of which the shortest is shown: other programs disturbed it least
# The legend; a page of several runs has none, and ends where its script has drawn everything.
BOTTOM = """(() => {
  const last = document.querySelector('#legend') || document.querySelector('main');
  return Math.ceil(last.getBoundingClientRect().bottom + window.scrollY + 8);
})()"""


def take(page: Path, picture: Path) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        raw = Path(scratch) / "raw.png"
        with Browser(Path(scratch) / "chromium", WIDTH) as browser:
            browser.open(page)
            height = min(browser.run(BOTTOM), HIGHEST)
            browser.send("Emulation.setDeviceMetricsOverride", width=WIDTH, height=height, deviceScaleFactor=1,
                         mobile=False)  # fmt: skip
            browser.run("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
            browser.picture(raw)
            if browser.said:
                sys.exit(f"pictures.py: {page} says on the console: {browser.said}")
        file = io.BytesIO()
        with Image.open(raw) as whole:
            few = whole.convert("RGB").quantize(COLORS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
            few.save(file, "PNG", optimize=True)
    if len(file.getvalue()) > MOST_BYTES:
        sys.exit(f"pictures.py: {picture} would have {len(file.getvalue()):,} bytes; at most {MOST_BYTES:,}: show less")
    picture.write_bytes(file.getvalue())
    print(f"{picture}: {len(file.getvalue()):,} bytes", flush=True)


def run(command: list[str | Path], where: Path | None = None, environment: dict[str, str] | None = None) -> str:
    """What the command prints. Ends this program if the command fails."""
    ended = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        sys.exit(f"{Path(sys.argv[0]).name}: {' '.join(map(str, command))}: status {ended.returncode}\n{ended.stdout}"
                 f"{ended.stderr}")  # fmt: skip
    return ended.stdout


def steps(marline: Path) -> None:
    programs = ROOT / "docs" / "guide" / "programs"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for number, step in enumerate(STEPS):
            shutil.copy(programs / f"{step}.c", folder)
            run(["gcc", "-O2", "-g", "-fopenmp", f"{step}.c", "-o", step], folder)
            shortest = _shortest(marline, folder, step)
            run([marline, "report", shortest, "--html", folder / f"{step}.html"])
            take(folder / f"{step}.html", ROOT / "docs" / "images" / f"three-steps-{number}.png")


def _shortest(marline: Path, folder: Path, step: str) -> Path:
    traces = [folder / f"{step}-{number}" for number in range(RUNS)]
    for trace in traces:
        run([marline, "trace", "-t", "2", "-o", trace, "--", f"./{step}"], folder)
    return min(traces, key=lambda trace: makespan(marline, trace))


def makespan(marline: Path, trace: Path) -> int:
    return int(json.loads(run([marline, "report", trace, "--json"]))["total"]["makespan_ns"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, nargs="*", metavar="PAGE.html PICTURE.png")
    parser.add_argument("--steps", action="store_true", help="the pictures of docs/guide/three-steps.md")
    parser.add_argument("--prefix", type=Path, default=ROOT / "build" / "release", help="the build tree")
    options = parser.parse_args()
    if options.steps and not options.files:
        steps(options.prefix.resolve() / "bin" / "marline")
    elif len(options.files) == 2 and not options.steps:
        take(options.files[0].resolve(), options.files[1])
    else:
        parser.error("give a page and a picture, or --steps")


if __name__ == "__main__":
    main()
