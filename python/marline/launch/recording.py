# SPDX-License-Identifier: Apache-2.0
"""Where a recording goes: the folder is claimed before the program starts, so that a run is never lost to a folder that
held another one. Standard library only."""

import argparse
from pathlib import Path

from marline.errors import Refusal

PRIVATE = 0o700  # a trace has the program's arguments and paths
HEAD_BYTES = 4096  # of a node's file that has no records
# The words that the recorder knows (trace/base/options.cpp), which would otherwise say so after the program has
# started.
EVENTS = ("task", "dependence", "sync", "mutex", "work", "mpi", "region", "device", "memory")
USUAL_HZ, MOST_HZ = 100, 1000  # samples a second; as there


def claim(folder: Path) -> Path:
    """Makes `folder` and its parents; a folder that holds anything, or cannot be made, is a refusal."""
    _refuse_file(folder)
    try:
        folder.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        first = next(iter(sorted(folder.iterdir())), None)
    except OSError as error:
        raise Refusal(f"{folder}: {error.strerror}; name a folder for the trace that can be written") from error
    if first is not None:
        raise Refusal(f"{folder} is not empty (it holds {first.name}); name a new folder for the trace, or empty it")
    return folder.resolve()


def claim_default(program: str) -> Path:
    """The first of PROGRAM.trace, PROGRAM-2.trace, ... in the current folder that does not exist yet. To make it is to
    own it: two recordings started at once get two folders."""
    stem = Path(program).name
    folder, number = Path(f"{stem}.trace"), 1
    while True:
        try:
            folder.mkdir(mode=PRIVATE)
            return folder.resolve()
        except FileExistsError:
            number += 1
            folder = Path(f"{stem}-{number}.trace")
        except OSError as error:
            raise Refusal(f"{folder}: {error.strerror}; name another folder for the trace by -o") from error


def _refuse_file(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise Refusal(f"{folder} is a file: name a new or empty folder for the trace")


def holds_records(folder: Path) -> bool:
    """Whether any thread has recorded anything, or added it up."""
    if any(path.stat().st_size > HEAD_BYTES for path in folder.glob("*.mtr")):
        return True
    return any('"aggregate": true' in path.read_text(encoding="utf-8", errors="replace")
               for path in folder.glob("*.json"))  # fmt: skip


def drop_empty(folder: Path) -> None:
    """Takes back a folder into which nothing was recorded."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def rate(text: str) -> int:
    """Samples a second."""
    value = int(text) if text.isdecimal() else 0
    if not 1 <= value <= MOST_HZ:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST_HZ}")
    return value


def require_events(text: str) -> str:
    unknown = next((word for word in text.split(",") if word not in EVENTS), None)
    if unknown is not None:
        raise Refusal(f"--events {text}: no event is named {unknown!r}; expected a list of {', '.join(EVENTS)}")
    return text
