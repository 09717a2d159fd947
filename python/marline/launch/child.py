# SPDX-License-Identifier: Apache-2.0
"""Runs one program in the foreground on the caller's behalf: same standard streams, signals passed on, exit status
passed back. The caller must be single-threaded (the code between fork and exec runs Python)."""

import contextlib
import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from marline.errors import NOT_EXECUTABLE, NOT_FOUND, say
from marline.launch import scratch, stopping
from marline.launch.arrival import SignalInfo, next_signal
from marline.launch.launcher import RANK_OF
from marline.launch.stopping import Stopped

FORWARDED = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2}
WATCHED = FORWARDED | {signal.SIGCHLD}
MASK = signal.pthread_sigmask(signal.SIG_BLOCK, ())  # which the programs get
SI_KERNEL = 0x80  # si_code of a signal that the kernel sent: Ctrl-C at a terminal, for one
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LAST_WORDS = 10.0  # seconds in which a launcher of MPI ends its job after a signal that has come while it starts
STARTING = 10.0  # seconds in which it may be starting. It passes later signals on, and its job may take its time
LONG_SECONDS = 3600.0


def run(words: Sequence[str], environment: Mapping[str, str], arrived: set[int] | None = None,
        stopped: Callable[[int], None] | None = None) -> int:  # fmt: skip
    """Returns the wait status (os.WIFEXITED and so on) of `words` run with `environment`. `arrived` gets the signals
    that came in meanwhile. After the program's end they do nothing until `listen` or `finish` is called. `stopped` is
    called with the process's number each time that SIGSTOP has stopped it."""
    child = _fork(words, environment)
    others = set() if arrived is None else arrived
    try:
        return _attend(child, others, stopped)
    finally:
        others |= drain() - {signal.SIGCHLD}


def run_launcher(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """The same for one of MPI. What it returns says nothing of a job that a signal has stopped (Hydra: 0 or the
    signal's number, Open MPI: 1): then this is that signal. If a signal comes while Hydra starts, it does not end at
    all, with or without us: it is killed then, with all that it has started."""
    stopped_by: set[int] = set()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what it has started is below us, though it has ended itself
    child = _fork(words, environment)
    status = _attend(child, stopped_by, patience=LAST_WORDS)
    drain()
    return min(stopped_by & stopping.ending(), default=status)


def _fork(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """The child goes on only when this process has looked for signals that came before it was there: it has not had
    them, and is not started any more."""
    signal.pthread_sigmask(signal.SIG_BLOCK, WATCHED)
    end_with_us = ends_with_this_process()
    ready, tell = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(tell)
        if os.read(ready, 1) == b"":
            os._exit(NOT_EXECUTABLE)
        os.close(ready)
        become_program(end_with_us)
        _execute(words, environment)
    os.close(ready)
    came = signal.sigpending() & stopping.ending()
    if not came:
        os.write(tell, b".")
    os.close(tell)
    if came:
        os.waitpid(child, 0)
        listen()
        raise Stopped(min(came))
    return child


def become_program(end_with_us: Callable[[], None], blocked: Iterable[int] = ()) -> None:
    """In the child, last before the program's start. `blocked`: what else waits until the program lets it in."""
    end_with_us()
    stopping.forget()
    signal.pthread_sigmask(signal.SIG_SETMASK, {*MASK, *blocked})


def drain() -> set[int]:
    """A signal that was meant for the program, too, and has come to this process after its end, does nothing more: how
    the program has ended says it. Returns which there were."""
    came = set()
    one = next_signal(WATCHED, 0)
    while one is not None:
        came.add(one.si_signo)
        one = next_signal(WATCHED, 0)
    return came


def listen() -> None:
    """For a caller that goes on after the program's end, and is to be stopped by signals again."""
    drain()
    signal.pthread_sigmask(signal.SIG_SETMASK, MASK)


def ends_with_this_process() -> Callable[[], None]:
    """What a child that is forked now calls to be killed when this process, even if it is killed itself, has ended."""
    parent = os.getpid()
    libc = ctypes.CDLL(None)

    def arrange() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # it ended before the line above
            os._exit(NOT_EXECUTABLE)

    return arrange


def finish(status: int) -> int:
    """The exit status that passes `status` on to our own caller; ends by the same signal if there was one. Until then
    none of another launcher's, which may come late, ends us in another way."""
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))  # one core is enough
        for other in FORWARDED - {number}:
            signal.signal(other, signal.SIG_IGN)
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, MASK)
        os.kill(os.getpid(), number)
        return 128 + number  # the signal is blocked in our caller's mask
    return os.WEXITSTATUS(status)


def _execute(words: Sequence[str], environment: Mapping[str, str]) -> None:
    try:
        os.execvpe(words[0], list(words), dict(environment))
    except OSError as error:
        os.write(2, f"marline: cannot execute {words[0]}: {error.strerror}\n".encode())
        os._exit(NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE)


def _attend(child: int, others: set[int], stopped: Callable[[int], None] | None = None,
            patience: float = float("inf")) -> int:  # fmt: skip
    """`stopped`: run's. `patience`: seconds that the child may live on after a signal that comes while it starts."""
    deadline, begun = float("inf"), time.monotonic()
    while True:
        left = deadline - time.monotonic()
        arrived = next_signal(WATCHED, max(0.0, min(left, LONG_SECONDS)))
        if arrived is None:
            if left <= 0:
                say(f"the launcher has not ended {patience:g} s after a signal, and is killed with all that it has "
                    "started")  # fmt: skip
                kill_descendants()
                deadline = float("inf")
            continue
        if arrived.si_signo in stopping.ending() and time.monotonic() - begun < STARTING:
            deadline = min(deadline, time.monotonic() + patience)
        if arrived.si_signo == signal.SIGCHLD:
            changed, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
            while changed and os.WIFSTOPPED(status):
                if stopped is not None and os.WSTOPSIG(status) == signal.SIGSTOP:
                    stopped(child)
                changed, status = os.waitpid(child, os.WNOHANG | os.WUNTRACED)
            if changed:
                return status
            continue
        others.add(arrived.si_signo)
        if not child_has_it(arrived):
            os.kill(child, arrived.si_signo)


def kill_descendants() -> None:
    """All processes below this one. A process that is started meanwhile is below one that is stopped first."""
    found = [os.getpid()]
    for parent in found:
        for child in processes_below(parent):
            with contextlib.suppress(OSError):  # it has ended
                os.kill(child, signal.SIGSTOP)
                found.append(child)
    for child in found[1:]:
        with contextlib.suppress(OSError):
            os.kill(child, signal.SIGKILL)


def processes_below(parent: int) -> list[int]:
    """Its children, but for removers of temporary folders, which have their work to do and end by themselves."""
    texts = ((folder.name, _read(f"/proc/{folder.name}/stat")) for folder in Path("/proc").glob("[0-9]*"))
    return [int(name) for name, text in texts
            if text.rpartition(")")[2].split()[1:2] == [str(parent)]
            and f"({scratch.REMOVER})" not in text]  # fmt: skip


def outcome(status: int) -> str:
    """A wait status in words."""
    return f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"


def child_has_it(arrived: SignalInfo) -> bool:
    """Whether the child got the signal, too: from the terminal, or from the daemon that started us as a rank. MPI's
    daemons signal a rank's process group. Slurm's signals the group of all ranks of its node, or all processes of the
    job, but where it tracks processes by control groups each rank alone (Slurm's slurm.conf, ProctrackType)."""
    if arrived.si_code == SI_KERNEL:
        return True
    parent = os.getppid()
    if arrived.si_pid != parent:
        return False
    if _read(f"/proc/{parent}/comm") == "slurmstepd\n":
        return not is_tracked_by_cgroup(_read("/proc/self/cgroup"))
    return any(name in os.environ for name in RANK_OF.values()) and os.getpgrp() == os.getpid()


def is_tracked_by_cgroup(groups: str) -> bool:
    """Whether Slurm tracks a process of these control groups by them: of version 1 by the freezer's. In version 2,
    where all controllers have one group, it may be there to limit the process only; this counts as tracked."""
    tracking = (line for line in groups.splitlines() if line.startswith("0::") or ":freezer:" in line)
    return any("/step_" in line for line in tracking)


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:  # it has ended
        return ""
