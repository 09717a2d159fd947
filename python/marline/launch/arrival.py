# SPDX-License-Identifier: Apache-2.0
"""Waits for a signal that is blocked, for a time. Python's signal.sigtimedwait cannot be used for that: if the process
is stopped and goes on, or is frozen, the wait is interrupted, and if its time is over then, Python (3.10 to 3.12)
returns as a signal what it finds on its stack. Standard library only."""

import ctypes
import errno
import os
from collections.abc import Iterable

libc = ctypes.CDLL(None, use_errno=True)


class SignalInfo(ctypes.Structure):
    """siginfo_t of Linux on 64-bit processors; si_pid is that of kill(2)."""

    _fields_ = [("si_signo", ctypes.c_int), ("si_errno", ctypes.c_int), ("si_code", ctypes.c_int),
                ("_padding", ctypes.c_int), ("si_pid", ctypes.c_int), ("_rest", ctypes.c_byte * 108)]  # fmt: skip


class Time(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]


def next_signal(numbers: Iterable[int], seconds: float) -> SignalInfo | None:
    """None: the time is over, or the wait was interrupted before that: the caller looks at the clock."""
    awaited = (ctypes.c_byte * 128)()  # sigset_t
    libc.sigemptyset(awaited)
    for number in numbers:
        libc.sigaddset(awaited, number)
    found = SignalInfo()
    time = Time(int(seconds), int(seconds % 1 * 1e9))
    if libc.sigtimedwait(awaited, ctypes.byref(found), ctypes.byref(time)) > 0:
        return found
    if ctypes.get_errno() not in (errno.EAGAIN, errno.EINTR):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return None
