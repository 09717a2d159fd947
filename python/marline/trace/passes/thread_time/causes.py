# SPDX-License-Identifier: Apache-2.0
"""What a thread's time is divided into: work, overhead and idle time (the thesis's three), each by cause.

The causes partition the time: every nanosecond of every thread has exactly one.
"""

from __future__ import annotations

from dataclasses import dataclass

WORK, OVERHEAD, IDLE = "work", "overhead", "idle"
PARTS = (WORK, OVERHEAD, IDLE)


@dataclass(frozen=True)
class Cause:
    """`part` is work, overhead or idle; `text` says in one line what the thread did, or what it lacked."""

    name: str
    part: str
    text: str


CAUSES = (
    Cause("work_body", WORK, "ran task bodies (of a rank without tasks: the program's code), outside of MPI"),
    Cause("overhead_creation", OVERHEAD, "created tasks in task bodies, or ran code that does while tasks were ready"),
    Cause("overhead_code", OVERHEAD, "ran other code outside of tasks, while tasks were ready"),
    Cause("overhead_held", OVERHEAD, "was held by MPI calls inside task bodies, while tasks were ready"),
    Cause("overhead_mpi", OVERHEAD, "was held by MPI calls outside of tasks, while tasks were ready"),
    Cause("overhead_scheduler", OVERHEAD, "was in the runtime (scheduling, waiting, locks), while tasks were ready"),
    Cause("idle_discovery", IDLE, "no task was ready, and a producer was still creating tasks"),
    Cause("idle_communication", IDLE, "no task was ready; tasks or threads were in MPI, or waited for detached events"),
    Cause("idle_device", IDLE, "no task was ready, while devices worked"),
    Cause("idle_throttled", IDLE, "no task was ready; a producer had more to create, and ran a task instead"),
    Cause("idle_constraint", IDLE, "no task was ready; tasks waited for locks, or for others of their mutexinoutset"),
    Cause("idle_held", IDLE, "was held by MPI calls inside task bodies, while no task was ready"),
    Cause("idle_dependences", IDLE, "no task was ready; all that were left waited for running ones"),
    Cause("idle_tail", IDLE, "all tasks there were had started: the others waited for the last of them"),
    Cause("idle_outside", IDLE, "there was no task at all: code outside of tasks, or between regions"),
    Cause("idle_ranks", IDLE, "the rank had not begun its first task or had ended its last; other ranks had not"),
    Cause("idle_barrier", IDLE, "waited in barriers and the like, and there was no task"),
    Cause("idle_lock", IDLE, "of a rank without tasks: waited for locks, critical regions, ordered or atomic code"),
    Cause("idle_unrecorded", IDLE, "recording was off"),
)
NUMBER = {cause.name: number for number, cause in enumerate(CAUSES)}
OF_PART = {part: [number for number, cause in enumerate(CAUSES) if cause.part == part] for part in PARTS}
