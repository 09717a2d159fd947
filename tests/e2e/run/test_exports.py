# SPDX-License-Identifier: Apache-2.0
"""libmarline exports what the runtimes that it replaces export, or says why not (tools/check_exports.py); the check
fails where it should; and each entry point that is not provided yet ends the program with a line that names it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS, run

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools" / "check_exports.py"
sys.path.insert(0, str(ROOT / "tools"))
import gen_names  # noqa: E402

COMPAT = ("libomp.so.5", "libiomp5.so", "libgomp.so.1")

# Calls each entry point of the list in a process of its own; prints the ones that came back, or died without their
# name.
CALL_STUBS = """
import ctypes, os, resource, signal, sys
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
library = ctypes.CDLL(sys.argv[1])
for name in sys.stdin.read().split():
    function = getattr(library, name)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writer, 2)
        function()
        os._exit(0)
    os.close(writer)
    said = os.fdopen(reader).read()
    status = os.waitpid(child, 0)[1]
    if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGABRT or f"marline: fatal: {name} (" not in said:
        print(name)
"""


def stubs(table: str) -> list[str]:
    lines = (ROOT / table).read_text().splitlines()
    return [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]


def test_exports(build):
    result = run([sys.executable, TOOL, build, ROOT])
    assert result.returncode == 0, result.stdout + result.stderr
    assert all(f"lib{runtime}: " in result.stdout for runtime in ("gomp 12", "gomp 16", "omp 14", "omp 23"))


def test_the_page_of_entry_points():
    result = run([sys.executable, ROOT / "tools" / "gen_entry_points.py", "--check"])
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.parametrize(("table", "library"), [
    ("runtime/abi/not_provided.txt", "libmarline.so"), ("offload/not_provided.txt", "marline/libmarline-target.so"),
])  # fmt: skip
def test_what_is_not_provided_says_so(build, table, library):
    names = stubs(table)
    assert names
    result = subprocess.run([sys.executable, "-c", CALL_STUBS, build / "lib" / library], input="\n".join(names),
                            capture_output=True, text=True, timeout=SECONDS)  # fmt: skip
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


# Not the default version of its name.
OTHER = '__attribute__((symver("omp_other@GOMP_9.0"))) void gomp_other'


FILES = {
    "tests/abi/libomp.names": "omp_a 8-9 OMP_1.0 VERSION\nomp_a_ 8-9 VERSION\n__kmpc_b 9 VERSION\nkmp_debug 9 -\n",
    "tests/abi/libgomp.names": "omp_a 1-2 OMP_1.0\nomp_a_8_ 1-2 OMP_1.0\nGOMP_c 1-2 GOMP_1.0\n"
                               "GOMP_d 2 GOMP_9.0\nomp_other 2 GOMP_9.0\n",
    "tests/abi/libomptarget.names": "__tgt_e 7 VERS1.0\n__tgt_f 7 VERS1.0\nomp_a 7 VERS1.0\n"
                                       "__tgt_none 7 VERS1.0\n",
    "tests/abi/by_version.txt": "omp_other another layout\n",
    "tests/abi/exceptions.txt": "kmp_deb* internal\nGOACC_* another model\n__tgt_none nobody asks\n",
    "runtime/abi/not_provided.txt": "__kmpc_b a purpose\n",
    "offload/not_provided.txt": "__tgt_f    a purpose\n",
    "library.c": "void omp_a(void){} void omp_a_(void){} void omp_a_8_(void){} void __kmpc_b(void){} "
                 f"void GOMP_c(void){{}} void GOMP_d(void){{}} {OTHER}(void){{}}\n",
    "library.map": "GOMP_9.0 { local: gomp_*; };\n",
    "target.c": "void __tgt_e(void){} void __tgt_f(void){}\n",
    "target.map": "VERS1.0 { global: __tgt_*; local: *; };\n",
    "targets.c": "typedef int empty;\n",
    "targets.map": "VERSION { local: *; };\nVERS1.0 { };\n",
    "compat.c": "typedef int empty;\n",
    "compat.map": "VERSION { local: *; };\nOMP_1.0 { };\nGOMP_1.0 { };\nGOMP_9.0 { };\n",
}

LIBRARIES = {"library": "lib/libmarline.so", "target": "lib/marline/libmarline-target.so",
             "targets": "lib/marline/compat/libomptarget.so.7", "compat": f"lib/marline/compat/{COMPAT[0]}"}


def write(folder: Path, files: dict[str, str]) -> None:
    """Writes some of the files of a tree, and links the libraries that they are of."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in sorted({Path(name).stem for name in files} & LIBRARIES.keys()):
        output = folder / LIBRARIES[name]
        output.parent.mkdir(parents=True, exist_ok=True)
        script = f"-Wl,--version-script={folder / (name + '.map')}"
        words = ["gcc-12", "-shared", "-fPIC", "-nostdlib", script, str(folder / f"{name}.c"), "-o", str(output)]
        subprocess.run(words, check=True, timeout=SECONDS)
        if name == "compat":
            for other in COMPAT[1:]:
                shutil.copy(output, output.parent / other)


@pytest.fixture(scope="module")
def in_order(tmp_path_factory):
    if shutil.which("gcc-12") is None:
        pytest.skip("gcc-12 is not installed")
    folder = tmp_path_factory.mktemp("tree")
    write(folder, FILES)
    return folder


@pytest.fixture
def tree(tmp_path, in_order):
    """A build and its lists, all in order. tree({file: text}) rewrites some of its files and returns what the check
    says."""
    shutil.copytree(in_order, tmp_path, dirs_exist_ok=True)

    def check(changes: dict[str, str] | None = None) -> tuple[int, str]:
        write(tmp_path, changes or {})
        result = run([sys.executable, TOOL, tmp_path, tmp_path])
        return result.returncode, result.stdout + result.stderr

    return check


def test_the_check_accepts_what_is_in_order(tree):
    status, output = tree()
    assert status == 0, output
    assert "libomp 8: 2 names, 2 provided, 0 not yet, 0 on purpose not" in output
    assert "libomp 9: 4 names, 2 provided, 1 not yet, 1 on purpose not" in output
    assert "1 a purpose" in output and "1 internal" in output


@pytest.mark.parametrize(
    ("changed", "old", "new", "expected"),
    [
        ("library.c", "void GOMP_c(void){}", "", "GOMP_c: missing, and in neither"),
        ("library.c", "void __kmpc_b(void){}", "", "__kmpc_b: in not_provided.txt, but not exported"),
        ("library.c", "void omp_a_(void){}", "", "omp_a_: missing; omp_a, its C name, is there"),
        ("library.c", "void GOMP_c", "void omp_new(void){} void GOMP_c", "omp_new_: missing; omp_new, its C name"),
        ("library.c", "void GOMP_c", "void kmp_debug(void){} void GOMP_c", "kmp_debug: exported, and in exceptions"),
        ("library.c", "void GOMP_c", "void GOACC_x(void){} void GOMP_c", "GOACC_x: exported, and in exceptions"),
        ("library.map", "local", "global: omp_a; local", "omp_a@@GOMP_9.0: exported with a version"),
        ("library.c", OTHER, "void omp_other", "omp_other: exported without a version, and in by_version.txt"),
        ("library.c", "omp_other@", "omp_other@@", "omp_other@@GOMP_9.0: exported with a version"),
        ("library.c", f"{OTHER}(void){{}}", "", "omp_other@GOMP_9.0: missing; by_version.txt has it"),
        ("tests/abi/by_version.txt", "omp_other", "omp_typo",
         "omp_typo: in by_version.txt, but not among libgomp's"),
        ("tests/abi/exceptions.txt", "kmp_deb*", "nothing", "kmp_debug: missing, and in neither"),
        ("runtime/abi/not_provided.txt", "__kmpc_b", "__kmpc_typo", "__kmpc_typo: in not_provided.txt, but in no list"),
        ("runtime/abi/not_provided.txt", "\n", "\n__kmpc_b again\n", "there twice"),
        ("runtime/abi/not_provided.txt", " a purpose", "", "says no reason"),
        ("tests/abi/libomp.names", "omp_a_ 8-9", "omp_a 9", "omp_a: two lines for version 9"),
        ("target.c", "void __tgt_e(void){}", "", "__tgt_e: missing, and in neither offload/not_provided.txt"),
        ("target.map", "VERS1.0", "VERS2.0", "__tgt_e: missing"),
        ("offload/not_provided.txt", "__tgt_f", "__tgt_typo",
         "__tgt_typo: in offload/not_provided.txt, but not among"),
        ("tests/abi/libomptarget.names", "__tgt_e 7", "__tgt_e 7,15", "libomptarget.so.15: missing"),
        ("tests/abi/libomptarget.names", "VERS1.0", "VERS2.0", "__tgt_e: libomptarget has it at VERS2.0"),
        ("targets.map", "VERS1.0 { };", "", "libomptarget.so.7: defines VERSION, not VERS1.0"),
        ("compat.map", "GOMP_1.0 { };", "", "libgomp.so.1: does not define the version node GOMP_1.0"),
        ("compat.map", "GOMP_9.0 { };", "", "libgomp.so.1: does not define the version node GOMP_9.0"),
        ("compat.map", "GOMP_1.0", "OACC_2.0 { };\nGOMP_1.0", "defines OpenACC's node OACC_2.0"),
        ("compat.c", "typedef int empty;", "void omp_a(void){}", "libomp.so.5: defines omp_a@@OMP_1.0"),
    ],
)
def test_the_check_finds(tree, changed, old, new, expected):
    changes = {changed: FILES[changed].replace(old, new, 1)}
    if changed == "compat.c":
        changes["compat.map"] = FILES["compat.map"].replace("OMP_1.0 { }", "OMP_1.0 { global: omp_a; }", 1)
    status, output = tree(changes)
    assert status == 1, output
    assert expected in output


def test_what_marline_asks_of_libomptarget():
    """docs/design/libomptarget.md lists each routine that the code looks for, and LLVM's versions have them."""
    page = (ROOT / "docs" / "design" / "libomptarget.md").read_text()
    names = gen_names.read_names(ROOT / "tests" / "abi" / "libomptarget.names")
    asked = set()
    for path in sorted((ROOT / "offload").glob("**/*.cpp")):
        text = path.read_text()
        if "llvm_routine(" in text or "kNeeded" in text:
            asked |= set(re.findall(r'"((?:__tgt|omp_target|llvm_omp|omp_get)_\w+)"', text)) & names.keys()
    assert len(asked) > 20
    assert [name for name in sorted(asked) if f"`{name}`" not in page and not name.endswith("_nowait_mapper")] == []
    later = {"omp_get_uid_from_device": 22, "omp_get_gprivate_limit": 23, "__tgt_interop_release": 22}
    for version in (19, 22, 23, 24):
        lacks = [name for name in sorted(asked) if version not in names[name] and version >= later.get(name, 0)]
        assert lacks == [], f"libomptarget {version}"


# Where Debian and Ubuntu put them.
INSTALLED = [("libgomp", 0, "/usr/lib/x86_64-linux-gnu/libgomp.so.1"),
             *[("libomp", version, f"/usr/lib/llvm-{version}/lib/libomp.so.5") for version in range(14, 24)],
             *[("libomptarget", version, f"/usr/lib/llvm-{version}/lib/libomptarget.so.{end}")
               for version in range(15, 24) for end in (version, f"{version}.1")]]  # fmt: skip


def version_of_libgomp() -> int:
    """GCC's major version, of which Debian's package is (not of gcc-12): 0 if there is no such package."""
    if shutil.which("dpkg-query") is None:
        return 0
    said = run(["dpkg-query", "-W", "-f", "${Version}", "libgomp1"]).stdout
    return int(said.partition(".")[0] or 0)


def test_the_lists_are_what_installed_runtimes_export():
    """Of the versions that have a list. Others, of newer releases, are read with tools/gen_names.py."""
    found = [(runtime, version or version_of_libgomp(), path) for runtime, version, path in INSTALLED
             if Path(path).is_file() and (version or version_of_libgomp())]  # fmt: skip
    if not found:
        pytest.skip("neither libgomp nor libomp nor libomptarget is where Debian puts it")
    for runtime, version, path in found:
        result = run([sys.executable, ROOT / "tools" / "gen_names.py", "--check", runtime, f"{version}={path}"])
        assert result.returncode == 0, f"{path}:\n{result.stdout}{result.stderr}"
