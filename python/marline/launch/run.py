# SPDX-License-Identifier: Apache-2.0
"""`marline run`: starts a program with Marline as its OpenMP runtime and proves that it was, or refuses with a reason.
Three checks: preflight.py before the start; runtime/platform/identity.cpp in the process, at its start and at its end;
and here, afterwards, that the process left its proof. With -n, the launcher starts one `marline run` per rank."""

import argparse
import os
import signal
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from marline.errors import NOT_EXECUTABLE, NOT_FOUND, REFUSED, Refusal, say
from marline.launch import child, job, launcher, node, preflight, printed, recording, scratch, stopping
from marline.launch import placement as placing
from marline.launch.stopping import Stopped
from marline.layout import Layout

MPI_NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "standard": "the standard ABI of MPI"}


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
    parser.add_argument("--mpi", choices=MPI_NAMES, help="for a program that loads MPI itself (scripts): which")
    parser.add_argument("--no-bind", action="store_true", help="leave ranks and threads where the launcher puts them")
    parser.add_argument("--devices", metavar="LIST",
                        help="devices for target regions, e.g. process:2, nodes or cluster; see MARLINE_DEVICES")
    parser.add_argument("--nodes-as", metavar="LIST",
                        help="made-up nodes of the job's processes, e.g. 0,0,1,1; `apart`: one for each")
    parser.set_defaults(command=parser.prog, trace=None, check=None, print=False)


def add_program(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, metavar="...")


def main(arguments: list[str], prefix: Path) -> int:
    options = parse(arguments)
    shares_folder = is_rank() or job.is_member()  # with the others of its job, of which one may have begun to record
    if options.trace and not shares_folder and not options.print:
        recording.claim(options.trace)
    return child.finish(start(options, Layout(prefix)))


def is_rank() -> bool:
    """Whether an MPI launcher started this process."""
    return launcher.rank(os.environ) is not None


def start(options: argparse.Namespace, layout: Layout) -> int:
    """Runs the program as the options say and returns its wait status."""
    try:
        return _start(options, layout)
    except Stopped as stopped:
        raise Stopped(stopped.number, " before the program had started") from None


def _start(options: argparse.Namespace, layout: Layout) -> int:
    require_preloadable(layout)
    launcher.refuse_rank_starter(options.command, options.program, options.arguments)
    layout.require(layout.runtime, "this installation is incomplete: install Marline again")
    environment = searched_environment(layout)
    program = preflight.examine(options.program, environment)
    options.mpi = which_mpi(options, program)
    if options.print:
        return show(options, layout, program, environment)
    _note_what_it_lacks(program, job.wants_nodes(job.own_workers(options.devices)[1]))
    if options.ranks and options.mpi:
        return launch_ranks(options, layout)
    workers, options.devices = job.own_workers(options.devices)
    if workers or options.ranks:
        return launch_job(options, layout, workers + 1 if workers else options.ranks)
    environment.update(marline_environment(options, layout, environment))
    put_sanitizer_first(environment, program)
    environment.update({} if options.no_bind else place(options.threads))
    return run_proved([options.program, *options.arguments], environment, layout)


def place(threads: int | None) -> dict[str, str]:
    """Binds this process, and so the program, to the cores that are this rank's; returns what binds its workers."""
    placement = placing.decide(node.situation(threads, os.environ))
    if placement.note:
        say(placement.note)
    if placement.cpus:
        try:
            os.sched_setaffinity(0, placement.cpus)
        except OSError as error:  # a control group has fewer than the launcher may use
            say(f"cannot be bound to {len(placement.cpus)} CPUs ({error.strerror}): the system places threads")
            return {}
    return dict(placement.variables)


def require_preloadable(layout: Layout) -> None:
    if any(separator in str(layout.prefix) for separator in " :"):
        raise Refusal(f"{layout.prefix} holds a space or a colon, which LD_PRELOAD cannot express; "
                      "install Marline elsewhere")  # fmt: skip


def which_mpi(options: argparse.Namespace, program: preflight.Program) -> str | None:
    """The implementation to serve: the one that the program is linked with, else the one asked for, else that of the
    launcher which has started this process."""
    linked = program.mpi
    if options.mpi and linked and options.mpi != linked:
        raise Refusal(f"--mpi {options.mpi}: {program.path} is linked with {MPI_NAMES[linked]}; leave --mpi out")
    mpi = linked or options.mpi
    workers, devices = job.own_workers(options.devices)
    if linked and not workers and job.wants_cluster(devices) and not job.is_member():
        raise Refusal(f"--devices cluster: {program.path} is linked with {MPI_NAMES[linked]}, and the ranks of a "
                      "program are no cluster; --devices cluster:K gives each rank K nodes of its own")  # fmt: skip
    if linked and not workers and job.wants_nodes(devices) and not (options.ranks or is_rank() or job.is_member()):
        raise Refusal(f"--devices nodes: {program.path} is linked with {MPI_NAMES[linked]}, whose ranks are each "
                      "other's devices: start them by -n RANKS, by mpirun, or by srun --mpi=pmix or --mpi=pmi2; "
                      "--devices nodes:K gives each rank K workers of its own")  # fmt: skip
    if options.ranks and not mpi and (workers or not job.wants_nodes(devices)):
        raise Refusal(f"-n {options.ranks}: {program.path} is linked neither with Open MPI nor with MPICH; "
                      "leave -n out, or name the implementation that it loads by --mpi")  # fmt: skip
    other = launcher.by_the_other(mpi, os.environ) if mpi and not options.ranks else None
    if other:
        raise Refusal(f"{program.path} uses {MPI_NAMES[mpi]} but was started by {MPI_NAMES[other]}'s launcher: "
                      f"every rank would be alone; start it by {launcher.launcher(mpi, os.environ)}")  # fmt: skip
    return mpi or (None if options.ranks else launcher.mpi_of_rank(os.environ))


def searched_environment(layout: Layout) -> dict[str, str]:
    """The caller's environment with Marline's stand-ins first on the library path."""
    environment = dict(os.environ)
    environment["LD_LIBRARY_PATH"] = _joined([str(layout.compat)], environment.get("LD_LIBRARY_PATH"))
    return environment


def marline_environment(options: argparse.Namespace, layout: Layout, environment: dict[str, str]) -> dict[str, str]:
    """What `run` adds for the program alone. The caller's own preloads stay in front: a tool that wraps MPI expects to
    be the first to see its calls."""
    libraries = []
    added = {}
    if options.trace:
        added.update(recording.environment(options.trace))
        libraries.append(recording.recorder(layout, options.mpi))
    if options.check:
        added["MARLINE_CHECK_DIR"] = str(options.check)
        libraries.append(layout.require(layout.checker, "this installation is incomplete: install Marline again"))
    if options.mpi:
        libraries.append(layout.require(layout.mpi(options.mpi), "this installation is incomplete: install Marline "
                                        "again"))  # fmt: skip
    libraries.append(layout.runtime)
    added["LD_PRELOAD"] = preloads(libraries, environment)
    if options.threads:
        added["OMP_NUM_THREADS"] = str(options.threads)
    if options.devices:
        added["MARLINE_DEVICES"] = options.devices
    if options.nodes_as:
        added["MARLINE_NODES_AS"] = options.nodes_as
    return added


def preloads(libraries: list[Path], environment: Mapping[str, str]) -> str:
    """LD_PRELOAD with `libraries` after what the caller preloads."""
    own = [str(library) for library in libraries]
    others = [word for word in environment.get("LD_PRELOAD", "").replace(":", " ").split() if word not in own]
    return ":".join(others + own)


def put_sanitizer_first(environment: dict[str, str], program: preflight.Program) -> None:
    """GCC's AddressSanitizer is a library that must be the first of the process. (Clang's is part of the program.)"""
    first = [str(path) for name, path in program.loaded.items() if name.startswith("libasan.so")]
    if first and first[0] not in environment["LD_PRELOAD"].split(":"):
        environment["LD_PRELOAD"] = ":".join([*first, environment["LD_PRELOAD"]])


def show(options: argparse.Namespace, layout: Layout, program: preflight.Program, environment: dict[str, str]) -> int:
    """Prints how to start the program without `marline run`, which only `nodes:K` needs all the same."""
    words, variables = [options.program, *options.arguments], {}
    workers, devices = job.own_workers(options.devices)
    options.nodes_as = job.named_nodes(options.nodes_as, workers + 1 if workers else options.ranks or 1)
    if workers:
        words = of_one_rank(options, layout)
    else:
        changed = {**environment, **marline_environment(options, layout, environment)}
        put_sanitizer_first(changed, program)
        variables = {name: value for name, value in changed.items() if os.environ.get(name) != value}
    if workers or not options.mpi and job.wants_nodes(devices):
        job.refuse_unfit(workers + 1 if workers else options.ranks or 1, options.nodes_as)
    start = launcher.unbound if workers else partial(launcher.command, threads=options.threads)
    words = [*printed.setting(variables), *words]
    for line in printed.lines(words, options.ranks, options.threads, options.mpi, start):
        print(line)
    return 0


def launch_ranks(options: argparse.Namespace, layout: Layout) -> int:
    options.nodes_as = job.named_nodes(options.nodes_as, options.ranks)
    workers, devices = job.own_workers(options.devices)
    if options.devices and not workers and job.wants_nodes(devices):
        job.refuse_unfit_ranks(options.ranks, options.nodes_as)
    words = launcher.unbound(options.mpi, options.ranks, os.environ)
    words += stopping.heeding_late([sys.executable, *of_one_rank(options, layout)])
    return child.run_launcher(words, os.environ)


def launch_job(options: argparse.Namespace, layout: Layout, count: int) -> int:
    options.nodes_as = job.named_nodes(options.nodes_as, count)
    job.refuse_unfit(count, options.nodes_as)
    job.refuse_wire(os.environ.get("MARLINE_WIRE", ""))
    return job.run([sys.executable, *of_one_rank(options, layout)], count, os.environ, are_commands=True)


def of_one_rank(options: argparse.Namespace, layout: Layout) -> list[str]:
    """The command line that a launcher starts for each rank: `marline run` without -n."""
    words = [str(layout.command), "run"]
    words += ["--mpi", options.mpi] if options.mpi else []
    words += ["-t", str(options.threads)] if options.threads else []
    words += ["--no-bind"] if options.no_bind or is_rank() else []  # a rank does not see its neighbours' workers
    words += ["--devices", options.devices] if options.devices else []
    words += ["--nodes-as", options.nodes_as] if options.nodes_as else []
    words += ["--trace", str(options.trace.resolve())] if options.trace else []
    words += ["--check", str(options.check)] if options.check else []
    return [*words, "--", options.program, *options.arguments]


def run_proved(words: list[str], environment: dict[str, str], layout: Layout) -> int:
    """Runs the program and returns its wait status: that of exit(REFUSED) if it left no proof of having run on this
    Marline."""
    with scratch.folder("marline-") as folder:
        proof = folder / "proof"
        arrived: set[int] = set()
        status = child.run(words, dict(environment, MARLINE_PROOF=str(proof)), arrived,
                           lambda process: _say_it_is_stopped(words[0], process))  # fmt: skip
        complaint = judge(proof.read_text().splitlines() if proof.exists() else [], status, words[0], layout)
    if complaint is None:
        if not arrived & {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}:  # by which launchers end the other ranks
            _say_which_rank_ended(words[0], status)
        return status
    if complaint:
        say(complaint)
    return REFUSED << 8  # where wait(2) keeps an exit status


def _which_process() -> str | None:
    """This one of its job, in words."""
    rank = launcher.rank(os.environ)
    if job.is_member():
        return f"process {os.environ[job.NUMBER]} of the job on {os.uname().nodename}"
    return None if rank is None else f"rank {rank} on {os.uname().nodename}"


def _say_it_is_stopped(program: str, process: int) -> None:
    """The others wait for it, and cannot know why."""
    which = _which_process()
    if which is not None:
        say(f"{which}: {program} (pid {process}) is stopped by SIGSTOP; the job waits for it until it gets SIGCONT")


def _say_which_rank_ended(program: str, status: int) -> None:
    """The launchers end the job when a rank fails. What they say of it names our own process, if anything. A process of
    a job without MPI says itself why it ends, unless it is killed."""
    rank = launcher.rank(os.environ)
    if job.is_member() and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        say(f"{_which_process()}: {program} ended with {_name_of_signal(signal.SIGKILL)}: by another process, or for "
            "want of memory")  # fmt: skip
        return
    if rank is None or status == 0 or (os.WIFEXITED(status) and os.WEXITSTATUS(status) in (NOT_EXECUTABLE, NOT_FOUND)):
        return
    how = f"exit status {os.WEXITSTATUS(status)}" if os.WIFEXITED(status) else _name_of_signal(os.WTERMSIG(status))
    say(f"{_which_process()}: {program} ended with {how}")


def _name_of_signal(number: int) -> str:
    return f"signal {number} ({stopping.words_for(number)})"


def judge(records: list[str], status: int, program: str, layout: Layout) -> str | None:
    """None if the records prove that Marline was the runtime; else why not ("" where the process said so itself)."""
    outcomes = [record.partition("\t") for record in records]
    if any(kind == "refused" for kind, _, _ in outcomes):
        return ""
    loaded = [path for kind, _, path in outcomes if kind == "loaded"]
    if not loaded:
        if _explains_itself(status):
            return None
        ended = f"{program} ended ({child.outcome(status)}) without ever loading Marline"
        return f"{ended}; does it, or a wrapper of it, clear LD_PRELOAD?"
    strangers = [path for path in loaded if not os.path.samefile(path, layout.runtime)]
    if strangers:
        return f"{program} ran on {strangers[0]}, not on {layout.runtime}; take the other one out of LD_PRELOAD"
    return None


def _explains_itself(status: int) -> bool:
    """The program may never have started: the loader or child.py has said why, or somebody stopped it."""
    if os.WIFSIGNALED(status):
        return os.WTERMSIG(status) in child.FORWARDED | {signal.SIGKILL}
    return os.WEXITSTATUS(status) in (NOT_EXECUTABLE, NOT_FOUND)


def _note_what_it_lacks(program: preflight.Program, wants_nodes: bool) -> None:
    is_first = launcher.rank(os.environ) in (None, "0") and not job.is_member()
    if program.is_script or not is_first:
        return
    if not program.uses_openmp:
        say(f"note: {program.path} itself uses no OpenMP; Marline serves what it loads or starts")
    elif wants_nodes and not program.uses_devices:
        triple = {"x86_64": "x86_64-pc-linux-gnu", "aarch64": "aarch64-unknown-linux-gnu"}[os.uname().machine]
        say(f"note: {program.path} has no target regions for devices; build it with Clang and "
            f"-fopenmp-targets={triple}, or with GCC")  # fmt: skip


def threads_in_force() -> int | None:
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) else None


def _joined(first: list[str], rest: str | None) -> str:
    return ":".join(first + ([rest] if rest else []))


def _positive(text: str) -> int:
    value = int(text) if text.isdecimal() else 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a positive whole number")
    return value
