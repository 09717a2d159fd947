# SPDX-License-Identifier: Apache-2.0
"""What `marline run` adds to the start of a program: few file system calls, no Python. (bench/start.py measures the CPU
time.) How it comes through what callers do: closed streams, names that are not UTF-8, a caller's own preloads."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment, run

# Folders for parts of an architecture, which glibc looks for below each folder of LD_LIBRARY_PATH: some processors have
# dozens of them.
OF_VARIANTS = re.compile(r"/(glibc-hwcaps|tls|haswell|avx512_1|x86_64)[/\"]")
MOST_FILE_CALLS = 150  # more than the program makes by itself


@pytest.fixture
def calls(tmp_path):
    """calls("file", words) is each system call of that class, one a line, of all processes."""
    if shutil.which("strace") is None:
        pytest.skip("strace is not installed")

    def count(kind: str, words: list[str | Path]) -> list[str]:
        log = tmp_path / "calls"
        result = run(["strace", "-f", "-qq", "-e", f"trace={kind}", "-e", "signal=none", "-o", log, *words])
        assert result.returncode == 0, result.stderr
        lines = log.read_text(errors="replace").splitlines()
        return [line for line in lines if "resumed>" not in line and not OF_VARIANTS.search(line)]

    return count


def test_few_file_system_calls(calls, build, compiled):
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    plain = calls("%file", ["env", "OMP_NUM_THREADS=2", program])
    served = calls("%file", ["env", "OMP_NUM_THREADS=2", build / "bin" / "marline", "run", program])
    assert len(served) > len(plain) > 3
    assert len(served) - len(plain) <= MOST_FILE_CALLS, "\n".join(served)


def test_starts_no_interpreter(calls, build, compiled):
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    started = calls("execve", [build / "bin" / "marline", "run", "-t", "2", program])
    names = [Path(re.search(r'execve\("([^"]*)"', line)[1]).name for line in started]
    assert names[0] == "marline" and names[-1] == program.name
    assert len(names) == 3 and names[1].startswith("ld-linux")


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_stay_apart_from_files(build, tmp_path, closed):
    """What the program writes to a closed stream reaches no file or pipe of the command's."""
    words = f'"{build}/bin/marline" run sh -c "echo out; echo err >&2; read line; exit 3" {closed}'
    result = subprocess.run(["sh", "-c", words], env=clean_environment(TMPDIR=str(tmp_path)), capture_output=True,
                            stdin=subprocess.DEVNULL, timeout=SECONDS, check=False)  # fmt: skip
    assert result.returncode == 3, result.stderr
    assert list(tmp_path.iterdir()) == []


def test_names_and_arguments_of_any_bytes(build, compiled, tmp_path):
    folder = os.fsencode(tmp_path) + b"/\xff \xfe'"
    os.mkdir(folder)
    program = folder + b"/a\xff$b"
    shutil.copy(compiled("gcc-12", "probe.c", "-fopenmp"), os.fsdecode(program))
    words = [os.fsencode(build) + b"/bin/marline", b"run", program, b"env", b"", b"A\xffB"]
    result = subprocess.run(words, env=clean_environment(), capture_output=True, timeout=SECONDS, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
    gone = subprocess.run([*words[:2], program + b"\xff"], env=clean_environment(), capture_output=True,
                          timeout=SECONDS, check=False)  # fmt: skip
    assert gone.returncode == 127 and program + b"\xff: no such program" in gone.stderr
    shown = subprocess.run([words[0], b"run", b"--print", program, b"", b"it's"], env=clean_environment(),
                           capture_output=True, timeout=SECONDS, check=True)  # fmt: skip
    again = subprocess.run(["sh", "-c", shown.stdout], env=clean_environment(), capture_output=True, timeout=SECONDS,
                           check=False)  # fmt: skip
    assert b"library=" in again.stdout


def test_options_that_are_abbreviated(marline, compiled):
    """As ever: the compiled half leaves them to the other one, which starts it again."""
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    result = marline("run", "--thr", "3", "--no-b", "--", program)
    assert (result.returncode, result.stderr) == (0, "") and "threads=3" in result.stdout
    assert marline("run", "-t3", program).stdout == marline("run", "-t", "3", program).stdout
    assert "unrecognized arguments" in marline("run", "--bogus", program).stderr


def test_a_missing_half_is_one_line(build, tmp_path):
    for folder in ("bin", "lib"):
        (tmp_path / folder).mkdir()
    copy = shutil.copy(build / "bin" / "marline", tmp_path / "bin")
    result = run([copy, "info"])
    assert result.returncode == 125
    assert re.fullmatch(r"marline: \S+/bin/marline-python: No such file or directory; .*\n", result.stderr)
    other = run([sys.executable, build / "lib" / "marline" / "marline-python", "run", "--help"])
    assert other.stdout.startswith("usage: marline run ")
