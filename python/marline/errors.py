# SPDX-License-Identifier: Apache-2.0
"""How the command reports: every message is one line on stderr that starts with `marline: `. Exit statuses are the same
as of env(1) and timeout(1): what Marline itself refuses is 125, a program that cannot be executed 126 or 127."""

import sys

USAGE = 2  # as argparse's
HOLDS = 4  # a condition that the user does not want to hold (`marline report --fail-if`)
REFUSED = 125
NOT_EXECUTABLE = 126
NOT_FOUND = 127


class Refusal(Exception):
    """The command cannot do what it was asked. The text says what failed, the value, and what to do."""

    def __init__(self, text: str, status: int = REFUSED) -> None:
        super().__init__(text)
        self.status = status


def what_failed(error: OSError) -> str:
    """The file, where the system has named one, and what was wrong with it."""
    reason = error.strerror or str(error)
    return f"{error.filename}: {reason}" if error.filename is not None else reason


def no_hwloc(name: str) -> str:
    """What to do about a missing libhwloc.so.N, the only library beside the C library that Marline needs."""
    return (f"{name}, which Marline needs, is not found by the loader; install hwloc (Debian: libhwloc15; "
            "Fedora, RHEL: hwloc-libs), or add its folder to LD_LIBRARY_PATH")  # fmt: skip


def say(text: str) -> None:
    """Writes one line to stderr, in one write so that the lines of several ranks do not mix."""
    sys.stderr.write(f"marline: {text}\n")
    sys.stderr.flush()
