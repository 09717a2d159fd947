#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares what libmarline.so and libmarline-target.so export with what the runtimes export whose place they take
(tests/abi/*.names, by version of the runtime), and says what is missing and why.

Each name of theirs is provided, or stands in a list of what is not provided, with its purpose (then it is exported too,
and ends the program with a line), or in tests/abi/exceptions.txt with a reason (then it is not). A routine that C calls
omp_x has the Fortran name omp_x_. No definition of libmarline has a version, so that it answers to any, but for the
names in tests/abi/by_version.txt, which are there at libgomp's version only; the libraries in lib/marline/compat define
the version nodes of each version of a runtime, and nothing else; there is one for each version of libomptarget
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

sys.path.insert(0, str(Path(__file__).resolve().parent))
from gen_names import read_names  # noqa: E402

# Each library in lib/marline/compat must define the version nodes of this runtime.
COMPAT = {"libomp.so.5": "libomp", "libiomp5.so": "libomp", "libgomp.so.1": "libgomp"}
HOST_RUNTIMES = ("libgomp", "libomp")
OFFLOAD_NODE = "VERS1.0"
SNAPSHOTS = {24}  # of the main branch: the files that a release will have are not known
OPENACC_NODE = re.compile(r"G?OACC_")


@dataclass
class Lists:
    names: dict[str, dict[str, dict[int, frozenset[str]]]] = field(default_factory=dict)  # runtime -> name -> version
    not_provided: dict[str, str] = field(default_factory=dict)  # name -> purpose
    offload_not_provided: dict[str, str] = field(default_factory=dict)
    exceptions: dict[str, str] = field(default_factory=dict)  # pattern -> reason
    by_version: dict[str, str] = field(default_factory=dict)  # name -> reason

    def reason(self, name: str) -> str | None:
        return next((reason for pattern, reason in self.exceptions.items() if fnmatchcase(name, pattern)), None)

    def host_names(self) -> set[str]:
        return {name for runtime in HOST_RUNTIMES for name in self.names[runtime]}

    def nodes(self, runtime: str, name: str) -> set[str]:
        return {node for nodes in self.names[runtime][name].values() for node in nodes if node != "-"}

    def versions(self, runtime: str) -> list[int]:
        return sorted({version for of_name in self.names[runtime].values() for version in of_name})

    def versioned(self) -> set[str]:
        """The exports that have a version, which is not their names' default one: name@NODE."""
        return {f"{name}@{node}" for name in self.names["libgomp"].keys() & self.by_version
                for node in self.nodes("libgomp", name)}  # fmt: skip


def lines_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("#")]


def pairs_of(path: Path) -> dict[str, str]:
    """NAME TEXT on each line; a name that is there twice is an error."""
    pairs: dict[str, str] = {}
    for line in lines_of(path):
        name, _, text = line.partition(" ")
        if not text or name in pairs:
            sys.exit(f"{path}: {line}: {'there twice' if text else 'says no reason'}")
        pairs[name] = text.strip()
    return pairs


def read_lists(root: Path) -> Lists:
    folder = root / "tests" / "abi"
    return Lists({runtime: read_names(folder / f"{runtime}.names") for runtime in (*HOST_RUNTIMES, "libomptarget")},
                 pairs_of(root / "runtime/abi/not_provided.txt"), pairs_of(root / "offload/not_provided.txt"),
                 pairs_of(folder / "exceptions.txt"), pairs_of(folder / "by_version.txt"))  # fmt: skip


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
    wanted = lists.host_names()
    wrong += [f"{name}: in by_version.txt, but not among libgomp's names"
              for name in sorted(lists.by_version.keys() - lists.names["libgomp"].keys())]  # fmt: skip
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
        if re.fullmatch("omp_.*_8_", name) and name.removesuffix("8_") not in exported | lists.by_version.keys():
            wrong.append(f"{name.removesuffix('8_')}: missing; {name} is there")
    return wrong


def check_compat(lists: Lists, folder: Path) -> list[str]:
    wrong = []
    for file, runtime in COMPAT.items():
        symbols = exports_of(folder / file)
        nodes = {name for name, letter in symbols.items() if letter == "A"}
        wanted = {node for name in lists.names[runtime] for node in lists.nodes(runtime, name)}
        wrong += [f"{file}: does not define the version node {node}" for node in sorted(wanted - nodes)]
        wrong += [f"{file}: defines {name}, which could take calls" for name in sorted(symbols.keys() - nodes)]
        wrong += [f"{file}: defines OpenACC's node {node}" for node in sorted(nodes) if OPENACC_NODE.match(node)]
    return wrong


def check_offload(lists: Lists, libraries: Path, exported: set[str]) -> list[str]:
    """Clang's code for devices finds libomptarget's names in libmarline-target, at libomptarget's node, or in
    libmarline without one; and a file of the name of each libomptarget."""
    own = set(exports_of(libraries / "marline" / "libmarline-target.so"))
    names, wrong = lists.names["libomptarget"], []
    for name in sorted(names):
        nodes = [node for node in lists.nodes("libomptarget", name) if node != OFFLOAD_NODE]
        wrong += [f"{name}: libomptarget has it at {node}, which libmarline-target does not define" for node in nodes]
        if f"{name}@@{OFFLOAD_NODE}" not in own and name not in exported and lists.reason(name) is None:
            wrong.append(f"{name}: missing, and in neither offload/not_provided.txt nor exceptions.txt")
    wrong += [f"{name}: in offload/not_provided.txt, but not among libomptarget's names"
              for name in sorted(lists.offload_not_provided.keys() - names.keys())]  # fmt: skip
    for version in lists.versions("libomptarget"):
        files = [libraries / "marline" / "compat" / f"libomptarget.so.{end}" for end in (version, f"{version}.1")]
        found = next((file for file in files if file.exists()), None)
        if version > 14 and version not in SNAPSHOTS and found is None:  # 14's is libomptarget.so
            wrong.append(f"{files[0].name}: missing; libomptarget.names has version {version}")
        elif found and exports_of(found).keys() != {OFFLOAD_NODE, "VERSION"}:
            wrong.append(f"{found.name}: defines {' '.join(sorted(exports_of(found)))}, not {OFFLOAD_NODE} and VERSION")
    return wrong


def summary(lists: Lists, exported: set[str]) -> list[str]:
    lines = []
    for runtime in HOST_RUNTIMES:
        for version in lists.versions(runtime):
            names = {name for name, of_name in lists.names[runtime].items() if version in of_name}
            stubs = sum(name in lists.not_provided for name in names)
            absent = sum(name not in exported for name in names - lists.by_version.keys())
            lines.append(f"{runtime} {version}: {len(names)} names, {len(names) - stubs - absent} provided, "
                         f"{stubs} not yet, {absent} on purpose not")  # fmt: skip
    lines += ["", "not provided yet (runtime/abi/not_provided.txt):"]
    lines += [f"  {count:4} {purpose}" for purpose, count in Counter(lists.not_provided.values()).most_common()]
    lines += ["", "on purpose not exported (tests/abi/exceptions.txt):"]
    absent = Counter(lists.reason(name) for name in lists.host_names() - lists.by_version.keys()
                     if name not in exported)  # fmt: skip
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
    if (build / "lib" / "marline" / "libmarline-target.so").exists():
        wrong += check_offload(lists, build / "lib", exported)
    print("\n".join(["", *wrong]) if wrong else "", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
