# SPDX-License-Identifier: Apache-2.0
"""`marline study` is stopped, killed, started again: no run is lost or made twice, and runs of different
declarations or builds are never mixed."""

import fcntl
import json
import subprocess
import sys
import time
from pathlib import Path

from conftest import SECONDS, clean_environment
from study_fake import PLAIN, cell, command, lines, study, write_study


def test_a_killed_study_goes_on_where_it_was(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("repeats: 4", "repeats: 12"))
    running = subprocess.Popen(command(path), env=clean_environment(), stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL, cwd=tmp_path)  # fmt: skip
    file = tmp_path / "out" / "runs.jsonl"
    while not file.exists() or file.read_text().count('"line": "run"') < 5:
        assert running.poll() is None, "it ended before it was killed"
        time.sleep(0.01)
    running.kill()
    running.wait()
    with file.open("a") as half:
        half.write('{"line": "run", "kind": "ti')  # what a kill in the middle of a write leaves
    before = lines_before(file)
    assert study(path).returncode == 0
    runs = lines(path)
    assert runs[: len(before)] == before and len(before) < 26
    assert len(runs) == 26 == len({(run["kind"], run["round"], run["point"]) for run in runs})
    assert len(lines(path, "session")) == 2


def lines_before(file: Path) -> list[dict]:
    whole = file.read_text().split("\n")[:-1]
    return [each for each in map(json.loads, whole) if each.get("line") == "run"]


def test_interrupt_ends_the_program_and_says_how_to_go_on(tmp_path):
    path = write_study(tmp_path, PLAIN.replace("{values}", "{values} stop"))
    running = subprocess.Popen(command(path), env=clean_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, cwd=tmp_path)  # fmt: skip
    (tmp_path / "study").write_text(str(running.pid))
    _, errors = running.communicate(timeout=SECONDS)
    assert running.returncode == 130 and "the same command continues from there" in errors
    assert 2 <= len(lines(path)) < 10 and all(run["status"] == "ok" for run in lines(path))


# When its readers have just begun: they are threads, and an interpreter waits for their end.
INTERRUPTED = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from marline.study.measure import process
begin = process._Output.__init__
def interrupted(*words):
    begin(*words)
    raise KeyboardInterrupt
process._Output.__init__ = interrupted
try:
    process.execute(["sleep", "600"], {"PATH": "/usr/bin:/bin"}, 600, Path("."))
except KeyboardInterrupt:
    print("interrupted")
"""


def test_an_interrupt_at_the_start_of_a_run_ends_it(tmp_path):
    python = Path(__file__).resolve().parents[3] / "python"
    result = subprocess.run([sys.executable, "-c", INTERRUPTED, python], cwd=tmp_path, env=clean_environment(),
                            text=True, capture_output=True, timeout=SECONDS, check=False)  # fmt: skip
    assert (result.returncode, result.stdout) == (0, "interrupted\n")


def test_a_finished_study_is_only_reported(tmp_path):
    path = write_study(tmp_path, PLAIN)
    study(path)
    before = (tmp_path / "out" / "runs.jsonl").read_text()
    result = study(path)
    assert result.returncode == 0 and (tmp_path / "out" / "runs.jsonl").read_text() == before


def test_results_of_another_declaration_are_not_mixed(tmp_path):
    path = write_study(tmp_path, PLAIN)
    study(path)
    path.write_text(path.read_text().replace("warmup: 1", "warmup: 2"))
    result = study(path)
    assert result.returncode == 125 and "--fresh" in result.stderr and len(result.stderr.splitlines()) == 1
    assert study(path, "--report-only").returncode == 125
    assert study(path, "--fresh").returncode == 0
    assert [run["kind"] for run in lines(path)].count("warmup") == 4


def test_what_concerns_the_report_only_needs_no_new_runs(tmp_path):
    path = write_study(tmp_path, PLAIN)
    study(path)
    path.write_text(path.read_text().replace("baseline: a", "baseline: b\ntitle: Turned round"))
    assert study(path, "--report-only").returncode == 0
    assert cell(path, "a")["ratio"]["baseline"] == "b"
    assert "# Turned round" in (tmp_path / "out" / "README.md").read_text()


def test_a_damaged_file_is_refused(tmp_path):
    path = write_study(tmp_path, PLAIN)
    (tmp_path / "out").mkdir()
    for text in ("not JSON\n", "[]\n", '{"study": 1}\n', '{"format": "marline-study 0"}\n'):
        (tmp_path / "out" / "runs.jsonl").write_text(text)
        result = study(path, "--report-only")
        assert result.returncode == 125 and "--fresh" in result.stderr and result.stderr.count("\n") == 1


def test_results_of_another_build_are_not_mixed(tmp_path):
    path = write_study(tmp_path, PLAIN)
    study(path)
    (tmp_path / "fake.sh").write_text((tmp_path / "fake.sh").read_text() + "# another one\n")
    result = study(path)
    assert result.returncode == 125 and "built anew" in result.stderr


def test_a_second_writer_is_refused(tmp_path):
    path = write_study(tmp_path, PLAIN)
    (tmp_path / "out").mkdir()
    with (tmp_path / "out" / "runs.jsonl").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = study(path)
    assert result.returncode == 125 and "another marline study writes to it" in result.stderr


def test_a_last_line_cut_inside_a_letter_is_taken_out(tmp_path):
    path = write_study(tmp_path, PLAIN)
    assert study(path).returncode == 0
    whole = lines(path)
    with (tmp_path / "out" / "runs.jsonl").open("ab") as file:
        file.write(b'{"line": "run", "reason": "\xc3')
    result = study(path)
    assert result.returncode == 0, result.stderr
    assert lines(path) == whole
