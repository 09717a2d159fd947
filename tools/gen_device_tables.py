#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/device-tables.md: which clauses and routines of devices run on which kind of device, from which compiler,
and which entry points of the offloading runtimes the test programs of which compiler call.

The first table is what the programs' Covers lines say (tools/gen_features.py checks them) and where CMake registers
the programs: the key `runs` in BUILD/tests/programs/programs.json, a list of `compiler:kind`. The second is read from
the programs that have been built: a name counts if it is a text in them, be it a symbol's or for dlsym.

    gen_device_tables.py BUILD [ROOT]            writes the page
    gen_device_tables.py --check BUILD [ROOT]    exit 1 if the page is not what this would write
"""
from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from gen_features import COMPILERS, claims_of, read_features, read_programs, with_implied  # noqa: E402

KINDS = {"host": "H", "process": "P", "apart": "N", "gpu": "G"}
PREFIXES = ("__tgt_", "__kmpc_push_target", "GOMP_target", "omp_", "llvm_omp_")
TEXT = re.compile(rb"\0((?:" + "|".join(PREFIXES).encode() + rb")\w+)(?=\0)")

INTRODUCTION = """\
<!-- Made by tools/gen_device_tables.py from the test programs. Do not edit this page. -->
# Devices: what is tested where

H: on the processor as a device (`MARLINE_DEVICES=host`). P: on a device that is another process, with memory of its own
(`process`). N: on workers on nodes of their own (`nodes`). G: on an NVIDIA GPU, emulated \
([how](../tests/emulator/README.md)), through LLVM's libomptarget 19. AMD's
GPUs take the same way; nothing of it has been tested on one. Every program asserts its results, with
`OMP_TARGET_OFFLOAD=mandatory`. A dash: no program, as a rule because the compiler has no such construct.
[Features](features.md) says the rest about each.

## Constructs, clauses and routines

"""
ENTRY_POINTS = """
## Entry points

What libmarline-target exports for Clang's code, and libmarline for GCC's: the number of test programs of each compiler
that call it. All versions' entry points are in one library, so a program may have parts of several. A dash in the whole
row: no compiler here calls it any more (LLVM keeps such names for old binaries), or programs seldom do.

"""


NOT_PROVIDED = """
## Entry points that are not provided

A program that calls one of these aborts with a one-line error that names it ([list](../offload/not_provided.txt)).

| entry point | for |
|---|---|
"""


def claimed(programs: list[dict], known: set[str]) -> dict[str, dict[str, set[str]]]:
    """word -> compiler -> kinds of devices."""
    table: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for program in programs:
        for claim in (claim for name in program["sources"] for claim in claims_of(Path(name))):
            for compiler, kind in (run.split(":") for run in program.get("runs", [])):
                if not claim.holds_for(compiler):
                    continue
                for word in claim.words:
                    for implied in with_implied(word, dict.fromkeys(known)):
                        table[implied][compiler].add(kind)
    return table


def clause_table(root: Path, programs: list[dict]) -> list[str]:
    features = read_features(root / "python" / "marline" / "features.txt")
    table = claimed(programs, {feature.word for feature in features})
    lines = [f"| | {' | '.join(COMPILERS.values())} |", "|---|" + "---|" * len(COMPILERS)]
    last = ""
    for feature in features:
        if feature.word not in table:
            continue
        if feature.clause and feature.directive != last:
            lines.append(f"| **{feature.directive}** | {' | '.join('' for _ in COMPILERS)} |")
        last = feature.directive
        name = f"&emsp;{feature.clause}" if feature.clause else f"**{feature.directive}**"
        cells = [" ".join(letter for kind, letter in KINDS.items() if kind in table[feature.word][compiler]) or "–"
                 for compiler in COMPILERS]  # fmt: skip
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def exported(library: Path) -> set[str]:
    output = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in output.splitlines() if line.strip()}


def not_provided(root: Path) -> dict[str, str]:
    """Name and purpose of what exists only to end the program with a line."""
    lines = (root / "offload" / "not_provided.txt").read_text().splitlines()
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if line.strip() and not line.startswith("#")}


def entry_points(build: Path) -> list[str]:
    provided = exported(build / "lib" / "marline" / "libmarline-target.so")
    provided |= {name for name in exported(build / "lib" / "libmarline.so") if name.startswith("GOMP_target")}
    return sorted(name for name in provided if name.startswith(PREFIXES))


def binaries(build: Path, program: dict, compiler: str) -> list[Path]:
    folder = build / "tests" / "programs"
    paths = [folder / "bin" / f"{program['name']}_{compiler}"]
    if f"{compiler}:gpu" in program["runs"]:
        paths.append(folder / "offload" / "bin" / f"emulator_{program['name']}")
    return [path for path in paths if path.is_file()]


def entry_table(build: Path, programs: list[dict], missing: dict[str, str]) -> list[str]:
    names = [name for name in entry_points(build) if name not in missing]
    calls: dict[tuple[str, str], set[str]] = defaultdict(set)
    for program in programs:
        for compiler in {run.split(":")[0] for run in program.get("runs", [])}:
            for path in binaries(build, program, compiler):
                for name in set(TEXT.findall(path.read_bytes())):
                    calls[name.decode(), compiler].add(program["name"])
    lines = [f"| | {' | '.join(COMPILERS.values())} |", "|---|" + "---|" * len(COMPILERS)]
    for name in names:
        cells = [str(len(calls[name, compiler])) if calls[name, compiler] else "–" for compiler in COMPILERS]
        lines.append(f"| `{name}` | {' | '.join(cells)} |")
    return lines


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if not arguments:
        sys.exit(__doc__)
    build = Path(arguments[0])
    root = Path(arguments[1] if len(arguments) > 1 else HERE.parent).resolve()
    programs = read_programs(build)
    text = INTRODUCTION + "\n".join(clause_table(root, programs)) + "\n"
    missing = not_provided(root)
    text += ENTRY_POINTS + "\n".join(entry_table(build, programs, missing)) + "\n"
    text += NOT_PROVIDED + "\n".join(f"| `{name}` | {purpose} |" for name, purpose in sorted(missing.items())) + "\n"
    target = root / "docs" / "device-tables.md"
    if "--check" not in sys.argv:
        target.write_text(text)
    elif not target.is_file() or target.read_text() != text:
        print(f"{target} is not what the tests say: run tools/gen_device_tables.py BUILD")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
