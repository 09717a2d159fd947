# SPDX-License-Identifier: Apache-2.0
"""Starts a program on its own OpenMP runtime with the recorder preloaded, for comparison with Marline. Nothing of
Marline's runtime enters the process, and nothing is proved: what ran stands in the trace's description."""

import argparse
import os

from marline.errors import Refusal, say
from marline.launch import child, launcher, preflight, recording
from marline.launch.run import MPI_NAMES, preloads, require_preloadable, threads_in_force, which_mpi
from marline.layout import Layout


def start(options: argparse.Namespace, layout: Layout) -> int:
    """Runs the program as the options say and returns its wait status."""
    require_preloadable(layout)
    launcher.refuse_rank_starter(options.command, options.program, options.arguments)
    environment = dict(os.environ)
    program = preflight.examine(options.program, environment)
    options.mpi = which_mpi(options, program)
    _refuse_nothing_to_record(program, options.mpi, layout)
    added = recording.environment(options.trace)
    added["LD_PRELOAD"] = preloads([recording.recorder(layout, options.mpi)], environment)
    if options.threads:
        added["OMP_NUM_THREADS"] = str(options.threads)
    words = [options.program, *options.arguments]
    if not options.ranks:
        return child.run(words, {**environment, **added})
    # The launcher itself is no part of the run: only the ranks get the recorder.
    threads = options.threads or threads_in_force()
    words = ["env", *(f"{name}={value}" for name, value in added.items()), *words]
    words = [*launcher.command(options.mpi, options.ranks, threads, environment), *words]
    return child.run_launcher(words, environment)


def _refuse_nothing_to_record(program: preflight.Program, mpi: str | None, layout: Layout) -> None:
    """libgomp has no OMPT (OpenMP 5.1, chapter 4): of a program on it only MPI calls can be recorded."""
    gomp = program.loaded.get("libgomp.so.1")
    if gomp is None or gomp.parent == layout.compat:
        return
    if mpi is None:
        raise Refusal(f"{program.path} runs on {gomp}, which has no OMPT, and uses no MPI: there is nothing to record; "
                      "leave --runtime native out, or build the program by Clang")  # fmt: skip
    say(f"note: {program.path} runs on {gomp}, which has no OMPT: only its {MPI_NAMES[mpi]} calls are recorded")
