# SPDX-License-Identifier: Apache-2.0
"""What root must not do with the rights of root: read what a user's process says, and the files that it names. So root
acts as the process's user, with bounds for memory and processor time."""

from __future__ import annotations

import os
import re
import resource
import signal
from pathlib import Path

from marline.errors import REFUSED, Refusal, say

MOST_MEMORY = 8 << 30  # bytes
MOST_SECONDS = 600  # of processor time


def act_as_owner(pid: int, ends: bool = True) -> None:
    """Root becomes the user that the process runs as; nothing happens for others, and for root's own processes. `ends`:
    this command is to end before the process does."""
    if os.geteuid() != 0:
        return
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise Refusal(f"there is no process {pid} on this machine; `marline ps` lists those that run on Marline"
                      ) from error  # fmt: skip
    uid, gid = _second(status, "Uid"), _second(status, "Gid")
    if uid == 0:
        return
    groups = re.search(r"^Groups:\s*([\d ]*)$", status, re.MULTILINE)
    try:
        os.setgroups([int(one) for one in groups[1].split()] if groups else [])
        os.setresgid(gid, gid, gid)
        os.setresuid(uid, uid, uid)
    except OSError as error:
        raise Refusal(f"cannot act as user {uid}, whose process {pid} is ({error.strerror}): run `marline ps {pid}` as "
                      "that user") from error  # fmt: skip
    limit_resources(ends)


def limit_resources(ends: bool = True) -> None:
    """Where reports of other users are read: whatever they hold, this process takes so much memory, and `ends`."""
    limits = ((resource.RLIMIT_AS, MOST_MEMORY), (resource.RLIMIT_CPU, MOST_SECONDS))
    for kind, most in limits if ends else limits[:1]:
        soft, hard = resource.getrlimit(kind)
        if soft == resource.RLIM_INFINITY or soft > most:
            resource.setrlimit(kind, (most, hard))
    signal.signal(signal.SIGXCPU, _give_up)


def _give_up(number: int, frame: object) -> None:
    say(f"the reports take more than {MOST_SECONDS} s of processor time to read: given up")
    os._exit(REFUSED)


def _second(status: str, name: str) -> int:
    """Of a line of /proc/PID/status: the effective one."""
    found = re.search(rf"^{name}:\s+\d+\s+(\d+)", status, re.MULTILINE)
    return int(found[1]) if found else 0
