# SPDX-License-Identifier: Apache-2.0
"""The project's version, which is in CMakeLists.txt, is that of the notes, of the recipes, and of what the pages quote.
(unit.hash compares it with the library's.)"""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
PROJECT = re.search(r"^project\(marline VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)[1]
NUMBER = r"(\d+\.\d+\.\d+)"
# As in `marline@0.2.0`, `marline (0.2.0-1)`, `Marline-0.2.0.eb`; and `version = "0.2.0"`, `version: 0.2.0`.
NAMED = re.compile(rf"\bmarline[ @(/-]+{NUMBER}", re.IGNORECASE)
DECLARED = re.compile(rf"^\s*(?:\{{% set )?version\b[\s=:(\"']*{NUMBER}", re.IGNORECASE | re.MULTILINE)


def test_the_notes_begin_with_it():
    titles = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert titles[0] == "Unreleased"
    assert titles[1].partition(":")[0] == PROJECT


def test_recipes_have_it():
    """The first that each has: older ones may follow."""
    found = {}
    for path in [*(ROOT / "packaging").rglob("*"), ROOT / "CITATION.cff"]:
        if path.is_file() and "__pycache__" not in path.parts:
            text = path.read_text(errors="replace")
            for match in (NAMED.search(path.name), NAMED.search(text), DECLARED.search(text)):
                if match:
                    found.setdefault(match[1], []).append(str(path.relative_to(ROOT)))
    assert list(found) == [PROJECT], found


def test_pages_quote_it():
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guide").glob("*.md")]
    quoted = {(path.name, number) for path in pages for number in NAMED.findall(path.read_text())}
    assert quoted and {number for _, number in quoted} == {PROJECT}, quoted
