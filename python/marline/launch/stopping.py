# SPDX-License-Identifier: Apache-2.0
"""Signals that end the command before a program runs, or after it has ended: one line, and an end by the same signal,
so that a shell stops, too. While a program runs, child.py and job.py pass signals on to it."""

import ctypes
import os
import signal
from collections.abc import Mapping, Sequence

ENDING = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM}
NUMBERS = ("MARLINE_JOB_NUMBER", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")  # in a job
LATE = "MARLINE_HEEDS_LATE"  # set where SIGINT is ignored or blocked until the command heeds signals
ignored_by_caller: set[int] = set()  # what `heed` has taken back from that, and programs get again
SET_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # the interpreter ignores them; programs must not


def words_for(number: int) -> str:
    """What a signal is called, "Killed" for 9. (Python's signal.strsignal is as young as Python 3.8.)"""
    describe = ctypes.CDLL(None).strsignal
    describe.restype = ctypes.c_char_p
    return describe(number).decode()


class Stopped(KeyboardInterrupt):
    """By a signal. What a command has to put away, it does in `finally`."""

    def __init__(self, number: int, when: str = "") -> None:
        super().__init__(number)
        self.number = number
        self.when = when

    def __str__(self) -> str:
        return f"stopped by signal {self.number} ({words_for(self.number)}){self.when}"


def heeding_late(words: Sequence[str]) -> list[str]:
    """How a launcher of MPI starts this command for a rank. Until it heeds signals, Ctrl-C would end the interpreter
    with a traceback, on each rank. So it ignores Ctrl-C meanwhile: the launcher has had it, too, and ends its ranks."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        return list(words)
    return ["/bin/sh", "-c", f'trap "" INT; export {LATE}=yes; exec "$0" "$@"', *words]


def late_variables() -> dict[str, str]:
    """What tells the command that its SIGINT waits until it heeds it; none: its caller wants it so."""
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return {} if signal.SIGINT in mask or signal.getsignal(signal.SIGINT) == signal.SIG_IGN else {LATE: "yes"}


def ending() -> set[int]:
    """The signals that end this command. A signal that the caller has us ignore (nohup) does not end it, but stays
    pending all the same while it is blocked."""
    return {number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN}


def heed() -> None:
    """From now on these signals raise Stopped; but signals that the caller has us ignore (nohup) stay ignored. A
    process that ignores SIGCHLD is not told how its children end (wait(2)): so this one does not, even if its caller
    does."""
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ignored_by_caller.add(signal.SIGCHLD)
    is_late = os.environ.pop(LATE, None) is not None
    if is_late:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)
    if is_late:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _stop(number: int, frame: object) -> None:
    raise Stopped(number)


def forget() -> None:
    """In a forked child, before its signals are let in: they must end it, and nothing of this process's is its to put
    away. The program starts with the signals that it would have had without us."""
    for number in ENDING:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, signal.SIG_DFL)
    for number in SET_BY_PYTHON:
        signal.signal(number, signal.SIG_DFL)
    for number in ignored_by_caller:
        signal.signal(number, signal.SIG_IGN)


def is_first(environment: Mapping[str, str]) -> bool:
    """Whether this process speaks for its job: it is none of its later ranks or members."""
    return all(environment.get(name, "0") == "0" for name in NUMBERS)


def end_by(number: int) -> int:
    """Ends by the signal; returns the status for a caller that has it blocked."""
    for other in ENDING:
        signal.signal(other, signal.SIG_IGN)
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
    os.kill(os.getpid(), number)
    return 128 + number
