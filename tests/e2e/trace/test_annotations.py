# SPDX-License-Identifier: Apache-2.0
"""Annotations that a program has for NVTX, Caliper or Score-P appear as its own regions do. NVTX's headers are the real
ones (PyPI's nvidia-nvtx). Caliper and Score-P are stand-ins with their prototypes, which count the calls that reach
them."""
from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

import handmade  # noqa: F401  first: it finds marline
from conftest import PROGRAMS, SECONDS, Result
from test_trace_control import RECORDER, ROOT, Records, execute

from marline.trace.analysis import Analysis
from marline.trace.passes.regions import Spans, thread_names

SOURCES = PROGRAMS / "annotations"
CALIPER_REGIONS = Counter(["assembly", "timestep", "halo", "io", "method=gmres", "level", "tolerance", "main loop",
                           "iteration#main", "solver", "solver", "solve", "inner", "sweep", "step", "after the step"])


def nvtx_headers() -> Path:
    """Of PyPI's package nvidia-nvtx, in a folder by the version of CUDA."""
    for folder in sys.path:
        for found in sorted(Path(folder or ".").glob("nvidia/*/include/nvtx3/nvToolsExt.h")):
            return found.parents[1]
    pytest.skip("no headers of NVTX: tools/install_deps.sh test")


def build(folder: Path, *words: str | Path, compiler: str = "gcc") -> Path:
    program = folder / "program"
    subprocess.run([compiler, "-O1", "-g", *map(str, words), "-o", str(program)], check=True, timeout=SECONDS)
    return program


def regions_of(folder: Path) -> Spans:
    return Analysis(Records(folder / "trace").trace)["regions"]


def counted(found: Spans) -> Counter[str]:
    return Counter(found.names[row] for row in found.name.tolist())


@pytest.fixture(scope="module")
def nvtx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nvtx")
    return build(folder, "-fopenmp", f"-I{nvtx_headers()}", SOURCES / "nvtx.c", "-ldl")


def test_nvtx(nvtx: Path, tmp_path: Path, marline: Callable[..., Result]) -> None:
    """`marline run --trace` is enough: it names the recorder to NVTX."""
    result = marline("run", "-t", "2", "--trace", tmp_path / "trace", nvtx)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    trace = Records(tmp_path / "trace").trace
    of = Analysis(trace)
    found, marks = of["regions"], of["marks"]
    assert counted(found) == {"whole": 1, "setup": 1, "Fläche € 𝄞": 2, "in a task": 1, "outer": 1, "solver: smooth": 1}
    assert found.closed.all() and (found.end >= found.start).all()
    # The range of the domain overlaps the one outside of it in part; a started range belongs to no stack.
    overlapping = {found.names[row] for row in found.name[~found.nests].tolist()}
    assert overlapping == {"outer", "solver: smooth", "whole"}
    (smooth,) = (row for row in range(len(found.name)) if found.names[found.name[row]] == "solver: smooth")
    assert found.color[smooth] == 0x112233
    assert [row["name"] for row in of.document("marks")] == ["checkpoint", "solver: smooth"]
    (in_a_task,) = (row for row in range(len(found.name)) if found.names[found.name[row]] == "in a task")
    assert of["tasks"].index(found.task[[in_a_task]]).tolist() == [0]
    assert list(thread_names(trace).values()) == ["driver"] and len(marks.time) == 2


def test_nvtx_costs_nothing_unless_it_is_recorded(nvtx: Path, tmp_path: Path, marline: Callable[..., Result]) -> None:
    """Without these events, and without a trace, NVTX attaches nothing; a tool that the caller has chosen stays."""
    result = marline("run", "-t", "2", "--trace", tmp_path / "trace", nvtx, MARLINE_TRACE_EVENTS="task")
    assert result.returncode == 0 and not regions_of(tmp_path).name.size
    result = marline("run", "--trace", tmp_path / "other", "--", "printenv", "NVTX_INJECTION64_PATH",
                     NVTX_INJECTION64_PATH="/another/tool.so")  # fmt: skip
    assert result.stdout.strip() == "/another/tool.so"


def test_caliper(tmp_path: Path) -> None:
    library = tmp_path / "libcaliper.so"
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", str(SOURCES / "caliper.cpp"), "-o", str(library)], check=True,
                   timeout=SECONDS)
    program = build(tmp_path, SOURCES / "caliper_program.cpp", library, f"-Wl,-rpath,{tmp_path}", compiler="g++")
    result = execute(program)
    assert (result.stdout, result.stderr) == ("Caliper: 16 begun, 16 ended\n", "")
    found = regions_of(tmp_path)
    assert counted(found) == CALIPER_REGIONS
    assert found.closed.all()
    # The destructor of the inner loop, which has ended, ends nothing.
    start, end = (dict(zip((found.names[name] for name in found.name), times)) for times in (found.start, found.end))
    assert end["step"] <= start["after the step"] <= end["after the step"] <= end["sweep"]
    assert {found.names[row] for row in found.name[~found.nests].tolist()} == {"timestep", "halo"}


def test_caliper_of_a_plugin(tmp_path: Path) -> None:
    """The plug-in's library is loaded for the plug-in alone, after a call that found no Caliper at all."""
    library, plugin = tmp_path / "libcaliper.so", tmp_path / "plugin.so"
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", str(SOURCES / "caliper.cpp"), "-o", str(library)], check=True,
                   timeout=SECONDS)
    subprocess.run(["g++", "-O1", "-shared", "-fPIC", "-Dmain=run", str(SOURCES / "caliper_program.cpp"), str(library),
                    f"-Wl,-rpath,{tmp_path}", "-o", str(plugin)], check=True, timeout=SECONDS)  # fmt: skip
    source = tmp_path / "host.c"
    source.write_text("""
    #include <dlfcn.h>
    int main(int count, char **arguments) {
      void (*early)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "cali_begin_region");
      void (*done)(const char *) = (void (*)(const char *))dlsym(RTLD_DEFAULT, "cali_end_region");
      if (!early || !done) return 2;
      early("before");
      done("before");
      void *plugin = dlopen("PLUGIN", RTLD_NOW | RTLD_LOCAL);
      if (!plugin) return 3;
      ((int (*)(void))dlsym(plugin, "_Z3runv"))();
      return count != 1;
    }
    """.replace("PLUGIN", str(plugin)))
    result = execute(build(tmp_path, source, "-ldl"))
    assert (result.stdout, result.stderr) == ("Caliper: 16 begun, 16 ended\n", "")
    assert counted(regions_of(tmp_path)) == CALIPER_REGIONS + Counter(["before"])


@pytest.mark.parametrize("there", [True, False], ids=["Score-P", "the recorder in its place"])
def test_scorep(tmp_path: Path, there: bool) -> None:
    """A program that is linked with the recorder instead of Score-P has all its regions, too."""
    library = RECORDER
    if there:
        library = tmp_path / "libscorep.so"
        subprocess.run(["gcc", "-O1", "-shared", "-fPIC", str(SOURCES / "scorep.c"), "-o", str(library)], check=True,
                       timeout=SECONDS)
    fortran = tmp_path / "part.o"
    subprocess.run(["gfortran", "-c", str(SOURCES / "scorep_part.f90"), "-o", str(fortran)], check=True,
                   timeout=SECONDS)
    program = build(tmp_path, SOURCES / "scorep_program.c", fortran, library, f"-Wl,-rpath,{library.parent}")
    result = execute(program)
    said = "Score-P: 3 defined, 6 entered, 6 left, 0 unknown\n" if there else ""
    assert (result.stdout, result.stderr) == (said, "")
    found = regions_of(tmp_path)
    assert counted(found) == {"begun": 2, "defined before": 2, "by name": 1, "of Fortran": 1}
    assert found.closed.all() and found.nests.all()


def test_a_ring_keeps_regions_that_began_before(tmp_path: Path) -> None:
    """The ring has room for a twentieth of the records. Of two groups that overlap, the one that ended first is gone;
    of ranges that start in one thread, the one that ends in another."""
    source = tmp_path / "long.c"
    source.write_text(r"""
    #include <marline/trace.h>
    #include <nvtx3/nvToolsExt.h>
    #include <pthread.h>
    static nvtxRangeId_t ended;
    static void *end(void *unused) { nvtxRangeEnd(ended); return unused; }
    static void regions(int count) {
      for (int i = 0; i < count; i++) { marline_region_begin("short"); marline_region_end(); }
    }
    int main(void) {
      nvtxEventAttributes_t whole = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
          .messageType = NVTX_MESSAGE_TYPE_ASCII, .message.ascii = "inside",
          .colorType = NVTX_COLOR_ARGB, .color = 0xff112233};
      nvtxDomainHandle_t solver = nvtxDomainCreateA("solver");
      pthread_t thread;
      nvtxRangePushA("gone");
      nvtxDomainRangePushEx(solver, &whole);
      nvtxRangePop();
      ended = nvtxRangeStartA("gone, too");
      nvtxRangeStartEx(&whole);
      pthread_create(&thread, 0, end, 0);
      pthread_join(thread, 0);
      regions(200000);
      nvtxDomainRangePop(solver);
      return 0;
    }
    """)
    program = build(tmp_path, f"-I{nvtx_headers()}", f"-I{ROOT}/include", source, "-ldl", "-pthread")
    result = execute(program, MARLINE_TRACE_RING="1M", NVTX_INJECTION64_PATH=str(RECORDER))
    assert result.stderr == ""
    trace = Records(tmp_path / "trace").trace
    found = Analysis(trace)["regions"]
    count = counted(found)
    assert trace.began > 0 and 0 < count.pop("short") < 100_000
    assert count == {"solver: inside": 1, "inside": 1}
    for name, closed in (("solver: inside", True), ("inside", False)):
        (row,) = (row for row, number in enumerate(found.name.tolist()) if found.names[number] == name)
        assert (found.start[row], found.closed[row], found.color[row]) == (0, closed, 0x112233)
