# SPDX-License-Identifier: Apache-2.0
"""The options of `marline run`, which `marline trace` and `marline check` share. The compiled half of the command
(launch/) runs programs. Here are the help, and words that are not written in full. Standard library only."""

import argparse
from pathlib import Path

from marline.launch import compiled, recording
from marline.layout import Layout

MPIS = ("openmpi", "mpich", "standard")


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="marline run",
        description="Runs PROGRAM with Marline as its OpenMP runtime, or says why that cannot be.",
        epilog="Without -n the program runs here: also as `mpirun -n 4 marline run ./app` or `srun marline run ./app`. "
        "Exit status: the program's; 125 if Marline was not, or not alone, its OpenMP runtime.",
    )
    add_job_options(parser)
    parser.add_argument("--trace", metavar="DIR", type=Path,
                        help="record into DIR: for ranks that another launcher starts; else use `marline trace`")
    parser.add_argument("--check", metavar="DIR", type=Path,
                        help=argparse.SUPPRESS)  # how `marline check` starts its ranks
    parser.add_argument("--print", action="store_true",
                        help="run nothing, and print command lines by which mpirun, srun or a shell do the same")
    add_program(parser)
    return parser.parse_args(arguments)


def add_job_options(parser: argparse.ArgumentParser) -> None:
    """The options that every command that starts a program has."""
    parser.add_argument("-n", "-np", "--np", dest="ranks", type=_positive, metavar="RANKS",
                        help="start this many MPI ranks; with --devices=nodes and without MPI, processes of a job")
    parser.add_argument("-t", "--threads", type=_positive, metavar="THREADS", help="OpenMP threads of each rank")
    parser.add_argument("--mpi", choices=MPIS, help="for a program that loads MPI itself (scripts): which")
    parser.add_argument("--no-bind", action="store_true", help="leave ranks and threads where the launcher puts them")
    parser.add_argument("--devices", metavar="LIST",
                        help="devices for target regions, e.g. process:2, nodes or cluster; see MARLINE_DEVICES")
    parser.add_argument("--nodes-as", metavar="LIST",
                        help="made-up nodes of the job's processes, e.g. 0,0,1,1; `apart`: one for each")
    parser.set_defaults(trace=None, check=None, print=False)


def add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")


def in_full(options: argparse.Namespace, *more: str) -> list[str]:
    """The words of `marline run` for these options, as the compiled half knows them, and `more` of its options."""
    values = {"--np": options.ranks, "--threads": options.threads, "--mpi": options.mpi, "--devices": options.devices,
              "--nodes-as": options.nodes_as, "--trace": options.trace, "--check": options.check}  # fmt: skip
    words = [f"{name}={value}" for name, value in values.items() if value]
    words += [name for name, is_set in (("--no-bind", options.no_bind), ("--print", options.print)) if is_set]
    return ["run", *more, *words, "--", options.program, *options.arguments]


def main(arguments: list[str], prefix: Path) -> int:
    """Options that are abbreviated, mistakes, and --help."""
    compiled.become(Layout(prefix), in_full(parse(arguments)))


def claim(arguments: list[str], prefix: Path) -> int:
    """The same for a run that makes its folder for a trace: the compiled half asks for it."""
    options = parse(arguments)
    options.trace = recording.claim(options.trace)
    compiled.become(Layout(prefix), in_full(options, "--claimed"))


def _positive(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return value
