# SPDX-License-Identifier: Apache-2.0
"""What the tests of `marline study` share: a fake program with answers, faults and hangs that are known beforehand, and
the way to run a study of it. The fake keeps its state in a folder: how often each of its names was started."""

import json
import multiprocessing
import os
import sys
import tempfile
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

import pytest
from conftest import SECONDS, Result, build_tree, clean_environment

ROOT = Path(__file__).resolve().parents[2]
PYTHON = ROOT / "python"
sys.path.insert(0, str(PYTHON))

from marline.cli import main  # noqa: E402
from marline.layout import Layout  # noqa: E402
from marline.study import command as study_command  # noqa: E402
from marline.study.declare import document, plan  # noqa: E402
from marline.study.evaluate import plots, report  # noqa: E402, F401  for `in_child`
from marline.study.measure import runner  # noqa: E402, F401
from matplotlib import pyplot  # noqa: E402, F401

# fake.sh NAME VALUES [ACTION]: its n-th start prints the n-th of the comma-separated values as the figure `time`, and
# appends NAME to the file `order` beside it.
FAKE = '''\
#!/bin/sh
folder=${0%/*} name=$1 action=${3:-answer} times=0
touch "$folder/order"
while read -r line; do [ "$line" != "$name" ] || times=$((times + 1)); done < "$folder/order"
echo "$name" >> "$folder/order"
IFS=,
set -- $2
shift $((times % $#))
case $action in
  hang)
    setsid sleep 600 > /dev/null &
    echo "$! $$" >> "$folder/stray"
    echo "time 1 s"
    exec sleep 600 ;;
  flood)
    line=$(head -c 79999 /dev/zero | tr '\\0' x)
    for _ in $(seq 100 | tr '\\n' ,); do echo "$line"; done ;;
esac
echo "time $1 s"
echo "# note from the fake"
if [ "$action $times" = "stop 1" ]; then
  kill -INT "$(cat "$folder/study")"
  exec sleep 600
fi
[ "$action" != fail ] || exit 3
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
        command: "{here}/fake.sh {variant} {values}"
        figures: {time: s}
    """

# In the place of the program that measures the hand-over time: its n-th start prints the n-th line of the file `times`
# beside it, from the last one on always that.
HANDOVER = '''\
#!/bin/sh
cd "${0%/*}"
echo >> starts
number=$(wc -l < starts)
last=$(wc -l < times)
echo "handover $(sed -n "$((number < last ? number : last))p" times) ns"
'''


def write_handover(prefix: Path, *times: float) -> Path:
    """Puts it into a build tree, which is returned."""
    program = prefix / "bench" / "micro" / "micro-handover"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(HANDOVER)
    program.chmod(0o755)
    (program.parent / "times").write_text("".join(f"{time}\n" for time in times))
    return prefix


def write_study(folder: Path, text: str) -> Path:
    """The study's file, and the fake beside it."""
    fake = folder / "fake.sh"
    fake.write_text(FAKE)
    fake.chmod(0o755)
    path = folder / "fake.yaml"
    path.write_text(textwrap.dedent(text))
    return path


def study(path: Path, *words: str, prefix: Path | None = None, **changes: str) -> Result:
    """`marline study PATH WORDS -o out`, of the build tree or of another prefix."""
    return forked(["study", path, "-o", path.parent / "out", *words], prefix or build_tree(), path.parent, **changes)


def forked(words: Sequence[str | Path], prefix: Path, folder: Path, **changes: str) -> Result:
    """`marline WORDS` of the installation `prefix`."""
    return in_child(lambda: main(list(map(str, words)), prefix), folder, **changes)


def measured(file: Path, folder: Path, prefix: Path, *choices: Sequence[str]) -> Result:
    """What `marline study FILE --quick -o FOLDER --only ...` does for each of the choices, without the reports."""

    def measure() -> int:
        declared = document.load(file, quick=True)
        for patterns in choices:
            points = plan.chosen(plan.points(declared, prefix), list(patterns))
            study_command.measure(declared, points, Layout(prefix), folder, fresh=False)
        return 0

    return in_child(measure, folder)


def in_child(call: Callable[[], int], folder: Path, **changes: str) -> Result:
    """Forked from this process, which has NumPy, Matplotlib and YAML already: to load them takes longer than most of
    what is done with them here."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        child = multiprocessing.get_context("fork").Process(
            target=_child, args=(call, folder, clean_environment(**changes), output, errors))
        child.start()
        child.join(SECONDS)
        if child.exitcode is None:
            child.kill()
            pytest.fail(f"hang: no end after {SECONDS} s")
        output.seek(0)
        errors.seek(0)
        return Result([], child.exitcode, output.read(), errors.read())


def _child(call: Callable[[], int], folder: Path, environment: dict[str, str], output: TextIO, errors: TextIO) -> None:
    for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), output.fileno(), errors.fileno())):
        os.dup2(file, number)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", buffering=1)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.exit(call())


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
