# SPDX-License-Identifier: Apache-2.0
"""`marline report` of several traces: each is read and summed up by itself, so that only one is in memory at a time.
Where one word names several traces (A1,A2,A3), these are runs of the same, and their medians count."""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from marline.errors import say
from marline.report import text as report_text
from marline.report.several.compare import compare, print_comparison, summary
from marline.report.progress import progress_bar
from marline.report.several.options import check_several
from marline.report.several.runs import folders_of, median_of
from marline.report.several.scaling import print_scaling, scaling
from marline.trace.analysis import Analysis
from marline.trace.views.export import load


def print_several(options: argparse.Namespace) -> None:
    check_several(options)
    sides = [[_summary(folder) for folder in folders_of(word)] for word in options.folders]
    names = [str(word) for word in options.folders]
    is_table = options.scaling or options.weak_scaling or len(sides) > 2
    document = scaling(list(map(median_of, sides)), options.weak_scaling) if is_table else compare(*sides)
    for run, name in zip(document["runs"], names):
        run["folder"] = name
    if options.html:
        from marline.page.runs.several import write_several  # only here: other reports need none of it

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
