# SPDX-License-Identifier: Apache-2.0
"""`marline study`: numbers of ranks and threads that are parameters, figures that a run may leave out, tables of which
programs end, and the inflation of work. Programs are fakes with known answers."""

import sys
import textwrap

import pytest
from study_fake import cell, lines, results, study, write_study

from marline.errors import Refusal
from marline.study.declare import document, plan
from marline.study.evaluate import summary
from marline.study.measure.store import Records

SHAPED = """\
    study: shaped
    repeats: 1
    warmup: 0
    parameters: {threads: [1, 4], load: {follows: threads, values: [10, 40]}}
    sweep: threads
    variants: {a: {runtime: none}}
    programs: {fake: {command: "{here}/fake.sh {variant} {load}", figures: {time: s}}}
    """


def test_threads_may_be_a_parameter(tmp_path):
    path = write_study(tmp_path, SHAPED)
    declared = document.load(path, quick=False)
    points = plan.points(declared, tmp_path)
    assert [(point.threads, point.command[2], point.key) for point in points] == [
        (1, "10", "fake threads=1 | a"), (4, "40", "fake threads=4 | a")]  # fmt: skip
    assert study(path).returncode == 0
    assert cell(path, "a", threads=4)["samples"] == [40]


def test_a_variant_s_own_number_counts_more(tmp_path):
    path = write_study(tmp_path, SHAPED.replace("a: {runtime: none}", "a: {runtime: none, threads: 2}"))
    with pytest.raises(Refusal, match="load follows threads, which is the program's or variant a's own"):
        plan.points(document.load(path, quick=False), tmp_path)


ENDS = """\
    study: ends
    repeats: 1
    warmup: 0
    limit: 2
    parameters: {size: [1, 2, 3, 4]}
    variants:
      good: {runtime: none, set: {action: answer}}
      bad: {runtime: none, set: {action: fail}}
      stuck: {runtime: none, set: {action: hang}}
    programs:
      fake: {command: "{here}/fake.sh {variant}{size} 5 {action}", figures: {time: s}}
      gone: {command: "{here}/gone", figures: {time: s}}
    tables: [{title: Who ends, kind: finishes}]
    """


def test_who_ends(tmp_path):
    """The points that are given up after three that hang are not said to hang."""
    path = write_study(tmp_path, ENDS)
    result = study(path)
    assert result.returncode == 1
    table = [line.split("  ") for line in result.stdout.splitlines() if line.startswith(("fake  ", "gone  "))]
    assert [[word.strip() for word in row if word] for row in table] == [
        ["fake", "all end", "4 fail", "3 hang, 1 not run"], ["gone", "-", "-", "-"]]  # fmt: skip


MODEL = f"#!{sys.executable} -SE\n" + textwrap.dedent("""\
    import sys
    rate = float(sys.argv[1])
    print("rate", rate, "1/s")
    if len(sys.argv) > 2: print("granularity_us", sys.argv[2], "us")
    """)


def test_a_program_without_tasks_is_what_others_are_compared_with(tmp_path):
    """Tasks of 1, 2, 4 us reach 25, 50, 100 of at most 200: METG(40 %) lies between 2 and 4."""
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "model.py").chmod(0o755)
    path = write_study(tmp_path, """\
        study: loops
        repeats: 1
        warmup: 0
        parameters: {grain: [1, 2, 4], rate: {follows: grain, values: [25, 50, 100]}}
        sweep: grain
        variants: {tasks: {runtime: none}, loops: {runtime: none}}
        common: {figures: {granularity_us: {unit: us, optional: true}, rate: {unit: 1/s, better: higher}}}
        programs:
          model: {command: "{here}/model.py {rate} {grain}", only: {variant: tasks}}
          plain: {command: "{here}/plain.py {grain}", only: {variant: loops}}
        metg: {granularity: granularity_us, rate: rate, at: [40]}
        plots: [{kind: efficiency, file: efficiency}]
        """)
    (tmp_path / "plain.py").write_text(MODEL.replace("sys.argv[1]", "200").replace("> 2", "> 9"))
    (tmp_path / "plain.py").chmod(0o755)
    result = study(path)
    assert result.returncode == 0, result.stdout + result.stderr
    curves = {curve["variant"]: curve for curve in results(path)["metg"]}
    assert 2 < curves["tasks"]["metg"]["40"]["value"] < 4 and curves["tasks"]["efficiencies"] == [0.125, 0.25, 0.5]
    assert curves["loops"]["granularities"] == [] and "no tasks" in result.stdout


def test_inflation_is_of_the_least_work_of_a_curve(tmp_path):
    path = write_study(tmp_path, """\
        study: inflated
        repeats: 1
        breakdown: true
        parameters: {grain: [1, 2]}
        sweep: grain
        variants: {a: {runtime: none}}
        programs: {fake: {command: "{here}/fake.sh {grain} 5", figures: {time: s}}}
        """)
    declared = document.load(path, quick=False)
    points = plan.points(declared, tmp_path)
    runs = [{"kind": "traced", "point": point.key, "status": "ok", "figures": {"work": work}, "noise": [1.0, 1.0]}
            for point, work in zip(points, (3.0, 2.0), strict=True)]  # fmt: skip
    made = summary.summarise(declared, Records({}, runs=runs), points)
    found = {row.parameters["grain"]: row.cells["a"].spread for row in made.rows if row.figure.name == "inflation"}
    assert {grain: each.median for grain, each in found.items()} == {1: 50, 2: 0}


def test_a_figure_that_may_be_left_out(tmp_path):
    figures = "{time: s, more: {unit: s, optional: true}}"
    path = write_study(tmp_path, SHAPED.replace("{time: s}", figures))
    assert study(path).returncode == 0
    assert cell(path, "a", "more", threads=1)["status"] == "not run" and cell(path, "a", threads=1)["samples"] == [10]
    assert all(run["figures"].keys() == {"time"} for run in lines(path)) and results(path)["problems"] == []
