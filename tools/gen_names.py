#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Keeps the lists of what other runtimes export (tests/abi/*.names), by version of the runtime.

A line is NAME VERSIONS NODE...: the versions of the runtime (`14-19,22`) that export the name at exactly these version
nodes of its own (`-`: at none). A name whose nodes have changed has several lines. Comments at the top stay as they
are; they name the packages.

    gen_names.py RUNTIME VERSION=LIBRARY...           reads these versions; RUNTIME: libgomp, libomp, libomptarget
    gen_names.py --check RUNTIME VERSION=LIBRARY...   exit 1: each name that the list does not have as the library does

A static library (GCC's libgomp.a, where there is no other of this version) says which names there are. Their nodes are
then those of the nearest later version in the list: a node never changes.
"""
from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "abi"
Versions = frozenset[int]
Names = dict[str, dict[int, frozenset[str]]]  # name -> version of the runtime -> nodes

# No part of the interface: OpenACC, what libgomp offers to its plugins, and what linkers and compilers add.
LEFT_OUT = re.compile(r"GOACC_|acc_|GOMP_PLUGIN_|_init$|_fini$|__bss_start$|_edata$|_end$|_Z|omp_\w*_mp_")
STATIC = re.compile(r"(GOMP|omp)_\w+$")


def read_versions(text: str) -> Versions:
    found: set[int] = set()
    for part in text.split(","):
        first, _, last = part.partition("-")
        found |= set(range(int(first), int(last or first) + 1))
    return frozenset(found)


def write_versions(versions: Versions, known: list[int]) -> str:
    """`14-19,22`: a range has no gap among the versions that are known."""
    runs: list[list[int]] = []
    for place, version in enumerate(known):
        if version in versions:
            if runs and known[place - 1] == runs[-1][-1]:
                runs[-1].append(version)
            else:
                runs.append([version])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def read_names(path: Path) -> Names:
    names: Names = defaultdict(dict)
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            name, versions, *nodes = line.split()
            for version in read_versions(versions):
                if version in names[name]:
                    sys.exit(f"{path}: {name}: two lines for version {version}")
                names[name][version] = frozenset(nodes)
    return names


def names_of(library: Path) -> dict[str, frozenset[str]] | None:
    """The names of a shared library with their nodes, less the names of the nodes."""
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    found: dict[str, set[str]] = defaultdict(set)
    for letter, text in (line.split()[-2:] for line in output.splitlines()):
        name, _, node = text.partition("@")
        if letter != "A" and not LEFT_OUT.match(name):
            found[name].add(node.lstrip("@") or "-")
    return {name: frozenset(nodes) for name, nodes in found.items()}


def names_of_static(library: Path) -> set[str]:
    output = subprocess.run(["nm", "-g", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    texts = (line.split()[-1].partition("@")[0] for line in output.splitlines() if len(line.split()) == 3)
    return {name for name in texts if STATIC.match(name) and not LEFT_OUT.match(name)}


def read_library(library: Path, version: int, names: Names) -> dict[str, frozenset[str]]:
    if library.suffix != ".a":
        return names_of(library)
    found = {}
    for name in names_of_static(library):
        later = sorted(of for of in names.get(name, {}) if of > version) or sorted(names.get(name, {}))[-1:]
        if later:  # else a name of the library's own files
            found[name] = names[name][later[0]]
    return found


def write_names(path: Path, names: Names) -> None:
    known = sorted({version for of_name in names.values() for version in of_name})
    head = [line for line in path.read_text().splitlines() if line.startswith("#")] if path.exists() else []
    lines = []
    for name, of_name in sorted(names.items()):
        by_nodes: dict[frozenset[str], set[int]] = defaultdict(set)
        for version, nodes in of_name.items():
            by_nodes[nodes].add(version)
        for nodes, versions in sorted(by_nodes.items(), key=lambda item: min(item[1])):
            lines.append(" ".join([name, write_versions(frozenset(versions), known), *sorted(nodes)]))
    path.write_text("\n".join(head + lines) + "\n")


def differences(names: Names, library: dict[str, frozenset[str]], version: int) -> list[str]:
    listed = {name: of_name[version] for name, of_name in names.items() if version in of_name}
    return [f"{name}: {' '.join(sorted(library.get(name, ['is not there'])))} in the library, "
            f"{' '.join(sorted(listed.get(name, ['is not there'])))} in the list"
            for name in sorted(listed.keys() | library.keys()) if listed.get(name) != library.get(name)]  # fmt: skip


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    if len(words) < 2 or not all(re.match(r"\d+=", word) for word in words[1:]):
        sys.exit(__doc__)
    path = FOLDER / f"{words[0]}.names"
    names = read_names(path) if path.exists() else defaultdict(dict)
    libraries = {int(version): Path(library) for version, _, library in (word.partition("=") for word in words[1:])}
    wrong = []
    # A static library is read last: it needs the nodes of a shared one.
    for version, library in sorted(libraries.items(), key=lambda item: item[1].suffix == ".a"):
        found = read_library(library, version, names)
        if "--check" in sys.argv:
            wrong += differences(names, found, version)
            continue
        for of_name in names.values():
            of_name.pop(version, None)
        for name, nodes in found.items():
            names[name][version] = nodes
    if "--check" not in sys.argv:
        write_names(path, {name: of_name for name, of_name in names.items() if of_name})
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
