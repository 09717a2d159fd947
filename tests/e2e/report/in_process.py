# SPDX-License-Identifier: Apache-2.0
"""`marline report` without a process of its own: a start takes longer than the analysis of a small trace. What the
command's first lines do with mistakes (cli.py) is done here."""
from __future__ import annotations

import contextlib
import io
import json
import subprocess
from pathlib import Path
from typing import Any

from handmade import PACKAGE  # first: it finds marline

from marline.errors import Refusal, say
from marline.report.command import main


def report(*words: str | Path) -> subprocess.CompletedProcess[str]:
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            status = main([str(word) for word in words], PACKAGE)
        except Refusal as refusal:
            say(str(refusal))
            status = refusal.status
        except SystemExit as end:  # argparse's
            status = int(end.code or 0)
    return subprocess.CompletedProcess(words, status, output.getvalue(), errors.getvalue())


def document_of(*words: str | Path) -> dict[str, Any]:
    result = report(*words, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)
