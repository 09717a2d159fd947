# SPDX-License-Identifier: Apache-2.0
"""`make demo`: the same two Cholesky binaries (GCC's and Clang's) under the compilers' own OpenMP runtimes and under
Marline, 2 ranks with 1 and 2 threads each, as a table; then one recorded run as a trace for Perfetto and a chart.

Runs are interleaved, so that a change of the machine's speed meets all alike, and reported as medians. A stock run that
exceeds the time limit is reported as a hang; its configuration is not tried again. Those that are known to hang are
tried first, all at the same time, so that they cost the time limit once. If one does not hang, it is measured with the
others."""

import argparse
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from marline.errors import Refusal, say
from marline.launch import compiled
from marline.layout import Layout

MPI = "openmpi"
RANKS = 2
THREADS = (1, 2)
COMPILERS = {"gcc12": "GCC 12", "clang19": "Clang 19"}
OPENMP_SONAMES = ("libgomp.so.1", "libomp.so.5")
# Stock runtimes and threads per rank with which the ranks get stuck: each thread is blocked in a task's MPI call, and
# the tasks that would send the messages are still queued. On another machine the order of tasks may be a luckier one.
KNOWN_TO_HANG = {("libgomp.so.1", 1), ("libgomp.so.1", 2), ("libomp.so.5", 2)}
MARLINE_LIMIT = 120  # seconds; it only ends what would never end
# What a user's shell may hold that would make the stock runs other than stock, or the two kinds of runs unlike.
DROPPED = ("LD_PRELOAD", "LD_LIBRARY_PATH", "OMP_", "KMP_", "GOMP_", "MARLINE_", "OPENBLAS_")


@dataclass
class Case:
    """One binary, number of threads and runtime, and what its runs gave."""

    compiler: str
    threads: int
    runtime: str  # "Marline", or the file name of the stock runtime
    program: Path
    results: list[dict] = field(default_factory=list)
    fault: str | None = None

    @property
    def is_marline(self) -> bool:
        return self.runtime == "Marline"

    @property
    def is_known_to_hang(self) -> bool:
        return (self.runtime, self.threads) in KNOWN_TO_HANG

    @property
    def name(self) -> str:
        return f"{COMPILERS[self.compiler]} on {self.runtime}, {self.threads} thread{'' if self.threads == 1 else 's'}"

    def median(self, key: str) -> float:
        return statistics.median(result[key] for result in self.results)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    layout = Layout(options.build.resolve())
    try:
        cases = [case for compiler in COMPILERS for case in cases_of(compiler, layout)]
        print(f"Tiled Cholesky, blocking MPI calls inside tasks: n = {options.order}, tiles of {options.tile}, "
              f"{RANKS} ranks. Medians of {options.repeats}; a stock run hangs if it takes {options.limit} s.",
              flush=True)  # fmt: skip
        try_known_hangs([case for case in cases if case.is_known_to_hang], layout, options)
        for _ in range(options.repeats):
            for case in cases:
                if case.fault is None:
                    run_once(case, layout, options)
        print(table(cases))
        if any(case.fault for case in cases if case.is_marline):
            raise Refusal("a run on Marline failed, see the table: nothing was recorded")
        charts = record(cases[-1].program, layout, options)
    except Refusal as refusal:
        say(str(refusal))
        return 1
    print(charts)
    return 0


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="the build tree")
    parser.add_argument("--order", type=int, default=2048, help="of the matrix (default %(default)s)")
    parser.add_argument("--tile", type=int, default=256, help="edge of a tile (default %(default)s)")
    parser.add_argument("--repeats", type=int, default=3, help="runs of each case (default %(default)s)")
    parser.add_argument("--limit", type=int, default=5,
                        help="seconds after which a stock run counts as hung (%(default)s)")  # fmt: skip
    return parser.parse_args(arguments)


def cases_of(compiler: str, layout: Layout) -> list[Case]:
    program = layout.prefix / "apps" / f"cholesky-{compiler}-{MPI}"
    if not program.is_file():
        raise Refusal(f"{program} is missing; build it by `make demo`")
    lines = compiled.ask(layout, "libraries", str(program), environment=stock_environment(1))
    loaded = {line.split("\t")[1]: Path(line.split("\t")[2]) for line in lines if line.startswith("loaded\t")}
    stock = next((str(loaded[name]) for name in OPENMP_SONAMES if name in loaded), None)
    if stock is None:
        raise Refusal(f"{program}: its own OpenMP runtime is not installed; run tools/install_deps.sh demo")
    runtimes = (Path(stock).name, "Marline")
    return [Case(compiler, threads, runtime, program) for threads in THREADS for runtime in runtimes]


def stock_environment(threads: int) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(DROPPED)}
    return kept | {"OMP_NUM_THREADS": str(threads)}


def try_known_hangs(cases: list[Case], layout: Layout, options: argparse.Namespace) -> None:
    """A case that ends was not alone on the machine: it is measured later, with the others."""
    if not cases:
        return
    print(f"Known to hang, tried at once: {'; '.join(case.name for case in cases)}.", flush=True)
    with ThreadPoolExecutor(len(cases)) as threads:
        list(threads.map(lambda case: run_once(case, layout, options), cases))
    for case in cases:
        case.results.clear()


def run_once(case: Case, layout: Layout, options: argparse.Namespace) -> None:
    """One run; its result or its fault goes into `case`."""
    environment = stock_environment(case.threads)
    program = [str(case.program), "-n", str(options.order), "-b", str(options.tile), "--json"]
    if case.is_marline:
        words = [str(layout.command), "run", "-n", str(RANKS), "-t", str(case.threads), "--", *program]
    else:
        words = [*compiled.words_before_ranks(layout, MPI, RANKS, case.threads, environment), *program]
    seconds = MARLINE_LIMIT if case.is_marline else options.limit
    status, output, errors = run_limited(words, environment, seconds)
    lines = [line for line in output.splitlines() if line.startswith("{")]
    if status is None:
        case.fault = f"hang (> {seconds} s){', as known' if case.is_known_to_hang else ''}"
    elif status != 0 or not lines:
        case.fault = f"failed (status {status})"
        say(f"{' '.join(words)}: status {status}: {first_message(errors)}")
    else:
        case.results.append(json.loads(lines[-1]))


def run_limited(words: list[str], environment: dict[str, str], seconds: float) -> tuple[int | None, str, str]:
    """Exit status (None: the time is up, and everything started is ended), standard output and error."""
    process = subprocess.Popen(words, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, start_new_session=True)  # fmt: skip
    try:
        output, errors = process.communicate(timeout=seconds)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGTERM)  # the launcher ends its ranks
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return None, "", ""


def first_message(errors: str) -> str:
    """The first line that is not of the frame that the launcher draws around its own words."""
    return next((line for line in errors.splitlines() if line.strip("-= ")), "no message")


def table(cases: list[Case]) -> str:
    rows = [("compiler", "threads", "runtime", "time s", "GFLOP/s", "residual", "verdict", "speed-up")]
    stock: Case | None = None
    for case in cases:
        stock = stock if case.is_marline else case
        rows.append((COMPILERS[case.compiler], str(case.threads), case.runtime, *figures(case), speed_up(case, stock)))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def figures(case: Case) -> tuple[str, str, str, str]:
    if case.fault:
        return "-", "-", "-", case.fault
    worst = max(case.results, key=lambda result: result["residual"])
    return f"{case.median('seconds'):.3f}", f"{case.median('gflops'):.2f}", f"{worst['residual']:.1e}", worst["check"]


def speed_up(case: Case, stock: Case | None) -> str:
    if not case.is_marline or stock is None or case.fault:
        return ""
    return "stock hangs or fails" if stock.fault else f"{stock.median('seconds') / case.median('seconds'):.2f}x"


def record(program: Path, layout: Layout, options: argparse.Namespace) -> str:
    """Runs once with the recorder on, writes the charts and returns what to print about them."""
    folder = layout.prefix / "demo"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    order, threads = options.order, THREADS[-1]
    perfetto, picture = folder / "cholesky.pftrace", folder / "cholesky.png"
    # This Python has what a report needs; the one that `env` finds may not.
    words = [str(layout.command), "trace", "-n", str(RANKS), "-t", str(threads), "-o",
             str(folder / "trace"), "--perfetto", str(perfetto), "--png", str(picture), "--",
             str(program), "-n", str(order), "-b", str(options.tile)]  # fmt: skip
    status, _, errors = run_limited(words, stock_environment(threads), MARLINE_LIMIT)
    if status != 0:
        ended = "hung" if status is None else f"failed with status {status}"
        raise Refusal(f"the recorded run {ended}: {first_message(errors)}")
    if not picture.exists():
        raise Refusal(f"the trace {folder / 'trace'} was recorded, but not drawn: {first_message(errors)}")
    return f"\nOne recorded run, {RANKS} ranks x {threads} threads, n = {order}:\n{errors.rstrip()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
