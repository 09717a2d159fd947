# SPDX-License-Identifier: Apache-2.0
"""A folder for the time that a program runs, which goes even if this process is killed: a small process of its own
waits for that. Standard library only."""

import contextlib
import ctypes
import os
import secrets
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

from marline.launch.stopping import ENDING

PR_SET_NAME = 15
REMOVER = "marline-remover"  # the process's name, of at most 15 bytes


@contextlib.contextmanager
def folder(prefix: str) -> Iterator[Path]:
    # Absolute, though TMPDIR may be ".": the remover works elsewhere.
    made = Path(tempfile.gettempdir()).absolute() / f"{prefix}{secrets.token_hex(16)}"
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)  # no folder without a remover
    try:
        end = _start_remover(made)  # which is there before the folder: this process may be killed between the two
        try:
            os.mkdir(made, 0o700)
        except OSError:
            os.close(end)
            raise
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        with contextlib.suppress(BrokenPipeError):  # somebody has killed it
            os.write(end, b".")
        os.close(end)


def _start_remover(made: Path) -> int:
    """Returns the end of a pipe which is closed, by whatever way, when this process ends. The remover has a session of
    its own, so that no signal to ours reaches it, and nothing open but the other end: launchers wait for streams to be
    closed. Its parent is a process that ends at once, so that no process waits for it."""
    wait_end, end = os.pipe()
    first = os.fork()
    if first == 0:
        try:
            _become_remover(made, wait_end)
        finally:
            os._exit(0)
    os.close(wait_end)
    os.waitpid(first, 0)
    return end


def _become_remover(made: Path, wait_end: int) -> None:
    every = getattr(signal, "valid_signals", lambda: range(1, signal.NSIG))  # Python 3.8 and newer have it
    signal.pthread_sigmask(signal.SIG_BLOCK, every())
    os.setsid()
    if os.fork() != 0:
        return
    ctypes.CDLL(None).prctl(PR_SET_NAME, REMOVER.encode())
    os.chdir("/")
    os.dup2(wait_end, 0)
    os.closerange(1, os.sysconf("SC_OPEN_MAX"))
    if os.read(0, 1) == b"":
        shutil.rmtree(made, ignore_errors=True)
