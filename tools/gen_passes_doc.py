#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/design/passes.md from the register of analysis passes, and from the descriptions at the top of their
files: what each pass finds, its formula, and the tests that name it. Needs NumPy.

    gen_passes_doc.py [--check]     --check: writes nothing, exit 1 if the page is not what the files say
"""
from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

from marline.trace import registry  # noqa: E402
from marline.trace.analysis import pass_names  # noqa: E402
from marline.report import metrics  # noqa: E402, F401  registers the passes that only the report asks for

PAGE = ROOT / "docs" / "design" / "passes.md"
TESTS = ROOT / "tests" / "e2e" / "report"
HEAD = """\
<!-- Made by tools/gen_passes_doc.py from the files of the passes. Edit these, not this page. -->
# The analysis passes

`marline report DIR --pass NAME` prints what a pass finds; `marline report DIR --json` has all results that the report
is made from. [Traces to numbers](time-breakdown.md) says how passes are written and fit together. A pass that prints
nothing is a table that others start from.

"""


def module_of(name: str) -> Path:
    return Path(registry.resolve(name)[-1].file).resolve()


def description(file: Path) -> str:
    """What stands at the top of a file."""
    return ast.get_docstring(ast.parse(file.read_text())) or ""


def first_sentence(text: str) -> str:
    return re.split(r"(?<=[a-z0-9)`][.!?])\s", " ".join(text.partition("\n\n")[0].split()))[0]


def says(name: str) -> str:
    """One sentence on a pass: of its function, or if that has none, of its file."""
    function = registry.resolve(name)[-1].function.__doc__
    return first_sentence(function or description(module_of(name)))


def tests_of(name: str) -> list[Path]:
    """Those that ask for the pass's result."""
    asks = re.compile(rf'(?:document\(|\[)"{name}"[\])]')
    return [file for file in sorted(TESTS.glob("test_*.py")) if asks.search(file.read_text())]


def link(file: Path) -> str:
    return f"[{file.stem}]({Path('../..') / file.relative_to(ROOT)})"


def table() -> Iterator[str]:
    yield "| pass | what it finds | file | tests |"
    yield "|---|---|---|---|"
    for name in pass_names():
        tests = ", ".join(map(link, tests_of(name))) or "through the passes that need it"
        yield f"| `{name}` | {says(name).replace('|', chr(92) + '|')} | {link(module_of(name))} | {tests} |"


def page() -> str:
    lines = [HEAD + "\n".join(table()), "", "## Definitions and formulas", ""]
    by_file: dict[Path, list[str]] = {}
    for name in pass_names():
        by_file.setdefault(module_of(name), []).append(name)
    for file, names in sorted(by_file.items(), key=lambda pair: pair[1]):
        lines += [f"### {', '.join(f'`{name}`' for name in names)}", "", description(file).replace("<", "&lt;"), ""]
    return "\n".join(lines)


def main() -> int:
    text = page()
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(text)
        return 0
    if not PAGE.exists() or PAGE.read_text() != text:
        print(f"{PAGE.relative_to(ROOT)} is not what the files of the passes say: run tools/gen_passes_doc.py")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
