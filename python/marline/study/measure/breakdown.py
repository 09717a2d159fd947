# SPDX-License-Identifier: Apache-2.0
"""Work, idle, overhead, discovery, overlap and collectives of one recorded run, as `marline report DIR --json` computes
them.

The command is asked, not its modules: what a study publishes is then what a user sees for the same trace."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from marline.layout import Layout
from marline.study.measure.verdict import first_line

FORMAT = "marline-report 1"
REPORT_SECONDS = 600
NANO = 1e-9


class NoReport(Exception):
    """The trace could not be analysed; the text says why."""


def figures(folder: Path, layout: Layout) -> dict[str, float]:
    """Seconds, summed over all threads (discovery: from the first to the last creation of a task); overlap in
    per cent, if there were messages; time in collectives, and the overlap of these, if there were any."""
    words = [str(layout.command), "report", str(folder), "--json"]
    try:
        result = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                timeout=REPORT_SECONDS, check=False)  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise NoReport(f"marline report did not end in {REPORT_SECONDS} s") from error
    if result.returncode != 0:
        raise NoReport(f"marline report: status {result.returncode}: {first_line(result.stderr)}")
    return read(result.stdout)


def read(text: str) -> dict[str, float]:
    try:
        document = json.loads(text)
        if document["format"] != FORMAT:
            raise NoReport(f"marline report wrote the format {document['format']!r}, not {FORMAT!r}")
        if document["incomplete"]:
            raise NoReport(f"the trace is incomplete: {document['incomplete'][0]}")
        total = document["total"]
        found = {"work": NANO * total["work_ns"], "idle": NANO * total["idle_ns"],
                 "overhead": NANO * total["overhead_ns"], "discovery": float(document["discovery"]["seconds"])}
        overlap, collectives = document["overlap"]["ratio"], document["collectives"]
        if overlap is not None:
            found["overlap"] = 100 * float(overlap)
        if collectives["ratio"] is not None:
            found["overlap_collectives"] = 100 * float(collectives["ratio"])
            found["collectives"] = NANO * sum(rank["under_way_ns"] for rank in collectives["ranks"])
        return found
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise NoReport(f"marline report's JSON cannot be read: {type(error).__name__} {error}") from error
