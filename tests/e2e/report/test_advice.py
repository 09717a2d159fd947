# SPDX-License-Identifier: Apache-2.0
"""Each advice of the report comes first in a run that deserves it, and not in one that is nearly the same; on the
README's exchange.c, what is wrong there is never advised. The table is advice.py's."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from advice import CASES, PAGE, ROOT, Bench, Disturbed
from conftest import CROWDED, SECONDS, clean_environment
from marline.report import metrics
from marline.report.causes import MACHINE_RULES, RULES
from marline.trace.analysis import Analysis
from marline.trace.views.export import load


def is_consistent(document: dict[str, Any]) -> bool:
    """No loss is also work, and none is counted twice; but all times hold what other programs take."""
    of_machine = {"busy cores", *(rule.name for rule in MACHINE_RULES)}
    lost = sum(cause["lost_ns"] for cause in document["causes"] if cause["name"] not in of_machine)
    return bool(lost <= document["total"]["idle_ns"] + document["total"]["overhead_ns"])


@pytest.fixture
def bench(build: Path, compiled: Callable[..., Path]) -> Bench:
    if shutil.which("mpicc.openmpi") is None or not (build / "lib" / "marline" / "openmpi").exists():
        pytest.skip("no openmpi")
    return Bench(build, compiled)


@pytest.mark.parametrize("name", CASES)
def test_advice_is_given_where_it_is_deserved_and_not_elsewhere(bench: Bench, tmp_path: Path, name: str) -> None:
    case = CASES[name]
    try:
        deserves = bench.document_with(case.deserves, tmp_path / "deserves", lambda found: found[:1] == [name])
        spared = bench.document_with(case.spared, tmp_path / "spared", lambda found: name not in found)
    except Disturbed as error:
        pytest.skip(str(error))
    assert is_consistent(deserves) and is_consistent(spared)


def test_every_rule_has_its_case_and_its_place_on_the_page() -> None:
    assert sorted(CASES) == sorted(rule.name for rule in RULES)
    text = PAGE.read_text()
    for rule in RULES:
        section = text.partition(f"\n## {rule.name}\n")[2].partition("\n## ")[0]
        for run in (CASES[rule.name].deserves, CASES[rule.name].spared):
            assert f"| `{run.command()}` |" in section, rule.name
        advice = re.escape(rule.advice)
        advice = re.sub(r"\\{\w+\\}", ".*", advice)
        assert re.search(advice, section), rule.name


def test_the_readme_s_exchange_gets_no_wrong_advice(build: Path, bench: Bench, tmp_path: Path) -> None:
    """It runs on Marline and blocks in tasks, and its ranks have equal work."""
    readme = (ROOT / "README.md").read_text()
    source = next(block for block in re.findall(r"```c\n(.*?)```", readme, re.DOTALL) if "kBlocks" in block)
    (tmp_path / "exchange.c").write_text(source)
    subprocess.run(["mpicc.openmpi", "-fopenmp", "-O2", "exchange.c", "-o", "exchange"], cwd=tmp_path, check=True)
    folder = tmp_path / "trace"
    words = [build / "bin" / "marline", "run", "-n", "2", "-t", "1", "--trace", folder, tmp_path / "exchange"]
    subprocess.run(words, env=clean_environment(**CROWDED), check=True, timeout=SECONDS, capture_output=True)
    document = metrics.make_document(Analysis(load(folder)))
    assert is_consistent(document)
    wrong = {"held by MPI", "no suspension", "tied tasks", "few tasks"}
    assert not wrong & {cause["name"] for cause in document["causes"]}, document["causes"]
    assert not any("run it on Marline" in cause["advice"] for cause in document["causes"])
