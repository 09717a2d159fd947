# SPDX-License-Identifier: Apache-2.0
"""Python packages that bring copies of libgomp under names of their own, as wheels do: on Marline they share one pool
of threads and survive a fork; LD_LIBRARY_PATH alone does not reach them (docs/guide/python.md)."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import PROGRAMS, run

# Loads the packages, computes with each, then with each in a forked pool. Prints sums, threads, and who served them.
SCRIPT = """\
import ctypes, multiprocessing, os, sys
import numpy

packages = [ctypes.CDLL(path) for path in sys.argv[1:]]

def fit(count):
    return sum(package.sum_of_ones(count) for package in packages)

if __name__ == "__main__":
    numpy.ones((8, 8)) @ numpy.ones((8, 8))
    before = len(os.listdir("/proc/self/task"))
    print(fit(1000), len(os.listdir("/proc/self/task")) - before)
    for package in packages:
        package.served_by.restype = ctypes.c_char_p
        print(os.path.basename(package.served_by().decode()))
    if "fork" in os.environ.get("TEST_POOL", ""):
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(fit, [10, 20, 30]))
"""
PAGE = Path(__file__).resolve().parents[3] / "docs" / "guide" / "python.md"


@pytest.fixture(scope="module")
def packages(tmp_path_factory) -> list[str]:
    """Two packages; each has a libgomp in its folder whose name differs from libgomp.so.1 in a letter."""
    stock = subprocess.run(["gcc-12", "-print-file-name=libgomp.so.1"], check=True, capture_output=True, text=True)
    content = Path(stock.stdout.strip()).resolve().read_bytes()
    made = []
    for letter in "AB":
        folder = tmp_path_factory.mktemp(letter)
        name = f"libgom{letter}.so.1"
        (folder / name).write_bytes(content.replace(b"libgomp.so.1", name.encode()))
        package, item = folder / "package.so", folder / "package.o"
        for words in (["-fopenmp", "-c", "-fPIC", PROGRAMS / "python_module.c", "-o", item],
                      ["-shared", item, folder / name, "-Wl,-rpath,$ORIGIN", "-o", package]):
            subprocess.run(["gcc-12", "-O1", *words], check=True)
        made.append(str(package))
    return made


@pytest.fixture
def script(tmp_path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    return path


def test_two_packages_share_one_runtime(packages, script, marline):
    result = marline("run", "-t", "4", sys.executable, script, *packages)
    assert result.returncode == 0, result.stderr
    computed, *served = result.stdout.splitlines()
    assert served == ["libmarline.so"] * 2
    total, threads = map(int, computed.split())
    assert total == 2000
    assert 3 <= threads < 6, "one pool of three, not two; Marline has a thread of its own beside it"


def test_a_forked_pool(packages, script, marline):
    """The children of a process that has used OpenMP use it, too; on libgomp they hang."""
    result = marline("run", "-t", "2", sys.executable, script, *packages, TEST_POOL="fork")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1] == "[20, 40, 60]"


def test_the_library_path_alone_does_not_reach_them(packages, script, build):
    compat = build / "lib" / "marline" / "compat"
    result = run([sys.executable, script, *packages], LD_LIBRARY_PATH=str(compat), OMP_NUM_THREADS="4")
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines() == ["2000 6", "libgomA.so.1", "libgomB.so.1"]


def test_the_guide_s_program(tmp_path, marline):
    """Scikit-learn is fitted in a pool that is forked after a fit."""
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    path = tmp_path / "pool.py"
    path.write_text(re.search(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)[1])
    result = marline("run", "-t", "2", sys.executable, path)
    assert result.returncode == 0, result.stderr
    assert re.fullmatch(r"before the fork \d+\nin the pool \[\d+, \d+, \d+\]\n", result.stdout)
