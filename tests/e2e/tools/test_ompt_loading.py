# SPDX-License-Identifier: Apache-2.0
"""How tools come into a process (OpenMP 5.2, section 19.2): by OMP_TOOL_LIBRARIES, linked into the program, preloaded;
what OMP_TOOL and OMP_TOOL_VERBOSE_INIT do; omp_control_tool; and LLVM's ompt-multiplex.h, by which two tools share one
runtime."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import PROGRAMS, SECONDS, Result, run

LLVM = Path("/usr/lib/llvm-19/lib")
SEEN = "threads=2 regions=1 implicit=3 tasks=20 completions=20 controls=3 lost=0"
NO_TOOL = "control -2 -2 -2 count 20"
CONTROLLED = "control 0 0 0 count 20"


def compile_c(*words: str | Path) -> None:
    subprocess.run(["clang-19", "-Wall", *map(str, words)], check=True, capture_output=True, timeout=SECONDS)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program alone, and with the tool linked in; tools: one, two, and one that declines."""
    made = tmp_path_factory.mktemp("loading")
    program, tool = PROGRAMS / "ompt_client_program.c", PROGRAMS / "ompt_client.c"
    compile_c("-fopenmp", program, "-o", made / "program", f"-L{LLVM}")
    compile_c("-fopenmp", program, tool, "-DNAME=linked", "-o", made / "with_tool", f"-L{LLVM}")
    for name in ("one", "two"):
        compile_c("-shared", "-fPIC", tool, f"-DNAME={name}", "-o", made / f"{name}.so")
    declines = made / "declines.c"
    declines.write_text("void *ompt_start_tool(unsigned v, const char *r) { (void)v; (void)r; return 0; }\n")
    compile_c("-shared", "-fPIC", declines, "-o", made / "declines.so")
    stays_off = made / "stays_off.c"
    stays_off.write_text(
        "#include <omp-tools.h>\n#include <stdio.h>\n"
        "static int begin(ompt_function_lookup_t l, int d, ompt_data_t *t) { (void)l; (void)d; (void)t; return 0; }\n"
        'static void end(ompt_data_t *t) { (void)t; puts("ended"); }\n'
        "ompt_start_tool_result_t *ompt_start_tool(unsigned v, const char *r) {\n"
        "  static ompt_start_tool_result_t result = {begin, end, {0}}; (void)v; (void)r; return &result; }\n"
    )
    compile_c("-shared", "-fPIC", stays_off, "-o", made / "stays_off.so")
    empty = made / "empty.c"
    empty.write_text("int nothing;\n")
    compile_c("-shared", "-fPIC", empty, "-o", made / "empty.so")
    return made


@pytest.fixture(params=["marline", "libomp"])
def start(request: pytest.FixtureRequest, build: Path, folder: Path) -> Callable[..., Result]:
    """Runs a program of the folder on Marline, or on LLVM's runtime: what is asked here is OpenMP's, not ours."""
    path = f"{build}/lib/marline/compat:{build}/lib" if request.param == "marline" else str(LLVM)
    if request.param == "libomp" and not (LLVM / "libomp.so.5").exists():
        pytest.skip("no libomp of LLVM 19")
    return lambda name="program", **changes: run([folder / name], LD_LIBRARY_PATH=path, **changes)


def lines(result: Result) -> list[str]:
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_the_first_library_that_starts_a_tool_wins(start: Callable[..., Result], folder: Path) -> None:
    tools = [folder / "missing.so", folder / "empty.so", folder / "declines.so", folder / "one.so", folder / "two.so"]
    assert lines(start(OMP_TOOL_LIBRARIES=":".join(map(str, tools)))) == [CONTROLLED, f"one: {SEEN}"]


def test_a_tool_in_the_program_comes_before_libraries(start: Callable[..., Result], folder: Path) -> None:
    assert lines(start("with_tool", OMP_TOOL_LIBRARIES=str(folder / "one.so"))) == [CONTROLLED, f"linked: {SEEN}"]
    preloaded = start(LD_PRELOAD=str(folder / "two.so"), OMP_TOOL_LIBRARIES=str(folder / "one.so"))
    assert lines(preloaded) == [CONTROLLED, f"two: {SEEN}"]


def test_no_tool(start: Callable[..., Result], folder: Path) -> None:
    assert lines(start()) == [NO_TOOL]
    assert lines(start("with_tool", OMP_TOOL="disabled")) == [NO_TOOL]
    assert lines(start(OMP_TOOL_LIBRARIES=str(folder / "declines.so"))) == [NO_TOOL]
    assert lines(start(OMP_TOOL_LIBRARIES=str(folder / "stays_off.so"))) == [NO_TOOL]


def test_a_value_that_is_none_is_said(build: Path, folder: Path) -> None:
    path = f"{build}/lib/marline/compat:{build}/lib"
    result = run([folder / "with_tool"], LD_LIBRARY_PATH=path, OMP_TOOL="perhaps")
    assert lines(result) == [CONTROLLED, f"linked: {SEEN}"]
    assert result.stderr.count("OMP_TOOL") == 1
    assert "perhaps" in result.stderr


@pytest.mark.parametrize("where", ["stdout", "stderr", "file"])
def test_verbose(build: Path, folder: Path, tmp_path: Path, where: str) -> None:
    path = f"{build}/lib/marline/compat:{build}/lib"
    log = tmp_path / "log"
    tools = f"{folder}/missing.so:{folder}/empty.so:{folder}/declines.so:{folder}/one.so"
    result = run([folder / "program"], LD_LIBRARY_PATH=path, OMP_TOOL_LIBRARIES=tools,
                 OMP_TOOL_VERBOSE_INIT=str(log) if where == "file" else where)  # fmt: skip
    said = {"stdout": result.stdout, "stderr": result.stderr, "file": log.read_text() if log.exists() else ""}
    assert [text for text in ("missing.so", "empty.so", "declines.so", "one.so") if text in said[where]] == [
        "missing.so", "empty.so", "declines.so", "one.so"
    ]  # fmt: skip
    assert not [name for name, text in said.items() if name != where and "missing.so" in text]
    silent = run([folder / "program"], LD_LIBRARY_PATH=path, OMP_TOOL_LIBRARIES=tools, OMP_TOOL_VERBOSE_INIT="disabled")
    assert "missing.so" not in silent.stdout + silent.stderr


def test_two_tools_share_the_runtime(start: Callable[..., Result], folder: Path) -> None:
    library = folder / "multiplex.so"
    if not library.exists():
        words = ["-shared", "-fPIC", f"-I{LLVM}/clang/19/include", "-DMULTIPLEX", "-DNAME=first",
                 PROGRAMS / "ompt_client.c", "-o", library]  # fmt: skip
        made = subprocess.run(["clang-19", *map(str, words)], capture_output=True, text=True, timeout=SECONDS,
                              check=False)  # fmt: skip
        if "ompt-multiplex.h' file not found" in made.stderr:
            pytest.skip("no ompt-multiplex.h (Debian: libomp-19-dev)")
        assert made.returncode == 0, made.stderr
    seen = start(OMP_TOOL_LIBRARIES=str(library), CLIENT_TOOL_LIBRARIES=f"{folder}/two.so")
    out = lines(seen)
    assert out[0].startswith("control 0 0 0")
    assert sorted(out[1:]) == [f"first: {SEEN}", f"two: {SEEN}"]


DEVICE = """#include <stdio.h>
int main(void) {
  int team = 0, there = 0;
#pragma omp parallel num_threads(2) reduction(+ : team)
  team++;
#pragma omp target map(tofrom : there)
  there = 1;
  return printf("%d %d\\n", team, there) < 0;
}
"""


def test_libomptarget_brings_no_second_runtime(build: Path, folder: Path) -> None:
    """It opens libomp.so, which would start the tool once more and read the environment."""
    if not (LLVM / "libomptarget.so").exists() or shutil.which("clang-linker-wrapper-19") is None:
        pytest.skip("offloading needs libomp-19-dev and clang-tools-19")
    source = folder / "device.c"
    source.write_text(DEVICE)
    compile_c("-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu", source, "-o", folder / "device", f"-L{LLVM}")
    result = run([build / "bin" / "marline", "run", folder / "device"], LD_LIBRARY_PATH=str(LLVM), OMP_STACKSIZE="abc",
                 OMP_TOOL_VERBOSE_INIT="stderr", OMP_TOOL_LIBRARIES=str(folder / "declines.so"))  # fmt: skip
    assert (result.returncode, result.stdout) == (0, "2 1\n"), result.stderr
    assert result.stderr.count("declines.so") == 1
    assert result.stderr.count("OMP_STACKSIZE") == 1  # Marline's warning, and no other runtime's
    assert "OMP:" not in result.stderr
