# SPDX-License-Identifier: Apache-2.0
"""Every option of docs/options.md with a value that cannot be used: one message in one form, and then the default, or
the end of the program with exit code 2. And misspelt names of options."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import CROWDED, Result, run
from nodes_support import Jobs, built, built_with_mpi, jobs  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parents[3]
ROW = re.compile(r"^\| `(\w+)` \| (?:`(.*?)`|\(empty\))? \| (.*?) \| ", re.MULTILINE)
BAD = "no*such"
# A text of any form, which is no mistake: a format, a list of names or paths.
ANY_TEXT = {"OMP_AFFINITY_FORMAT", "OMP_TOOL_LIBRARIES", "OMP_TOOL_VERBOSE_INIT", "MARLINE_LIBOMPTARGET",
            "MARLINE_MPI_NEVER_SUSPEND"}  # fmt: skip
VALUES = {"MARLINE_NODES_AS": ",b", "MARLINE_TRACE_COUNTERS": ",b", "MARLINE_TRACE_DIR": f"/dev/null/{BAD}"}


def options(title: str) -> dict[str, tuple[str, str]]:
    """Default and accepted values of each option in the table with this title."""
    table = (ROOT / "docs" / "options.md").read_text().partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    found = {name: (default, accepted.replace("\\|", "|")) for name, default, accepted in ROW.findall(table)}
    assert len(found) == table.count("\n| `"), title
    return found


RUNTIME = options("OpenMP's variables") | options("Marline's own")
MPI = options("MPI: libmarline-mpi's")
DEVICES = options("Devices: libmarline-target's")
TRACE = options("Recording: libmarline-trace's")
FOREIGN = options("Other runtimes' variables")


def own_lines(result: Result) -> list[str]:
    return [line for line in result.stderr.splitlines() if line.startswith("marline")]


def kept(name: str, table: dict[str, tuple[str, str]], value: str = BAD) -> str:
    default, accepted = table[name]
    return (f'marline: warning: {name}="{value}" is not usable: expected {accepted}; using the default, '
            f'"{default}"')  # fmt: skip


def ended(name: str, line: str, accepted: str) -> None:
    """Where a position is known, it is named."""
    value = re.escape(VALUES.get(name, BAD))
    form = rf'marline: fatal: {name}="{value}" is not usable(?: from ".*" on)?: expected {re.escape(accepted)}'
    assert re.fullmatch(form, line), line


def test_the_runtimes_options_keep_their_defaults(marline: Callable[..., Result], compiled: Callable[..., Path]
                                                  ) -> None:  # fmt: skip
    bad = RUNTIME.keys() - ANY_TEXT
    result = marline("run", compiled("gcc-12", "probe.c", "-fopenmp"), **dict.fromkeys(bad, BAD))
    assert result.returncode == 0, result.stderr
    lines = [line.replace('using "cores"', 'using the default, ""') for line in own_lines(result)]  # OMP_PLACES
    assert sorted(lines) == sorted(kept(name, RUNTIME) for name in bad)


def test_other_runtimes_variables_leave_the_defaults(marline: Callable[..., Result], compiled: Callable[..., Path]
                                                     ) -> None:  # fmt: skip
    result = marline("run", compiled("gcc-12", "probe.c", "-fopenmp"), **dict.fromkeys(FOREIGN, BAD))
    assert result.returncode == 0, result.stderr
    lines = own_lines(result)
    assert len(lines) == len(FOREIGN)
    for name, (_, accepted) in FOREIGN.items():
        form = f'marline: warning: {name}="{BAD}" is not usable: expected {accepted}; using '
        assert sum(line.startswith(form) for line in lines) == 1, (name, lines)


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_the_mpi_layers_options_keep_their_defaults_and_the_first_rank_says_so(
        marline: Callable[..., Result], compiled: Callable[..., Path], monkeypatch: pytest.MonkeyPatch, mpi: str
) -> None:  # fmt: skip
    bad = MPI.keys() - ANY_TEXT
    program = built_with_mpi(compiled, monkeypatch, "gcc", mpi, "ranks.c")
    result = marline("run", "-n", "2", "-t", "1", program, OMP_SCHEDULE=BAD, OMP_NUM_THREAD="2",
                     **dict.fromkeys(bad, BAD), **CROWDED)  # fmt: skip
    assert result.returncode == 0, result.stderr
    once = [kept(name, MPI) for name in bad] + [kept("OMP_SCHEDULE", RUNTIME)]
    misspelt = "marline: warning: OpenMP has no variable OMP_NUM_THREAD: it is ignored; did you mean OMP_NUM_THREADS?"
    assert sorted(line for line in own_lines(result) if "cores" not in line) == sorted([*once, misspelt])


@pytest.mark.parametrize("name", sorted(DEVICES.keys() - ANY_TEXT))
def test_a_device_option_ends_a_program_that_has_nothing_for_it(
        marline: Callable[..., Result], compiled: Callable[..., Path], name: str
) -> None:  # fmt: skip
    program = built(compiled, "clang", "cluster.c")
    result = marline("run", program, **{name: VALUES.get(name, BAD)}, OMP_TARGET_OFFLOAD="disabled")
    assert (result.returncode, result.stdout, len(own_lines(result))) == (2, "", 1), result.stderr
    ended(name, own_lines(result)[0], DEVICES[name][1])


def test_a_job_reports_a_device_option_once(jobs: Jobs, compiled: Callable[..., Path],  # noqa: F811
                                            monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    """MARLINE_NODE_DEVICES may be another one for each worker."""
    with_mpi = built_with_mpi(compiled, monkeypatch, "gcc", "mpich", "cluster_ranks.c")
    devices, program = "--devices=cluster", built(compiled, "gcc", "cluster.c")
    for result, name, most in (
        (jobs.run("-n", 3, devices, "-t", 1, "--", program, MARLINE_CLUSTER_MEMORY=BAD), "MARLINE_CLUSTER_MEMORY", 1),
        (jobs.run("-n", 2, devices, "-t", 1, "--", program, MARLINE_NODE_DEVICES=BAD), "MARLINE_NODE_DEVICES", 2),
        (jobs.run("-n", 2, "--devices=nodes", with_mpi, MARLINE_NETWORK=BAD), "MARLINE_NETWORK", 1),
    ):
        lines = [line for line in own_lines(result) if "fatal" in line]
        assert result.returncode == 2 and 1 <= len(lines) <= most, result.stderr
        for line in lines:
            ended(name, line, DEVICES[name][1])


@pytest.mark.parametrize("name", sorted(TRACE))
def test_an_option_of_the_recorder_ends_the_program(build: Path, compiled: Callable[..., Path], tmp_path: Path,
                                                    name: str) -> None:  # fmt: skip
    program = compiled("gcc-12", "probe.c", "-fopenmp")
    preloaded = ":".join(str(build / "lib" / one) for one in ("marline/libmarline-trace.so", "libmarline.so"))
    result = run([program], LD_PRELOAD=preloaded,
                 **{"MARLINE_TRACE_DIR": str(tmp_path / "trace"), name: VALUES.get(name, BAD)})  # fmt: skip
    assert (result.returncode, result.stdout, len(own_lines(result))) == (2, "", 1), result.stderr
    folder = "a folder that can be made and written (Not a directory)"
    ended(name, own_lines(result)[0], folder if name == "MARLINE_TRACE_DIR" else TRACE[name][1])


MISSPELT = {
    "MARLINE_TRHEADS": "OMP_NUM_THREADS", "MARLINE_NUM_THREADS": "OMP_NUM_THREADS",
    "MARLINE_DEVICS": "MARLINE_DEVICES", "MARLINE_CLUSTER_WIRTES": "MARLINE_CLUSTER_WRITES",
    "MARLINE_MPI_WACTH": "MARLINE_MPI_WATCH", "MARLINE_TRACE_DRI": "MARLINE_TRACE_DIR",
    "MARLINE_SHEDULE": "MARLINE_SCHEDULE", "MARLINE_SPIN_US": "MARLINE_SPIN",
    "OMP_AVAILABLE_DEVICE": "OMP_AVAILABLE_DEVICES", "OMP_NUM_THREAD": "OMP_NUM_THREADS",
}  # fmt: skip
# Not Marline's, or set by its own command.
SILENT = {"MARLINE_HOME": "/opt/marline", "MARLINE_ROOT": "/opt/marline", "MARLINE_VERSION": "1", "MARLINE_RUN": "7",
          "MARLINE_BUILD": "release", "MARLINE_CHECK_DIR": ""}  # fmt: skip


def test_a_misspelt_option_of_any_library_is_said_with_the_one_that_is_meant(
        marline: Callable[..., Result], compiled: Callable[..., Path]) -> None:  # fmt: skip
    result = marline("run", compiled("gcc-12", "probe.c", "-fopenmp"), **dict.fromkeys(MISSPELT, "1"), **SILENT)
    assert result.returncode == 0, result.stderr
    meant = {line.split()[6].rstrip(":"): line.split()[-1].rstrip("?") for line in own_lines(result)}
    assert meant == MISSPELT and len(own_lines(result)) == len(MISSPELT)


def test_every_option_is_known_by_its_name(marline: Callable[..., Result], compiled: Callable[..., Path]) -> None:
    known = RUNTIME | MPI | DEVICES | TRACE
    given = {name: default for name, (default, _) in known.items() if default}
    result = marline("run", compiled("gcc-12", "probe.c", "-fopenmp"), **given)
    assert (result.returncode, own_lines(result)) == (0, []), result.stderr


CHANGES_ITS_ENVIRONMENT = """
#include <stdlib.h>
int main(void) {
  setenv("OMP_NUM_THREADS", "2", 1);
#pragma omp parallel
  { }
}
"""


def test_a_line_comes_once_though_the_environment_is_read_twice(marline: Callable[..., Result], tmp_path: Path
                                                                ) -> None:  # fmt: skip
    (tmp_path / "twice.c").write_text(CHANGES_ITS_ENVIRONMENT)
    assert run(["gcc-12", "-fopenmp", tmp_path / "twice.c", "-o", tmp_path / "twice"]).returncode == 0
    result = marline("run", tmp_path / "twice", OMP_SCHEDULE=BAD, MARLINE_DEVICS="1", KMP_BLOCKTIME=BAD)
    assert (result.returncode, len(own_lines(result))) == (0, 3), result.stderr
