# SPDX-License-Identifier: Apache-2.0
"""`marline study` on a machine with processors that are near each other now and far apart then: with `handover: true`
it tells such runs apart, repeats what was not near, and counts each mode for itself. The hand-over time is a fake's."""

import csv
import json
import os
from pathlib import Path

import pytest
from study_fake import PLAIN, cell, lines, results, study, write_handover, write_study

from marline.study.declare import document, plan
from marline.study.measure import handover

NEAR, FAR = 40.0, 200.0
KEPT_APART = """\
    study: apart
    repeats: 4
    warmup: 0
    handover: true
    parameters: {size: [1, 2]}
    sweep: size
    variants:
      old: {runtime: none, set: {values: "10,11,30,31"}}
      new: {runtime: none, set: {values: "5,5,20,20"}}
    baseline: old
    programs:
      fake:
        command: "{here}/fake.sh {size}{variant} {values}"
        figures: {time: {unit: s, goal: 6}}
    """
MODES = {"near": [NEAR, 1.5 * NEAR], "far": [FAR, 1.1 * FAR], "moved": [NEAR, FAR]}


def measured(folder: Path, text: str = KEPT_APART) -> Path:
    """The study after one measurement with near processors."""
    path = write_study(folder, text)
    result = study(path, prefix=write_handover(folder / "prefix", NEAR))
    assert result.returncode == 0, result.stderr
    return path


def rewrite(path: Path, mode_of) -> None:
    """Gives every run the hand-over times of the mode that mode_of says."""
    file = path.parent / "out" / "runs.jsonl"
    documents = [json.loads(line) for line in file.read_text().splitlines()]
    for run in documents:
        if run.get("line") == "run":
            run["handover"] = MODES[mode_of(run)]
    file.write_text("".join(json.dumps(each) + "\n" for each in documents))


def reported(path: Path) -> str:
    result = study(path, "--report-only")
    assert result.returncode in (0, 1), result.stderr
    return result.stdout


def halves(run: dict) -> str:
    """The first two runs of a point are near, its last two far."""
    return "near" if run["round"] < 2 else "far"


def table(shown: str, title: str) -> list[str]:
    return shown.split(f"\n{title}\n", 1)[1].split("\n\n", 1)[0].splitlines()


def test_each_run_holds_the_times_before_and_after_it(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("study: plain", "study: plain\n    handover: true"))
    result = study(path, prefix=write_handover(tmp_path / "prefix", *range(40, 51)))
    assert result.returncode == 0, result.stderr
    assert [run["handover"] for run in lines(path)] == [[h, h + 1] for h in range(40, 50)], "warm-up runs too"
    assert results(path)["handover"]["near"] == {"runs": 8, "median_ns": 46}
    assert "takes from one processor to the other, was 42 to 50 ns before and after each run." in result.stdout


def test_runs_without_the_key_hold_none(tmp_path):
    path = write_study(tmp_path, PLAIN)
    result = study(path)
    assert "handover" not in lines(path)[0] and "hand-over" not in result.stdout
    assert results(path)["handover"] is None


def test_modes_of_hand_made_runs():
    runs = [{"kind": "timed", "handover": times} for times in
            ([40, 80], [80.1, 40], [40, 200], [81, 500], [200, 210], [80, 80])]  # fmt: skip
    modes = handover.Modes([*runs, {"kind": "warmup", "handover": [40, 40]}])
    assert [modes.of(run) for run in runs] == ["near", "moved", "moved", "far", "far", "near"]
    assert {mode: len(modes.runs[mode]) for mode in handover.MODES} == {"near": 2, "far": 2, "moved": 2}
    assert modes.typical("near") == 80 and modes.typical("far") == 205 and modes.mixed()
    dip = [{"kind": "timed", "handover": times} for times in ([45, 20], [46, 45], [47, 46], [60, 61])]
    assert not handover.Modes(dip).mixed(), "one low time alone decides nothing"
    alone = handover.Modes([{"kind": "timed", "handover": [210, 200]}])
    assert not alone.mixed() and alone.typical("far") is None


def test_near_and_far_runs_have_tables_of_their_own(tmp_path):
    path = measured(tmp_path)
    before = reported(path)
    assert "far apart" not in before and "was 40 to 40 ns" in before
    rewrite(path, halves)
    shown = reported(path)
    assert "10.5" in table(shown, "Figures")[3] and "5.00" in table(shown, "Figures")[3]
    assert table(shown, "Figures")[1].split()[-2:] == ["goal", "met"] and table(shown, "Figures")[2].endswith("yes")
    assert "0.48 [0." in table(shown, "Figures, over old")[2]
    title = "Figures, processors far apart (hand-over about 210 ns)"
    assert table(shown, title)[1].split() == ["input", "figure", "(s)", "old", "new"], "goals are for near processors"
    assert "30.5" in table(shown, title)[2] and "20.0" in table(shown, title)[2]
    assert "0.66 [0." in table(shown, f"{title}, over old")[2]
    assert "Of 16 runs 8 had near processors (about 50 ns), 8 far ones (about 210 ns); in 0 they were moved" in shown
    assert f"### {title}" in (tmp_path / "out" / "README.md").read_text()


def test_results_hold_both_modes(tmp_path):
    path = measured(tmp_path)
    rewrite(path, halves)
    reported(path)
    found = cell(path, "old", size=1)
    assert found["samples"] == [10, 11] and found["spread"]["median"] == 10.5 and found["runs"] == 4
    assert (found["far_median"], found["far_runs"], found["far_samples"]) == (30.5, 2, [30, 31])
    assert results(path)["handover"] == {"near": {"runs": 8, "median_ns": 50}, "far": {"runs": 8, "median_ns": 210},
                                         "moved": {"runs": 0, "median_ns": None}}  # fmt: skip
    row = next(csv.DictReader((tmp_path / "out" / "results.csv").open()))
    assert (float(row["median"]), float(row["far_median"]), row["far_runs"]) == (10.5, 30.5, "2")


def test_a_point_without_a_near_run_says_so(tmp_path):
    path = measured(tmp_path)
    rewrite(path, lambda run: {"old": "near", "new": "far" if run["parameters"]["size"] == 1 else "moved"}[
        run["variant"]] if run["round"] else "moved")  # fmt: skip
    shown = reported(path)
    assert "far only" in table(shown, "Figures")[2] and "moved only" in table(shown, "Figures")[3]
    assert cell(path, "new", size=1)["status"] == "far only" and cell(path, "new", size=1)["far_runs"] == 3
    moved = cell(path, "new", size=2)
    assert moved["status"] == "moved only" and "spread" not in moved and "far_median" not in moved
    assert "ratio" not in moved and "goal_met" not in moved
    title = "Figures, processors far apart (hand-over about 210 ns)"
    assert len(table(shown, title)) == 3, "no row for size 2, of which no run was far"
    assert study(path, "--report-only").returncode == 0, "it is no failure"


def test_a_bad_run_in_any_mode_takes_the_median(tmp_path):
    text = KEPT_APART.replace("10,11,30,31", "10,11,30,bad")
    path = write_study(tmp_path, text)
    assert study(path, prefix=write_handover(tmp_path / "prefix", NEAR)).returncode == 1
    rewrite(path, halves)
    assert table(reported(path), "Figures")[2].count("FAILED 1/4") == 1
    found = cell(path, "old", size=1)
    assert found["status"] == "failed" and "spread" not in found and "far_median" not in found


def test_metg_takes_near_runs_and_leaves_out_points_without(tmp_path):
    path = measured(tmp_path, KEPT_APART.replace("figures: {time: {unit: s, goal: 6}}", """figures:
          time: s
          rate: {unit: s, regex: 'time (.*) s', better: higher}
    metg: {granularity: time, rate: rate}"""))  # fmt: skip
    rewrite(path, lambda run: "far" if run["parameters"]["size"] == 2 else halves(run))
    reported(path)
    curves = {curve["variant"]: curve for curve in results(path)["metg"]}
    assert curves["old"]["grains"] == [1] and curves["old"]["rates"] == [11], "the fastest near run"
    rewrite(path, lambda run: "far" if run["variant"] == "new" else "near")
    shown = reported(path)
    assert "far only" in table(shown, "Minimum effective task granularity")[2]


ONE = """\
    study: late
    repeats: 4
    warmup: 1
    handover: true
    variants: {a: {runtime: none}}
    programs: {fake: {command: "{here}/fake.sh a 1,2,3,4,5,6,7,8,9", figures: {time: s}}}
    """


def rounds_and_modes(path: Path) -> list[tuple[int, bool]]:
    return [(run["round"], max(run["handover"]) <= 2 * NEAR) for run in lines(path) if run["kind"] == "timed"]


def test_runs_that_were_not_near_are_repeated_until_half_are(tmp_path):
    """Times: before the warm-up run, after it, then after each run. Of four rounds the first alone is near."""
    path = write_study(tmp_path, ONE)
    prefix = write_handover(tmp_path / "prefix", NEAR, NEAR, NEAR, FAR, FAR, NEAR, NEAR, FAR)
    result = study(path, prefix=prefix)
    assert result.returncode == 0, result.stderr
    assert rounds_and_modes(path) == [(0, True), (1, False), (2, False), (3, False), (4, True)]
    assert cell(path, "a")["samples"] == [2, 6]
    assert "6 of 6 runs" in result.stderr


def test_each_is_repeated_twice_at_most_also_when_resumed(tmp_path):
    path = write_study(tmp_path, ONE)
    prefix = write_handover(tmp_path / "prefix", NEAR, NEAR, NEAR, FAR)
    assert study(path, prefix=prefix).returncode == 0
    assert [number for number, _ in rounds_and_modes(path)] == list(range(4 + 2 * 3)), "three were not near"
    file = tmp_path / "out" / "runs.jsonl"
    whole = file.read_text()
    assert study(path, prefix=prefix).returncode == 0 and file.read_text() == whole, "finished: nothing more"
    stored = whole.splitlines(keepends=True)
    file.write_text("".join(stored[:-3]))  # as if stopped among the repetitions
    assert study(path, prefix=prefix).returncode == 0
    identities = [(run["kind"], run["round"], run["point"]) for run in lines(path)]
    assert len(identities) == len(set(identities)) == 1 + 4 + 2 * 3


def test_a_round_of_repetitions_holds_the_points_that_lack_near_runs(tmp_path):
    path = write_study(tmp_path, KEPT_APART)
    declared = document.load(path, quick=False)
    points = plan.points(declared, tmp_path)
    runs = [{"kind": "timed", "round": run.round, "point": run.point.key, "status": "ok",
             "handover": MODES["near" if run.round < 2 or run.point.variant.name == "old" else "moved"]}
            for run in plan.schedule(declared, points)]  # fmt: skip
    assert handover.repetitions(declared, points, runs) == [], "two of four are enough"
    changed = [run for run in runs if run["point"].endswith("new") and run["round"] == 1]
    for run in changed:
        run["handover"] = MODES["far"]
    found = handover.repetitions(declared, points, runs)
    assert sorted(run.identity for run in found) == [
        ("timed", 4, "fake size=1 | new"), ("timed", 4, "fake size=2 | new")]
    changed[0]["status"] = "failed"
    assert len(handover.repetitions(declared, points, runs)) == 1, "one bad run has taken the median already"
    runs.append(changed[1] | {"kind": "warmup", "round": 0, "status": "failed"})
    assert handover.repetitions(declared, points, runs) == [], "so has a bad run to warm up"


@pytest.mark.parametrize(("script", "said"), [
    ("echo 'bench: a hand-over needs two processors, this process may use 1' >&2; exit 1", "processors, this process"),
    ("echo 'handover 5 s'", "cannot read its output: 'handover 5 s'"),
    ("exit 0", "micro-handover did not print handover"),
])  # fmt: skip
def test_where_it_cannot_be_measured_the_study_is_refused(tmp_path, script, said):
    path = write_study(tmp_path, ONE)
    prefix = write_handover(tmp_path / "prefix", NEAR)
    (prefix / "bench" / "micro" / "micro-handover").write_text(f"#!/bin/sh\n{script}\n")
    result = study(path, prefix=prefix)
    assert result.returncode == 125 and said in result.stderr
    assert result.stderr.count("\n") == 1 and "take the key out" in result.stderr
    assert lines(path) == [] and not (tmp_path / "order").exists()
    path.write_text(path.read_text().replace("handover: true\n", ""))
    assert study(path, prefix=prefix).returncode == 0, "the remedy is all that it takes"


def test_a_failure_is_tried_again_once(tmp_path):
    path = write_study(tmp_path, ONE)
    prefix = write_handover(tmp_path / "prefix", NEAR)
    failed = tmp_path / "failed"
    (prefix / "bench" / "micro" / "micro-handover").write_text(
        f"#!/bin/sh\ntest -e {failed} && echo handover {NEAR} ns && exit\ntouch {failed}; exit 1\n")
    result = study(path, prefix=prefix)
    assert result.returncode == 0 and failed.exists(), result.stderr
    assert len(lines(path)) == 5


def test_the_program_is_built_if_it_is_missing(tmp_path):
    path = write_study(tmp_path, ONE)
    tree = write_handover(tmp_path / "tree", NEAR)
    (tmp_path / "bin").mkdir()
    cmake = tmp_path / "bin" / "cmake"
    cmake.write_text(f'#!/bin/sh\ntest "$4" = micro-handover && mkdir "$2" && cp -r {tree}/bench "$2"\n')
    cmake.chmod(0o755)
    path_with_it = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    result = study(path, prefix=tmp_path / "prefix", PATH=path_with_it)
    assert result.returncode == 0 and "building micro-handover" in result.stderr, result.stderr
    assert len(lines(path)) == 5 and all("handover" in run for run in lines(path))
    cmake.write_text("#!/bin/sh\necho no such tree >&2; exit 1\n")
    result = study(path, "--fresh", prefix=tmp_path / "nowhere", PATH=path_with_it)
    assert result.returncode == 125
    assert "micro-handover is not built (its build ended with status 1: no such tree)" in result.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="a hand-over needs two processors")
def test_the_real_program_answers(build, tmp_path):
    declared = document.load(write_study(tmp_path, ONE), quick=False)
    assert handover.HandOver(declared, build).measure() > 0
