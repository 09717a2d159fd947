# SPDX-License-Identifier: Apache-2.0
"""`make demo` on a small matrix: Marline passes every case, the table is complete, and the charts are there."""

import os
import re
import sys
from pathlib import Path

import pytest
from conftest import clean_environment, run

SOURCES = Path(__file__).resolve().parents[3]
LIMIT = 10


@pytest.fixture(scope="module")
def demo(build):
    for compiler in ("gcc12", "clang19"):
        if not (build / "apps" / f"cholesky-{compiler}-openmpi").exists():
            pytest.skip(f"this build has no cholesky-{compiler}-openmpi")
    words = [sys.executable, "-m", "marline.demo", build, "--order", "1024", "--tile", "128", "--repeats", "1",
             "--limit", str(LIMIT)]  # fmt: skip
    return run(words, PYTHONPATH=str(SOURCES / "python"))


def test_table(demo):
    assert demo.returncode == 0, demo.stdout + demo.stderr
    rows = [line for line in demo.stdout.splitlines() if line.startswith(("GCC 12", "Clang 19"))]
    assert len(rows) == 8  # 2 compilers x 2 thread counts x 2 runtimes
    marline = [row for row in rows if "Marline" in row]
    assert len(marline) == 4
    assert all("passed" in row for row in marline)
    stock = [row for row in rows if row not in marline]
    assert all("passed" in row or f"hang (> {LIMIT} s)" in row for row in stock)
    known = re.search(r"^Known to hang, tried at once: (.+)[.]$", demo.stdout, re.MULTILINE)[1].split("; ")
    assert "GCC 12 on libgomp.so.1, 1 thread" in known
    for row in stock:  # the table calls a hang known if it was said to be
        compiler, threads, runtime = re.match(r"(\w+ \d+)\s+(\d)\s+(\S+)", row).groups()
        is_known = f"{compiler} on {runtime}, {threads} thread{'s' if threads == '2' else ''}" in known
        assert ("as known" in row) == (is_known and "hang" in row)


def test_its_target_builds_what_it_runs(build):
    """`make demo` builds the target `demo` alone, and this tree has everything."""
    planned = run(["ninja", "-C", build, "-t", "commands", "demo"]).stdout
    for name in ("bin/marline", "lib/libmarline.so", "lib/marline/libmarline-analysis.so",
                 "lib/marline/openmpi/libmarline-mpi.so", "lib/marline/openmpi/libmarline-trace.so"):  # fmt: skip
        assert re.search(rf"-o {re.escape(name)}[ .]", planned), name


def test_charts(demo, build):
    assert "2 ranks x 2 threads: " in demo.stdout and "biggest loss" in demo.stdout
    for name in ("cholesky.pftrace", "cholesky.png"):
        path = build / "demo" / name
        assert str(path) in demo.stdout
        assert path.stat().st_size > 1000
    assert (build / "demo" / "cholesky.png").read_bytes().startswith(b"\x89PNG")


def test_time_limit_ends_a_hang():
    sys.path.insert(0, str(SOURCES / "python"))
    from marline.demo import run_limited

    assert run_limited(["sleep", "60"], clean_environment(), 0.2)[0] is None
    assert run_limited(["sh", "-c", "echo out; echo err >&2; exit 3"], dict(os.environ), 10) == (3, "out\n", "err\n")
