#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every C and C++ file is as clang-format leaves it (.clang-format; `make format` formats).

    check_format.py [ROOT]     exit 0: clean; 1: each file that is not, on a line; 2: there is no clang-format
"""
from __future__ import annotations

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from check_sizes import tracked

# Versions of clang-format do not agree with each other.
TOOL = "clang-format-19"
CPUS = os.cpu_count() or 1
SUFFIXES = {".c", ".h", ".cpp", ".hpp"}


def unformatted(root: Path, paths: list[Path]) -> set[str]:
    """The files of these that clang-format would change."""
    names = [str(path.relative_to(root)) for path in paths]
    result = subprocess.run([TOOL, "--dry-run", *names], cwd=root, capture_output=True, text=True, check=True)
    return {line.partition(":")[0] for line in result.stderr.splitlines() if "[-Wclang-format-violations]" in line}


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    if shutil.which(TOOL) is None:
        print(f"check_format: there is no {TOOL}: install Debian's package of this name", file=sys.stderr)
        return 2
    paths = [path for path in tracked(root) if path.suffix in SUFFIXES]
    shares = [paths[start::CPUS] for start in range(CPUS)]
    with ThreadPoolExecutor(CPUS) as pool:
        wrong = set().union(*pool.map(lambda share: unformatted(root, share), shares))
    for name in sorted(wrong):
        print(f"{name}: not formatted: run `make format`")
    print(f"check_format: {len(paths)} files, {len(wrong)} not formatted")
    return 1 if wrong or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
