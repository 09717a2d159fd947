#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long the page of a trace takes: to make it, to open it in headless Chromium, and per frame while it is zoomed
from the whole run to single tasks and back, with what bounded the run drawn over it.

    page.py TRACE [--full]
    page.py --tasks N      the same of about N tasks of a stencil on two ranks of four threads (trace_analysis.py)

Prints, a line each: CPU seconds of reading and analysis, and of the page, with its bytes; milliseconds to the first
paint; median and 95th percentile of the time between frames, of the time in which a frame is drawn, and of the CPU time
of a frame, which other programs on the machine change little: that of all threads of the browser, from one frame to the
next, less what it takes to be asked for one; most objects of a frame."""

from __future__ import annotations

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


def main(folder: Path, full: bool) -> None:
    begun = time.process_time()
    of = Analysis(load(folder))
    document = metrics.make_document(of)
    print(f"analysis {time.process_time() - begun:.2f} s")
    with tempfile.TemporaryDirectory() as scratch:
        page = Path(scratch) / "page.html"
        begun = time.process_time()
        write_page(of, document, page, full)
        print(f"page {time.process_time() - begun:.2f} s, {page.stat().st_size:,} bytes, {len(of['tasks'].id):,} tasks")
        with Browser(Path(scratch) / "chromium") as browser:
            browser.open(page)
            paint = browser.run("performance.getEntriesByName('first-contentful-paint').map((one) => one.startTime)")
            print(f"first paint {paint[0] if paint else float('nan'):.0f} ms")
            between, drawn, objects = browser.run(ZOOM.replace("STEPS", str(STEPS)))
            spent = cpu_of_frames(browser)
            assert not browser.said, browser.said
    for name, values in (("between frames", between), ("drawing one", drawn), ("CPU of one", spent)):
        print(f"{name} {at(values, 0.5):.1f} ms in the median, {at(values, 0.95):.1f} ms at p95")
    print(f"most objects of a frame {objects:,}")


def of_stencil(tasks: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Stencil(tasks * RECORDS_PER_TASK, 2, 4).write(Path(folder))
        main(Path(folder), False)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--tasks" and sys.argv[2].isdecimal():
        of_stencil(int(sys.argv[2]))
    elif len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    else:
        main(Path(sys.argv[1]), "--full" in sys.argv[2:])
