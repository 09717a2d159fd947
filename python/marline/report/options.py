# SPDX-License-Identifier: Apache-2.0
"""What `marline report` offers to scripts, and which options do not go together. Standard library only."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import NoReturn

from marline.errors import HOLDS, USAGE, Refusal
from marline.report import conditions

SCHEMA = Path(__file__).with_name("schema.json")
# What --history goes with; all else is about a trace.
_WITH_HISTORY = {"history", "csv", "json", "badge", "html"}
_FILES = ("perfetto", "chrome", "png", "svg", "badge", "html")


class _PrintSchema(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        print(SCHEMA.read_text(encoding="utf-8"), end="")
        parser.exit()


def add_scripting(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for scripts (docs/guide/scripts.md)")
    group.add_argument("--fail-if", metavar="CONDITION", action="append", default=[], type=conditions.parse,
                       help=f'end with status {HOLDS} if this holds, as in "efficiency<80%%"; may be repeated')
    group.add_argument("--json-schema", nargs=0, action=_PrintSchema, help="print the JSON Schema of --json, and end")
    group.add_argument("--summary", metavar="DIR", type=Path, help="store key figures of the run, by commit, in DIR")
    group.add_argument("--commit", metavar="NAME", help="the commit of --summary, if not the one that git names here")
    group.add_argument("--history", metavar="DIR", type=Path,
                       help="instead of a trace: print a line for each commit that was stored by --summary")
    group.add_argument("--badge", metavar="FILE", type=Path,
                       help="draw the efficiency as a small SVG; of --history that of the newest commit")  # fmt: skip


def add_parts(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("for jobs of many nodes (docs/guide/large-jobs.md)")
    group.add_argument("--here", action="store_true", help="read the records of this node only")
    group.add_argument("--merge", metavar="PART", type=Path, nargs="+",
                       help="instead of a trace: one report of what `--here --json` has printed on each node")


def check_options(options: argparse.Namespace, given: list[str], formats: list[str]) -> None:
    """Refuses what makes no sense together. `given`: the words of the command line."""
    if options.history is not None:
        _check_history(options, given)
    elif options.merge is not None:
        _check_merge(options, given)
    elif options.folder is None:
        raise Refusal("give a trace (a folder of `marline trace`), or --history DIR for stored summaries", USAGE)
    if options.commit is not None and options.summary is None:
        raise Refusal("--commit names the run that --summary DIR stores: give --summary, too", USAGE)
    if options.windows is not None and options.csv:
        raise Refusal("--windows has no place in --csv, which has a line per thread: use --json, or no --csv", USAGE)
    files: dict[str, str] = {}
    for name in (*_FILES, *formats):
        file = getattr(options, name, None)
        if file is not None and str(file) in files:
            raise Refusal(f"{file}: --{files[str(file)]} and --{name} would both write it: give two names", USAGE)
        files[str(file)] = name


def check_sums(options: argparse.Namespace, given: list[str]) -> None:
    """Of a trace without records."""
    for word in given:
        if word.startswith("-") and word.partition("=")[0] not in ("--json", "--here"):
            raise Refusal(f"{options.folder} holds sums (MARLINE_TRACE_AGGREGATE), and no records: leave {word} out, "
                          "or record the run without that", USAGE)  # fmt: skip


def _check_merge(options: argparse.Namespace, given: list[str]) -> None:
    if options.folder is not None:
        raise Refusal(f"--merge reads parts, and no trace: leave {options.folder} out", USAGE)
    for word in given:
        if word.startswith("--") and word.partition("=")[0] not in ("--merge", "--json"):
            raise Refusal(f"--merge goes with --json only: leave {word} out", USAGE)


def _check_history(options: argparse.Namespace, given: list[str]) -> None:
    if options.folder is not None:
        raise Refusal(f"--history reads what --summary has stored: leave {options.folder} out, or store it first by "
                      f"`marline report {options.folder} --summary {options.history}`", USAGE)  # fmt: skip
    for word in given:
        name = word.partition("=")[0].removeprefix("--")
        if word.startswith("--") and not any(one.startswith(name) for one in _WITH_HISTORY):
            raise Refusal(f"--history goes with --csv, --json, --html and --badge only: leave --{name} out", USAGE)
