# SPDX-License-Identifier: Apache-2.0
"""One graph over all ranks and threads of a run: the global task dependency graph (R. Pereira's thesis, 2023, 4.1.3).

Its nodes are points of time in tasks: where a task begins, creates another one, waits, calls MPI, ends. Its edges say
what had to come before what. An edge between neighbouring points of one task is that task's work between them; the
others are the program's order: dependences, creation, taskwait, messages and so on (`edges.py`).
"""
