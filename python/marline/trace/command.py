# SPDX-License-Identifier: Apache-2.0
"""`marline trace`: runs a program recorded, then says in short where the time went. To record needs the standard
library only; what reads the trace is imported after the run, so that a missing package costs no recording.

The program owns standard output: the report goes to standard error, and the exit status is the program's."""

import argparse
import os
import sys
from pathlib import Path

from marline.errors import REFUSED, USAGE, Refusal, say
from marline.launch import compiled, recording, stopping
from marline.launch import options as run
from marline.layout import Layout
from marline.trace.views.options import add_views, check_views, views_of

RUNTIMES = ("marline", "native")


def main(arguments: list[str], prefix: Path) -> int:
    """Comes here twice: before the run, and as the command that the compiled half goes on with after it."""
    options = parse(arguments)
    check_views(options)
    if options.ended is not None:
        return finish(options)
    layout = Layout(prefix)
    if not options.ranks and compiled.ask(layout, "rank") != [""]:
        raise Refusal("an MPI launcher started this `marline trace`: let it start the ranks itself (-n RANKS), or "
                      "start each by `marline run --trace DIR` and read DIR by `marline report DIR`")  # fmt: skip
    if options.events:
        os.environ["MARLINE_TRACE_EVENTS"] = recording.require_events(options.events)
    if options.sample:
        os.environ["MARLINE_TRACE_SAMPLE"] = str(options.sample)
    if options.aggregate:
        refuse_without_records(options)
        os.environ["MARLINE_TRACE_AGGREGATE"] = "on"
    if options.counters:
        os.environ["MARLINE_TRACE_COUNTERS"] = options.counters
    was_there = options.trace is not None and options.trace.exists()
    options.trace = recording.claim(options.trace) if options.trace else recording.claim_default(options.program)
    afterwards = compiled.then("trace", f"--into={options.trace}", *(["--was-there"] if was_there else []), *arguments)
    compiled.become(layout, run.in_full(options, "--claimed", "--command=marline trace", *afterwards,
                                        *(["--native"] if options.runtime == "native" else [])))  # fmt: skip


def refuse_without_records(options: argparse.Namespace) -> None:
    """What --aggregate has no place for."""
    given = views_of(options) + [f"--{name}" for name in ("sample", "counters") if getattr(options, name)]
    if given:
        raise Refusal(f"--aggregate keeps sums, and no records, which {given[0]} needs: leave one of both out", USAGE)


def finish(options: argparse.Namespace) -> int:
    status = options.ended % compiled.UNSTARTED
    options.trace = options.into
    try:
        if options.ended >= compiled.UNSTARTED:
            pass  # why has been said
        elif recording.holds_records(options.trace):
            report(options, status)
        elif status != REFUSED << 8:  # else the run has said why
            status = say_nothing_recorded(options.program, status)
    finally:
        if not options.was_there:
            recording.drop_empty(options.trace)
    return stopping.end_as(status)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="marline trace",
        description="Runs PROGRAM, records its tasks and MPI calls, and says where the time went.",
        epilog="Read the trace later by `marline report DIR`. Exit status: the program's; 125 if it was not started, "
        "or if nothing was recorded.",
    )
    run.add_job_options(parser)
    parser.add_argument("-o", dest="trace", metavar="DIR", type=Path,
                        help="where to record: a new or empty folder (default: PROGRAM.trace, or PROGRAM-2.trace, "
                        "...)")  # fmt: skip
    parser.add_argument("--runtime", choices=RUNTIMES, default="marline",
                        help="run it on Marline (default) or on its own OpenMP runtime")  # fmt: skip
    parser.add_argument("--events", metavar="LIST", help="what to record, separated by commas (default: everything)")
    parser.add_argument("--sample", action="store_const", const=recording.USUAL_HZ,
                        help="also record call stacks, 100 a second of each thread's CPU time: which functions take "
                        "the time inside tasks, regions and serial code")  # fmt: skip
    parser.add_argument("--sample-hz", dest="sample", metavar="HZ", type=recording.rate,
                        help=f"the same, HZ a second (1 to {recording.MOST_HZ})")  # fmt: skip
    parser.add_argument("--aggregate", action="store_true",
                        help="keep sums by kind of task, loop and MPI function only, in memory that does not grow with "
                        "the run")  # fmt: skip
    parser.add_argument("--counters", metavar="LIST",
                        help="what to count for each kind of task, by PAPI, separated by commas (papi_avail lists "
                        "them)")  # fmt: skip
    add_views(parser)
    # After the run: its wait status, the folder, and whether that was there before.
    parser.add_argument("--ended", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--into", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--was-there", action="store_true", help=argparse.SUPPRESS)
    run.add_program(parser)
    return parser.parse_args(arguments)


def say_nothing_recorded(program: str, status: int) -> int:
    """The wait status to end with: a run without a trace is no success."""
    if status:
        say(f"nothing was recorded: {program} {how_it_ended(status)} before it had done anything that is recorded")
        return status
    say(f"nothing was recorded: {program} has used neither OpenMP, on a runtime with OMPT, nor MPI; a program that is "
        "linked statically, or that clears LD_PRELOAD, loads no recorder")  # fmt: skip
    return REFUSED << 8


def how_it_ended(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"died of signal {os.WTERMSIG(status)}"
    return f"failed with status {os.WEXITSTATUS(status)}"


def report(options: argparse.Namespace, status: int) -> None:
    """A report that cannot be made is said, and leaves the program's status alone."""
    if status:
        say(f"{options.program} {how_it_ended(status)}: its trace may be incomplete")
    try:
        if sys.version_info < (3, 10):
            from marline import older_python

            older_python.refuse_what_needs_newer("the report", ["report", str(options.trace)])
        from marline.report.command import report_short

        report_short(options.trace, options)
    except Refusal as refusal:
        say(str(refusal))
    folder = os.path.relpath(options.trace) if Path.cwd() in options.trace.parents else options.trace
    say(f"the trace is in {folder}; `marline report {folder}` prints the full report")
