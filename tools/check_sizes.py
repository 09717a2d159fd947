#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that no source file is longer than 600 lines, no function longer than 60 and no line wider than 120 columns,
that no folder of a library has more than 16 modules (a source file and its header are one), and that no mark of a
merge's conflict is left in a file.

C and C++ functions are found by counting braces: a brace after a parenthesis, outside any function, opens a body.
Python's are found by its own parser.

    check_sizes.py [ROOT] [--statistics]     exit 0: clean; 1: each offender on a line
"""
from __future__ import annotations

import ast
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Iterator

FILE_LIMIT = 600
FUNCTION_LIMIT = 60
COLUMN_LIMIT = 120
FOLDER_LIMIT = 16
FOLDERS = ["runtime", "common", "include", "mpi", "pmpi", "offload", "trace", "check", "ompd", "launch", "python",
           "apps", "bench", "tests", "tools", "examples"]
# Their modules include one another, so a reader needs walls. Folders of programs that stand alone may be wide.
LIBRARIES = ["runtime", "common", "include", "mpi", "pmpi", "offload", "trace", "check", "ompd", "launch", "python"]
C_SUFFIXES = {".c", ".cpp", ".h", ".hpp", ".def", ".inc"}
WIDTH_SUFFIXES = C_SUFFIXES | {".py", ".S", ".cu", ".f90", ".F90", ".cmake", ".sh"}
SKIP = {"build", ".venv", "__pycache__"}

# Comments, strings (raw ones too) and characters; blanked so that their braces do not count and lines stay in place.
NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
DIGIT_SEPARATOR = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.MULTILINE)
NAME = re.compile(r"([~\w:]+|operator\s*[^\s(]+)\s*\($")


@dataclass(frozen=True)
class Function:
    name: str
    line: int
    length: int


def blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def at_depth_zero(head: str) -> str:
    """The head without what stands inside its parentheses, the parentheses themselves kept."""
    result, depth = [], 0
    for char in head:
        if char == ")":
            depth -= 1
        if depth == 0:
            result.append(char)
        if char == "(":
            depth += 1
    return "".join(result)


def function_name(head: str) -> str | None:
    """The name of the function with this head, or None if the brace after it opens something else."""
    outer = at_depth_zero(head)
    first = outer.split(None, 1)[0] if outer.strip() else ""
    is_type = (first in {"namespace", "enum", "extern"}
               or re.match(r"\s*(class|struct|union)\b(\s+alignas\(\))?[^()]*$", outer))  # fmt: skip
    is_value = re.search(r"(?<![=!<>])=(?!=)", outer.replace("operator=", "")) and "[" not in outer.split("=")[-1]
    if "(" not in outer or is_type or is_value:
        return None
    found = NAME.search(outer[: outer.index("(") + 1])
    return found[1].strip() if found else "(lambda)"


def c_functions(text: str) -> Iterator[Function]:
    text = DIRECTIVE.sub(blank, NOISE.sub(blank, DIGIT_SEPARATOR.sub(" ", text)))
    head_start, index, end = 0, 0, len(text)
    while index < end:
        char = text[index]
        if char == "{":
            head = text[head_start:index]
            name = function_name(head)
            if name is None:
                head_start = index + 1
            else:
                close = matching_brace(text, index)
                following = text[close + 1 :].lstrip()[:1]
                index = close
                # A member initialised with braces, `: a_{1}, b_{2} {`: the body is still to come.
                if not (following in {",", "{"} and re.search(r"\)[^()]*:", head)):
                    begin = head_start + len(head) - len(head.lstrip())
                    line = text.count("\n", 0, begin) + 1
                    yield Function(name, line, text.count("\n", begin, close) + 1)
                    head_start = close + 1
        elif char in "};":
            head_start = index + 1
        index += 1


def matching_brace(text: str, opening: int) -> int:
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, opening):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return len(text) - 1


def python_functions(text: str) -> Iterator[Function]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Function(node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1)


def tracked(root: Path) -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.is_file() and not SKIP & set(path.relative_to(root).parts):
                yield path


def too_wide(name: Path, text: str) -> Iterator[str]:
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > COLUMN_LIMIT:
            yield f"{name}:{number}: {len(line)} columns, limit {COLUMN_LIMIT}"


def unmerged(name: Path, text: str) -> Iterator[str]:
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(("<" * 7 + " ", ">" * 7 + " ")):
            yield f"{name}:{number}: a conflict of a merge is left"


def too_full(root: Path, paths: list[Path]) -> Iterator[str]:
    modules: dict[Path, set[str]] = {}
    for path in paths:
        name = path.relative_to(root)
        if name.parts[0] in LIBRARIES and name.suffix in C_SUFFIXES | {".py"}:
            modules.setdefault(name.parent, set()).add(name.stem)
    for folder, names in sorted(modules.items()):
        if len(names) > FOLDER_LIMIT:
            yield f"{folder}: {len(names)} modules, limit {FOLDER_LIMIT}: divide it"


def percentile(values: list[int], share: float) -> int:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))] if values else 0


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if argument != "--statistics"]
    root = Path(arguments[0] if arguments else Path(__file__).parent.parent).resolve()
    problems: list[str] = []
    files: list[int] = []
    functions: list[int] = []
    paths = list(tracked(root))
    for path in paths:
        name = path.relative_to(root)
        if path.suffix not in WIDTH_SUFFIXES and path.name != "CMakeLists.txt":
            continue
        text = path.read_text(errors="replace")
        conflicts = list(unmerged(name, text))
        problems += [*too_wide(name, text), *conflicts]
        if conflicts:
            continue  # its functions cannot be found
        if path.suffix not in C_SUFFIXES | {".py"}:
            continue
        files.append(text.count("\n"))
        if files[-1] > FILE_LIMIT:
            problems.append(f"{name}: {files[-1]} lines, limit {FILE_LIMIT}")
        for function in python_functions(text) if path.suffix == ".py" else c_functions(text):
            functions.append(function.length)
            if function.length > FUNCTION_LIMIT:
                problems.append(
                    f"{name}:{function.line}: {function.name} has {function.length} lines, limit {FUNCTION_LIMIT}")
    problems += too_full(root, paths)
    for problem in problems:
        print(problem)
    print(f"check_sizes: {len(files)} files, {len(functions)} functions, {len(problems)} too large")
    if "--statistics" in sys.argv:
        for what, values in (("file", files), ("function", functions)):
            shares = ", ".join(f"p{int(share * 100)} {percentile(values, share)}" for share in (0.5, 0.9))
            print(f"{what} lines: {shares}, max {max(values, default=0)}")
    return 1 if problems or not files else 0


if __name__ == "__main__":
    sys.exit(main())
