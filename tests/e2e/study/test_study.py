# SPDX-License-Identifier: Apache-2.0
"""`marline study` measures: in which order, what is a data point and what is not, what happens to hangs, and what
is missing. The program is a fake with known answers, faults and hangs."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import CROWDED, SECONDS, clean_environment
from study_fake import PLAIN, cell, command, lines, results, study, write_study

from marline.study.declare import document, plan
from marline.study.measure import machine


def living(process: int) -> bool:
    """Whether it runs; a zombie does not."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_every_run_is_kept_and_the_warm_up_is_no_sample(tmp_path):
    path = write_study(tmp_path, PLAIN)
    result = study(path)
    assert result.returncode == 0, result.stderr
    assert cell(path, "a")["samples"] == [10, 12, 11, 50]
    assert cell(path, "b")["samples"] == [6, 9, 6, 9]
    assert [run["kind"] for run in lines(path)] == ["warmup"] * 2 + ["timed"] * 8
    assert results(path)["problems"] == []
    machine = lines(path, "session")[0]["machine"]
    assert machine["cpu"] and machine["kernel"] and machine["cores_usable"] >= 1 and "commit" in machine
    assert all(min(run["noise"]) > 0 for run in lines(path))
    assert lines(path)[0]["remarks"] == {"note": "from the fake"}


def test_variants_of_one_input_stand_side_by_side_in_changing_order(tmp_path):
    path = write_study(tmp_path, """\
        study: order
        repeats: 5
        warmup: 0
        parameters: {size: [1, 2]}
        variants: {a: {runtime: none}, b: {runtime: none}}
        programs: {fake: {command: "{here}/fake.sh {size}{variant} 1", figures: {time: s}}}
        """)
    assert study(path).returncode == 0
    order = (tmp_path / "order").read_text().split()
    rounds = [order[i : i + 4] for i in range(0, 20, 4)]
    assert all(sorted(each) == ["1a", "1b", "2a", "2b"] for each in rounds)
    assert all(each[0][0] == each[1][0] for each in rounds)
    assert len(set(map(tuple, rounds))) > 1
    declared = document.load(path, quick=False)
    planned = plan.schedule(declared, plan.points(declared, tmp_path))
    assert order == [run.point.command[1] for run in planned], "one seed, one order"


@pytest.mark.parametrize("mpi", ("openmpi", "mpich"))
def test_the_version_of_mpi_is_recorded(mpi, tmp_path):
    """Open MPI's launcher says it in its first line, MPICH's below a title."""
    launcher = shutil.which(f"mpirun.{mpi}")
    if launcher is None:
        pytest.skip(f"no launcher of {mpi}")
    path = write_study(tmp_path, f"""\
        study: versions
        repeats: 1
        warmup: 0
        variants: {{a: {{runtime: none, mpi: {mpi}, ranks: 1}}}}
        programs: {{fake: {{command: "{{here}}/fake.sh a 1", figures: {{time: s}}}}}}
        """)
    assert study(path, **CROWDED).returncode == 0
    version = lines(path, "session")[0]["machine"]["mpi"][mpi]
    assert re.fullmatch(r"\d+[.]\d+\S*", version)
    said = subprocess.run([launcher, "--version"], capture_output=True, text=True, timeout=SECONDS, check=True).stdout
    assert version in said.split()


@pytest.mark.parametrize(("values", "action", "verdict", "reason"), [
    ("1", "fail", "{status: 0}", "exit status 3"),
    ("1", "answer", "{status: 3}", "exit status 0"),
    ("nan", "answer", "{status: 0}", "time is 'nan'"),
    ("many", "answer", "{status: 0}", "time is 'many'"),
    ("1", "answer", "{must: 'checked: yes'}", "does not hold 'checked: yes'"),
    ("1", "answer", "{must_not: 'from the \\w+'}", "its output holds 'from the fake'"),
    ("1", "flood", "{status: 0}", "printed more than 4 MiB"),
])  # fmt: skip
def test_a_wrong_answer_is_a_failed_run_and_no_sample(tmp_path, values, action, verdict, reason):
    path = write_study(tmp_path, f"""\
        study: wrong
        repeats: 2
        warmup: 0
        variants: {{a: {{runtime: none}}}}
        programs:
          fake: {{command: "{{here}}/fake.sh a {values} {action}", figures: {{time: s}}, verdict: {verdict}}}
        """)
    result = study(path)
    assert result.returncode == 1
    assert cell(path, "a")["status"] == "failed" and reason in cell(path, "a")["reason"]
    assert "samples" not in cell(path, "a") and "spread" not in cell(path, "a")
    assert "FAILED 2/2" in result.stdout and "PROBLEM: fake | a: failed in 2 of 2 runs" in result.stdout


@pytest.mark.parametrize(("figures", "reason"), [
    ("{other: s}", "did not print other"),
    ("{time: ms}", "expected 'time VALUE ms'"),
    ("{time: {unit: s, regex: 'time (.)'}, e: {unit: s, regex: '(e)'}}", "printed the figure e"),
])  # fmt: skip
def test_a_figure_that_cannot_be_read_fails_the_run(tmp_path, figures, reason):
    path = write_study(tmp_path, f"""\
        study: unread
        repeats: 1
        warmup: 0
        variants: {{a: {{runtime: none}}}}
        programs: {{fake: {{command: "{{here}}/fake.sh a 1", figures: {figures}}}}}
        """)
    result = study(path)
    assert result.returncode == 1 and reason in result.stdout


def test_a_relative_command_lies_beside_the_study_s_file(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("{here}/fake.sh", "./fake.sh"))
    assert study(path).returncode == 0
    assert cell(path, "b")["status"] == "ok"


def test_one_bad_run_spoils_the_median_but_not_the_other_variant(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("100,10,12,11,50", "100,10,bad,11,50"))
    result = study(path)
    assert result.returncode == 1 and "FAILED 1/5" in result.stdout
    assert cell(path, "a")["samples"] == [10, 11, 50] and "spread" not in cell(path, "a")
    assert cell(path, "b")["spread"]["median"] == 7.5 and "ratio" not in cell(path, "b")


def test_a_hang_is_cut_recorded_once_and_leaves_nothing(tmp_path):
    path = write_study(tmp_path, """\
        study: hang
        repeats: 3
        warmup: 0
        limit: 1
        variants: {a: {runtime: none, set: {action: hang}}, b: {runtime: none, set: {action: answer}}}
        programs: {fake: {command: "{here}/fake.sh {variant} 5 {action}", figures: {time: s}}}
        """)
    result = study(path)
    assert result.returncode == 1 and "HANG" in result.stdout and "cut after 1 s" in result.stdout
    assert cell(path, "a")["status"] == "hang" and cell(path, "a")["runs"] == 1
    assert cell(path, "b")["samples"] == [5, 5, 5]
    started = [int(word) for word in (tmp_path / "stray").read_text().split()]
    assert len(started) == 2 and not any(map(living, started)), "also not what left the process group"
    assert study(path).returncode == 1
    assert len((tmp_path / "stray").read_text().splitlines()) == 1, "a resumed study does not try it again"


def test_after_three_points_that_hang_a_variant_is_given_up(tmp_path):
    path = write_study(tmp_path, """\
        study: hangs
        repeats: 1
        warmup: 0
        limit: 0.5
        parameters: {size: [1, 2, 3, 4, 5]}
        variants: {a: {runtime: none}}
        programs: {fake: {command: "{here}/fake.sh {size} 5 hang", figures: {time: s}}}
        """)
    assert study(path).returncode == 1
    assert [run["status"] for run in lines(path)] == ["hang"] * 3
    statuses = sorted(row["variants"]["a"]["status"] for row in results(path)["results"])
    assert statuses == ["hang"] * 3 + ["not run"] * 2


@pytest.mark.skipif(shutil.which("mpirun.openmpi") is None, reason="Open MPI is not installed")
def test_ranks_of_a_hang_are_ended_too(tmp_path):
    path = write_study(tmp_path, """\
        study: ranks
        repeats: 1
        warmup: 0
        limit: 5
        variants: {a: {runtime: none, mpi: openmpi, ranks: 2}}
        programs: {fake: {command: "{here}/fake.sh a 5 hang", figures: {time: s}}}
        """)
    assert study(path).returncode == 1
    started = [int(word) for word in (tmp_path / "stray").read_text().split()]
    assert len(started) == 4 and not any(map(living, started))


def test_quick_changes_what_the_file_says(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("repeats: 4", "quick: {repeats: 1, warmup: 0}\n    repeats: 4"))
    assert study(path, "--quick").returncode == 0
    assert len(lines(path)) == 2 and results(path)["quick"] is True
    assert "made with --quick" in study(path).stderr


def test_only_takes_the_points_that_fit(tmp_path):
    path = write_study(tmp_path, PLAIN)
    assert study(path, "--only", "b", "--only", "f*").returncode == 0
    assert {run["variant"] for run in lines(path)} == {"b"}
    assert study(path).returncode == 0, "the rest is added"
    assert {run["variant"] for run in lines(path)} == {"a", "b"} and len(lines(path)) == 10
    result = study(path, "--only", "nothing")
    assert result.returncode == 2 and "fits nothing; there are: fake, a, time, b" in result.stderr


def test_missing_programs_are_built(tmp_path):
    path = write_study(tmp_path, """\
        study: build
        repeats: 1
        warmup: 0
        variants: {a: {runtime: none}, b: {runtime: none}}
        programs:
          made: {command: "{here}/made.sh {variant} 7", build: "cp {here}/fake.sh {here}/made.sh", figures: {time: s}}
          unmade: {command: "{here}/unmade {variant}", build: "ls {here}/nowhere", figures: {time: s}}
        """)
    result = study(path)
    assert result.returncode == 0 and result.stderr.count("building made.sh") == 1
    made, unmade = results(path)["results"]
    assert made["variants"]["b"]["samples"] == [7] and unmade["variants"]["b"]["status"] == "skipped"
    assert "skipped: unmade | a, unmade | b: unmade is not built (its build ended with status 2: ls:" in result.stdout


def test_terminal_gets_a_progress_bar(tmp_path):
    path = write_study(tmp_path, PLAIN)
    leader, follower = os.openpty()
    running = subprocess.Popen(command(path), env=clean_environment(TERM="xterm", COLUMNS="100"), text=True,
                               stdout=subprocess.PIPE, stderr=follower, cwd=tmp_path)  # fmt: skip
    os.close(follower)
    output, _ = running.communicate(timeout=SECONDS)
    shown = os.read(leader, 1 << 16).decode(errors="replace")
    os.close(leader)
    assert running.returncode == 0 and "results:" in output
    assert "plain" in shown and "/10" in shown and "\x1b[" in shown


def test_the_commit_is_that_of_the_sources(tmp_path):
    """Results that are measured again are written while their commit is looked for: they do not count."""
    for words in (["init"], ["config", "user.name", "x"], ["config", "user.email", "x@y.z"]):
        subprocess.run(["git", "-C", tmp_path, *words], check=True, stdout=subprocess.DEVNULL)
    here, written = tmp_path / "studies", tmp_path / "docs" / "results"
    for folder in (here, written):
        folder.mkdir(parents=True)
        (folder / "file").write_text("1")
    assert machine.commit_of(here, written) == machine.UNKNOWN
    subprocess.run(["git", "-C", tmp_path, "add", "."], check=True)
    subprocess.run(["git", "-C", tmp_path, "commit", "--quiet", "--message=x"], check=True)
    commit = machine.commit_of(here, written)
    assert re.fullmatch("[0-9a-f]{7,}", commit)
    (written / "file").write_text("2")
    assert machine.commit_of(here, written) == commit
    assert machine.commit_of(here, tmp_path.parent) == f"{commit}-dirty"
    (here / "file").write_text("2")
    assert machine.commit_of(here, written) == f"{commit}-dirty"
