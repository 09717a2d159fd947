#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the emulated CUDA driver has every function whose name stands in LLVM's libomptarget.

libomptarget asks for all of them when it opens the driver, and takes none if one is missing. Of some it asks for a
second version (cuMemAlloc_v2) first, and takes the function without that ending if there is none.

    check_names.py DRIVER LIBOMPTARGET...     exit 0: all there; 1: each missing one on a line
"""
from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

NAME = re.compile(rb"(?<=\0)cu[A-Z][A-Za-z0-9_]*(?=\0)")


def main() -> int:
    driver = ctypes.CDLL(sys.argv[1])
    missing, wanted = 0, 0
    for library in sys.argv[2:]:
        for name in sorted({match.decode() for match in NAME.findall(Path(library).read_bytes())}):
            wanted += 1
            if not (hasattr(driver, name) or hasattr(driver, name.removesuffix("_v2"))):
                print(f"check_names: {library} wants {name}, {sys.argv[1]} has no such function")
                missing += 1
    print(f"check_names: {wanted} names, {missing} missing")
    return 1 if missing or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
