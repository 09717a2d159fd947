# SPDX-License-Identifier: Apache-2.0
"""`marline report` of several traces: each is read and summed up by itself, so that only one is in memory at a time."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from marline.errors import say
from marline.report import text as report_text
from marline.report.several.compare import compare, print_comparison, summary
from marline.report.progress import progress_bar
from marline.report.several.scaling import print_scaling, scaling
from marline.report.several.options import check_several
from marline.trace.analysis import Analysis
from marline.trace.views.export import load


def print_several(options: argparse.Namespace) -> None:
    check_several(options)
    summaries = [_summary(folder) for folder in options.folders]
    names = [str(folder) for folder in options.folders]
    is_table = options.scaling or options.weak_scaling
    document = scaling(summaries, options.weak_scaling) if is_table else compare(*summaries)
    for run, name in zip(document["runs"], names):
        run["folder"] = name
    if options.html:
        from marline.page.several import write_several  # only here: other reports need none of it

        write_several(document, names, options.html)
        say(f"{options.html}: open it in a browser")
    if options.json:
        print(json.dumps(document, indent=1))
        return
    console = report_text.console_for(sys.stdout)
    (print_scaling if is_table else print_comparison)(document, names, console)


def _summary(folder: Path) -> dict[str, Any]:
    with progress_bar() as progress:
        return summary(Analysis(load(folder, progress), progress, windows=1))
