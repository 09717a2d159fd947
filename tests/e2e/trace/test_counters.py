# SPDX-License-Identifier: Apache-2.0
"""MARLINE_TRACE_COUNTERS: what each kind of task counts, on a libpapi that counts what the program says it has done,
and on a real one with the kernel's events; and what the recorder says of a list that it cannot use."""
from __future__ import annotations

import ctypes.util
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import PROGRAMS, SECONDS, Result
from handmade import ROOT  # first of what needs it: it finds marline

from marline.trace.analysis import Analysis
from marline.trace.read.reader import read_trace

TASKS, HEAVY, PARENT, OUTSIDE = 20, 32, 3, 5  # as in counted.c
PARANOID = Path("/proc/sys/kernel/perf_event_paranoid")
needs_papi = pytest.mark.skipif(ctypes.util.find_library("papi") is None, reason="libpapi is not installed")

Kinds = dict[str, dict[str, Any]]


@pytest.fixture(scope="module")
def fake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with libpapi.so."""
    folder = tmp_path_factory.mktemp("papi")
    words = ["cc", "-shared", "-fPIC", PROGRAMS / "fake_papi.c", "-o", folder / "libpapi.so", "-ldl"]
    subprocess.run(words, check=True, timeout=SECONDS)
    return folder


@pytest.fixture(scope="module")
def program(compiled: Callable[..., Path]) -> Path:
    return compiled("gcc-12", "counted.c", "-fopenmp", f"-I{ROOT / 'include'}", "-rdynamic", "-ldl")


@pytest.fixture
def record(marline: Callable[..., Result], program: Path, tmp_path: Path) -> Callable[..., Result]:
    """record(names, library path) runs the program recorded, into tmp_path / "trace"."""
    return lambda names, path="", **changes: marline(
        "run", "-t", "2", "--trace", tmp_path / "trace", program, MARLINE_TRACE_COUNTERS=names,
        LD_LIBRARY_PATH=str(path), **changes)  # fmt: skip


def kinds(folder: Path) -> Kinds:
    """By name of the kind: the number of tasks, and by counter (sum, of each task)."""
    found = Analysis(read_trace(folder)).document("counters")["kinds"]
    return {row["name"]: {"tasks": row["tasks"]} | {one["name"]: (one["sum"], one["per_task"])
                                                    for one in row["counters"]} for row in found}  # fmt: skip


def test_each_kind_has_what_its_tasks_did(record: Callable[..., Result], fake: Path, tmp_path: Path) -> None:
    """The heavy task that ran while recording was off is in no row; its parent's waits are not the parent's."""
    result = record("UNITS,DOUBLE", fake)
    assert (result.returncode, result.stderr) == (0, "")
    found = kinds(tmp_path / "trace")
    heavy = (TASKS + 1) * HEAVY
    assert found.pop("heavy") == {"tasks": TASKS + 1, "UNITS": (heavy, HEAVY), "DOUBLE": (2 * heavy, 2 * HEAVY)}
    assert found.pop("parent") == {"tasks": 1, "UNITS": (2 * PARENT, 2 * PARENT), "DOUBLE": (4 * PARENT, 4 * PARENT)}
    assert found.pop("light") == {"tasks": TASKS + 1, "UNITS": (0, 0), "DOUBLE": (0, 0)}
    ((name, outside),) = found.items()
    assert name == "code outside of tasks" and outside["UNITS"] == (OUTSIDE, None)


def test_nothing_is_counted_unless_it_is_asked_for(record: Callable[..., Result], fake: Path, tmp_path: Path) -> None:
    assert record("", fake).returncode == 0
    trace = read_trace(tmp_path / "trace")
    assert not len(trace.select("counter")) and not len(trace.select("counter_name"))
    assert kinds(tmp_path / "trace") == {}


@pytest.mark.parametrize(("names", "rest", "said"), [
    ("UNITS,NO_SUCH", "NO_SUCH", "events that PAPI can count on this machine (Event does not exist): papi_avail and "
     "papi_native_avail list them"),
    ("UNITS,ALONE", "ALONE", "events that can be counted together (Event exists, but cannot be counted due to hardware "
     "resource limits): give fewer"),
    ("FORBIDDEN", "FORBIDDEN", "events that this user may count (Permission level does not permit operation): "
     f"/proc/sys/kernel/perf_event_paranoid is {PARANOID.read_text().strip() if PARANOID.exists() else -1};"),
    ("UNITS,,DOUBLE", ",DOUBLE", "up to 16 names of events, separated by commas, as papi_avail lists them"),
])  # fmt: skip
def test_a_list_that_cannot_be_used_ends_the_program(record: Callable[..., Result], fake: Path, names: str, rest: str,
                                                     said: str) -> None:  # fmt: skip
    result = record(names, fake)
    assert result.returncode == 2 and result.stderr.count("\n") == 1, result.stderr
    start = f'marline: fatal: MARLINE_TRACE_COUNTERS="{names}" is not usable from "{rest}" on: expected '
    assert result.stderr.startswith(start + said)


def test_the_option_of_marline_trace(marline: Callable[..., Result], program: Path, fake: Path,
                                     tmp_path: Path) -> None:  # fmt: skip
    result = marline("trace", "-o", tmp_path / "trace", "--counters", "NO_SUCH", program, LD_LIBRARY_PATH=str(fake))
    assert result.returncode == 2 and 'MARLINE_TRACE_COUNTERS="NO_SUCH" is not usable' in result.stderr


def test_a_libpapi_that_is_none(record: Callable[..., Result], tmp_path: Path) -> None:
    subprocess.run(["cc", "-shared", "-x", "c", os.devnull, "-o", tmp_path / "libpapi.so"], check=True, timeout=SECONDS)
    result = record("UNITS", tmp_path)
    assert result.returncode == 2
    assert "expected PAPI (the libpapi that was found has no PAPI_library_init): install it" in result.stderr


@pytest.mark.skipif(ctypes.util.find_library("papi") is not None, reason="libpapi is installed")
def test_without_libpapi(record: Callable[..., Result]) -> None:
    result = record("UNITS")
    assert result.returncode == 2
    assert "expected PAPI (libpapi is not found): install it (Debian: libpapi-dev; conda: papi)" in result.stderr


@needs_papi
def test_the_kernel_s_events(record: Callable[..., Result], tmp_path: Path) -> None:
    """Tasks that touch new pages have a fault for each; tasks that do nothing have a few at most, of the runtime's."""
    result = record("perf::PAGE-FAULTS,perf::TASK-CLOCK")
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    found = kinds(tmp_path / "trace")
    assert found["heavy"]["tasks"] == TASKS + 1 and found["light"]["tasks"] == TASKS + 1
    assert found["heavy"]["perf::PAGE-FAULTS"][1] >= HEAVY > 10 * found["light"]["perf::PAGE-FAULTS"][1]
    assert found["parent"]["perf::PAGE-FAULTS"][0] >= 2 * PARENT
    assert found["heavy"]["perf::TASK-CLOCK"][1] > found["light"]["perf::TASK-CLOCK"][1] > 0


@needs_papi
def test_an_event_that_the_machine_lacks(record: Callable[..., Result]) -> None:
    result = record("perf::PAGE-FAULTS,PAPI_NO_SUCH_EVENT")
    assert result.returncode == 2 and result.stderr.count("\n") == 1
    assert 'is not usable from "PAPI_NO_SUCH_EVENT" on: expected events that ' in result.stderr
