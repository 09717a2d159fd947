# SPDX-License-Identifier: Apache-2.0
"""Names that HTML, JSON or JavaScript would read as their own: the page of `marline report --html` shows them as the
program wrote them, in Chromium, and runs nothing of them."""

from __future__ import annotations

from pathlib import Path

from browser import Browser
from handmade import EXPLICIT, IMPLICIT, Stream, save
from test_report import report

LONG = "void solve<" + ", ".join(f"std::vector<matrix<{one}>>" for one in range(40)) + ">::go() solve.cc:9"
NAMES = (LONG, "</script><script>window.broken = 1</script>", "<img src=x onerror='window.broken = 1'>", "a & b &lt; c",
         "\"double\" and 'single' \\ {{title}}", "Größe µ 漢字 \u2028 🙂")  # fmt: skip


def write_names(folder: Path) -> Path:
    """One task of each name, the longer ones first: 95 us, 94 us and so on, each in a region of that name."""
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    for number, name in enumerate(NAMES):
        key, task, start = 71 + number, 1000 + number, 1000 + 100_000 * number
        text = name.encode() + b"\0"
        for at in range(0, len(text), 16):
            low, high = (int.from_bytes(text[at + half : at + half + 8], "little") for half in (0, 8))
            stream.add(start, "text", key, low=low, high=high)
        stream.add(start, "region_begin", IMPLICIT, text=key)
        stream.add(start, "task_create", task, parent=IMPLICIT, flags=EXPLICIT)
        stream.add(start, "task_label", task, text=key)
        end = start + 95_000 - 1_000 * number
        stream.add(end, "task_run", task, start=start, outer=IMPLICIT)
        stream.add(end, "region_end", IMPLICIT)
    stream.add(1000 + 100_000 * len(NAMES), "implicit_end", IMPLICIT)
    return save(folder, [stream], exe="/there/</title><script>window.broken = 1</script>", argv=["x", "<b>&'\""])


def test_names_are_text(tmp_path: Path) -> None:
    """In tables, legend, title, plots and the details of a task; a long one hides no number beside it."""
    page = tmp_path / "page.html"
    result = report(write_names(tmp_path), "--html", page)
    assert result.returncode == 0, result.stderr
    with Browser(tmp_path / "chromium") as browser:
        for width in (1400, 400):
            browser.send("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                         mobile=False)  # fmt: skip
            browser.open(page)
            check_names(browser, width)
        assert browser.said == []


def check_names(browser: Browser, width: int) -> None:
    for table in ("kinds", "regions"):
        shown = browser.run(f"[...document.querySelectorAll('#{table} tbody tr')].map((row) => "
                            "row.cells[0].textContent)")  # fmt: skip
        assert sorted(shown) == sorted(NAMES)
    legend = browser.run("[...document.querySelectorAll('#legend button')].map((one) => one.textContent)")
    assert set(NAMES) <= set(legend)
    for number, name in enumerate(NAMES):
        browser.run(f"document.querySelectorAll('#kinds [data-go]')[{number}].click()")
        assert browser.run("document.querySelector('#details').textContent").startswith(name)
        assert browser.run("document.documentElement.scrollWidth") <= width
    assert browser.run("document.title").startswith("script>")
    assert browser.run("[typeof window.broken, document.images.length]") == ["undefined", 0]
    # The last column is where one sees it: a wide page needs no scrolling for it.
    kinds = "document.querySelector('#kinds .scroll')"
    assert width < 1000 or browser.run(f"{kinds}.scrollWidth <= {kinds}.clientWidth")


def test_long_names_leave_room_for_numbers(tmp_path: Path) -> None:
    """The text report cuts the name, and not the columns beside it."""
    lines = report(write_names(tmp_path)).stdout.splitlines()
    row = next(line for line in lines if line.startswith("void solve<"))
    assert row.split()[-6:] == ["95.0", "us", "95.0", "us", "17.1", "%"]
