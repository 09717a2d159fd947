#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what libmarline.so exports with what the runtimes export whose place it takes (tests/abi/*.names), and says
what is missing and why.

Each name of theirs is provided, or stands in runtime/abi/not_provided.txt with its purpose (then it is exported too,
and ends the program with a line), or in tests/abi/exceptions.txt with a reason (then it is not). A routine that C calls
omp_x has the Fortran name omp_x_. No definition has a version, so that it answers to any, but for the names in
tests/abi/by_version.txt, which are there at libgomp's version only; the libraries in lib/marline/compat define the
version nodes of each compiler's version that has a list, and nothing else
(docs/design/symbol-versions-and-compat.md).

    check_exports.py BUILD [ROOT]     exit 1: each offender on a line, after the summary
"""
from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

# Each library in lib/marline/compat must define the version nodes of these runtimes: libgomp.names, libgomp-16.names...
COMPAT = {"libomp.so.5": "libomp", "libiomp5.so": "libomp", "libgomp.so.1": "libgomp"}
OPENACC_NODE = re.compile(r"G?OACC_")


@dataclass
class Lists:
    names: dict[str, dict[str, list[str]]] = field(default_factory=dict)  # runtime -> name -> version nodes
    not_provided: dict[str, str] = field(default_factory=dict)  # name -> purpose
    exceptions: dict[str, str] = field(default_factory=dict)  # pattern -> reason
    by_version: dict[str, str] = field(default_factory=dict)  # name -> reason

    def reason(self, name: str) -> str | None:
        return next((reason for pattern, reason in self.exceptions.items() if fnmatchcase(name, pattern)), None)

    def of(self, runtime: str) -> list[dict[str, list[str]]]:
        return [names for stem, names in self.names.items() if stem.partition("-")[0] == runtime]

    def versioned(self) -> set[str]:
        """The exports that have a version, which is not their names' default one: name@NODE."""
        found = {(name, node) for names in self.of("libgomp") for name in names.keys() & self.by_version
                 for node in names[name]}
        return {f"{name}@{node}" for name, node in found}


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def pairs_of(path: Path) -> dict[str, str]:
    """NAME TEXT on each line; a name that is there twice is an error."""
    pairs: dict[str, str] = {}
    for line in lines_of(path):
        name, _, text = line.partition(" ")
        if not text or name in pairs:
            sys.exit(f"{path}: {line}: {'there twice' if text else 'says no reason'}")
        pairs[name] = text
    return pairs


def read_lists(root: Path) -> Lists:
    folder = root / "tests" / "abi"
    lists = Lists(not_provided=pairs_of(root / "runtime/abi/not_provided.txt"),
                  exceptions=pairs_of(folder / "exceptions.txt"),
                  by_version=pairs_of(folder / "by_version.txt"))  # fmt: skip
    for path in sorted(folder.glob("*.names")):
        lists.names[path.stem] = {line.split()[0]: line.split()[1:] for line in lines_of(path)}
    if not lists.names:
        sys.exit(f"{folder} has no list of names")
    return lists


def exports_of(library: Path) -> dict[str, str]:
    """name, with @VERSION if it has one -> nm's letter."""
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[2]: line.split()[1] for line in output.splitlines()}


def check_names(lists: Lists, exported: set[str]) -> list[str]:
    versioned = {name for name in exported if "@" in name}
    wrong = [f"{name}: exported with a version" for name in sorted(versioned - lists.versioned())]
    wrong += [f"{name}: missing; by_version.txt has it" for name in sorted(lists.versioned() - versioned)]
    wrong += [f"{name}: exported without a version, and in by_version.txt"
              for name in sorted(exported & lists.by_version.keys())]
    wanted = {name for names in lists.names.values() for name in names}
    wrong += [f"{name}: in by_version.txt, but in no list of libgomp's names"
              for name in sorted(lists.by_version.keys() - {name for names in lists.of("libgomp")
                                                            for name in names})]  # fmt: skip
    for name in sorted(wanted - lists.by_version.keys()):
        if name not in exported and lists.reason(name) is None:
            wrong.append(f"{name}: missing, and in neither not_provided.txt nor exceptions.txt")
    for name in sorted(lists.not_provided):
        if name not in exported:
            wrong.append(f"{name}: in not_provided.txt, but not exported")
        if name not in wanted:
            wrong.append(f"{name}: in not_provided.txt, but in no list of names")
    for name in sorted(exported):
        if reason := lists.reason(name):
            wrong.append(f"{name}: exported, and in exceptions.txt ({reason})")
    return wrong


def check_fortran(lists: Lists, exported: set[str]) -> list[str]:
    """gfortran and Flang call omp_x_, and gfortran with 8-byte integers omp_x_8_ where arguments are passed."""
    wrong = []
    for name in sorted(exported):
        alias = name + "_"
        reason = lists.reason(alias) or lists.by_version.get(alias)
        if (name.startswith("omp_") and not name.endswith("_") and "@" not in name and alias not in exported
                and not reason):  # fmt: skip
            wrong.append(f"{alias}: missing; {name}, its C name, is there")
        if name.endswith("_8_") and name.removesuffix("8_") not in exported | lists.by_version.keys():
            wrong.append(f"{name.removesuffix('8_')}: missing; {name} is there")
    return wrong


def check_compat(lists: Lists, folder: Path) -> list[str]:
    wrong = []
    for file, runtime in COMPAT.items():
        symbols = exports_of(folder / file)
        nodes = {name for name, letter in symbols.items() if letter == "A"}
        wanted = {node for names in lists.of(runtime) for of_name in names.values() for node in of_name if node != "-"}
        wrong += [f"{file}: does not define the version node {node}" for node in sorted(wanted - nodes)]
        wrong += [f"{file}: defines {name}, which could take calls" for name in sorted(symbols.keys() - nodes)]
        wrong += [f"{file}: defines OpenACC's node {node}" for node in sorted(nodes) if OPENACC_NODE.match(node)]
    return wrong


def summary(lists: Lists, exported: set[str]) -> list[str]:
    lines = []
    for runtime, names in lists.names.items():
        stubs = sum(name in lists.not_provided for name in names)
        absent = sum(name not in exported for name in names.keys() - lists.by_version.keys())
        lines.append(f"{runtime}: {len(names)} names, {len(names) - stubs - absent} provided, {stubs} not yet, "
                     f"{absent} on purpose not")  # fmt: skip
    lines += ["", "not provided yet (runtime/abi/not_provided.txt):"]
    lines += [f"  {count:4} {purpose}" for purpose, count in Counter(lists.not_provided.values()).most_common()]
    lines += ["", "on purpose not exported (tests/abi/exceptions.txt):"]
    absent = Counter(lists.reason(name) for names in lists.names.values()
                     for name in names.keys() - lists.by_version.keys() if name not in exported)  # fmt: skip
    return lines + [f"  {count:4} {reason}" for reason, count in absent.most_common()]


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build, root = Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else Path(__file__).parent.parent)
    lists = read_lists(root)
    exported = set(exports_of(build / "lib" / "libmarline.so"))
    print("\n".join(summary(lists, exported)))
    wrong = check_names(lists, exported) + check_fortran(lists, exported)
    wrong += check_compat(lists, build / "lib" / "marline" / "compat")
    print("\n".join(["", *wrong]) if wrong else "", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
