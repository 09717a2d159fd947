# SPDX-License-Identifier: Apache-2.0
"""The options of `marline report` for several traces. Standard library only, as `--help` needs no more."""

import argparse

from marline.errors import Refusal
from marline.trace.exports.options import FORMATS

# What describes one trace only.
_OF_ONE = ("csv", "windows", "selected_window", "selected_ranks", "passes", "perfetto", "chrome", "png", "svg",
           "color_by", "full", "fail_if", "summary", "badge", "here", *FORMATS)  # fmt: skip


def add_several(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--scaling", action="store_true",
                        help="a table of several traces of one program, efficiencies relative to the first: the same "
                        "problem on more threads or ranks; of more than two traces the default")  # fmt: skip
    parser.add_argument("--weak-scaling", action="store_true",
                        help="the same of problems that grow with the number of threads")  # fmt: skip


def check_several(options: argparse.Namespace) -> None:
    """Refuses what several traces have no answer to."""
    for name in _OF_ONE:
        if getattr(options, name, None):
            word = "--pass" if name == "passes" else f"--{name.removeprefix('selected_').replace('_', '-')}"
            raise Refusal(f"{word} describes one trace, and {len(options.folders)} are given: leave it out")
    if options.scaling and options.weak_scaling:
        raise Refusal("--scaling and --weak-scaling: give one of them")
