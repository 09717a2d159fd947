# SPDX-License-Identifier: Apache-2.0
"""The wheel of the build that MARLINE_BUILD names, which must be one with MARLINE_PORTABLE=ON, and an environment in
which pip has installed it."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release")).resolve()
DROPPED = ("OMP_", "MARLINE_", "LD_PRELOAD", "LD_LIBRARY_PATH", "PKG_CONFIG", "CMAKE_PREFIX", "PYTHON")
SECONDS = 300


def run(words: list[str | Path], folder: Path | None = None, seconds: float = SECONDS, **changes: str
        ) -> subprocess.CompletedProcess[str]:  # fmt: skip
    """Runs the words in `folder`, in the environment without what an outer shell has set, with `changes`."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)} | changes
    return subprocess.run([str(word) for word in words], env=environment, cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=seconds, check=False)  # fmt: skip


def checked(words: list[str | Path], folder: Path | None = None, seconds: float = SECONDS, **changes: str) -> str:
    """What the words print on both streams. They must not fail."""
    result = run(words, folder, seconds, **changes)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout + result.stderr


@pytest.fixture(scope="session")
def portable() -> None:
    if "MARLINE_PORTABLE:BOOL=ON" not in (BUILD / "CMakeCache.txt").read_text():
        pytest.skip("the build is not one with MARLINE_PORTABLE=ON")


@pytest.fixture(scope="session")
def dist(portable, tmp_path_factory) -> Path:
    """The folder in which `make wheel` leaves the wheel, the tarball and their checksums."""
    folder = tmp_path_factory.mktemp("dist")
    checked([sys.executable, ROOT / "packaging" / "wheel" / "pack.py", BUILD, folder])
    return folder


@pytest.fixture(scope="session")
def wheel(dist) -> Path:
    (path,) = dist.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def prefix(wheel, tmp_path_factory) -> Path:
    """An environment with the wheel, and the packages of this test's Python in place of those that pip would fetch."""
    environment = tmp_path_factory.mktemp("environment") / "venv"
    checked([sys.executable, "-m", "venv", "--without-pip", environment])
    checked([sys.executable, "-m", "pip", "--python", environment / "bin" / "python3", "install", "--quiet",
             "--no-index", "--no-deps", wheel])  # fmt: skip
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "neighbours.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return environment
