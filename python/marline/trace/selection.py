# SPDX-License-Identifier: Apache-2.0
"""A part of a run that a user asks for: a window of time and a set of ranks. Standard library only."""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass

_UNITS = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_TIME = re.compile(r"(\d+(?:\.\d+)?)(ns|us|ms|s)$")
MOST_RANKS = 1 << 16


@dataclass(frozen=True)
class Selection:
    """`window`: begin and end in ns from the first record of the trace; None: all of it. `ranks`: None: all, each for
    itself."""

    window: tuple[int, int] | None = None
    ranks: tuple[int, ...] | None = None

    def __bool__(self) -> bool:
        return self.window is not None or self.ranks is not None


def add_selection(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--window", dest="selected_window", type=window, metavar="A:B",
                        help="the overlap of messages with work from time A to B of the trace, for example 10ms:1.5s")
    parser.add_argument("--ranks", dest="selected_ranks", type=ranks, metavar="LIST",
                        help="the overlap of messages that leave this set of ranks, for example 0-3,8, with its work")


def window(text: str) -> tuple[int, int]:
    begin, colon, end = text.partition(":")
    times = [_nanoseconds(one) for one in (begin, end)]
    if not colon or None in times or times[0] >= times[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is not a window of time: write two times, the earlier first, with "
                                         "their units ns, us, ms or s, as in 10ms:1.5s")  # fmt: skip
    return times[0], times[1]


def _nanoseconds(text: str) -> int | None:
    found = _TIME.match("0s" if text == "0" else text)
    return round(float(found[1]) * _UNITS[found[2]]) if found else None


def ranks(text: str) -> tuple[int, ...]:
    chosen: set[int] = set()
    for part in text.split(","):
        found = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?", part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first > last or last >= MOST_RANKS:
            raise argparse.ArgumentTypeError(f"{text!r} is not a list of ranks: write numbers and ranges, as in 0-3,8")
        chosen.update(range(first, last + 1))
    return tuple(sorted(chosen))
