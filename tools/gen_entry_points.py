#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/entry-points.md: what the runtimes of GCC and LLVM export, by version, and what Marline does about it.

All facts come from tests/abi/*.names, tests/abi/exceptions.txt and the two lists of what is not provided;
tools/check_exports.py proves that the libraries agree with them.

    gen_entry_points.py [ROOT]            writes the page
    gen_entry_points.py --check [ROOT]    exit 1 if the page is not what this would write
"""
from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from check_exports import SNAPSHOTS, Lists, read_lists
from gen_names import write_versions

TITLES = {"libgomp": "GCC", "libomp": "LLVM's libomp", "libomptarget": "LLVM's libomptarget"}

INTRODUCTION = """\
<!-- Made by tools/gen_entry_points.py from tests/abi and the lists of what is not provided. Do not edit this page. -->
# Entry points: compilers and names

What the runtimes export whose place Marline takes, and what Marline does about each name. Provided: a program finds it
in Marline, whatever version of it the program asks for. Refused: Marline has the name, and a program that calls it ends
with the line below; so the call never goes to another runtime in the same process. Absent: Marline does not have the
name, for the reason that is given. [Symbol versions](design/symbol-versions-and-compat.md) says how names are found.
@snapshots@
"""
LINES = {
    False: "marline: fatal: NAME (PURPOSE) is not provided by Marline yet; run this program with its compiler's own "
           "OpenMP runtime, or without that construct",
    True: "marline: fatal: NAME (PURPOSE) is not provided by libmarline-target; run this program with LLVM's own "
          "libomptarget, or without that call",
}  # fmt: skip


def refused(lists: Lists, runtime: str) -> dict[str, str]:
    both = lists.not_provided | lists.offload_not_provided if runtime == "libomptarget" else lists.not_provided
    return {name: purpose for name, purpose in both.items() if name in lists.names[runtime]}


def absent(lists: Lists, runtime: str) -> dict[str, str]:
    names = lists.names[runtime].keys() - refused(lists, runtime).keys()
    reasons = {name: lists.reason(name) for name in names - lists.by_version.keys()}
    return {name: reason for name, reason in reasons.items() if reason is not None}


def in_version(names: dict, version: int, of: dict[str, str] | None = None) -> int:
    return sum(version in names[name] for name in (names if of is None else of))


def counts(lists: Lists) -> list[str]:
    lines = ["## How many", "", "| runtime | names | provided | refused | absent |", "|---|---|---|---|---|"]
    for runtime, title in TITLES.items():
        names, no, never = lists.names[runtime], refused(lists, runtime), absent(lists, runtime)
        for version in lists.versions(runtime):
            every, stubs, not_there = (in_version(names, version, of) for of in (None, no, never))
            lines.append(f"| {title} {version} | {every} | {every - stubs - not_there} | {stubs} | {not_there} |")
    return lines


def grouped(lists: Lists, runtime: str, names: dict[str, str]) -> list[str]:
    """Rows: names with the same versions and the same reason."""
    known = lists.versions(runtime)
    rows: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, reason in names.items():
        rows[reason, write_versions(frozenset(lists.names[runtime][name]), known)].append(name)
    return [
        f"| {shown(of)} | {TITLES[runtime]} {versions} | {reason} |" 
        for (reason, versions), of in sorted(rows.items())
    ]


def shown(names: list[str], most: int = 24) -> str:
    ordered = sorted(names)
    rest = f" and {len(ordered) - most} more" if len(ordered) > most else ""
    return ", ".join(f"`{name}`" for name in ordered[:most]) + rest


def added(lists: Lists) -> list[str]:
    """Names that not every version has."""
    lines = ["## Names that not all versions have", "",
             "| name | runtime | versions | version nodes | |",
             "|---|---|---|---|---|"]
    for runtime, title in TITLES.items():
        known, no, never = lists.versions(runtime), refused(lists, runtime), absent(lists, runtime)
        for name, of_name in sorted(lists.names[runtime].items()):
            if len(of_name) != len(known) and name not in never:
                nodes = ", ".join(sorted(lists.nodes(runtime, name))) or "none"
                state = "refused" if name in no else "provided"
                versions = write_versions(frozenset(of_name), known)
                lines.append(f"| `{name}` | {title} | {versions} | {nodes} | {state} |")
    return lines


def page(lists: Lists) -> str:
    snapshots = ", ".join(str(version) for version in sorted(SNAPSHOTS))
    text = f"LLVM {snapshots} is a snapshot of its main branch: its names may still change."
    lines = [INTRODUCTION.replace("@snapshots@", text), *counts(lists), "", "## What is refused", ""]
    for offload, line in LINES.items():
        lines += [f"{'Of libomptarget' if offload else 'Of libgomp and libomp'}: `{line}`.", ""]
    lines += ["| names | runtime and versions | purpose, as the line has it |", "|---|---|---|"]
    for runtime in TITLES:
        lines += grouped(lists, runtime, refused(lists, runtime))
    lines += ["", "## What is absent", "", "| names | runtime and versions | reason |", "|---|---|---|"]
    for runtime in TITLES:
        lines += grouped(lists, runtime, absent(lists, runtime))
    return "\n".join([*lines, "", *added(lists)]) + "\n"


def main() -> int:
    words = [word for word in sys.argv[1:] if word != "--check"]
    root = Path(words[0] if words else Path(__file__).parent.parent)
    text, target = page(read_lists(root)), root / "docs" / "entry-points.md"
    if "--check" not in sys.argv:
        target.write_text(text)
    elif not target.is_file() or target.read_text() != text:
        print(f"{target} is not what the lists say: run tools/gen_entry_points.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
