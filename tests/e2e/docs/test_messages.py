# SPDX-License-Identifier: Apache-2.0
"""Each command on docs/guide/messages.md says what the page says. The table is messages.py's."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import EXHAUSTIVE
from messages import HEAD, PAGE, SECTIONS, Case, Folder, block

CASES = [case for cases in SECTIONS.values() for case in cases]


@pytest.fixture(scope="module")
def folder(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Folder:
    return Folder(build, tmp_path_factory.mktemp("messages"))


def is_missing(needed: str) -> bool:
    if needed == "root":
        return os.geteuid() != 0
    if needed == "a Python without NumPy":
        words = ["/usr/bin/python3", "-c", "import numpy"]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0
    return shutil.which(needed) is None


def comparable(text: str) -> str:
    """Numbers are the machine's."""
    return re.sub(r"\d+", "N", text)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.what)
def test_the_command_says_what_the_page_says(folder: Folder, case: Case) -> None:
    if case.costs and not EXHAUSTIVE:
        pytest.skip("takes long: MARLINE_EXHAUSTIVE=1")
    if case.needs and is_missing(case.needs):
        pytest.skip(f"needs {case.needs}")
    said = folder.run(case)
    assert said, f"{case.command}: no message"
    assert comparable(block(case, said)) in comparable(PAGE.read_text()), said


def test_the_page_has_all_cases_and_no_others() -> None:
    text = PAGE.read_text()
    assert text.startswith(HEAD)
    blocks = re.findall(r"^\*\*(.*):\*\*\n\n```\n\$ (.*)$", text, re.MULTILINE)
    assert blocks == [(case.what, case.command) for case in CASES]
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(SECTIONS)
