# SPDX-License-Identifier: Apache-2.0
"""What the documentation says about the sources is true: files and functions that it names exist, links lead somewhere,
every page can be reached from the index, the Fortran module has what marline.h has."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS

ROOT = Path(__file__).resolve().parents[3]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "bench/README.md",
                               "bench/taskbench/README.md", "bench/delay/README.md", "packaging/README.md",
                               "tests/README.md")),
    *sorted((ROOT / "apps").glob("*/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
# Pages on which a function stands in the file named last, and the number that each must exceed in checked functions.
LIVES = {"life-of-a-task": 80, "life-of-a-target-region": 120}
SOURCE_FOLDERS = ("runtime offload mpi pmpi trace check include python apps bench studies tests tools docs "
                  "packaging").split()  # fmt: skip
SPAN = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"(?:{'|'.join(SOURCE_FOLDERS)})/[\w./-]*")
FUNCTION = re.compile(r"(\w+)\(\)")
# Of OpenMP, MPI and HDF5, not of this project.
FOREIGN = re.compile(r"(omp|ompt|MPI|PMPI)_\w+|H5\w+")
# What the pieces of programs on a page of the guide take for granted.
SURROUNDINGS = {
    "cluster": """
        typedef double Block[4];
        int b, n, nodes, blocks, steps, left, right;
        double *x, *blocks_of_x[64], *edge, *halo, *block, sum;
        Block now[64], next[64];
        void advance(double *x, int n), smooth(Block *to, Block *from, int b, int it);
        void exchange(double *edge, double *halo, int n, int left, int right);""",
    "discovery": "void create_my_tasks(void);",
    "gpus-without-waiting": """
        enum { MPI_DOUBLE, MPI_COMM_WORLD, MPI_STATUS_IGNORE };
        enum { omp_ipr_targetsync };
        typedef void *CUstream;
        int n, blocks, left, right, x[64];
        double *data;
        void *object, *device_address_of_x, *omp_get_interop_ptr(void *object, int property, int *code);
        void launch_my_kernel(void *address, CUstream stream);
        void MPI_Recv(void *data, int count, int type, int from, int tag, int comm, int status);
        void MPI_Send(const void *data, int count, int type, int to, int tag, int comm);""",
    "irregular-dependences": """
        typedef double Tile[4];
        int t, step, steps, producers, tiles, *first, *needs;
        Tile x[64], y[64];
        marline_dependence_t list[64];
        size_t n;
        marline_depend_object_t *objects[2][64];
        void multiply_tile(int t, Tile *x, Tile *y);
        void create_tasks(int step, int producer);""",
    "locality": "double *block; size_t n; void update(double *block, size_t n);",
    "mpi": """
        enum { MPI_DOUBLE };
        typedef struct { int x; } MPI_Request;
        int n, left, right, comm, *MPI_STATUSES_IGNORE;
        double *halo;
        void MPI_Irecv(void *data, int count, int type, int from, int tag, int comm, MPI_Request *request);
        void marline_mpi_iwaitall(int count, MPI_Request *requests, int *statuses), compute(double *halo);""",
    "persistent-graphs": """
        typedef double Block[4];
        int n, blocks;
        Block now[64], next[64];
        void smooth(Block *to, Block *from, int b);""",
    "porting": """
        #include <omp.h>
        typedef struct { int x; } Fields;
        Fields *fields;
        int elements, nodes, blocks, first[65], first_node[65], needs[64], need[64][64];
        char state[64], corners[64], force[64];
        marline_depend_object_t *prepared[64];
        void stress_forces(Fields *fields, int begin, int end), gather_stress(Fields *fields, int begin, int end);
        int has_ended(const Fields *fields);
        void create_tasks_of_an_iteration(Fields *fields);""",
    "priorities": """
        enum { kChains = 8, kSteps = 4, kUrgent = 2, MPI_DOUBLE, MPI_COMM_WORLD };
        double *tile;
        int n, peer, tag;
        char input[1], data[kChains];
        void MPI_Send(const void *data, int count, int type, int to, int tag, int comm);
        void load(void), work(int chain), finish(int chain);""",
    "speculation": """
        enum { kMost = 9, kBlocks = 4 };
        typedef struct { double x; } State;
        State states[2];
        char updated[2][kBlocks + 2], judged;
        int iterations;
        void update_block(State *to, const State *from, int b);
        int has_converged(const State *state);
        enum { MPI_DOUBLE, MPI_STATUS_IGNORE };
        typedef struct marline_mpi_speculation marline_mpi_speculation_t;
        marline_mpi_speculation_t *speculation, *marline_mpi_speculation_begin(int comm);
        void marline_mpi_speculation_stop(marline_mpi_speculation_t *speculation);
        void marline_mpi_speculation_end(marline_mpi_speculation_t *speculation, void *counts);
        int comm, another_comm, left, right;
        double halo;
        void MPI_Recv(void *data, int count, int type, int from, int tag, int comm, int status);
        void MPI_Send(const void *data, int count, int type, int to, int tag, int comm);
        void update(State *to, const State *from, double halo);
        int all_have_converged(const State *state, int comm);""",
    "tracing": "#include <marline/trace.h>\nvoid gemm(void);",
    "writing-tasks": "void start_operation(marline_event_t *event);",
}


def spans(page: Path) -> list[str]:
    """The code spans of a page, without its code blocks."""
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return SPAN.findall(text)


def defines(text: str, function: str) -> bool:
    """Whether the name is followed by a parameter list somewhere in a source."""
    return re.search(rf"\b{function}\s*\(", text) is not None


def sources() -> str:
    kinds = {".c", ".h", ".cpp", ".hpp", ".py", ".S"}
    folders = [ROOT / name for name in ("runtime", "mpi", "offload", "trace", "launch", "include", "python")]
    return "\n".join(path.read_text() for folder in folders for path in folder.rglob("*") if path.suffix in kinds)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_exist(page):
    named = [span for span in spans(page) if PATH.fullmatch(span)]
    folders = (ROOT, ROOT / "tests" / "programs")  # the table of features names programs as their folder does
    assert [path for path in named if not any((folder / path).exists() for folder in folders)] == []


def headings(page: Path) -> set[str]:
    lines = re.findall(r"^#+ (.*)$", page.read_text(), re.M)
    return {re.sub(r"[^\w\- ]", "", line).strip().lower().replace(" ", "-") for line in lines}


def leads_somewhere(page: Path, target: str) -> bool:
    name, _, heading = target.partition("#")
    file = page.parent / name if name else page
    return file.exists() and (heading == "" or heading in headings(file))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    """To files, and to headings of this page and others."""
    targets = [target for target in re.findall(r"\]\(([^)]+)\)", page.read_text()) if "://" not in target]
    assert [target for target in targets if not leads_somewhere(page, target)] == []


def test_the_index_leads_to_every_page():
    """By a link of docs/README.md."""
    index = (ROOT / "docs" / "README.md").read_text()
    pages = [page for folder in ("docs", "docs/guide", "docs/design") for page in (ROOT / folder).glob("*.md")
             if page.name != "README.md"]  # fmt: skip
    assert len(pages) > 20
    assert [page.name for page in pages if f"]({page.relative_to(ROOT / 'docs')})" not in index] == []


def test_fortran_module_has_what_the_header_has():
    header = re.sub(r"/\*.*?\*/", "", (ROOT / "include" / "marline" / "marline.h").read_text(), flags=re.DOTALL)
    module = re.sub(r"!.*", "", (ROOT / "include" / "marline" / "marline.f90").read_text())
    functions = re.findall(r"^\w[\w ]*[ *](marline_\w+)\(", header, re.MULTILINE)
    assert len(functions) > 25
    public = set(re.findall(r"marline_\w+", " ".join(re.findall(r"public ::(.*)", module))))
    assert sorted(set(functions) - public) == []
    assert sorted(set(functions) - set(re.findall(r"(?:function|subroutine) (marline_\w+)\(", module))) == []
    value = re.compile(r"(MARLINE_\w+) = (\d)")
    assert len(value.findall(header)) == 8
    assert value.findall(module) == value.findall(header)
    counters = re.search(r"typedef struct marline_counters \{(.*?)\}", header, re.DOTALL)[1]
    fields = re.search(r"type, bind\(C\), public :: marline_counters\n(.*?)end type", module, re.DOTALL)[1]
    assert re.findall(r"(\w+);", counters) == re.findall(r"\w+", fields.split("::")[1])


def test_functions_exist():
    everything = sources()
    named = {match[1] for page in PAGES for span in spans(page) if (match := FUNCTION.fullmatch(span))}
    assert len(named) > 50
    assert sorted(name for name in named if not FOREIGN.fullmatch(name) and not defines(everything, name)) == []


@pytest.mark.parametrize(("page", "least"), LIVES.items())
def test_functions_stand_in_the_file_named_last(page, least):
    """The pages' own convention: a function stands in the file that was named last before it."""
    wrong, text, path, checked = [], "", "", 0
    for span in spans(ROOT / "docs" / "design" / f"{page}.md"):
        if PATH.fullmatch(span) and (ROOT / span).is_file():
            path, text = span, (ROOT / span).read_text()
        elif match := FUNCTION.fullmatch(span):
            checked += 1
            if not defines(text, match[1]):
                wrong.append(f"{match[1]} is not in {path}")
    assert wrong == []
    assert checked > least


def pieces(page: Path, kind: str = "c") -> list[str]:
    found = re.findall(rf"^```{kind}\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE)
    return [piece for piece in found if "int main(" not in piece]


def test_all_pieces_of_programs_are_known():
    """Those of the tutorials are parts of their programs (test_ten_minutes.py, test_first_report.py)."""
    pages = {page.stem for page in (ROOT / "docs" / "guide").glob("*.md") if pieces(page)}
    assert pages - {"ten-minutes", "three-steps"} == set(SURROUNDINGS)


def test_the_piece_in_cpp_compiles(tmp_path):
    """The only one."""
    found = {page.stem: pieces(page, "cpp") for page in (ROOT / "docs" / "guide").glob("*.md")}
    assert [name for name, of_page in found.items() if of_page] == ["irregular-dependences"]
    (piece,) = found["irregular-dependences"]
    source = f"#include <marline/depend.hpp>\ndouble x[8][4], y[8][4];\nvoid piece() {{\n{piece}}}\n"
    (tmp_path / "piece.cpp").write_text(source)
    subprocess.run(["g++-12", "-std=c++17", "-fopenmp", "-fsyntax-only", f"-I{ROOT / 'include'}",
                    tmp_path / "piece.cpp"], check=True, timeout=SECONDS)  # fmt: skip


@pytest.mark.parametrize("page", SURROUNDINGS)
def test_pieces_of_programs_compile(page, tmp_path):
    """Each as the body of a function; GCC allows functions in there. Complete programs have tests of their own."""
    program = "#include <marline/marline.h>\n#include <stdio.h>\n" + SURROUNDINGS[page]
    for number, piece in enumerate(pieces(ROOT / "docs" / "guide" / f"{page}.md")):
        body = re.sub(r"^#include.*|^ *\.\.\.$", "", piece, flags=re.MULTILINE)
        program += f"\nvoid piece_{number}(void) {{\n{body}\n}}\n"
    (tmp_path / "pieces.c").write_text(program)
    command = ["gcc-12", "-fopenmp", "-fsyntax-only", "-Werror=implicit-function-declaration",
               "-Werror=incompatible-pointer-types", f"-I{ROOT / 'include'}", str(tmp_path / "pieces.c")]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stderr


def test_the_porting_guide_s_figures_are_the_study_s():
    command = [sys.executable, str(ROOT / "tools" / "gen_porting.py"), "--check"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("devices", ["host", "process"])
@pytest.mark.parametrize("threads", ["1", "2"])
def test_program_without_waiting(devices, threads, marline, tmp_path):
    """The page's program prints what the page says, on devices that need no GPU."""
    for tool in ("clang-19", "clang-linker-wrapper-19"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not installed")
    text = (ROOT / "docs" / "guide" / "gpus-without-waiting.md").read_text()
    source, binary = tmp_path / "blocks.c", tmp_path / "blocks"
    source.write_text(re.search(r"^```c\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1])
    subprocess.run(["clang-19", "-O2", "-Wall", "-Werror", "-fopenmp", "-fopenmp-targets=x86_64-pc-linux-gnu",
                    "-L/usr/lib/llvm-19/lib", source, "-o", binary], check=True, timeout=SECONDS)  # fmt: skip
    result = marline("run", "-t", threads, "--devices", devices, binary, OMP_TARGET_OFFLOAD="mandatory")
    assert result.returncode == 0, result.stderr
    assert f"# prints {result.stdout.strip()}\n" in text
