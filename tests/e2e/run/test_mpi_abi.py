# SPDX-License-Identifier: Apache-2.0
"""The ABIs of MPI that the libraries are built for (pmpi/abi): no library of Marline needs an MPI library, and what our
mpi.h of an ABI says is what an installed library's own mpi.h says."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import CROWDED, SECONDS, run

ROOT = Path(__file__).resolve().parents[3]
PMPI = ROOT / "pmpi"
OBJECT = re.compile(r'X\(\w+, "(\w+)"\)')
MISSING_IN_OLD_HEADERS = """
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
typedef struct ompi_instance_t* MPI_Session;
#endif
"""
# Numbers that our headers and the library's must agree on.
VALUES = r"""
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#define SHOW(x) printf("%s %lld\n", #x, (long long)(ptrdiff_t)(x));
int main(void) {
  SHOW(sizeof(MPI_Status)) SHOW(offsetof(MPI_Status, MPI_SOURCE)) SHOW(offsetof(MPI_Status, MPI_TAG))
  SHOW(offsetof(MPI_Status, MPI_ERROR)) SHOW(sizeof(MPI_Comm)) SHOW(sizeof(MPI_Count)) SHOW(sizeof(MPI_Aint))
  SHOW(sizeof(MPI_Offset)) SHOW(sizeof(MPI_File)) SHOW(sizeof(MPI_Request)) SHOW(sizeof(MPI_Message))
  NUMBERS
  return 0;
}
"""


def numbers(header: str) -> list[str]:
    """The constants of our header that are no objects of the MPI library."""
    names = re.findall(r"^#define (MPI_\w+) (.*)$", header, re.MULTILINE)
    return [name for name, value in names if "pmpi_objects" not in value and "ompi_request_null" not in value]


def shown(tmp_path: Path, source: Path, name: str, *compiler: str | Path) -> list[str]:
    program = tmp_path / name
    subprocess.run([*compiler, source, "-o", program], check=True, timeout=SECONDS)
    return subprocess.run([program], check=True, capture_output=True, text=True, timeout=SECONDS).stdout.splitlines()


def wrapper(abi: str) -> str:
    if shutil.which(f"mpicc.{abi}") is None:
        pytest.skip(f"mpicc.{abi} is not installed")
    return f"mpicc.{abi}"


def compiler_with_header(abi: str, tmp_path: Path) -> list[str]:
    """With a library's own mpi.h. That of the standard ABI is MPICH's, which tools/fetch_mpis.sh downloads."""
    if abi != "standard":
        return [wrapper(abi)]
    folder = Path(os.environ.get("MARLINE_MPIS_FOLDER", ROOT / ".deps" / "mpis"))
    header = folder / "mpich-5.0" / "include" / "mpi_abi.h"
    if not header.exists():
        pytest.skip(f"no {header}: run tools/fetch_mpis.sh")
    (tmp_path / "mpi.h").symlink_to(header.resolve())
    return ["gcc", f"-I{tmp_path}"]


def libraries(build: Path) -> list[Path]:
    return [path for path in (build / "lib").rglob("*.so*") if path.is_file() and not path.is_symlink()]


def test_no_library_needs_mpi(build):
    """A library that needs libmpich.so.12 brings it into a process that has MPICH under its usual name."""
    found = libraries(build)
    assert {path.name for path in found} >= {"libmarline-mpi.so", "libmarline-trace.so", "libmarline-wire-mpich.so"}
    for path in found:
        needed = run(["readelf", "-d", path]).stdout
        assert not re.search(r"NEEDED.*\[lib\w*mpi", needed), f"{path}:\n{needed}"
        symbols = run(["nm", "-D", "--undefined-only", path]).stdout
        assert not re.search(r"\b(P?MPI_|ompi_)", symbols), f"{path}:\n{symbols}"


@pytest.mark.parametrize("abi", ["openmpi", "mpich", "standard"])
def test_values(tmp_path, abi):
    names = numbers((PMPI / "abi" / abi / "mpi.h").read_text())
    assert len(names) > 25 and {"MPI_ANY_SOURCE", "MPI_ERR_IN_STATUS", "MPI_IN_PLACE"} <= set(names)
    source = tmp_path / "values.c"
    constants = [name for name in names if not name.startswith("MPI_Request_")]
    own = [] if abi == "standard" else ["sizeof(MPI_Fint)"]  # no part of the standard ABI
    source.write_text(VALUES.replace("NUMBERS", " ".join(f"SHOW({name})" for name in [*constants, *own])))
    ours = shown(tmp_path, source, "ours", "gcc", f"-I{PMPI / 'abi' / abi}")
    theirs = shown(tmp_path, source, "theirs", *compiler_with_header(abi, tmp_path))
    assert ours == theirs


@pytest.mark.parametrize("abi", ["openmpi", "mpich", "standard"])
def test_functions(tmp_path, abi):
    """C accepts a second declaration of a function only if its type is the same. MPICH 4.0 has forgotten a `const`."""
    source = tmp_path / "functions.c"
    large = [] if abi == "openmpi" else ["large.h", "large_data.h"]
    files = ["types.h", *(f"functions/{path.name}" for path in (PMPI / "abi" / "functions").glob("*.h")
                          if path.name in large or not path.name.startswith("large"))]  # fmt: skip
    assert len(files) >= 6
    source.write_text("#include <mpi.h>\n#define MPI_Pready_list pready_list\n" + MISSING_IN_OLD_HEADERS
                      + "".join(f'#include "{PMPI / "abi" / file}"\n' for file in files))  # fmt: skip
    compiler = compiler_with_header(abi, tmp_path)
    result = run([*compiler, "-std=gnu11", "-Wno-deprecated-declarations", "-fsyntax-only", source])
    assert result.returncode == 0, result.stderr


def test_objects(tmp_path):
    """Open MPI's predefined handles are objects, which are looked up by name."""
    names = OBJECT.findall((PMPI / "abi" / "openmpi" / "mpi.h").read_text())
    assert len(names) > 10
    source = tmp_path / "objects.c"
    source.write_text("".join(f"extern char {name}[];\n" for name in names)
                      + "int main(void) { return !(" + " && ".join(names) + "); }\n")  # fmt: skip
    subprocess.run([wrapper("openmpi"), "-Wno-address", source, "-o", tmp_path / "objects"], check=True)
    assert run([tmp_path / "objects"]).returncode == 0


@pytest.mark.parametrize("abi", ["openmpi", "mpich", "standard"])
def test_a_program_that_looks_for_mpi_does_not_find_marline(build, abi):
    """mpi4py takes the library that has MPI_Get_version for MPI. Each other function must be there."""
    for library in ("libmarline-mpi.so", "libmarline-trace.so"):
        symbols = run(["nm", "-D", "--defined-only", build / "lib" / "marline" / abi / library]).stdout
        assert "MPI_Get_version" not in symbols and "MPI_Get_library_version" not in symbols
        assert " MPI_Send\n" in symbols and " PMPI_Waitall\n" in symbols
        assert (" MPI_Send_c\n" in symbols) == (abi != "openmpi")


@pytest.mark.parametrize(("abi", "call"), [
    ("openmpi", "int MPIX_Barrier_init(MPI_Comm, MPI_Info, MPI_Request*); MPI_Request r; "
                "MPIX_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r)"),
    ("mpich", "int MPIX_Comm_agree(MPI_Comm, int*); int f = 1; MPIX_Comm_agree(MPI_COMM_WORLD, &f)"),
])  # fmt: skip
def test_a_call_that_is_not_known_is_named_once(build, tmp_path, abi, call):
    name = re.search(r"MPIX_\w+", call)[0]
    lines = {}
    for kind, statement in (("unknown", call), ("known", "MPI_Barrier(MPI_COMM_WORLD)")):
        source = tmp_path / f"{kind}.c"
        source.write_text("#include <mpi.h>\nint main(void) { MPI_Init(0, 0);"
                          f" if (MPI_Wtime() < 0) {{ {statement}; }} MPI_Finalize(); }}\n")  # fmt: skip
        subprocess.run([wrapper(abi), "-fopenmp", source, "-o", tmp_path / kind], check=True, timeout=SECONDS)
        result = run([build / "bin" / "marline", "run", "-n", "2", "-t", "1", "--", tmp_path / kind], **CROWDED)
        assert result.returncode == 0, result.stderr
        lines[kind] = [line for line in result.stderr.splitlines() if line.startswith("marline-mpi:")]
    assert lines["known"] == []
    assert lines["unknown"] == [f"marline-mpi: warning: the program may call {name}, which this version of Marline "
                                "does not know: a task that waits there holds its thread"]  # fmt: skip


@pytest.mark.parametrize("abi", ["openmpi", "mpich", "standard"])
def test_a_call_that_the_library_lacks_is_named(build, tmp_path, abi):
    """Debian's libraries lack MPI_Buffer_flush of MPI 4.1. With the standard ABI, the library is the wrong one."""
    real = "mpich" if abi == "standard" else abi
    source = tmp_path / "lacks.c"
    source.write_text("#include <dlfcn.h>\n#include <mpi.h>\nint main(void) { MPI_Init(0, 0);"
                      ' int (*flush)(void); *(void**)&flush = dlsym(RTLD_DEFAULT, "MPI_Buffer_flush");'
                      " flush(); MPI_Finalize(); }\n")  # fmt: skip
    subprocess.run([wrapper(real), "-D_GNU_SOURCE", source, "-o", tmp_path / "lacks", "-ldl"], check=True)
    library = build / "lib" / "marline" / abi / "libmarline-mpi.so"
    result = run([tmp_path / "lacks"], LD_PRELOAD=f"{library}:{build}/lib/libmarline.so")
    assert result.returncode == 1
    said = [line for line in result.stderr.splitlines() if line.startswith("marline-mpi: error: ")]
    assert len(said) == 1
    if abi == "standard":
        assert "is built for the standard ABI of MPI, but this program runs 'MPICH" in said[0]
        assert said[0].endswith("preload lib/marline/mpich/libmarline-mpi.so instead")
    else:
        assert re.search(r"the program calls MPI_Buffer_flush, which this MPI library \('(MPICH|Open MPI)", said[0])
