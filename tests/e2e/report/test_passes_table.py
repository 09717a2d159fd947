# SPDX-License-Identifier: Apache-2.0
"""The page on the analysis passes is what their files say, and names a test for each that the report shows."""
from __future__ import annotations

import re
import subprocess
import sys

from handmade import ROOT  # first: it finds marline
from marline.report.metrics import DETAILS, FURTHER


def test_the_page_is_what_the_files_say() -> None:
    command = [sys.executable, str(ROOT / "tools" / "gen_passes_doc.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr


def test_each_pass_has_a_formula_a_handmade_trace_and_a_property() -> None:
    page = (ROOT / "docs" / "design" / "passes.md").read_text()
    for name in (*FURTHER, *DETAILS):
        row = re.search(rf"^\| `{name}` \|.*$", page, re.MULTILINE)
        assert row and "[test_pass_properties]" in row[0] and row[0].count("[test_") > 1, name
        section = page.partition(f"### `{name}`")[2].partition("\n### ")[0]
        assert name == "ready_queue" or " = " in section or "    infinite" in section, name
