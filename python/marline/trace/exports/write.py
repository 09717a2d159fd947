# SPDX-License-Identifier: Apache-2.0
"""Writes each of the formats that are asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..read.progress import Progress
from ..registry import Analysis
from ..views.timeline import timeline
from .dot import write_dot
from .firefox import write_firefox
from .options import FORMATS
from .otf2_archive import write_otf2
from .paraver import write_paraver
from .speedscope import write_speedscope
from .sqlite import write_sqlite


def _sqlite(of: Analysis, path: str, progress: Progress) -> list[str]:
    write_sqlite(of, path, progress)
    return ["SQLite database: docs/guide/sqlite.md has its tables and ten queries"]


def _speedscope(of: Analysis, path: str, _: Progress) -> list[str]:
    write_speedscope(timeline(of), of["samples"], path, _program(of))
    return ["open it in https://www.speedscope.app"]


def _firefox(of: Analysis, path: str, _: Progress) -> list[str]:
    write_firefox(of, timeline(of), path, _program(of))
    return ["open it in https://profiler.firefox.com"]


def _otf2(of: Analysis, path: str, _: Progress) -> list[str]:
    write_otf2(of, timeline(of), path)
    return ["OTF2 archive: open its traces.otf2, or print it by otf2-print"]


def _paraver(of: Analysis, path: str, _: Progress) -> list[str]:
    records, *others = write_paraver(of, timeline(of), path)
    beside = " and ".join(one.name for one in others)
    return [f"{records.name}, with {beside} beside it: open it in Paraver (wxparaver)"]


def _program(of: Analysis) -> str:
    return Path(of.trace.ranks[min(of.trace.ranks)].get("exe", "")).name


_WRITERS: dict[str, Callable[[Analysis, str, Progress], list[str]]] = {
    "sqlite": _sqlite,
    "speedscope": _speedscope,
    "firefox": _firefox,
    "otf2": _otf2,
    "paraver": _paraver,
    "dot": lambda of, path, _: write_dot(of, path),
}


def write_exports(of: Analysis, options: argparse.Namespace, progress: Progress) -> list[str]:
    """What was written, and what a file leaves out, a line each."""
    said = []
    for name in FORMATS:
        path: Any = getattr(options, name, None)
        if path:
            said += [f"{path}: {text}" for text in _WRITERS[name](of, path, progress)]
    return said
