# SPDX-License-Identifier: Apache-2.0
"""`marline check --dependences` on applications with one clause changed (tools/dependence_mutants.py): some of
Cholesky's, or with MARLINE_EXHAUSTIVE=1 all that there are."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).resolve().parents[3] / "tools" / "dependence_mutants.py"
SOME = ["--app", "cholesky", "--count", "4", "--least", "100"]
ALL = ["--count", "1000", "--least", "95"]


def test_changed_clauses_are_found(build):
    if any(shutil.which(name) is None for name in ("mpicc.openmpi", "gcc-12", "clang-19")):
        pytest.skip("needs mpicc.openmpi, gcc-12 and clang-19")
    which = ALL if os.environ.get("MARLINE_EXHAUSTIVE") == "1" else SOME
    result = subprocess.run([sys.executable, TOOL, build, *which], capture_output=True, text=True, timeout=1500,
                            check=False)  # fmt: skip
    assert result.returncode == 0, result.stdout + result.stderr
    assert " found (seed 1)." in result.stdout
