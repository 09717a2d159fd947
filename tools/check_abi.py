#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the public headers and the libraries of a build with those of the last release (tests/abi/*.abi), so that
a program that was built with the release still runs (CHANGELOG.md, "What 0.x may change").

Each group of headers is compiled into a small library that takes the address of each function and the value of each
constant. libabigail's abidw describes its types, abidiff compares them with the release's. (On libmarline.so itself
abidw takes six seconds, and its description has two megabytes, nearly all about types that no program sees.) Then each
function that is not inline must be exported by a library of the build. mpi.h is a stand-in: the description must not
depend on the MPI that is installed.

    check_abi.py BUILD [ROOT]                 exit 1: what is incompatible, and what to do
    check_abi.py --write GROUP BUILD [ROOT]   writes the description anew, under the project's version: at a release, or
                                              for a change that CHANGELOG.md allows and names
"""
from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

GROUPS = {
    "marline": ["marline.h", "marline_mpi.h", "trace.h", "compat/TAMPI.h", "compat/mpi-detach.h"],
    "devices": ["devices.h"],
}
OWN = r"(?:marline|TAMPI|MPIX)_\w+"
# Handles may be numbers or pointers; here they are pointers to types of their own, which no two of them share.
HANDLES = ("Request", "Comm", "Datatype", "Op")
MPI_TYPES = "#pragma once\n" + "".join(f"typedef struct any_{name}* MPI_{name};\n" for name in HANDLES)
MPI_TYPES += "typedef struct any_status { int any; } MPI_Status;\nstatic MPI_Status* const MPI_STATUS_IGNORE = 0;\n"
MPI_TYPES += "enum { MPI_SUCCESS, MPI_THREAD_MULTIPLE = 3 };\n"


def without_comments(path: Path) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.DOTALL).replace("\\\n", " ")


def functions_of(text: str) -> set[str]:
    """Those that are declared or called; and those that inline functions look up by name."""
    code = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    code = re.sub(r"\btypedef\b[^;{]*;", "", code)
    return set(re.findall(rf"\b({OWN})\s*\(", code)) | set(looked_up(text))


def looked_up(text: str) -> list[str]:
    return re.findall(r'marline_trace_entry\("(\w+)"', text)


def constants_of(text: str) -> set[str]:
    defined = re.findall(r"^\s*#define\s+((?:MARLINE|TAMPI)_\w+)[ \t]+[^{\n]*\d[^{\n]*$", text, re.MULTILINE)
    bodies = re.findall(r"\benum\b[^{;]*\{([^}]*)\}", text)
    return set(defined) | {name for body in bodies for name in re.findall(r"\b(MARLINE_\w+)\s*(?:=|,|$)", body.strip())}


def probe_of(headers: dict[str, str]) -> str:
    text = "".join(headers.values())
    lines = [f"#include <marline/{name}>" for name in headers] + ['extern "C" {']
    lines += [f"void {name}(void);" for name in looked_up(text) if f"void {name}(" not in text]
    lines += [f"decltype({name})* use_{name} = {name};" for name in sorted(functions_of(text))]
    lines += ["}", "enum abi_constants : long long {"]
    lines += [f"  value_{name} = {name}," for name in sorted(constants_of(text))]
    return "\n".join([*lines, "};", "abi_constants* constants;", ""])


def run(words: list[str | Path]) -> str:
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"check_abi: {' '.join(str(word) for word in words)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def describe(group: str, root: Path, folder: Path) -> set[str]:
    """Writes folder/GROUP.abi; returns the functions that programs find in libraries."""
    headers = {name: without_comments(root / "include" / "marline" / name) for name in GROUPS[group]}
    calls = sorted(set(re.findall(r"\b(MPI_[A-Z]\w*[a-z])\s*\(", "".join(headers.values()))))
    (folder / "mpi.h").write_text(MPI_TYPES + "".join(f'extern "C" int {name}(...);\n' for name in calls))
    source, library = folder / f"{group}.cpp", folder / f"{group}.so"
    source.write_text(probe_of(headers))
    include = [f"-I{folder}", f"-I{root / 'include'}", f"-I{root / 'include' / 'marline' / 'compat'}"]
    run(["g++", "-std=c++20", "-g", "-shared", "-fPIC", "-w", *include, source, "-o", library])
    description = run(["abidw", "--no-comp-dir-path", "--no-corpus-path", "--no-show-locs", library])
    (folder / f"{group}.abi").write_text(description.replace(f"path='{source}'", f"path='{group}'"))
    undefined = run(["nm", "-D", "--undefined-only", library])
    return set(re.findall(rf"\b({OWN})\b", undefined))


def exported(libraries: list[Path]) -> list[set[str]]:
    listings = [run(["nm", "-D", "--defined-only", library]) for library in libraries]
    return [{line.split()[-1].partition("@")[0] for line in listing.splitlines()} for listing in listings]


def not_exported(names: set[str], build: Path) -> list[str]:
    """Every MPI has a library of its own, and each must have all of the MPI interface."""
    libraries = build / "lib" / "marline"
    singles = [build / "lib" / "libmarline.so", libraries / "libmarline-target.so", libraries / "libmarline-trace.so"]
    everywhere = set().union(*exported(singles))
    of_mpi = sorted(libraries.glob("*/libmarline-mpi.so"))
    by_mpi = list(zip(of_mpi, exported(of_mpi), strict=True))
    lines = []
    for name in sorted(names - everywhere):
        lacking = [library.relative_to(build) for library, there in by_mpi if name not in there]
        if not by_mpi and not re.match(r"marline_mpi_|TAMPI_|MPIX_", name):
            lacking = ["any library"]
        lines += [f"{name}: in a public header, but not exported by {library}" for library in lacking]
    return lines


def compare(group: str, root: Path, folder: Path) -> tuple[str, list[str]]:
    """The version that was compared with, and what is incompatible."""
    references = sorted((root / "tests" / "abi").glob(f"{group}-*.abi"))
    if len(references) != 1:
        sys.exit(f"check_abi: tests/abi/{group}-*.abi: {len(references)} files, expected one")
    version = references[0].stem.partition("-")[2]
    words = ["abidiff", "--no-added-syms", "--suppressions", root / "tests" / "abi" / "growing.suppr", references[0],
             folder / f"{group}.abi"]
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode & 3:
        sys.exit(f"check_abi: abidiff: {done.stdout}{done.stderr}")
    return version, done.stdout.splitlines() if done.returncode else []


def main(arguments: list[str]) -> int:
    written = arguments[1] if arguments[:1] == ["--write"] else None
    rest = [Path(word) for word in arguments[2 if written else 0 :]]
    if not rest or written not in (None, *GROUPS):
        sys.exit(__doc__)
    build, root = rest[0], rest[1] if len(rest) > 1 else Path(__file__).resolve().parents[1]
    problems: list[str] = []
    functions: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for group in [written] if written else GROUPS:
            functions |= describe(group, root, folder)
            if written:
                write(group, root, folder)
                continue
            version, lines = compare(group, root, folder)
            if lines:
                problems += [f"{group}: incompatible with {version}:", *lines]
            else:
                print(f"{group}: compatible with {version}")
    problems += not_exported(functions, build)
    for line in problems:
        print(line)
    if problems:
        print("Keep what the release has, and add to it; for what CHANGELOG.md allows, tools/check_abi.py --write")
    return 1 if problems else 0


def write(group: str, root: Path, folder: Path) -> None:
    version = re.search(r"project\(marline VERSION (\S+)", (root / "CMakeLists.txt").read_text())[1]
    target = root / "tests" / "abi" / f"{group}-{version}.abi"
    for old in target.parent.glob(f"{group}-*.abi"):
        old.unlink()
    target.write_text((folder / f"{group}.abi").read_text())
    print(f"wrote {target}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
