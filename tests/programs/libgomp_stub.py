#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes stub.c and stub.map of a libgomp.so.1 to link programs with: every name that tests/abi says GCC 16's has, at
its version nodes, and no code. A name that is at two nodes is there at the newer one.

    libgomp_stub.py FOLDER LIST...
"""
import sys
from collections import defaultdict
from pathlib import Path

folder, lists = Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]]
nodes = defaultdict(list)
for line in (line for path in lists for line in path.read_text().splitlines()):
    if line.strip() and not line.startswith("#"):
        name, *where = line.split()
        nodes[where[-1]].append(name)
folder.mkdir(parents=True, exist_ok=True)
names = sorted(name for of_node in nodes.values() for name in of_node)
(folder / "stub.c").write_text("\n".join(f"void {name}(void) {{}}" for name in names) + "\n")
lines = (f"{node} {{ {'; '.join(sorted(nodes[node]))}; }};" for node in sorted(nodes))
(folder / "stub.map").write_text("\n".join(lines) + "\n")
