# SPDX-License-Identifier: Apache-2.0
"""The options of `marline report` for the formats of other tools. Standard library only: `--help` needs no more."""

from __future__ import annotations

import argparse

# Option and what it writes: a file each, of the name that the option is given.
FORMATS = {
    "sqlite": ("FILE", "an SQLite database of tasks, calls, edges and regions (docs/guide/sqlite.md)"),
    "speedscope": ("FILE", "nested calls of each thread, and samples, for https://www.speedscope.app"),
    "firefox": ("FILE", "a profile for https://profiler.firefox.com"),
    "otf2": ("DIR", "an OTF2 archive for Vampir, Scalasca and others; needs the Python package otf2"),
    "paraver": ("FILE", "a trace for Paraver: FILE.prv, FILE.pcf, FILE.row"),
    "dot": ("FILE", "the task graph for Graphviz; by kind of task if it is large"),
}


def add_exports(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("formats of other tools")
    for name, (metavar, text) in FORMATS.items():
        group.add_argument(f"--{name}", metavar=metavar, help=text)
