# SPDX-License-Identifier: Apache-2.0
"""The installed package: swaps the runtime under existing binaries, is found by CMake and pkg-config, and can be moved.
MARLINE_BUILD names the build tree that is installed, into a temporary folder, for these tests."""

import os
import re
import shutil
from pathlib import Path

import pytest
from conftest import BUILD, HERE, checked, run

PROBE = HERE.parent / "e2e" / "programs" / "probe.c"


@pytest.fixture(scope="module")
def prefix(tmp_path_factory) -> Path:
    """Installed into one folder, then moved to another: nothing may remember the first."""
    first = tmp_path_factory.mktemp("first") / "marline"
    checked(["cmake", "--install", BUILD, "--prefix", first])
    final = tmp_path_factory.mktemp("final") / "marline"
    shutil.move(first, final)
    return final


@pytest.fixture(scope="module", params=["gcc-12", "clang-19"])
def probe(request, tmp_path_factory) -> Path:
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not installed")
    program = tmp_path_factory.mktemp("probe") / "a.out"
    checked([request.param, "-fopenmp", PROBE, "-o", program])
    return program


def version() -> str:
    return re.search(r"CMAKE_PROJECT_VERSION:STATIC=(\S+)", (BUILD / "CMakeCache.txt").read_text())[1]


def test_no_library_needs_mpi(prefix):
    """It would bring a second MPI into a process that has one under another name."""
    libraries = [path for path in (prefix / "lib").rglob("*.so*") if not path.is_symlink()]
    assert sum(path.name in ("libmarline-mpi.so", "libmarline-trace.so") for path in libraries) == 7
    for path in libraries:
        assert not re.search(r"NEEDED.*\[lib\w*mpi", checked(["readelf", "-d", path])), path


def library_of(output: str) -> Path:
    return Path(re.search(r"library=(\S+)", output)[1]).resolve()


def test_library_path_swaps_the_runtime(prefix, probe):
    output = checked([probe], LD_LIBRARY_PATH=str(prefix / "lib" / "marline" / "compat"), OMP_NUM_THREADS="3")
    assert library_of(output) == (prefix / "lib" / "libmarline.so").resolve()
    assert "threads=3" in output


def test_display_env_says_so(prefix, probe):
    compat = str(prefix / "lib" / "marline" / "compat")
    result = run([probe], LD_LIBRARY_PATH=compat, OMP_DISPLAY_ENV="verbose")
    assert re.search(rf"marline.*{re.escape(version())}", result.stdout + result.stderr, re.IGNORECASE)


def test_command_runs_the_program(prefix, probe):
    output = checked([prefix / "bin" / "marline", "run", "-t", "2", "--", probe])
    assert library_of(output) == (prefix / "lib" / "libmarline.so").resolve()


def test_list_of_features_is_installed(prefix):
    assert "parallel(if, num_threads, " in checked([prefix / "bin" / "marline", "info", "--features"])


def test_files_of_the_page_are_installed(prefix):
    """What `marline report --html` puts into its page, byte for byte."""
    page = Path("python") / "marline" / "page"
    installed, source = prefix / "lib" / "marline" / page, HERE.parents[1] / page
    files = [path.relative_to(source) for path in (source / "assets").iterdir()]
    assert {path.suffix for path in files} >= {".html", ".css", ".js"}
    files += [Path("vendor") / "uplot" / name for name in ("uPlot.iife.min.js", "uPlot.min.css", "MIT.txt")]
    for file in files:
        assert (installed / file).read_bytes() == (source / file).read_bytes()


def test_version(prefix):
    assert checked([prefix / "bin" / "marline", "--version"]) == f"marline {version()}\n"


def test_missing_hwloc_is_one_line(prefix, probe, tmp_path):
    """In place of the library, one that asks for a libhwloc that no system has."""
    copy = tmp_path / "marline"
    shutil.copytree(prefix, copy, symlinks=True)
    library = (copy / "lib" / "libmarline.so").resolve()
    (tmp_path / "empty.c").write_text("typedef int empty;")
    link = ["gcc-12", "-shared", tmp_path / "empty.c", "-Wl,--no-as-needed"]
    checked([*link, "-Wl,-soname,libhwloc.so.99", "-o", tmp_path / "libhwloc.so"])
    checked([*link, tmp_path / "libhwloc.so", "-Wl,-soname,libmarline.so.0", "-o", library])
    line = "libhwloc.so.99, which Marline needs, is not found by the loader; install hwloc"
    command = copy / "bin" / "marline"
    for words in (["--version"], ["run", probe]):
        result = run([command, *words])
        assert result.returncode == 125
        assert result.stderr.startswith(f"marline: {line}") and result.stderr.count("\n") == 1
    assert f"  {line}" in checked([command, "info"])


def test_command_through_a_link(prefix, probe, tmp_path):
    (tmp_path / "marline").symlink_to(prefix / "bin" / "marline")
    assert "threads=2" in checked([tmp_path / "marline", "run", "-t", "2", "--", probe])
    assert "in 1 process" in run([tmp_path / "marline", "check", "-t", "2", "--", probe]).stderr  # the Python half


def test_info_misses_nothing_of_the_installation(prefix):
    output = checked([prefix / "bin" / "marline", "info"])
    assert f"version  {version()}" in output
    assert str(prefix) not in output.split("Missing\n")[1]


def test_cmake_consumer(prefix, tmp_path):
    words = ["cmake", "-S", HERE / "consumer", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja"]
    output = checked(words)
    assert f"command: {prefix / 'bin' / 'marline'}" in output
    assert f"compat: {prefix / 'lib' / 'marline' / 'compat'}" in output
    checked(["cmake", "--build", tmp_path])
    assert checked([tmp_path / "consumer"]) == f"{version()} 1\n"


# An earlier 0.x is what later versions stand in for (CHANGELOG.md, "What 0.x may change").
@pytest.mark.parametrize(("asked", "accepted"), [("0.1", True), ("0.99", False), ("99.0", False)])
def test_cmake_consumer_of_another_version(prefix, tmp_path, asked, accepted):
    shutil.copytree(HERE / "consumer", tmp_path / "source")
    listing = tmp_path / "source" / "CMakeLists.txt"
    listing.write_text(listing.read_text().replace("Marline 0.2", f"Marline {asked}"))
    result = run(["cmake", "-S", tmp_path / "source", "-B", tmp_path / "build", f"-DCMAKE_PREFIX_PATH={prefix}"])
    assert (result.returncode == 0) == accepted, result.stderr
    assert (f'requested version "{asked}"' in result.stderr) != accepted


def test_pkg_config_consumer(prefix, tmp_path):
    search = {"PKG_CONFIG_PATH": str(prefix / "lib" / "pkgconfig")}
    assert checked(["pkg-config", "--modversion", "marline"], **search).strip() == version()
    flags = checked(["pkg-config", "--cflags", "--libs", "marline"], **search).split()
    program = tmp_path / "consumer"
    checked(["gcc-12", HERE / "consumer" / "consumer.c", "-o", program, *flags])
    assert checked([program], LD_LIBRARY_PATH=str(prefix / "lib")) == f"{version()} 1\n"


def test_fortran_module_consumer(prefix, tmp_path):
    if shutil.which("gfortran-12") is None:
        pytest.skip("gfortran-12 is not installed")
    flags = checked(["pkg-config", "--cflags", "--libs", "marline"],
                    PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig")).split()  # fmt: skip
    program = tmp_path / "consumer"
    module = prefix / "include" / "marline" / "marline.f90"
    checked(["gfortran-12", f"-J{tmp_path}", module, HERE / "consumer" / "consumer.f90", "-o", program, *flags])
    assert checked([program], LD_LIBRARY_PATH=str(prefix / "lib")).split() == ["1"]


@pytest.mark.parametrize("mpi", ["openmpi", "mpich"])
def test_cmake_consumer_of_the_mpi_interfaces(prefix, tmp_path, mpi):
    """Linked as the package says, and run without Marline."""
    if shutil.which(f"mpicc.{mpi}") is None or not (prefix / "lib" / "marline" / mpi).exists():
        pytest.skip(f"{mpi} is not installed")
    words = ["cmake", "-S", HERE / "mpi_consumer", "-B", tmp_path, f"-DCMAKE_PREFIX_PATH={prefix}", "-G", "Ninja",
             f"-DMPI_C_COMPILER=mpicc.{mpi}", f"-DWANTED=Marline::mpi_{mpi}"]  # fmt: skip
    checked(words)
    checked(["cmake", "--build", tmp_path])
    program = tmp_path / "consumer"
    alone = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    assert checked([f"mpirun.{mpi}", "-n", "1", program], **alone).split() == ["0", "7", "TAMPI"]


def test_modulefile_names_what_is_there(prefix):
    modulefile = prefix / "share" / "modulefiles" / "marline" / version()
    text = modulefile.read_text()
    # As Tcl computes it: three folders above the modulefile's own.
    assert (modulefile.parent / ".." / ".." / "..").resolve() == prefix.resolve()
    paths = re.findall(r"^prepend-path \w+ \$prefix(\S*)$", text, re.MULTILINE)
    assert len(paths) == 4
    assert all((prefix / path.lstrip("/")).is_dir() for path in paths)


def test_one_folder_starts_a_program_that_is_linked_with_marline(prefix, tmp_path):
    flags = checked(["pkg-config", "--cflags", "--libs", "marline"],
                    PKG_CONFIG_PATH=str(prefix / "lib" / "pkgconfig")).split()  # fmt: skip
    (tmp_path / "devices.c").write_text(
        '#include <marline/marline.h>\n#include <omp.h>\n#include <stdio.h>\n'
        'int main(void) { printf("%s %d\\n", marline_version(), omp_get_num_devices()); }\n')  # fmt: skip
    program = tmp_path / "devices"
    checked(["gcc-12", "-fopenmp", tmp_path / "devices.c", "-o", program, *flags])
    compat = str(prefix / "lib" / "marline" / "compat")
    # The library is found by its link in this folder. It finds the library of devices all the same.
    assert checked([program], LD_LIBRARY_PATH=compat, MARLINE_DEVICES="process:2") == f"{version()} 2\n"


def is_elf(path: Path) -> bool:
    return path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"


def test_libraries_are_stripped(prefix):
    libraries = [path for path in prefix.rglob("*") if is_elf(path)]
    assert (prefix / "lib" / "libmarline.so").resolve() in libraries
    assert [path for path in libraries if ".debug_info" in checked(["readelf", "-SW", path])] == []
    # Files only, as a directory's size is the file system's; and without the bytecode that Python leaves where it may
    # write: which tests ran before decides how much that is.
    files = [path for path in prefix.rglob("*") if path.is_file() and not path.is_symlink() and path.suffix != ".pyc"]
    assert sum(path.stat().st_size for path in files) < 12 << 20


def test_gdb_finds_the_debug_files_beside_the_libraries(prefix, tmp_path):
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not installed")
    copy = tmp_path / "marline"
    shutil.copytree(prefix, copy, symlinks=True)
    script = copy / "lib" / "marline" / "gdb" / "marline.py"
    gdb = ["gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off", copy / "lib" / "libmarline.so", "-ex",
           f"source {script}", "-ex", "help marline fibers", "-ex", "ptype marline::Fiber"]  # fmt: skip
    without = run(gdb)
    assert "suspended tasks" in without.stdout
    assert "type = struct" not in without.stdout
    checked(["cmake", "--install", BUILD, "--prefix", copy, "--component", "debug"])
    for library in (path for path in copy.rglob("*.so*") if is_elf(path) and path.suffix != ".debug"):
        assert (library.parent / ".debug" / f"{library.name}.debug").is_file()
    moved = shutil.move(copy, tmp_path / "moved")
    assert "type = struct" in checked([str(word).replace(str(copy), str(moved)) for word in gdb])


def test_manual_page_says_what_help_says(prefix):
    page = (prefix / "share" / "man" / "man1" / "marline.1").read_text()
    assert f'"Marline {version()}"' in page
    shown = page.replace("\\(aq", "'").replace("\\-", "-").replace("\\&", "").replace("\\e", "\\")
    help_text = checked([prefix / "bin" / "marline", "--help"])
    assert help_text.rstrip() in shown
    commands = re.findall(r"^  (\w+) ", help_text, re.MULTILINE)
    assert len(commands) >= 9
    for command in commands:
        assert checked([prefix / "bin" / "marline", command, "--help"], COLUMNS="75").rstrip() in shown


def test_pages_that_messages_name_are_there(prefix):
    """docs/NAME.md in a library, a module or a header is the page of that name below share/doc/marline."""
    named = set()
    for path in prefix.rglob("*"):
        if is_elf(path) or path.suffix in (".py", ".h", ".hpp", ".f90"):
            named |= set(re.findall(rb"docs/[\w/-]+\.md", path.read_bytes()))
    assert b"docs/options.md" in named and b"docs/guide/running.md" in named
    pages = prefix / "share" / "doc" / "marline"
    assert [name for name in sorted(named) if not (pages / os.fsdecode(name)).is_file()] == []
    assert (pages / "README.md").is_file()
    assert f"pages    {pages}" in checked([prefix / "bin" / "marline", "info"])


def test_nothing_remembers_the_build_tree(prefix):
    for library in prefix.rglob("*.so*"):
        if not library.is_symlink():
            dynamic = checked(["readelf", "-d", library])
            assert str(BUILD) not in dynamic, f"{library} searches the build tree"
    texts = [path for path in prefix.rglob("*") if path.suffix in (".py", ".pc", ".cmake", ".h") and path.is_file()]
    assert texts
    assert [path for path in texts if str(BUILD) in path.read_text()] == []
