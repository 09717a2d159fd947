# SPDX-License-Identifier: Apache-2.0
"""`marline check`: runs a program as `marline run` does and says which tasks were suspended while they held a mutex,
and which target regions map frames that have been left. The program owns standard output: the findings go to standard
error, after the run. Standard library only."""

import argparse
import os
import tempfile
from pathlib import Path

from marline.check import dependences, findings
from marline.errors import REFUSED, say
from marline.launch import compiled, stopping
from marline.launch import options as run
from marline.layout import Layout

FOUND = 123  # the exit status


def main(arguments: list[str], prefix: Path) -> int:
    """Comes here twice: before the run, and as the command that the compiled half goes on with after it."""
    options = parse(arguments)
    if options.ended is not None:
        return finish(options, Layout(prefix))
    options.check = tempfile.mkdtemp(prefix="marline-check-")  # the compiled half sees to its removal
    afterwards = compiled.then("check", f"--in={options.check}", *arguments)
    recorder = ["--accesses"] if options.dependences else []
    compiled.become(Layout(prefix),
                    run.in_full(options, "--removes-check", "--command=marline check", *recorder,
                                *afterwards))  # fmt: skip


def finish(options: argparse.Namespace, layout: Layout) -> int:
    status = options.ended % compiled.UNSTARTED
    if options.ended >= compiled.UNSTARTED:
        return stopping.end_as(status)
    if options.dependences:
        if status == REFUSED << 8 and not any(options.folder.iterdir()):
            return REFUSED
        found = dependences.finish(options.folder, layout, options.program)
        return FOUND if found and not os.WIFSIGNALED(status) else stopping.end_as(status)
    result = findings.read(options.folder)
    if status == REFUSED << 8 and not result.processes:
        return REFUSED  # it has said why
    report(result, options.program)
    if result.found and not os.WIFSIGNALED(status):
        return FOUND
    return stopping.end_as(status)


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="marline check",
        description="Runs PROGRAM on Marline and finds tasks that are suspended while they hold a mutex, and target "
        "regions that are not complete when a frame that they write has been left.",
        epilog=f"Exit status: {FOUND} if there are any, else the program's; 125 if it was not started.",
    )
    parser.add_argument("--dependences", action="store_true",
                        help="find accesses of tasks that no dependence or wait orders instead; the program must be "
                        "compiled for it (docs/guide/dependences.md)")
    run.add_job_options(parser)
    # After the run: its wait status, and where the processes have written.
    parser.add_argument("--ended", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--in", dest="folder", type=Path, help=argparse.SUPPRESS)
    run.add_program(parser)
    return parser.parse_args(arguments)


def report(result: findings.Findings, program: str) -> int:
    """Returns how many places were found."""
    found = list(result.found.values())
    places = findings.Places(found)
    held = findings.texts((one for one in found if not one.frame), places)
    left = findings.texts((one for one in found if one.frame), places)
    for text in [*held, *left]:
        say(f"check: {text}")
    if result.lost:
        say(f"check: {result.lost} locks were not noted: more than the table holds were held at once")
    for note in places.notes:
        say(f"check: {note}")
    if not result.processes:
        say(f"check: nothing was checked: {program} never came to OpenMP")
        return 0
    unfinished = f"; {result.incomplete} did not end in order" if result.incomplete else ""
    count = {0: "no task was", 1: "1 place where a task was"}.get(len(held), f"{len(held)} places where tasks were")
    frames = {0: "", 1: ", 1 target region whose frame was left"}.get(
        len(left), f", {len(left)} target regions whose frames were left"
    )
    say(f"check: {count} suspended under a mutex{frames}, in {result.processes} process{'es' * (result.processes > 1)}"
        f"{unfinished}")  # fmt: skip
    return len(held) + len(left)
