# SPDX-License-Identifier: Apache-2.0
"""`marline report --summary`, `--history` and `--badge`, with runs whose figures are known; and options that do not go
together."""
from __future__ import annotations

import csv
import io
import json
import re
import shlex
import subprocess
from itertools import permutations
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from conftest import SECONDS
from handmade import IMPLICIT, ROOT, A, Stream, save
from handmade_ranks import two_ranks
from in_process import report

from marline.report.command import parse
from marline.report.history import mann_whitney

SVG = "{http://www.w3.org/2000/svg}"


def run_of(folder: Path, length: int, idle: int = 0) -> Path:
    """One thread works for `length` ns in a task; a second one would have to work `idle` of 100 ns of that, or does."""
    folder.mkdir(parents=True)
    stream = Stream(1).add(1000, "implicit_begin", IMPLICIT, index=0, size=1)
    stream.add(1001, "task_create", A, parent=IMPLICIT, flags=4)
    stream.add(1010 + length, "task_run", A, start=1010, outer=IMPLICIT)
    streams = [stream.add(2000 + length, "implicit_end", IMPLICIT)]
    if idle:
        streams.append(Stream(2).add(1000, "implicit_begin", 201, index=1, size=1).add(9000, "implicit_end", 201))
    return save(folder, streams, exe="/there/app", argv=["./app", "7"])


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four runs of commit `old`, four of `new`, which is 10 % slower; one of `old` and one of `newest` on two
    threads."""
    top = tmp_path_factory.mktemp("history")
    for commit, lengths in (("old", (1000, 1002, 1004, 1006)), ("new", (1100, 1102, 1104, 1106))):
        for length in lengths:
            trace = run_of(top / f"{commit}{length}", length)
            result = report(trace, "--summary", top / "kept", "--commit", commit)
            assert result.returncode == 0 and result.stderr.startswith(f"marline: {top}/kept/{commit}-"), result.stderr
    for commit in ("old", "newest"):
        trace = run_of(top / f"two {commit}", 1000, idle=1)
        assert report(trace, "--summary", top / "kept", "--commit", commit).returncode == 0
    for path in (top / "kept").glob("*.json"):
        found = json.loads(path.read_text())
        day = {"old": 1, "new": 2, "newest": 3}[found["commit"]]
        path.write_text(json.dumps(found | {"date": f"2026-03-0{day}T10:00:00+00:00"}))
    return top / "kept"


def test_history_compares_commits(history: Path) -> None:
    result = report("--history", history)
    assert result.returncode == 0 and result.stderr == ""
    rows = [line.split() for line in result.stdout.splitlines()]
    assert rows[0] == ["app", "7", "(1", "x", "1)"] and rows[4] == ["app", "7", "(1", "x", "2)"]
    assert rows[2] == ["old", "2026-03-01", "4", "1.00", "us", "100.0", "%", "1.00", "us"]
    # 1103 / 1003; of 70 ways to divide eight runs, two are as far apart.
    assert [*rows[3][:1], *rows[3][2:]] == ["new", "4", "1.10", "us", "+10.0", "%", "*", "0.029", "100.0", "%", "1.10",
                                            "us"]  # fmt: skip
    assert rows[-1] == ["*", "p", "<", "0.05:", "hardly", "chance"]
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_history_for_programs(history: Path) -> None:
    found = list(csv.DictReader(io.StringIO(report("--history", history, "--csv").stdout)))
    assert [(row["program"], row["commit"], row["runs"], row["makespan_ns"]) for row in found] == [
        ("app 7 (1 x 1)", "old", "4", "1003.0"), ("app 7 (1 x 1)", "new", "4", "1103.0"),
        ("app 7 (1 x 2)", "old", "1", "1000.0"), ("app 7 (1 x 2)", "newest", "1", "1000.0")]
    assert float(found[1]["change"]) == pytest.approx(1103 / 1003 - 1) and found[0]["change"] == found[3]["p"] == ""
    same = json.loads(report("--history", history, "--json").stdout)
    assert [row["efficiency"] for row in same] == [1.0, 1.0, 0.5, 0.5] and same[1]["p"] == pytest.approx(2 / 70)


def test_the_exact_test() -> None:
    assert mann_whitney([1, 2, 3], [4, 5, 6]) == pytest.approx(2 / 20)
    assert mann_whitney([1, 2, 3, 4, 5], [6, 7, 8, 9, 10]) == pytest.approx(2 / 252)
    assert mann_whitney([1, 1, 1], [1, 1, 1]) == 1.0
    # Ranks 1, 2.5, 2.5, 4: of six sums 3.5, 3.5, 5, 5, 6.5, 6.5 all but those at the mean are as far from it.
    assert mann_whitney([1, 2], [2, 3]) == pytest.approx(4 / 6)
    assert {round(mann_whitney(list(one), [5, 6, 9]), 9) for one in permutations([1, 7, 8])} == {
        round(mann_whitney([5, 6, 9], [1, 7, 8]), 9)}


def test_the_commit_is_git_s(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    trace = run_of(tmp_path / "trace", 1000)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    result = report(trace, "--summary", "kept")
    assert result.returncode == 125 and result.stderr.endswith("): give --commit NAME\n")
    for words in ("init -q", "-c user.name=a -c user.email=b commit -q --allow-empty -m first"):
        subprocess.run(["git", *words.split()], check=True, timeout=SECONDS)
    head = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True).stdout.strip()
    assert report(trace, "--summary", "kept").returncode == 0
    assert json.loads((tmp_path / "kept" / f"{head}-1.json").read_text())["commit"] == head


@pytest.mark.parametrize(("text", "what"), [
    ("{", "not a summary"), ("[]", "not a summary"),
    ('{"format": "marline-summary 2"}', "expected 'marline-summary 1'"),
    ('{"format": "marline-summary 1", "commit": "a"}', "not a summary"),
])
def test_a_damaged_summary_is_one_line(tmp_path: Path, text: str, what: str) -> None:
    (tmp_path / "a-1.json").write_text(text)
    result = report("--history", tmp_path)
    assert result.returncode == 125 and what in result.stderr and len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(("idle", "value", "color"), [(0, "100 %", "#2e7d32"), (1, "50 %", "#c62828")])
def test_badge(tmp_path: Path, idle: int, value: str, color: str) -> None:
    file = tmp_path / "badge.svg"
    assert report(run_of(tmp_path / "trace", 1000, idle), "--badge", file).returncode == 0
    root = ElementTree.parse(file).getroot()
    assert root.get("aria-label") == f"efficiency: {value}"
    assert [one.text for one in root.iter(f"{SVG}text")] == ["efficiency", value]
    assert color in [one.get("fill") for one in root.iter(f"{SVG}rect")]


def test_badge_of_the_newest_commit(history: Path, tmp_path: Path) -> None:
    assert report("--history", history, "--badge", tmp_path / "b.svg").returncode == 0
    assert "efficiency: 50 %" in (tmp_path / "b.svg").read_text()


@pytest.mark.parametrize(("words", "message"), [
    ("", "give a trace (a folder of `marline trace`), or --history DIR"),
    ("trace --history kept", "--history reads what --summary has stored: leave trace out"),
    ("--history kept --perfetto f", "--history goes with --csv, --json, --html and --badge only: leave --perfetto out"),
    ("--history=kept --fail-if efficiency<1", "leave --fail-if out"),
    ("trace --commit a", "--commit names the run that --summary DIR stores: give --summary, too"),
    ("trace --csv --windows 4", "--windows has no place in --csv"),
    ("trace --sqlite f --dot f", "f: --sqlite and --dot would both write it: give two names"),
])
def test_options_that_do_not_go_together(words: str, message: str) -> None:
    result = report(*shlex.split(words))
    assert result.returncode == 2 and result.stdout == "", result.stderr
    assert message in result.stderr and len(result.stderr.splitlines()) == 1


def test_color_by_needs_a_chart(tmp_path: Path) -> None:
    result = report(two_ranks(tmp_path / "trace"), "--color-by", "step")
    assert result.returncode == 125
    assert result.stderr.endswith("colours charts and pages: give --png, --svg or --html, too\n")


def test_help_is_in_groups() -> None:
    text = report("--help").stdout
    assert re.findall(r"^[a-z].*:$", text, re.MULTILINE) == [
        "positional arguments:", "options:", "timelines and charts:", "formats of other tools:",
        "for scripts (docs/guide/scripts.md):", "for jobs of many nodes (docs/guide/large-jobs.md):"]


def test_the_workflow_s_commands_are_understood() -> None:
    page = (ROOT / "docs" / "guide" / "scripts.md").read_text()
    (text,) = re.findall(r"^```yaml\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    steps = yaml.safe_load(text)["jobs"]["report"]["steps"]
    lines = [line.strip() for step in steps for line in step.get("run", "").splitlines()]
    commands = [shlex.split(line)[2:] for line in lines if line.startswith("marline report")]
    assert len(commands) == 2
    assert [parse(words).history for words in commands] == [None, Path("history")]
