# SPDX-License-Identifier: Apache-2.0
"""Signals that end the Python half of the command: one line, and an end by the same signal, so that a shell stops, too.
The compiled half (launch/process/stopping.cpp) has them while it starts and runs a program. Standard library only."""

import ctypes
import os
import resource
import signal
from collections.abc import Mapping

ENDING = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM}
NUMBERS = ("MARLINE_JOB_NUMBER", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID")  # in a job
SET_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)  # the interpreter ignores them; programs must not
ignored_by_caller: set[int] = set()  # what `heed` has taken back from that, and programs get again


def words_for(number: int) -> str:
    """What a signal is called, "Killed" for 9. (Python's signal.strsignal is as young as Python 3.8.)"""
    describe = ctypes.CDLL(None).strsignal
    describe.restype = ctypes.c_char_p
    return describe(number).decode()


class Stopped(KeyboardInterrupt):
    """By a signal. What a command has to put away, it does in `finally`."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number

    def __str__(self) -> str:
        return f"stopped by signal {self.number} ({words_for(self.number)})"


def heed() -> None:
    """From now on these signals raise Stopped; but signals that the caller has us ignore (nohup) stay ignored. A
    process that ignores SIGCHLD is not told how its children end (wait(2)): so this one does not, even if its caller
    does."""
    if signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        ignored_by_caller.add(signal.SIGCHLD)
    for number in ENDING:
        if signal.getsignal(number) in (signal.SIG_DFL, signal.default_int_handler):
            signal.signal(number, _stop)


def _stop(number: int, frame: object) -> None:
    raise Stopped(number)


def forget() -> None:
    """Before another program takes this process's place: it starts with the signals that it would have had without
    the interpreter."""
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


def end_as(status: int) -> int:
    """The exit status that passes a program's wait status on to our own caller; ends by the same signal if there was
    one."""
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # one core is enough
    return end_by(os.WTERMSIG(status))
