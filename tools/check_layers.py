#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that every file of runtime/ includes its own room and lower ones only, that the parts of a divided folder do
the same, that mpi/, trace/ and check/ are clients of the public interface and share nothing but pmpi/ and common/, and
that a header for a few places is included there only, that neither headers nor modules (a .cpp and its .hpp are one)
nor Python's modules need one another in a circle. The rules stand in layers.txt next to this file.

    check_layers.py [ROOT]        exit 0: clean; 1: each violation on a line; 2: the rules cannot be read
"""
from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from circles import Graph, circles, import_graph

SOURCES = {".c", ".cpp", ".h", ".hpp", ".def", ".S"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')


@dataclass
class Rules:
    rooms: dict[str, int] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)  # by path
    upward: set[tuple[str, str]] = field(default_factory=set)
    programs: list[str] = field(default_factory=list)
    clients: list[str] = field(default_factory=list)
    shared: list[str] = field(default_factory=list)
    bottom: list[str] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)
    only: dict[str, list[str]] = field(default_factory=dict)  # places by header


def read_rules(path: Path) -> Rules:
    rules = Rules()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#")[0].split()
        match words:
            case []:
                pass
            case ["room", name, level] if level.isdigit():
                rules.rooms[name] = int(level)
            case ["part", name, level] if level.isdigit():
                rules.parts[name] = int(level)
            case ["upward", user, header]:
                rules.upward.add((user, header))
            case ["programs", name]:
                rules.programs.append(name)
            case ["client", name]:
                rules.clients.append(name)
            case ["shared", name]:
                rules.shared.append(name)
            case ["bottom", name]:
                rules.bottom.append(name)
            case ["outside", name]:
                rules.outside.add(name)
            case ["only", header, *places] if places:
                rules.only[header] = places
            case _:
                sys.exit(f"{path}:{number}: expected 'room NAME NUMBER', 'part FOLDER NUMBER', 'upward FILE HEADER', "
                         f"'programs FOLDER', 'client NAME', 'shared NAME', 'bottom NAME', 'outside HEADER' or "
                         f"'only HEADER PLACE...': {line}")
    return rules


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in SOURCES)


def resolve(root: Path, user: Path, quote: str, name: str, bases: list[Path]) -> Path | None:
    """The file of this repository that an #include means, or None if it means none."""
    first = [user.parent] if quote == '"' else []
    for base in first + bases:
        candidate = (base / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(root):
            return candidate
    return None


def room_of(root: Path, path: Path) -> str | None:
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "runtime" and len(parts) > 2 else None


def folders_of(name: str) -> list[str]:
    """The folders that a file lies in, the outermost first."""
    steps = name.split("/")[:-1]
    return ["/".join(steps[: count + 1]) for count in range(len(steps))]


def lies_in_no_part(rules: Rules, name: str) -> bool:
    """Whether a folder that the file lies in is divided, and none of its parts has the file."""
    return any(
        any(part.rpartition("/")[0] == folder for part in rules.parts)
        and not any(inner in rules.parts for inner in folders_of(name) if inner.rpartition("/")[0] == folder)
        for folder in folders_of(name)
    )


def judge_parts(rules: Rules, user: str, target: str) -> str | None:
    for mine, other in zip(folders_of(user), folders_of(target), strict=False):
        if mine == other or mine not in rules.parts or other not in rules.parts:
            continue
        if mine.rpartition("/")[0] == other.rpartition("/")[0] and rules.parts[other] >= rules.parts[mine]:
            return f"{mine} ({rules.parts[mine]}) must not see {other} ({rules.parts[other]})"
    return None


def judge_only(rules: Rules, user: str, target: str) -> str | None:
    """A header that includes the target would pass it on, so only other sources may."""
    places = rules.only.get(target)
    is_header = user.endswith((".h", ".hpp"))
    if places is None or (not is_header and any(f"{user}/".startswith(f"{place}/") for place in places)):
        return None
    return f"only sources of {' and '.join(places)} include it"


def judge(root: Path, rules: Rules, user: Path, target: Path) -> str | None:
    """Why `user` must not include `target`, or None if it may."""
    top = target.relative_to(root).parts[0]
    own = user.relative_to(root).parts[0]
    if own in rules.bottom:
        return None if top == own else f"{own}/ is below all others: it includes its own folder only"
    if top in rules.bottom:
        return None
    if own in rules.shared:
        return None if top == own else f"{own}/ is shared by clients: it includes its own folder only"
    if top == "include":
        return None
    if own in rules.clients:
        allowed = top == own or top in rules.shared
        return None if allowed else f"{own}/ is a client: it includes include/, its own folder and shared ones only"
    mine, other = room_of(root, user), room_of(root, target)
    if other is None or other not in rules.rooms:
        return "runtime/ includes include/ and its own rooms only"
    if mine is None or mine == other or rules.rooms[other] < rules.rooms[mine]:
        return None
    return f"{mine} ({rules.rooms[mine]}) must not see {other} ({rules.rooms[other]})"


def includes(root: Path, path: Path) -> Iterator[tuple[int, str, str, Path | None]]:
    """Line, quote, name and file, if it is this repository's, of each #include."""
    own = path.relative_to(root).parts[0]
    bases = [root / "include", root / ("runtime" if own == "runtime" else own)]
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
        if found := INCLUDE.match(line):
            yield number, found[1], found[2], resolve(root, path, found[1], found[2], bases)


def check_file(root: Path, rules: Rules, path: Path, upward: set[tuple[str, str]]) -> list[str]:
    """Collects in `upward` the includes that go up by the rules' leave."""
    problems = []
    user = str(path.relative_to(root))
    if lies_in_no_part(rules, user):
        problems.append(f"{user}: lies in no part of its folder: see tools/layers.txt")
    for number, quote, included, target in includes(root, path):
        if included in rules.outside:
            continue
        if target is not None:
            reason = judge(root, rules, path, target)
            name = str(target.relative_to(root))
            if reason is None and (reason := judge_parts(rules, user, name)) and (user, name) in rules.upward:
                upward.add((user, name))
                reason = None
            reason = reason or judge_only(rules, user, name)
        else:
            reason = "no such file in this repository" if quote == '"' else None
        if reason:
            problems.append(f'{user}:{number}: includes "{included}": {reason}')
    return problems


def find_circles(root: Path, rules: Rules, files: list[Path]) -> list[str]:
    headers: Graph = {}
    modules: Graph = {}
    for path in files:
        user = path.relative_to(root)
        for _, _, _, target in includes(root, path):
            if target is None or (str(user), str(header := target.relative_to(root))) in rules.upward:
                continue
            headers.setdefault(str(user), set()).add(str(header))
            if user.with_suffix("") != header.with_suffix(""):
                modules.setdefault(str(user.with_suffix("")), set()).add(str(header.with_suffix("")))
    problems = [f"headers include one another: {', '.join(found)}" for found in circles(headers)]
    problems += [f"modules include one another: {', '.join(found)}" for found in circles(modules)]
    for folder in (root / "python", root / "mpi" / "generator", root / "tools"):
        problems += [f"modules import one another: {', '.join(found)}" for found in circles(import_graph(folder))]
    return problems


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    rules_path = root / "tools" / "layers.txt"
    if not rules_path.is_file():
        print(f"{rules_path}: no such file", file=sys.stderr)
        return 2
    rules = read_rules(rules_path)
    problems = [
        f"runtime/{folder.name}: this room has no number in tools/layers.txt"
        for folder in sorted((root / "runtime").iterdir())
        if folder.is_dir() and folder.name not in rules.rooms
    ]
    files = [path for top in ["runtime", *rules.clients, *rules.shared, *rules.bottom] for path in sources(root / top)]
    upward: set[tuple[str, str]] = set()
    for path in files:
        problems += check_file(root, rules, path, upward)
    for user, header in sorted(rules.upward - upward):
        problems.append(f"tools/layers.txt: {user} does not go up to {header} any more: take the line out")
    problems += find_circles(root, rules, files + [path for top in rules.programs for path in sources(root / top)])
    for problem in problems:
        print(problem)
    print(f"check_layers: {len(files)} files, {len(problems)} violations")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
