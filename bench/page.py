#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the page of a trace takes: to make it, to open it in headless Chromium, and per frame while it is zoomed
from the whole run to single tasks and back, with what bounded the run drawn over it.

    page.py TRACE [--full] [--markdown FILE]
    page.py --tasks N      the same of about N tasks of a stencil on two ranks of four threads (trace_analysis.py)

Prints a table, and writes it to the FILE of --markdown: CPU seconds of reading and analysis, and of the page, with its
bytes; milliseconds to the first paint; median and 95th percentile of the time between frames, of the time in which a
frame is drawn, and of the CPU time of a frame, which other programs on the machine change little: that of all threads
of the browser, from one frame to the next, less what it takes to be asked for one; most objects of a frame."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "build" / "release" / "lib" / "marline" / "python"), str(ROOT / "tests" / "e2e")]

from browser import Browser  # noqa: E402
from trace_analysis import RECORDS_PER_TASK, Stencil  # noqa: E402

from marline.page.write import write_page  # noqa: E402
from marline.report import metrics  # noqa: E402
from marline.study.measure.machine import cpu_model  # noqa: E402
from marline.trace.analysis import Analysis  # noqa: E402
from marline.trace.views.export import load  # noqa: E402

STEPS = 120
ZOOM = """
(async () => {
  const { gantt } = marlinePage, times = [], [begin, end] = gantt.scene.home;
  const frame = () => new Promise(requestAnimationFrame);
  const busy = begin + (end - begin) * 0.37;
  gantt.goHome();
  for (let wait = 0; wait < 5; wait++) await frame();
  gantt.stats.milliseconds.length = 0;
  let before = await frame();
  for (let step = 0; step < STEPS; step++) {
    gantt.zoom(step < STEPS / 2 ? 0.88 : 1 / 0.88, busy);
    const now = await frame();
    times.push(now - before);
    before = now;
  }
  return [times, gantt.stats.milliseconds, gantt.stats.mostObjects];
})()
"""


STEP = """
(async () => {
  const { gantt } = marlinePage, [begin, end] = gantt.scene.home, frame = () => new Promise(requestAnimationFrame);
  if (FACTOR) gantt.zoom(FACTOR, begin + (end - begin) * 0.37);
  await frame();
  await frame();
})()
"""


def cpu_of_frames(browser: Browser) -> list[float]:
    """Milliseconds of each frame of the zoom."""

    def spent(factor: float) -> float:
        before = browser.cpu_seconds()
        browser.run(STEP.replace("FACTOR", str(factor)))
        return 1000 * (browser.cpu_seconds() - before)

    browser.run("marlinePage.gantt.goHome()")
    for _ in range(5):
        spent(0)
    asked = at([spent(0) for _ in range(20)], 0.5)
    return [max(spent(0.88 if step < STEPS / 2 else 1 / 0.88) - asked, 0.0) for step in range(STEPS)]


def at(values: list[float], share: float) -> float:
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def measure(folder: Path, full: bool) -> list[tuple[str, str]]:
    """What was measured, and its figure."""
    begun = time.process_time()
    of = Analysis(load(folder))
    document = metrics.make_document(of)
    rows = [("tasks", f"{len(of['tasks'].id):,}"),
            ("reading and analysis, CPU", f"{time.process_time() - begun:.2f} s")]  # fmt: skip
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "page.html"
        begun = time.process_time()
        write_page(of, document, page, full)
        rows += [("writing the page, CPU", f"{time.process_time() - begun:.2f} s"),
                 ("size of the page", f"{page.stat().st_size:,} bytes")]  # fmt: skip
        with Browser(Path(scratch) / "chromium") as browser:
            browser.open(page)
            paint = browser.run("performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)")
            rows.append(("first paint", f"{paint[0] if paint else float('nan'):.0f} ms"))
            between, drawn, objects = browser.run(ZOOM.replace("STEPS", str(STEPS)))
            spent = cpu_of_frames(browser)
            assert not browser.said, browser.said
    for name, values in (("between two frames", between), ("drawing a frame", drawn), ("a frame, CPU", spent)):
        rows.append((name, f"{at(values, 0.5):.1f} ms in the median, {at(values, 0.95):.1f} ms at p95"))
    return [*rows, ("objects of a frame, at most", f"{objects:,}")]


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", nargs="?", type=Path)
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--full", action="store_true", help="every task in the page")
    parser.add_argument("--markdown", type=Path, metavar="FILE")
    options = parser.parse_args()
    if (options.trace is None) == (options.tasks is None):
        parser.error("give a trace, or --tasks N")
    return options


def main() -> None:
    options = parse()
    with tempfile.TemporaryDirectory() as folder:
        if options.tasks is not None:
            Stencil(options.tasks * RECORDS_PER_TASK, 2, 4).write(Path(folder))
        rows = measure(options.trace or Path(folder), options.full)
    what = f"a stencil of about {options.tasks:,} tasks" if options.tasks is not None else options.trace.name
    lines = [f"The page of {what}; headless Chromium, {cpu_model()}", "", "| | |", "|---|---|",
             *(f"| {name} | {figure} |" for name, figure in rows)]  # fmt: skip
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
