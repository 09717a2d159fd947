# SPDX-License-Identifier: Apache-2.0
"""Public headers and libraries are compatible with the last release (tools/check_abi.py), and the check finds what is
not."""

import shutil
import sys
from pathlib import Path

import pytest
from conftest import run

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools" / "check_abi.py"


@pytest.fixture(autouse=True)
def needs():
    for command in ("abidw", "g++"):
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not installed")


@pytest.fixture
def check(build, tmp_path):
    """check([(header, old, new), ...]) says what the check says of a copy of the headers that is changed so."""
    shutil.copytree(ROOT / "include", tmp_path / "include")
    shutil.copytree(ROOT / "tests" / "abi", tmp_path / "tests" / "abi")

    def run_it(changes: list[tuple[str, str, str]]) -> tuple[int, str]:
        for header, old, new in changes:
            path = tmp_path / "include" / "marline" / header
            text = path.read_text()
            assert text.count(old) == 1, f"{header} has changed: adapt this test"
            path.write_text(text.replace(old, new))
        result = run([sys.executable, TOOL, build, tmp_path])
        assert result.stderr == ""
        return result.returncode, result.stdout

    return run_it


def test_compatible_with_the_last_release(build):
    result = run([sys.executable, TOOL, build])
    assert result.returncode == 0, result.stdout + result.stderr
    assert "marline: compatible with " in result.stdout and "devices: compatible with " in result.stdout


# Header, what stands there, what replaces it, and what the check says of that.
INCOMPATIBLE = [
    ("marline.h", "  int id_count;\n", "  int id_count;\n  int added;\n", "'int added', at offset "),
    ("marline.h", "  uintptr_t state;", "  uintptr_t state, more;", "'uintptr_t more', at offset "),
    ("marline.h", "  uint64_t edges; ", "  uint64_t inserted, edges; ", "'uint64_t inserted', at offset "),
    ("marline.h", "void marline_task_color(uint32_t rgb);", "void marline_task_color(uint64_t rgb);",
     "use_marline_task_color'"),
    ("marline.h", "int marline_can_suspend(void);", "", "use_marline_can_suspend"),
    ("marline.h", "MARLINE_INOUTSET = 5", "MARLINE_INOUTSET = 6", "::MARLINE_INOUTSET' from value '5'"),
    ("marline.h", "marline_version(void);", "marline_version(void);\nint marline_new(void);",
     "marline_new: in a public header, but not exported by"),
    ("marline_mpi.h", "marline_mpi_iwait(MPI_Request* request, ", "marline_mpi_iwait(MPI_Request request, ",
     "use_marline_mpi_iwait'"),
    ("trace.h", '"marline_trace_control"', '"marline_trace_other"', "use_marline_trace_control'"),
    ("devices.h", "MARLINE_ON_MAP (1u << 24)", "MARLINE_ON_MAP (1u << 29)", "value_MARLINE_ON_MAP' from value"),
]  # fmt: skip


def test_the_check_finds(check):
    status, output = check([change[:3] for change in INCOMPATIBLE])
    assert status == 1
    assert [expected for *_, expected in INCOMPATIBLE if expected not in output] == [], output
    assert output.splitlines()[-1].startswith("Keep what the release has")


def test_the_check_accepts_additions(check):
    status, output = check([
        ("marline.h", "} marline_counters_t;", "  uint64_t added;\n} marline_counters_t;"),
        ("devices.h", "MARLINE_WAIT_FOR_WORK ", "MARLINE_WAIT_FOR_WORK, MARLINE_WAIT_NEW "),
        ("trace.h", "static inline void marline_trace_on(void)",
         "static inline void marline_trace_new(void) {}\nstatic inline void marline_trace_on(void)"),
    ])  # fmt: skip
    assert status == 0, output
