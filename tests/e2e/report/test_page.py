# SPDX-License-Identifier: Apache-2.0
"""The page of `marline report --html`, in Chromium: it says nothing on the console and asks for nothing, every jump
lands, frames draw a bounded number of objects, text can be read in light and dark, legends have what occurs; and what a
page leaves out, so that it keeps its size."""

from __future__ import annotations

import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import handmade_ranks
import numpy as np
import pytest
from browser import Browser
from conftest import run
from handmade import COMPLETE, IMPLICIT, ROOT, SWITCH, A, B, C, Stream, save
from handmade_samples import write_sampled
from in_process import document_of, report
from test_without_tasks import AT_REGION_END, Team

from marline.page import encode, write
from marline.page.bars import Bars
from marline.page.choice import LONGEST, choose
from marline.page.levels import COARSEST, make_levels
from marline.page.styles import MOST_KINDS
from marline.report.metrics import make_document
from marline.trace.analysis import Analysis
from marline.trace.read.events import CALL_NUMBER
from marline.trace.read.reader import read_trace

US = 1000
WORLD, TAG, LOOP = 1, 7, 1
OTHER = 201
MOST_OBJECTS = 60_000  # assets/gantt.js


def run_task(stream: Stream, task: int, start: int, end: int, outer: int) -> None:
    stream.add(1000 + end * US, "task_run", task, start=1000 + start * US, outer=outer)


def call(stream: Stream, task: int, name: str, peer: int, start: int, end: int) -> None:
    words = {"peer": peer, "tag": TAG, "bytes": 4096, "comm": WORLD, "call": CALL_NUMBER[name]}
    stream.add(1000 + start * US, "mpi_enter", task, **words).add(1000 + end * US, "mpi_exit", task, **words)


def write_two_ranks(folder: Path) -> Path:
    """Rank 0: A (0 to 100 us) sends at its end (90 to 95); B follows A and lasts 300, C is as short as A. Rank 1: A
    receives from 0 to 110, then a loop and a barrier."""
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2)
    for number, task in enumerate((A, B, C)):
        first.add(1000 + number, "task_create", task, parent=IMPLICIT, flags=4, code=4096)
        first.add(1000 + number, "dependence", task, type=3, address=8 if task != C else 16)
    call(first, A, "MPI_Send", 1, 90, 95)
    run_task(first, A, 1, 100, IMPLICIT)
    first.add(1000 + 100 * US, "region_begin", IMPLICIT, color=0)
    run_task(first, B, 101, 401, IMPLICIT)
    first.add(1000 + 402 * US, "region_end", IMPLICIT).add(1000 + 410 * US, "implicit_end", IMPLICIT)
    second = Stream(2).add(1000, "implicit_begin", OTHER, index=1, size=2)
    run_task(second, C, 2, 103, OTHER)
    second.add(1000 + 104 * US, "wait_begin", OTHER, kind=3).add(1000 + 409 * US, "wait_end", OTHER, kind=3)
    second.add(1000 + 410 * US, "implicit_end", OTHER)
    save(folder, [first, second], argv=["./app", "<7>"], exe="/there/app", host="node", runtime="Marline 9",
         mpi="MPI 4")
    third = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    third.add(1001, "task_create", A, parent=IMPLICIT, flags=4, code=8192)
    third.add(1000 + US, "task_schedule", IMPLICIT, next=A, status=SWITCH)
    call(third, A, "MPI_Recv", 0, 2, 110)
    third.add(1000 + 120 * US, "task_schedule", A, next=IMPLICIT, status=COMPLETE)
    third.add(1000 + 130 * US, "work_begin", IMPLICIT, kind=LOOP).add(1000 + 180 * US, "work_end", IMPLICIT, kind=LOOP)
    third.add(1000 + 410 * US, "implicit_end", IMPLICIT)
    return save(folder, [third], rank=1)


def write_many(folder: Path, tasks: int) -> Path:
    """Tasks of 1 to 9 us, one after the other on two threads."""
    chance = random.Random(39)
    first = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=2)
    second = Stream(2).add(1000, "implicit_begin", OTHER, index=1, size=2)
    for number in range(tasks):
        first.add(1000 + number, "task_create", 1000 + number, parent=IMPLICIT, flags=4, code=4096 * (1 + number % 3))
    times = [tasks // US + 1] * 2
    for number in range(tasks):
        side = number % 2
        length = chance.randint(1, 9)
        run_task((first, second)[side], 1000 + number, times[side], times[side] + length, (IMPLICIT, OTHER)[side])
        times[side] += length + 1
    return save(folder, [first, second])


def write_page(folder: Path, page: Path, *words: str) -> str:
    result = report(folder, "--html", page, *words)
    assert result.returncode == 0, result.stderr
    return result.stderr


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("chromium")) as one:
        yield one


@pytest.fixture(scope="module")
def two_ranks(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("two")
    page = tmp_path_factory.mktemp("page") / "page.html"
    write_page(write_two_ranks(folder), page)
    return folder, page


def test_page_says_what_the_report_says(two_ranks: tuple[Path, Path]) -> None:
    """Its first sentence is the report's, and all of it is text that needs no script."""
    folder, page = two_ranks
    text, document = page.read_text(), document_of(folder)
    first = document["causes"][0]["text"]
    assert first[1:] in text and text.index(first[1:]) < text.index('id="timeline"')
    assert "<title>app &lt;7&gt; - Marline</title>" in text
    for wanted in ("Kinds of tasks", "MPI calls", "MPI_Recv", "Bytes between ranks", "4 KiB"):
        assert wanted in text
    assert not re.search(r'(?:src|href)="(?!#)', text)


@pytest.mark.parametrize(("length", "shown", "said"), [(0, False, False), (2, False, True), (300, True, False)])
def test_no_empty_plot_of_overlap(tmp_path: Path, length: int, shown: bool, said: bool) -> None:
    """Of 1000 us rank 0 works all, and has a message under way for `length` of them, or none."""
    folder, page = tmp_path / "trace", tmp_path / "page.html"
    folder.mkdir()
    for rank, name in enumerate(("MPI_Send", "MPI_Recv")):
        stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
        if length:
            call(stream, IMPLICIT, name, 1 - rank, 500, 500 + length)
        save(folder, [stream.add(1000 + 1000 * US, "implicit_end", IMPLICIT)], rank=rank, size=2)
    write_page(folder, page)
    assert ('id="figure-overlap"' in page.read_text()) == shown
    assert ("the plot of the overlap of messages with work: messages are under way in" in page.read_text()) == said


def test_page_in_chromium(browser: Browser, two_ranks: tuple[Path, Path]) -> None:
    """It asks for nothing, says nothing, and holds what was recorded: five bars of tasks and one message."""
    _, page = two_ranks
    browser.open(page)
    browser.run("window.scene = marlinePage.gantt.scene")
    counts = browser.run("[scene.tasks.count, scene.messages.start.length, scene.lanes.length]")
    assert counts == [4, 1, 3] and browser.run("scene.chain.start.length") > 0
    # B waits for A, and nothing for B.
    assert browser.run("[scene.predecessors(1), scene.successors(1)]") == [[0], []]
    # No task belongs to an iteration: no colours for these are offered.
    assert browser.run("document.querySelector('#color-by').offsetParent") is None
    for theme in range(3):
        browser.run("document.querySelector('#theme').click()")
    assert browser.said == [] and [url for url in browser.asked if not url.startswith("file:")] == []


def test_every_jump_lands(browser: Browser, two_ranks: tuple[Path, Path]) -> None:
    _, page = two_ranks
    browser.open(page)
    jumps = browser.run("[...document.querySelectorAll('[data-go]')].map((one) => [one.dataset.go, "
                        "Boolean(one.closest('#verdict')), !one.closest('#bounds, #ranks, #timeline-rows, p'), "
                        "one.click(), marlinePage.lastJump, "
                        "marlinePage.gantt.scene.meta.begin])")  # fmt: skip
    assert sum(of_advice for _, of_advice, *_ in jumps) >= 1 and len(jumps) >= 7
    for go, _, of_bar, _, landed, begin in jumps:
        start, end, lane = map(int, go.split(","))
        assert start < end and (landed["from"], landed["to"]) == (start - begin, end - begin)
        assert landed["view"][0] <= landed["from"] and landed["to"] <= landed["view"][1]
        assert landed["view"][1] - landed["view"][0] <= 6 * (end - start)
        assert lane < 0 or not of_bar or landed["selected"]
    # The longest task of its kind is B.
    assert any(go.startswith(f"{101 * US},{401 * US},") for go, *_ in jumps)
    browser.run("document.querySelector('#calls [data-go]').click()")
    assert "MPI_Recv" in browser.run("document.querySelector('#details').textContent")
    assert browser.said == []


def test_keys(browser: Browser, two_ranks: tuple[Path, Path]) -> None:
    _, page = two_ranks
    browser.open(page)
    view = "[marlinePage.gantt.from, marlinePage.gantt.to]"
    whole = browser.run(view)
    browser.run("document.querySelector('#gantt').focus()")
    browser.key("+", "+")
    near = browser.run(view)
    assert near[0] > whole[0] and near[1] < whole[1]
    browser.key("ArrowRight")
    assert browser.run(view)[0] > near[0]
    browser.key("Home")
    assert browser.run(view) == whole
    browser.key("/", "/")
    assert browser.run("document.activeElement.id") == "search"
    for letter in "recv":
        browser.key(letter, letter)
    browser.key("Enter")
    assert browser.run("document.querySelector('#found').value") == "1 of 1"
    assert "MPI_Recv" in browser.run("document.querySelector('#details').textContent")
    browser.run("document.querySelectorAll('#kinds thead button')[2].click()")
    assert browser.run("document.querySelectorAll('#kinds thead th')[2].getAttribute('aria-sort')") == "descending"
    assert browser.said == []


CONTRAST = """
(() => {
  const light = (color) => {
    const parts = color.match(/[\\d.]+/g).slice(0, 3).map((one) => one / 255)
      .map((one) => (one <= 0.03928 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
  };
  const behind = (one) => {
    for (; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (!/, 0\\)$|transparent|\\/ 0/.test(color)) return color;
    }
    return "rgb(255, 255, 255)";
  };
  return [...document.querySelectorAll("p, dt, dd, th, td, button, summary, a, label, li, h2, h3")]
    .filter((one) => one.offsetParent && one.textContent.trim() && !one.closest(".skip"))
    .map((one) => {
      const [a, b] = [light(getComputedStyle(one).color), light(behind(one))].sort((x, y) => y - x);
      return [(a + 0.05) / (b + 0.05), one.className + " " + one.textContent.slice(0, 30)];
    }).filter(([ratio]) => ratio < 4.5);
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_can_be_read(browser: Browser, two_ranks: tuple[Path, Path], scheme: str) -> None:
    """WCAG 2.1, 1.4.3: a contrast of 4.5 between text and what is behind it."""
    _, page = two_ranks
    browser.open(page, scheme)
    assert browser.run(CONTRAST) == []
    is_dark = browser.run("getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0] < 90")
    assert is_dark == (scheme == "dark")


def test_objects_of_a_frame_are_bounded(browser: Browser, tmp_path: Path) -> None:
    """From the whole run down to single tasks, with all arrows and the critical path."""
    page = tmp_path / "page.html"
    write_page(write_many(tmp_path, 5_000), page)
    browser.open(page)
    frames = browser.run("""(async () => {
      const { gantt } = marlinePage, seen = [];
      document.querySelector("#show-path").click();
      document.querySelector("#show-arrows").click();
      for (let step = 0; step < 20; step++) {
        gantt.frame();
        seen.push([gantt.stats.objects, gantt.stats.exact]);
        gantt.zoom(0.6);
      }
      return seen;
    })()""")
    assert max(objects for objects, _ in frames) <= MOST_OBJECTS
    assert [frames[0][1], frames[-1][1]] == [False, True] and browser.said == []


def test_levels_keep_every_nanosecond() -> None:
    """Two lanes; in each level the shares of a part are those of the bars in it."""
    lane, start = np.array([0, 0, 1]), np.array([0, 3000, 500])
    end = np.array([1024, 4096, 2500])
    none = np.zeros(3, dtype=np.int64)
    levels = make_levels(Bars(lane, start, end, np.array([0, 1, 1]), none, none, none), 2, 2, 0, 1 << 20)
    assert levels[-1].parts == COARSEST and all(a.parts == 4 * b.parts for a, b in zip(levels, levels[1:]))
    last = levels[-1]  # parts of 4096 ns
    assert dict(zip(zip(last.cell.tolist(), last.style.tolist()), last.share.tolist())) == {
        (0, 0): round(255 * 1024 / 4096), (0, 1): round(255 * 1096 / 4096), (COARSEST, 1): round(255 * 2000 / 4096)}


def test_levels_of_very_many_lanes() -> None:
    """8,000 lanes: their coarsest level has fewer parts."""
    lane = np.arange(8000)
    none = np.zeros(8000, dtype=np.int64)
    (level,) = make_levels(Bars(lane, none, none + 1024, none, none, none, none), 8000, 1, 0, 1024)
    assert level.parts == 64 and len(level.cell) == 64 * 8000 and set(level.share.tolist()) == {255}


def test_what_a_page_keeps() -> None:
    """The critical path, the longest, and whole windows: within these no bar is missing."""
    count = 60_000
    chance = np.random.default_rng(39)
    start = np.sort(chance.integers(0, 10**8, count))
    bars = Bars(np.zeros(count, dtype=np.int64), start, start + chance.integers(1, 1500, count), *(
        np.zeros(count, dtype=np.int64) for _ in range(1)), np.arange(count), *(
        np.zeros(count, dtype=np.int64) for _ in range(2)))  # fmt: skip
    on_path = chance.random(count) < 0.02
    chosen = choose(bars, on_path, 20_000, 0, 10**8)
    kept = np.zeros(count, dtype=bool)
    kept[chosen.rows] = True
    assert kept[on_path].all() and 15_000 < len(chosen.rows) < 25_000
    length = bars.end - bars.start
    assert np.sort(length[kept])[-LONGEST:].min() >= np.sort(length)[-LONGEST]
    assert chosen.windows
    for begin, end in chosen.windows:
        assert kept[(bars.start < end) & (bars.end > begin)].all()
    assert len(choose(bars, on_path, count, 0, 10**8).rows) == count
    # More on the path than a page may hold: the longest of it.
    chosen = choose(bars, np.ones(count, dtype=bool), 5_000, 0, 10**8)
    assert len(chosen.rows) == 5_000 and chosen.left_out == count - 5_000
    assert length[chosen.rows].min() >= np.sort(length)[-5_000]


def test_numbers_as_bytes() -> None:
    """Every coding gives back what it was given; read here as assets/data.js reads it."""
    chance = random.Random(39)
    for coding in (encode.PLAIN, encode.SIGNED, encode.DIFFERENCES):
        low = 0 if coding == encode.PLAIN else -(1 << 52)
        values = [0, 1, 127, 128, 16383, 16384] + [chance.randint(low, 1 << chance.randint(1, 52)) for _ in range(300)]
        assert read_numbers(encode._pack(np.array(values), coding), coding) == values


def read_numbers(packed: bytes, coding: str) -> list[int]:
    values, value, shift = [], 0, 0
    for byte in packed:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            value = value if coding == encode.PLAIN else -(value + 1) // 2 if value % 2 else value // 2
            values.append(value + (values[-1] if values and coding == encode.DIFFERENCES else 0))
            value, shift = 0, 0
    return values


def test_libraries_are_as_npm_has_them() -> None:
    """Each file of vendor/ has the hash that libraries.txt names."""
    script = ROOT / "tools" / "fetch_page_libraries.py"
    assert run([sys.executable, script, "--check"]).returncode == 0
    listed = (ROOT / "python/marline/page/vendor/libraries.txt").read_text()
    assert re.search(r"^archive https://registry\.npmjs\.org/\S+-\d+\.\d+\.\d+\.tgz [0-9a-f]{64}$", listed, re.M)


def test_refusals(two_ranks: tuple[Path, Path], tmp_path: Path) -> None:
    folder, _ = two_ranks
    for words, said in ((("--full",), "name that, too"), (("--html", "x.png"), "name it x.html"),
                        (("--html", str(tmp_path / "no" / "x.html")), "No such file")):  # fmt: skip
        result = report(folder, *words)
        assert result.returncode == 125 and said in result.stderr and result.stderr.count("\n") == 1


def test_loops_by_line(browser: Browser, tmp_path: Path) -> None:
    """A loop of 200 us on one thread and of 50 on the other, which then waits. The advice about it leads to the longer
    one."""
    team, page = Team(), tmp_path / "page.html"
    for index, length in ((0, 200), (1, 50)):
        team.work(index, 0, length * US)
        team.wait(index, length * US, 200 * US, AT_REGION_END)
    write_page(save(tmp_path, list(team.end(200 * US).finish(200 * US))), page)
    browser.open(page)
    advice = "document.querySelector('#verdict [data-go]')"
    # There are no tasks: none is on the critical path, and no arrow leads to one.
    hidden = "[...document.querySelectorAll('.tools label')].map((one) => one.hidden)"
    assert browser.run(hidden) == [False, True, True, True]
    assert "thread 0 works 4.0x as long as thread 1" in browser.run("document.querySelector('.loss').textContent")
    assert browser.run(f"{advice}.dataset.go") == f"0,{200 * US},0"
    browser.run(f"{advice}.click()")
    assert browser.run("marlinePage.lastJump.selected") and browser.said == []
    assert "loop, static" in browser.run("document.querySelector('#details').textContent")


def test_flame_graph(browser: Browser, tmp_path: Path) -> None:
    """Bars as wide as their time: 4 of 7 ms in the task, 3 of these in the call below it. A click widens a bar, keys
    move from bar to bar, a search adds up what it finds, and the table of functions has the same."""
    write_page(write_sampled(tmp_path), tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    bars = "[...document.querySelectorAll('.flame-bar')]"
    browser.run(f"window.widths = () => Object.fromEntries({bars}.map((bar) => [bar.textContent, "
                "Math.round(700 * bar.getBoundingClientRect().width / "
                "document.querySelector('#flame-bars').clientWidth)]))")  # fmt: skip
    widths = browser.run("widths()")
    assert {name: round(width / 100) for name, width in widths.items()} == {
        "all": 7, "task": 4, "body": 4, "middle": 3, "inner": 3, "memcpy": 3, "serial code": 2, "main": 1, "other": 2,
        "waits": 1, "marline_worker": 1}  # fmt: skip
    browser.run(f"{bars}.find((bar) => bar.textContent === 'middle').click()")
    assert browser.run("widths()") == {name: 700 for name in ("all", "task", "body", "middle", "inner", "memcpy")}
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        browser.key(key)
    assert browser.run("document.activeElement.textContent") == "inner"
    assert "inner: 3.00 ms, 42.9 %" in browser.run("document.querySelector('#flame-state').textContent")
    browser.key("Home")
    browser.run("{const box = document.querySelector('#flame-search'); box.value = 'M'; "
                "box.dispatchEvent(new Event('input'))}")  # fmt: skip
    assert browser.run("document.querySelector('#flame-found').textContent") == "85.7 % of the time"
    assert "main app.c:40" in browser.run("document.querySelector('#functions').textContent")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        assert browser.run(CONTRAST) == []
    assert browser.said == []


# What it draws ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tasks of rank 0 are created after its creator has begun `step` once, and D of rank 1 in no step."""
    folder = tmp_path_factory.mktemp("drawing")
    file = folder / "page.html"
    result = report(handmade_ranks.two_ranks(folder / "app.trace"), "--html", file, "--color-by", "step")
    assert result.returncode == 0, result.stderr
    return file


def test_colours_by_iteration(browser: Browser, steps: Path) -> None:
    browser.open(steps)
    browser.run("window.main = marlinePage.gantt.scene.layers.main")
    legend = "[...document.querySelectorAll('#legend button')].map((one) => one.textContent)"
    assert {"gemm", "trsm"} <= set(browser.run(legend))
    choose = "document.querySelector('#colors')"
    browser.run(f"{choose}.value = 'iteration'; {choose}.dispatchEvent(new Event('change'))")
    assert "iteration 1" in browser.run(legend) and "gemm" not in browser.run(legend)
    # A, B and C have one colour; D keeps that of its kind.
    names = browser.run("[...main.task].map((task, row) => "
                        "[task, marlinePage.gantt.scene.styles[main.style[row]].name])")  # fmt: skip
    assert {(task, name) for task, name in names if task >= 0} == {(0, "iteration 1"), (1, "iteration 1"),
                                                                  (2, "iteration 1"), (3, "trsm")}
    # A search is by kind, and so are its colours.
    browser.run("marlinePage.search.input.value = 'gemm'; marlinePage.search.run()")
    assert browser.run(f"{choose}.value") == "kind" and browser.run("marlinePage.search.found.length") == 2
    assert "iteration1" in browser.run("(marlinePage.search.step(1), document.querySelector('#details').textContent)")
    assert browser.said == []


def test_legends_have_what_occurs(browser: Browser, steps: Path) -> None:
    """No task is suspended and no message waits for a device: nothing says so. What is shown has a number, though the
    pointer is nowhere."""
    browser.open(steps)
    rows = browser.run("[...document.querySelectorAll('.u-legend tr')].map((row) => [row.cells[0].textContent, "
                       "row.cells[1].textContent])")  # fmt: skip
    names = [name for name, _ in rows]
    assert {"tasks that run", "tasks known", "overlap", "gemm"} <= set(names)
    assert "tasks that are suspended" not in names and "idle: device" not in names
    assert all(value and "--" not in value for _, value in rows)
    lines = "[...document.querySelectorAll('#legend .item')].map((one) => one.textContent)"
    assert browser.run(lines) == ["what bounded the run"]
    browser.run("document.querySelector('#show-path').click()")
    assert browser.run(lines) == ["what bounded the run", "critical path"]
    browser.run("document.querySelectorAll('#plots details').forEach((one) => (one.open = true))")
    browser.run("new Promise((done) => setTimeout(done, 50))")
    assert browser.run("document.querySelectorAll('#figure-overlap .data tbody tr').length") == 50
    assert browser.said == []


def test_paper_is_white(browser: Browser, steps: Path) -> None:
    browser.open(steps, "dark")
    color = "marlinePage.gantt.cardColor"
    dark = browser.run(color)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    assert browser.run(color) == "#ffffff" != dark
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run(color) == dark and browser.said == []


def test_every_table_row_leads_somewhere(browser: Browser, steps: Path) -> None:
    """But for those that stand for nothing in time: plots as tables, and counts of how kinds follow each other."""
    browser.open(steps)
    without = browser.run("[...document.querySelectorAll('#tables table.sortable')].filter((one) => [...one.tBodies[0]"
                          ".rows].some((row) => !row.querySelector('[data-go]'))).map((one) => "
                          "one.closest('section').id)")  # fmt: skip
    assert without == ["kind-edges"]


def test_a_page_keeps_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where all tasks are on the critical path, as in a chain: then the longest of them stay."""
    of = Analysis(read_trace(write_many(tmp_path, 2_500)))
    document, page = make_document(of), tmp_path / "page.html"
    assert write.write_page(of, document, page) == ["open it in a browser"]
    limit = page.stat().st_size - 15_000
    monkeypatch.setattr(write, "MOST_BYTES", limit)
    _, said, *_ = write.write_page(of, document, page)
    assert page.stat().st_size <= limit and "bars are there only from afar" in said


def test_names_without_number_keep_the_size(tmp_path: Path) -> None:
    """Each task has a name of its own: those with most time get a style, the others share one."""
    stream, tasks = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1), MOST_KINDS + 50
    for number in range(tasks):
        task, start = 1000 + number, 1000 + 2000 * number
        stream.add(start, "text", 100 + number, low=int.from_bytes(f"n{number}".encode(), "little"))
        stream.add(start, "task_create", task, parent=IMPLICIT, flags=4)
        stream.add(start, "task_label", task, text=100 + number)
        stream.add(start + 1000 + number, "task_run", task, start=start, outer=IMPLICIT)
    save(tmp_path, [stream.add(1000 + 2000 * tasks, "implicit_end", IMPLICIT)])
    of = Analysis(read_trace(tmp_path))
    styles = write._Run(of, None).styles
    assert len(styles.kinds) == MOST_KINDS + 1 and styles.kinds[-1]["name"] == "50 other kinds of tasks"
    assert sorted(styles.of_kind.tolist()) == [*range(MOST_KINDS), *[MOST_KINDS] * 50]
