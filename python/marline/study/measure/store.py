# SPDX-License-Identifier: Apache-2.0
"""The results file: JSON lines, appended and flushed run by run, so that a study may be stopped at any moment.

Lines are `study` (first; what was declared), `session` (one per start: machine, versions, noise), `skip` (what could
not run, and why) and `run`. The invariant: all runs of a file belong to one declaration and one build; open_store
refuses to mix. One process writes; a lock keeps a second one out."""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from marline.errors import Refusal
from marline.study.declare.document import Study

FORMAT = "marline-study 1"
FILE = "runs.jsonl"


@dataclass
class Records:
    study: dict[str, Any]
    sessions: list[dict[str, Any]] = field(default_factory=list)
    skips: dict[str, str] = field(default_factory=dict)  # the point's key, and why it could not run
    runs: list[dict[str, Any]] = field(default_factory=list)

    def add(self, run: dict[str, Any]) -> None:
        self.runs.append(run)
        self.skips.pop(run["point"], None)  # what was missing is there now

    def done(self) -> set[tuple[str, int, str]]:
        return {(run["kind"], run["round"], run["point"]) for run in self.runs}


def read(path: Path, repair: bool = False) -> Records | None:
    """None if nothing was measured there. An incomplete last line is a run that was cut while it was written: it does
    not count, and `repair` takes it out."""
    if not path.is_file() or not path.stat().st_size:
        return None
    stored = path.read_bytes()
    *complete, rest = stored.split(b"\n")
    if rest and repair:
        os.truncate(path, len(stored) - len(rest))
    if not complete:
        return None
    try:
        documents = [json.loads(line) for line in complete]
        if documents[0]["format"] != FORMAT:
            raise Refusal(f"{path}: its format is {documents[0]['format']!r}, not {FORMAT!r}: "
                          "made by another version of Marline; start again with --fresh")
        return _sorted(documents)
    except (ValueError, KeyError, TypeError) as error:
        raise Refusal(f"{path}: damaged ({error}); move it away, or start again with --fresh") from error


def _sorted(documents: list[dict[str, Any]]) -> Records:
    records = Records(documents[0])
    for document in documents[1:]:
        match document["line"]:
            case "session":
                records.sessions.append(document)
            case "skip":
                records.skips[document["point"]] = document["reason"]
            case "run":
                records.add(document)
    return records


class Store:
    """Appends to the file; records() is what was there before and what was added."""

    def __init__(self, file: IO[str], records: Records) -> None:
        self._file = file
        self.folder = Path(file.name).parent
        self.records = records

    def append(self, line: str, **content: Any) -> None:
        document = {"line": line, **content}
        self._file.write(json.dumps(document) + "\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        if line == "run":
            self.records.add(document)
        elif line == "skip":
            self.records.skips[content["point"]] = content["reason"]
        elif line == "session":
            self.records.sessions.append(document)

    def close(self) -> None:
        self._file.close()


def check_same(records: Records, study: Study, path: Path, files: dict[str, str]) -> None:
    """Refuses results that another declaration or another build has made. `files`: the fingerprints of this build."""
    remedy = "--fresh measures all anew, -o DIR keeps both"
    if records.study["digest"] != study.digest:
        was = "with --quick" if records.study["quick"] else "without --quick"
        changed = f"made {was}" if records.study["quick"] != study.quick else f"made by another version of {study.file}"
        raise Refusal(f"{path} was {changed}; {remedy}")
    before = {name: mark for session in records.sessions for name, mark in session["files"].items()}
    changed = [name for name, mark in files.items() if before.get(name, mark) != mark]
    if changed:
        raise Refusal(f"{path}: {changed[0]} was built anew since it was begun; {remedy}")


def open_store(path: Path, study: Study, files: dict[str, str], fresh: bool) -> Store:
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise Refusal(f"{path}: another marline study writes to it; wait for it, or choose another -o DIR") from error
    if fresh:
        file.truncate(0)
    records = read(path, repair=True)
    if records is not None and not records.sessions:  # refused before its first run: its declaration does not bind
        file.truncate(0)
        records = None
    if records is None:
        header = {"format": FORMAT, "study": study.name, "digest": study.digest, "quick": study.quick}
        file.write(json.dumps(header) + "\n")
        file.flush()
        records = Records(header)
    else:
        check_same(records, study, path, files)
    return Store(file, records)
