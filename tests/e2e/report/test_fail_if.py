# SPDX-License-Identifier: Apache-2.0
"""`marline report --fail-if`: the exit status, the line that says what failed, units, rows of lists, and mistakes. On a
trace made by hand: of 100 us on two threads 60 us are work, 100 us idle, 40 us overhead (test_report.py)."""
from __future__ import annotations

from pathlib import Path

import pytest
from in_process import report
from test_report import two_threads  # noqa: F401  a fixture


@pytest.mark.parametrize(("condition", "value"), [
    ("efficiency<0.8", "it is 0.3"),
    ("efficiency < 80%", "it is 30.0 %"),
    ("total.idle_share>=50%", "it is 50.0 %"),
    ("total.overhead_share==0.2", "it is 0.2"),
    ("total.makespan_ns>99us", "it is 100 us"),
    ("total.makespan_ns>99999", "it is 100 us"),
    ("graph.tasks!=4", "it is 3"),
    ("graph.grain_ns.median<=1e-2ms", "it is 10.0 us"),
    ("discovery.seconds>59us", "it is 60.0 us"),
    ("discovery.seconds>0.00005", "it is 6e-05"),
    ("total.causes.idle_discovery>=0.05ms", "it is 50.0 us"),
    ("kinds[task].tasks>2", "it is 3"),
    ('kinds["task"].tasks>2', "it is 3"),
    ("ranks[0].threads>1", "it is 2"),
    ("ranks[*].causes.idle_discovery>1us", "ranks[0].causes.idle_discovery is 50.0 us"),
    ("ranks[*].idle_share>0.4", "ranks[0].idle_share is 0.5"),
    ("causes[fine grain].share>10%", "it is 20.0 %"),
])
def test_what_holds_fails_with_its_value(two_threads: Path, condition: str, value: str) -> None:  # noqa: F811
    result = report(two_threads, "--fail-if", condition)
    assert result.returncode == 4 and "biggest loss" in result.stdout
    assert result.stderr == f"marline: failed: {condition}: {value}\n"


@pytest.mark.parametrize("condition", [
    "efficiency<0.3", "efficiency<30%", "total.makespan_ns>100us", "kinds[*].tasks>3",
    "causes[barriers].share>0", "causes[quota].share>0",
    "total.causes.idle_barrier>0ns", "ranks[*].causes.idle_barrier>0ns",
])
def test_what_does_not_hold_is_no_failure(two_threads: Path, condition: str) -> None:  # noqa: F811
    """A cause that has cost nothing is in no list, and counts as 0."""
    result = report(two_threads, "--fail-if", condition)
    assert (result.returncode, result.stderr) == (0, "")


def test_several_conditions_say_all_that_fail(two_threads: Path) -> None:  # noqa: F811
    words = ("efficiency<10%", "graph.tasks<10", "total.threads>1")
    result = report(two_threads, *(word for one in words for word in ("--fail-if", one)), "--json")
    assert result.returncode == 4 and result.stdout.startswith("{")
    assert result.stderr.splitlines() == ["marline: failed: graph.tasks<10: it is 3",
                                          "marline: failed: total.threads>1: it is 2"]


@pytest.mark.parametrize(("condition", "message"), [
    ("total.idel_share>1", "the report has no total.idel_share; did you mean 'idle_share'?"),
    ("crtical_path.span_ns>1", "the report has no crtical_path; did you mean 'critical_path'?"),
    ("kinds[tusk].tasks>1", "kinds has no row 'tusk'; did you mean 'task'?"),
    ("causes[fin grain].share>1", "causes has no row 'fin grain'; did you mean 'fine grain'?"),
    ("regions[halo].total_ns>1ms", "regions has no row 'halo': it is an empty list"),
    ("total.causes.idle_barier>1", "the report has no total.causes.idle_barier; did you mean 'idle_barrier'?"),
    ("kinds.tasks>1", "the report has no kinds.tasks: it is no table"),
    ("total[0].work_ns>1", "total is no list: leave [0] out; it has: threads, "),
    ("total>1", "total is no number; it has: threads, "),
    ("kinds>1", "kinds is no number but a list of 1 rows: choose one by [NAME], or all by [*]"),
    ("format==1", "format is no number"),
    ("overlap.ratio<0.5", "overlap.ratio has no value in this trace: leave the condition out"),
    ("total.makespan_ns>1%", "total.makespan_ns is a time: give it in ns, us, ms or s"),
    ("graph.tasks>1ms", "graph.tasks is no time: give a number, or %"),
])
def test_a_name_that_leads_nowhere_is_one_line(two_threads: Path, condition: str, message: str) -> None:  # noqa: F811
    result = report(two_threads, "--fail-if", condition)
    assert result.returncode == 125 and len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith(f"marline: --fail-if {condition!r}: {message}"), result.stderr


@pytest.mark.parametrize("condition", ["", "efficiency", "efficiency<", "<0.8", "efficiency<<1", "efficiency<0.8 kg",
                                       "efficiency<1.2.3", "0.8>efficiency", "total..work_ns<1", "a" * 60 + "!"])
def test_what_is_no_condition_is_a_mistake(two_threads: Path, condition: str) -> None:  # noqa: F811
    result = report(two_threads, "--fail-if", condition)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith(f"marline: --fail-if {condition!r}: ") and len(result.stderr.splitlines()) == 1
    assert 'write for example "efficiency<80%"' in result.stderr
