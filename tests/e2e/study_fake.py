# SPDX-License-Identifier: Apache-2.0
"""What the tests of `marline study` share: a fake program with answers, faults and hangs that are known beforehand, and
the way to run a study of it. The fake keeps its state in a folder: how often each of its names was started."""

import json
import multiprocessing
import os
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

import pytest
from conftest import SECONDS, Result, build_tree, clean_environment

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"
sys.path.insert(0, str(PYTHON))

from marline.cli import main  # noqa: E402
from marline.study.evaluate import plots, report  # noqa: E402, F401  what `forked` has ready
from marline.study.measure import runner  # noqa: E402, F401
from matplotlib import pyplot  # noqa: E402, F401

# fake.py NAME VALUES [ACTION]: its n-th start prints the n-th of the comma-separated values as the figure `time`, and
# appends NAME to the file `order` beside it.
FAKE = '''\
#!{python} -SE
import os, subprocess, sys, time
folder = os.path.dirname(os.path.abspath(__file__))
name, values, action = sys.argv[1], sys.argv[2].split(","), sys.argv[3] if len(sys.argv) > 3 else "answer"
with open(folder + "/order", "a+") as order:
    order.seek(0)
    times = order.read().split("\\n").count(name)
    order.write(name + "\\n")
if action == "hang":
    stray = subprocess.Popen(["sleep", "600"], start_new_session=True, stdout=subprocess.DEVNULL)
    open(folder + "/stray", "a").write(str(stray.pid) + " " + str(os.getpid()) + "\\n")
    print("time 1 s", flush=True)
    time.sleep(600)
if action == "flood":
    for _ in range(100):
        sys.stdout.write("x" * 79999 + "\\n")
print("time", values[times % len(values)], "s")
print("# note from the fake")
if action == "stop" and times == 1:
    os.kill(int(open(folder + "/study").read()), 2)
    time.sleep(600)
sys.exit(3 if action == "fail" else 0)
'''


PLAIN = """\
    study: plain
    repeats: 4
    warmup: 1
    variants:
      a: {runtime: none, set: {values: "100,10,12,11,50"}}
      b: {runtime: none, set: {values: "9,6"}}
    baseline: a
    programs:
      fake:
        command: "{here}/fake.py {variant} {values}"
        figures: {time: s}
    """

# In the place of the program that measures the hand-over time: its n-th start prints the n-th line of the file `times`
# beside it, from the last one on always that.
HANDOVER = '''\
#!{python} -SE
import os, sys
folder = os.path.dirname(os.path.abspath(__file__))
times = open(folder + "/times").read().split("\\n")
with open(folder + "/starts", "a+") as starts:
    starts.seek(0)
    number = len(starts.read())
    starts.write(".")
print("handover", times[min(number, len(times) - 1)], "ns")
'''


def write_handover(prefix: Path, *times: float) -> Path:
    """Puts it into a build tree, which is returned."""
    program = prefix / "bench" / "micro" / "micro-handover"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(HANDOVER.replace("{python}", sys.executable))
    program.chmod(0o755)
    (program.parent / "times").write_text("\n".join(map(str, times)))
    return prefix


def write_study(folder: Path, text: str) -> Path:
    """The study's file, and the fake beside it."""
    fake = folder / "fake.py"
    fake.write_text(FAKE.replace("{python}", sys.executable))
    fake.chmod(0o755)
    path = folder / "fake.yaml"
    path.write_text(textwrap.dedent(text))
    return path


def study(path: Path, *words: str, prefix: Path | None = None, **changes: str) -> Result:
    """`marline study PATH WORDS -o out`, of the build tree or of another prefix."""
    return forked(["study", path, "-o", path.parent / "out", *words], prefix or build_tree(), path.parent, **changes)


def forked(words: Sequence[str | Path], prefix: Path, folder: Path, **changes: str) -> Result:
    """`marline WORDS` of the installation `prefix`, in a process that is forked from this one: it has NumPy, Matplotlib
    and YAML already, and to load them takes longer than most of what these studies do."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = multiprocessing.get_context("fork").Process(
            target=_command, args=(list(map(str, words)), prefix, folder, clean_environment(**changes), output, errors))
        child.start()
        child.join(SECONDS)
        if child.exitcode is None:
            child.kill()
            pytest.fail(f"hang: no end after {SECONDS} s: marline {words}")
        output.seek(0)
        errors.seek(0)
        return Result(words, child.exitcode, output.read(), errors.read())


def _command(words: list[str], prefix: Path, folder: Path, environment: dict[str, str], output: TextIO,
             errors: TextIO) -> None:  # fmt: skip
    """In the child."""
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), output.fileno(), errors.fileno())):
        os.dup2(file, number)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.exit(main(words, prefix))


def command(path: Path, *words: str, prefix: Path | None = None) -> list[str]:
    start = f"import sys; from pathlib import Path; sys.path.insert(0, {str(PYTHON)!r}); " \
            f"from marline.cli import main; sys.exit(main(sys.argv[1:], Path({str(prefix or build_tree())!r})))"
    return [sys.executable, "-c", start, "study", str(path), "-o", str(path.parent / "out"), *words]


def results(path: Path) -> dict:
    return json.loads((path.parent / "out" / "results.json").read_text())


def lines(path: Path, kind: str = "run") -> list[dict]:
    documents = [json.loads(line) for line in (path.parent / "out" / "runs.jsonl").read_text().splitlines()]
    return [document for document in documents if document.get("line") == kind]


def cell(path: Path, variant: str, figure: str = "time", **parameters: object) -> dict:
    """The only row of that figure and these parameters, at that variant."""
    rows = [row for row in results(path)["results"] if row["figure"] == figure
            and all(row["parameters"][key] == value for key, value in parameters.items())]  # fmt: skip
    assert len(rows) == 1
    return rows[0]["variants"][variant]
