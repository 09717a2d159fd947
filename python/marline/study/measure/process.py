# SPDX-License-Identifier: Apache-2.0
"""Runs one command to its end or to its time limit, and leaves no process running.

MPI launchers put their ranks into process groups and sessions of their own, so a group's signal is not enough: every
run carries a token in its environment, and whoever still has it after the end is killed. The loader's own log
(ld.so(8), LD_DEBUG=libs) says which libraries a run initialised; it is written while libraries load and costs nothing
afterwards."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from marline.errors import Refusal

GRACE_SECONDS = 3.0  # between the request to end and the kill: a launcher takes its ranks along
MOST_OUTPUT = 4 << 20  # bytes that are kept of each stream: a benchmark prints figures, not its data
KILL_SECONDS = 10.0  # a killed process that is still there is stuck in the kernel
TOKEN = "STUDY_RUN_TOKEN"
INITIALISED = re.compile(r"calling init: (/\S+)")


@dataclass
class Ending:
    """`status` is as in subprocess (negative: a signal), None if the time was up. `cut`: more was printed than is kept.
    """

    status: int | None
    output: str = ""
    errors: str = ""
    seconds: float = 0.0
    libraries: set[str] = field(default_factory=set)
    cut: bool = False


def holders(token: str) -> list[int]:
    """The processes that were started with this token, by themselves or by a parent. Zombies have no environment."""
    mark = f"{TOKEN}={token}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (folder / "environ").read_bytes().split(b"\0"):
                found.append(int(folder.name))
        except OSError:
            continue  # it has ended meanwhile, or is another user's and so none of ours
    return found


def _send(processes: Sequence[int], number: signal.Signals) -> None:
    for process in processes:
        try:
            os.kill(process, number)
        except ProcessLookupError:
            continue  # it has ended meanwhile


def end_all(child: subprocess.Popen[bytes] | None, token: str) -> None:
    """Asks the launcher, waits, kills what is left; returns when nothing is. None: its start was interrupted."""
    if child and child.poll() is None:
        child.terminate()
        try:
            child.wait(timeout=GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            child.kill()
    deadline = time.monotonic() + KILL_SECONDS
    while left := holders(token):
        if time.monotonic() > deadline:
            raise Refusal(f"process {left[0]} of a run outlives SIGKILL: the kernel holds it; a figure taken beside it "
                          "would be worth nothing; start again when it is gone")
        _send(left, signal.SIGKILL)
        time.sleep(0.01)
    if child:
        child.wait()


def _drain(stream: IO[bytes], kept: bytearray) -> None:
    """Reads to the end, so that the program never waits for us, and keeps the beginning."""
    while chunk := stream.read(1 << 16):
        kept += chunk[: MOST_OUTPUT + 1 - len(kept)]


class _Output:
    """Both streams of a child, each read by a thread. They end when every process that holds them has ended."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self._streams = [stream for stream in (child.stdout, child.stderr) if stream]
        self._kept = [bytearray() for _ in self._streams]
        self._readers = [threading.Thread(target=_drain, args=pair) for pair in zip(self._streams, self._kept)]
        for reader in self._readers:
            reader.start()

    def ended_before(self, deadline: float) -> bool:
        for reader in self._readers:
            reader.join(max(0.0, deadline - time.monotonic()))
        return not any(reader.is_alive() for reader in self._readers)

    def close(self) -> None:
        """Once all writers are gone."""
        for reader, stream in zip(self._readers, self._streams):
            reader.join()
            stream.close()

    def texts(self) -> tuple[str, str]:
        output, errors = (bytes(kept[:MOST_OUTPUT]).decode(errors="replace") for kept in self._kept)
        return output, errors

    def is_cut(self) -> bool:
        return any(len(kept) > MOST_OUTPUT for kept in self._kept)


def _libraries(folder: Path) -> set[str]:
    found: set[str] = set()
    for log in folder.iterdir():
        found.update(INITIALISED.findall(log.read_text(errors="replace")))
    return found


def execute(words: Sequence[str], environment: Mapping[str, str], limit: float, folder: Path) -> Ending:
    """One run in `folder`. Ctrl-C reaches this process only, as the child leads a session of its own; everything is
    ended before the exception goes on."""
    token = uuid.uuid4().hex
    with tempfile.TemporaryDirectory(prefix="marline-study-") as logs:
        marked = {**environment, TOKEN: token, "LD_DEBUG": "libs", "LD_DEBUG_OUTPUT": f"{logs}/ld"}
        start = time.monotonic()
        child, output = None, None
        try:  # from the start on: its readers are threads, which would keep an interrupted study from ending
            child = subprocess.Popen(words, env=marked, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, bufsize=0, start_new_session=True)
            output = _Output(child)
            in_time = output.ended_before(start + limit)
            if in_time:
                child.wait(max(0.0, start + limit - time.monotonic()))
            seconds = time.monotonic() - start
        except OSError as error:
            return Ending(127, errors=f"{words[0]}: {error.strerror}")
        except subprocess.TimeoutExpired:  # its streams are closed, and it runs on
            in_time, seconds = False, time.monotonic() - start
        finally:
            end_all(child, token)
            if output:
                output.close()
        if not in_time:
            return Ending(None, seconds=seconds)
        return Ending(child.returncode, *output.texts(), seconds, _libraries(Path(logs)), output.is_cut())
