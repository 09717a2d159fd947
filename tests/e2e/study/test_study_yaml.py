# SPDX-License-Identifier: Apache-2.0
"""The study's file is read strictly: a mistake is one line that names the file, the key and what would be valid. What a
study needs and this machine has not is skipped and said so. The studies that are shipped are valid."""

import shutil
import subprocess

import pytest
from conftest import SECONDS, build_tree, clean_environment
from study_fake import PLAIN, ROOT, command, lines, results, study, write_study

from marline.errors import Refusal
from marline.layout import Layout
from marline.study.declare import document, plan
from marline.study.measure import launch, verdict
from marline.study.measure.process import execute


def refused(tmp_path, old: str, new: str) -> str:
    """What is said of PLAIN with one change."""
    assert old in PLAIN
    path = write_study(tmp_path, PLAIN.replace(old, new))
    with pytest.raises(Refusal) as caught:
        plan.points(document.load(path, quick=False), tmp_path)
    text = str(caught.value)
    assert text.startswith(f"{path}:") and "\n" not in text and caught.value.status == 2
    return text.removeprefix(f"{path}:").strip()


@pytest.mark.parametrize(("old", "new", "said"), [
    ("repeats: 4", "repeat: 4", "repeat: unknown key; valid here: study, title,"),
    ("repeats: 4", "repeats: many", "repeats: expected a whole number from 1 up, found 'many'"),
    ("repeats: 4", "repeats: 0", "repeats: expected a whole number from 1 up, found 0"),
    ("repeats: 4", "repeats: true", "repeats: expected a whole number from 1 up, found True"),
    ("repeats: 4", "limit: -1", "limit: expected a positive number, found -1"),
    ("repeats: 4", "repeats: 4\n    repeats: 5", "3: the key 'repeats' is there twice"),
    ("repeats: 4", "repeats: [4", "not YAML:"),
    ("repeats: 4", "handover: maybe", "handover: expected true or false, found 'maybe'"),
    ("study: plain", "study: ../plain", "study: '../plain' becomes a folder's name"),
    ("study: plain", "title: plain", "the key 'study' is missing; valid here: study,"),
    ("a: {runtime: none,", "a: {runtime: libmop,", "variants.a.runtime: expected one of marline, libomp, libgomp,"),
    ("a: {runtime: none,", "a: {runtme: none,", "variants.a.runtme: unknown key; valid here: compiler, runtime,"),
    ("a: {runtime: none,", "a: {", "variants.a: the key 'runtime' is missing"),
    ("a: {runtime: none,", "a: {runtime: none, ranks: 2,", "programs.fake: 2 ranks under variant a, but mpi is none"),
    ("a: {runtime: none,", "a: {runtime: none, environment: {A: true},", "variants.a.environment.A: expected a number"),
    ("a: {runtime: none,", "1: {runtime: none,", "variants.1: the key is not a text; quote it: '1'"),
    ("baseline: a", "baseline: c", "baseline: no variant is called 'c'; there are: a, b"),
    ("baseline: a", "sweep: size", "sweep: no parameter is called 'size'; there are: none"),
    ("baseline: a", "parameters: {mpi: [1]}", "parameters.mpi: not a parameter's name"),
    ("baseline: a", "parameters: {threads: [0]}", "parameters.threads[0]: expected a whole number from 1 up"),
    ("baseline: a", "tables: [{title: t}]", "tables[0]: the key 'figures' is missing"),
    ("baseline: a", "parameters: {size: [1, 1]}", "parameters.size: a value is there twice"),
    ("baseline: a", "parameters: {size: [on]}", "parameters.size[0]: expected a number or a text (quote yes,"),
    ("baseline: a", "parameters: {n: 1, m: {follows: k, values: 1}}", "m.follows: no parameter is called 'k'"),
    ("baseline: a", "parameters: {n: 1, m: {follows: n, values: [1, 2]}}", "m.values: 2 values, but n has 1: one for"),
    ("baseline: a", "quick: {seed: 2}", "quick.seed: unknown key; valid here: parameters, repeats,"),
    ("baseline: a", "quick: {parameters: {size: 1}}", "quick.parameters.size: no parameter is called 'size'"),
    ("baseline: a", "quick: {repeats: 0}", "repeats: expected a whole number from 1 up, found 0"),
    ("baseline: a", "metg: {granularity: time, rate: time}", "metg: needs the key 'sweep'"),
    ("baseline: a", "tables: [{figures: tme}]", "tables[0].figures: no figure is called 'tme'; there are: time"),
    ("baseline: a", "plots: [{kind: pie, file: p}]", "plots[0].kind: expected one of curve, breakdown, efficiency,"),
    ("baseline: a", "plots: [{kind: curve, file: p, figures: time}]", "curve needs the study's key 'sweep'"),
    ("baseline: a", "plots: [{kind: bars, file: p}]", "plots[0]: bars needs the key 'figures'"),
    ("baseline: a", "plots: [{kind: bars, file: p.png, figures: time}]", "plots[0].file: 'p.png'"),
    ("{values}", "{vals}", "'{vals}': unknown variable {vals} under variant a; valid: prefix, here, program, variant,"),
    ('"{here}/fake.sh', '"\'{here}/fake.sh', "programs.fake.command: cannot be split into words: No closing quotation"),
    ("figures: {time: s}", "figures: {time: 5}", "programs.fake.figures.time: expected a mapping"),
    ("figures: {time: s}", "figures: {time: {}}", "figures.time: expected a mapping with at least one key"),
    ("figures: {time: s}", "figures: {time: {unit: s, regex: '('}}", "programs.fake.figures.time.regex: not a regular"),
    ("figures: {time: s}", "figures: {time: {unit: s, regex: t}}", "with 1 group in parentheses, found 0"),
    ("figures: {time: s}", "figures: {time: {unit: s, goal: {times: 2, of: h}}}", "no figure is called 'h'"),
    ("figures: {time: s}", "figures: {work: s}\n    breakdown: true", "'breakdown: true' adds a figure of that name"),
    ("figures: {time: s}", "verdict: {status: 0}", "programs.fake: the key 'figures' is missing, here and in 'common'"),
    ("figures: {time: s}", "figures: {time: s}\n        only: {runtime: libomp}", "no program is left to run"),
    ("figures: {time: s}", "figures: {time: s}\n        only: {runtime: lib}", "fake.only.runtime: no runtime"),
])  # fmt: skip
def test_a_mistake_is_one_line(tmp_path, old, new, said):
    assert said in refused(tmp_path, old, new)


def test_the_command_ends_with_the_status_of_a_mistake(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("repeats", "repeat"))
    result = study(path)
    assert result.returncode == 2 and result.stderr.startswith("marline: ") and result.stderr.count("\n") == 1
    result = study(tmp_path / "nowhere.yaml")
    assert result.returncode == 2 and "nowhere.yaml: cannot be read: No such file" in result.stderr


def test_a_program_meets_the_parameters_that_it_names(tmp_path):
    path = write_study(tmp_path, """\
        study: grid
        parameters: {size: [1, 2], depth: [3, 4], fixed: 5, steps: {follows: size, values: [8, 9]}}
        variants:
          a: {runtime: none, threads: 3, mpi: openmpi, ranks: 2, set: {mode: "fast-{size}"}}
        programs:
          both: {command: "p {size} {depth} {fixed} {workers}", figures: {time: s}}
          none: {command: "p", figures: {time: s}}
          through: {command: "p {mode}", figures: {time: s}, ranks: 1}
          following: {command: "p {steps}", figures: {time: s}}
        """)
    points = plan.points(document.load(path, quick=False), tmp_path)
    assert [point.key for point in points if point.program.name == "both"] == [
        "both size=1 depth=3 | a", "both size=1 depth=4 | a", "both size=2 depth=3 | a", "both size=2 depth=4 | a"]
    commands = [point.command for point in points]
    assert commands[1] == ("p", "1", "4", "5", "6")
    assert commands[4:] == [("p",), ("p", "fast-1"), ("p", "fast-2"), ("p", "8"), ("p", "9")]
    assert [point.key for point in points[-2:]] == ["following size=1 | a", "following size=2 | a"]
    assert points[6].ranks == 1 and points[0].ranks == 2


def test_list_runs_nothing(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("b: {", "b: {compiler: no-such, ")
                       .replace("fake.sh", "{compiler}fake.sh"))  # fmt: skip
    result = study(path, "--list")
    assert result.returncode == 0 and not (tmp_path / "order").exists() and not (tmp_path / "out").exists()
    assert "2 points, 10 runs (1 to warm up, 4 timed)" in result.stdout
    assert f"fake | a: {tmp_path}/fake.sh a 100,10,12,11,50" in result.stdout
    assert "fake | b: MISSING: no-suchfake.sh is not built, and no-such is not installed" in result.stdout


def test_what_is_missing_is_skipped_and_said(tmp_path):
    path = write_study(tmp_path, """\
        study: missing
        repeats: 1
        warmup: 0
        variants:
          here: {runtime: none}
          marline: {runtime: marline}
          mpich: {runtime: none, mpi: mpich}
          traced: {runtime: libomp, trace: true}
          libgomp traced: {runtime: libgomp, trace: true}
        programs:
          fake: {command: "{here}/fake.sh {variant} 1", figures: {time: s}}
          lost: {command: "{here}/lost-{compiler}", figures: {time: s}, only: {variant: here}}
        """)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").symlink_to(shutil.which("git"))
    (tmp_path / "nothing" / "bin").mkdir(parents=True)
    (tmp_path / "nothing" / "bin" / "marline").symlink_to(build_tree() / "bin" / "marline")  # it knows the launchers
    result = study(path, prefix=tmp_path / "nothing", PATH=str(tmp_path / "bin"))
    assert result.returncode == 0, result.stderr
    assert [run["variant"] for run in lines(path)] == ["here"]
    for said in ("skipped: fake | marline: lib/libmarline.so.0 is not in Marline's installation",
                 "skipped: fake | mpich: no launcher of mpich in PATH",
                 "skipped: fake | traced: lib/marline/libmarline-trace.so is not in",
                 "skipped: fake | libgomp traced: libgomp has no OMPT", "skipped: lost | here: lost- is not built"):
        assert said in result.stdout and said.removeprefix("skipped: ") in (tmp_path / "out" / "README.md").read_text()
    assert results(path)["results"][0]["variants"]["marline"]["status"] == "skipped"


def test_a_runtime_that_the_loader_does_not_find_is_skipped(tmp_path, compiled):
    """A binary that names libgomp.so.1, changed to name a library that is nowhere."""
    program = tmp_path / "program"
    whole = compiled("gcc-12", "probe.c", "-fopenmp").read_bytes()
    program.write_bytes(whole.replace(b"libgomp.so.1", b"libgomp.so.7"))
    program.chmod(0o755)
    layout = Layout(build_tree())
    assert launch._unresolved(program, {}, layout) == {"libgomp.so.7"}
    assert launch._unresolved(compiled("gcc-12", "probe.c", "-fopenmp"), {}, layout) == set()
    assert launch._unresolved(write_study(tmp_path, PLAIN), {}, layout) == set()


def test_if_nothing_can_run_it_is_refused(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("runtime: none", "runtime: marline"))
    result = study(path, prefix=tmp_path / "nothing")
    assert result.returncode == 125 and "nothing of" in result.stderr and "--list shows all" in result.stderr
    assert not (tmp_path / "out").exists()


def test_report_without_results_is_refused(tmp_path):
    result = study(write_study(tmp_path, PLAIN), "--report-only")
    assert result.returncode == 125 and "no results yet" in result.stderr


def test_a_missing_package_is_one_line_with_the_remedy(tmp_path):
    path = write_study(tmp_path, PLAIN)
    hidden = command(path)
    hidden[2] = "import sys; sys.modules['yaml'] = None; " + hidden[2]
    result = subprocess.run(hidden, env=clean_environment(), capture_output=True, text=True, timeout=SECONDS,
                            check=False)  # fmt: skip
    assert result.returncode == 125 and result.stderr.count("\n") == 1
    assert "python3 -m pip install PyYAML" in result.stderr


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("file", sorted((ROOT / "studies").glob("*.yaml")), ids=lambda file: file.stem)
def test_shipped_studies_are_valid(file, quick, build):
    declared = document.load(file, quick)
    assert declared.name == file.stem
    assert len(plan.points(declared, build)) >= 3


def test_the_guide_s_example_is_valid(tmp_path):
    page = (ROOT / "docs" / "guide" / "studies.md").read_text()
    example = page.split("```yaml\n", 1)[1].split("```", 1)[0]
    (tmp_path / "example.yaml").write_text(example)
    declared = document.load(tmp_path / "example.yaml", quick=True)
    assert plan.points(declared, tmp_path)
    keys = {*document.STUDY, *document.PROGRAM, *document.VARIANT, *document.FIGURE, *document.QUICK}
    assert [key for key in sorted(keys) if f"`{key}`" not in page] == [], "every key is described"


def test_the_loader_s_log_tells_who_served_a_run(build, compiled):
    """On a real program that says nothing about its runtime: the same binary under libgomp and under Marline."""
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    layout = Layout(build)
    stock = execute([str(program)], launch.own_environment(), 30, build)
    assert stock.status == 0
    assert verdict.wrong_runtime("libgomp", None, stock.libraries, layout) == ""
    assert "meant for marline, but it loaded libgomp" in verdict.wrong_runtime("marline", None, stock.libraries, layout)
    swapped = {"LD_LIBRARY_PATH": str(layout.compat), "LD_PRELOAD": str(layout.runtime)}
    ours = execute([str(program)], launch.own_environment() | swapped, 30, build)
    assert verdict.wrong_runtime("marline", None, ours.libraries, layout) == ""
    assert "meant for libgomp, but it loaded marline" in verdict.wrong_runtime("libgomp", None, ours.libraries, layout)
    assert "loaded no OpenMP runtime" in verdict.wrong_runtime("libomp", None, set(), layout)
    assert "libgomp.so.1 (libgomp) served it" in verdict.wrong_runtime("libomp", "/x/libgomp.so.1", set(), layout)


def test_folders_of_a_study_come_behind_marlines(tmp_path):
    """So a study names where other libraries are found, and the runtime stays Marline's."""
    layout = Layout(tmp_path)
    (tmp_path / "folders.yaml").write_text("""
study: folders
variants:
  marline: {runtime: marline, environment: {LD_LIBRARY_PATH: "{prefix}/more:/lib"}}
  stock: {runtime: libomp, environment: {LD_LIBRARY_PATH: "{prefix}/more:/lib"}}
programs: {nothing: {command: ls, figures: {time: s}}}
""")
    found = {point.variant.name: launch.additions(point, layout, None)["LD_LIBRARY_PATH"]
             for point in plan.points(document.load(tmp_path / "folders.yaml", quick=False), tmp_path)}  # fmt: skip
    assert found == {"marline": f"{layout.compat}:{tmp_path}/more:/lib", "stock": f"{tmp_path}/more:/lib"}
