# SPDX-License-Identifier: Apache-2.0
"""The README: its first screen has what a visitor looks for, its figures are those of the results, its program compiles
and prints what the README says. CITATION.cff names the version that CMake names."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import SECONDS

ROOT = Path(__file__).resolve().parents[3]


def test_the_first_screen():
    """What a visitor sees first, in 40 lines: figures with a link to their measurement, the commands, for whom."""
    text = (ROOT / "README.md").read_text()
    lines = text.split("\n## ", 1)[0].rstrip().splitlines()
    assert lines[0] == "# Marline" and len(lines) <= 40
    screen = "\n".join(lines)
    rows = [line for line in lines if line.startswith("|")][2:]
    assert 3 <= len(rows) <= 4 and all("](docs/results/" in row for row in rows)
    commands = ("marline run -n", "marline trace", "marline ps", "marline check", "--devices=cluster", "make demo",
                "make check")  # fmt: skip
    assert [command for command in commands if command not in screen] == []
    assert "](docs/README.md)" in screen and "Is it for you?" in screen


def value(text: str) -> str:
    """The number of a cell: without its unit, deviation, interval and mark."""
    return text.replace("*", "").split("±")[0].split("[")[0].split()[0].replace(",", "")


def column(page: str, row: str, variant: str) -> str:
    """A cell of a results page: of the first table whose heading has this variant and that has such a row."""
    heading: list[str] = []
    for line in (ROOT / "docs" / "results" / page).read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if variant in cells:
            heading = cells
        elif heading and line.startswith(f"| {row} |"):
            return cells[heading.index(variant)]
    raise AssertionError(f"{page} has no {row} of {variant}")


def test_the_readme_s_figures_are_the_results():
    """The table of the first screen beside the pages that it names, rounded as the table rounds."""
    table = [line.strip("|").split("|") for line in (ROOT / "README.md").read_text().splitlines()
             if line.startswith("|") and "docs/results/" in line]  # fmt: skip
    finish, metg, lulesh, kernels = ([cell.strip().replace("*", "") for cell in row[1:4]] for row in table)

    study = json.loads((ROOT / "docs" / "results" / "fugaku" / "results.json").read_text())
    rows = [row for row in study["results"] if "persistent" not in row["program"]
            and row["parameters"].get("form", "tasks") == "tasks"]  # fmt: skip
    for variants, said in ((["gcc12+libgomp"], finish[0]), (["clang19+libomp"], finish[1]),
                           (["gcc12+marline"], finish[2]), (["clang19+marline"], finish[2])):
        cells = [row["variants"][f"{name}, {mpi}"]["status"] for row in rows for name in variants
                 for mpi in ("openmpi", "mpich")]  # fmt: skip
        assert said == f"{cells.count('ok')} of {len(cells)}"

    row = "pattern=stencil_1d | 50 %"
    found = [column("metg/README.md", row, name)
             for name in ("gcc12+libgomp", "clang19+libomp", "gcc12+marline", "clang19+marline")]
    numbers = [f"{float(value(cell)):.1f}" for cell in found]
    assert metg == [f"{numbers[0]} µs", f"{numbers[1]} µs", f"{numbers[2]} to {numbers[3]} µs"]

    names = ("for gcc12+libgomp", "for clang19+libomp", "tasks clang19+marline")
    found = [column("lulesh_forms/README.md", "edge_110 | elapsed_s", name) for name in names]
    assert lulesh == [f"{value(cell)} s" for cell in found]

    row = "`target` without `nowait` in a task"
    found = [column("real-gpu.md", row, name) for name in ("libomp: ms", "Marline: ms")]
    assert kernels == ["", *(f"{value(cell)} ms" for cell in found)]


@pytest.mark.parametrize("compiler", ["gcc-12", "clang-19"])
def test_readme_program(compiler, marline, tmp_path):
    if shutil.which(compiler) is None or shutil.which("mpicc.openmpi") is None:
        pytest.skip(f"{compiler} or mpicc.openmpi is not installed")
    program = re.search(r"^```c\n(.*?)^```", (ROOT / "README.md").read_text(), re.DOTALL | re.MULTILINE)[1]
    source, binary = tmp_path / "exchange.c", tmp_path / "exchange"
    source.write_text(program)
    command = ["mpicc.openmpi", "-fopenmp", "-O2", "-Wall", "-Werror", str(source), "-o", str(binary)]
    subprocess.run(command, check=True, timeout=SECONDS, env={"OMPI_CC": compiler, "PATH": "/usr/bin:/bin"})
    result = marline("run", "-n", "2", "-t", "1", binary)
    assert result.returncode == 0, result.stderr
    assert sorted(result.stdout.splitlines()) == ["rank 0: 36", "rank 1: 28"]


def test_picture_is_there_and_small():
    picture = ROOT / "docs" / "images" / "cholesky-gantt.png"
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size < 300_000


def test_the_citation_names_this_version():
    project = re.search(r"project\(marline VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert f"\nversion: {project}\n" in (ROOT / "CITATION.cff").read_text()
