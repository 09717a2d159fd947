# SPDX-License-Identifier: Apache-2.0
"""The command on the Pythons of older systems, 3.6 to 3.9: `run`, `trace`, `check`, `ps`, `devices` and `info` work,
and what needs a newer one says so. python/marline/older_python.py lists the modules that this holds for; their sources
are checked here, and the commands run on older Pythons that this machine has."""

import ast
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import EXHAUSTIVE, SECONDS, Result, clean_environment, run

PACKAGE = Path(__file__).parents[3] / "python" / "marline"
sys.path.insert(0, str(PACKAGE.parent))

from marline import older_python  # noqa: E402
from marline.ps import command  # noqa: E402

# What Python 3.6 does not have and vermin does not find, as it would need the types of what stands before the dot.
YOUNGER = re.compile(r"\.(removeprefix|removesuffix|isascii|total|is_relative_to)\(|(?<!\bos)\.readlink\("
                     r"|missing_ok=|strict=True|isinstance\(.*re\.Pattern")  # fmt: skip
GENERIC = {"dict", "frozenset", "list", "set", "tuple", "type", "Callable", "Iterable", "Iterator", "Mapping",
           "Sequence"}  # fmt: skip
STARS = re.compile(r"^\s*(return|yield) [^(\[{#]*, \*\w", re.MULTILINE)  # without parentheses: Python 3.8


def promised() -> list[Path]:
    named = [PACKAGE / name for name in older_python.FOR_OLDER]
    files = [file for path in named for file in (path.glob("*.py") if path.is_dir() else [path.with_suffix(".py")])]
    return sorted([*files, PACKAGE / "__init__.py", PACKAGE.parent / "marline-python"])


def outside_of_annotations(tree: ast.AST) -> Iterator[ast.AST]:
    inside = {id(inner) for node in ast.walk(tree) for name in ("annotation", "returns")
              for inner in ast.walk(getattr(node, name, None) or ast.Pass())}  # fmt: skip
    return (node for node in ast.walk(tree) if id(node) not in inside)


def younger_parts(text: str) -> list[str]:
    tree = ast.parse(text, feature_version=older_python.OLDEST)  # a walrus, a match: a SyntaxError
    unread = {id(node) for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    found = [match[0] for pattern in (YOUNGER, STARS) for match in pattern.finditer(text)]
    for node in outside_of_annotations(tree):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id in GENERIC:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
        if isinstance(node, (ast.BinOp, ast.AugAssign)) and isinstance(node.op, ast.BitOr):
            sides = [node.left, node.right] if isinstance(node, ast.BinOp) else [node.value]
            found += [f"line {node.lineno}: {ast.unparse(node)}" for side in sides
                      if isinstance(side, (ast.Dict, ast.DictComp)) and id(side) not in unread]  # fmt: skip
    return found


@pytest.mark.parametrize("file", promised(), ids=lambda file: str(file.relative_to(PACKAGE.parent)))
def test_the_source_is_that_of_the_oldest(file):
    assert younger_parts(file.read_text()) == []


@pytest.mark.parametrize("text", ["if a := b: pass", "x.removeprefix('a')", "T = dict[str, int]", "return a, *b",
                                  "a | {'b': 1}", "a |= {'b': 1}", "zip(a, b, strict=True)"])  # fmt: skip
def test_a_younger_source_is_found(text):
    try:
        found = younger_parts(f"def f():\n  {text}")
    except SyntaxError:
        return
    assert found


def test_imports_stay_within_the_list():
    """A module that an older Python reads imports no other at its top."""
    names = {str(file.relative_to(PACKAGE).with_suffix("")).replace("/", ".") for file in promised()
             if file.is_relative_to(PACKAGE)}  # fmt: skip
    packages = {name.rpartition(".")[0] for name in names} | {name.removesuffix(".__init__") for name in names} | {""}
    for file in promised():
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "marline":
                module = node.module.partition(".")[2]
                each = [module] if module in names else [f"{module}.{one.name}".lstrip(".") for one in node.names]
                assert all(one in names or one in packages for one in each), f"{file}: {ast.unparse(node)}"


def test_vermin_finds_nothing_younger():
    vermin = shutil.which("vermin", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if vermin is None:
        pytest.skip("vermin is not installed")
    oldest = older_python.name_of(older_python.OLDEST)
    words = [vermin, "--no-eval-annotations", "--no-tips", "--violations", f"-t={oldest}-",
             "--exclude", "dataclasses", "--exclude", "__future__.annotations"]  # older_python.py replaces them
    result = subprocess.run([*words, *promised()], capture_output=True, text=True, timeout=SECONDS, check=False)
    assert result.returncode == 0, result.stdout


# On the Pythons that are here -----------------------------------------------------------------------------------------


def older_pythons() -> list[str]:
    """The oldest and the newest that are here; all of them with MARLINE_EXHAUSTIVE=1."""
    environments = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = []
    for minor in range(older_python.OLDEST[1], older_python.NEEDED[1]):
        name = f"python3.{minor}"
        others = sorted(environments.glob(f"3.{minor}.*/bin/python"))
        path = shutil.which(name) if not others else str(others[-1])
        found += [path] if path else []
    return found if EXHAUSTIVE else [found[index] for index in {0, len(found) - 1}] if found else []


@pytest.fixture(params=older_pythons() or [None])
def older(request, build):
    """older("run", ...) starts the command by an older Python."""
    if request.param is None:
        pytest.skip("no Python of 3.6 to 3.9 is here")
    return lambda *words: run([request.param, "-W", "error", build / "lib" / "marline" / "marline-python", *words])


only_the_oldest = pytest.mark.parametrize("older", (older_pythons() or [None])[:1], indirect=True)


def assert_says_what_it_needs(result: Result, what: str) -> None:
    assert re.search(rf"^marline: {what} needs Python 3.10 or newer, and \S+ is Python 3.\d; start it by a newer one",
                     result.stderr, re.MULTILINE), result.stderr  # fmt: skip


def test_run_and_trace(older, compiled, tmp_path):
    probe = compiled("gcc-12", "probe.c", "-fopenmp")
    result = older("run", "-t", "2", "--", probe)
    assert (result.returncode, result.stderr) == (0, "")
    assert "threads=2" in result.stdout
    traced = older("trace", "-o", tmp_path / "trace", "-t", "2", "--", probe)
    assert traced.returncode == 0
    assert_says_what_it_needs(traced, "the report")
    assert list((tmp_path / "trace").iterdir())
    assert older("run", probe.parent).stderr.endswith("is a directory, not a program\n")
    checked = older("check", "-t", "2", "--", probe)
    assert "check: no task was suspended under a mutex" in checked.stderr


@pytest.mark.parametrize("python", older_pythons() or [None])
def test_after_pip_has_compiled_it(python, tmp_path):
    """pip compiles each module that it installs, with its annotations."""
    if python is None:
        pytest.skip("no Python of 3.6 to 3.9 is here")
    shutil.copytree(PACKAGE, tmp_path / "marline", ignore=shutil.ignore_patterns("__pycache__"))
    run([python, "-m", "compileall", "-q", tmp_path])
    assert list(tmp_path.rglob("*.pyc"))
    for _ in range(2):  # the second one finds what the first one has left
        result = run([python, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import marline.layout", tmp_path])
        assert (result.returncode, result.stderr) == (0, "")


@only_the_oldest
def test_ranks(older, build, compiled):
    if not (build / "lib" / "marline" / "openmpi" / "libmarline-mpi.so").exists():
        pytest.skip("this build has no library for openmpi")
    result = older("run", "-n", "2", "-t", "1", "--", compiled("mpicc.openmpi", "ranks.c", "-fopenmp"))
    assert sorted(result.stdout.splitlines()) == [f"rank={rank} size=2 threads=1" for rank in range(2)], result.stderr


@pytest.fixture
def waits(build, compiled) -> Iterator[tuple[subprocess.Popen, str]]:
    """A program that waits for ever, and its number."""
    flags = [f"-I{PACKAGE.parents[1] / 'include'}", f"-L{build / 'lib'}", "-lmarline"]
    words = ["env", f"LD_LIBRARY_PATH={build / 'lib'}", compiled("gcc-12", "waits.c", "-fopenmp", *flags)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=clean_environment()) as process:
        yield process, process.stdout.readline().strip()
        process.kill()


def test_ps(older, waits):
    _, pid = waits
    listed, shown = older("ps"), older("ps", pid)
    assert re.search(rf"^{pid} ", listed.stdout, re.MULTILINE), listed.stderr
    assert "waits in an event" in shown.stdout, shown.stderr


def test_watching_on_a_kernel_without_pidfd(waits):
    """RHEL 8 has Linux 4.18. A system call that there is not answers as it does there."""
    started = ["import sys", f"sys.path.insert(0, {str(PACKAGE.parent)!r})", "from marline.ps import command",
               "command.PIDFD_OPEN = 9999", "sys.exit(command.main(sys.argv[1:], None))"]  # fmt: skip
    process, pid = waits
    watching = run([sys.executable, "-c", ";".join(started), "--watch", "0.4", pid])
    assert (watching.returncode, "nothing has moved for 0.4 s" in watching.stderr) == (1, True), watching.stderr
    assert not command._ends_within(process.pid, None, 0.1)
    process.kill()
    process.wait()
    assert command._ends_within(process.pid, None, SECONDS)


@only_the_oldest
def test_info_and_devices(older):
    info = older("info")
    assert (info.returncode, info.stderr) == (0, "")
    assert re.search(r"^Python\n  3\.\d\.", info.stdout, re.MULTILINE)
    assert older("info", "--features").returncode == 0
    devices = older("devices", "--devices", "nodes:1")
    assert re.search(r"^\* +0 +node ", devices.stdout, re.MULTILINE), devices.stderr


@only_the_oldest
def test_what_needs_a_newer_one(older):
    for name in ("report", "reuse", "study"):
        result = older(name, "x")
        assert (result.returncode, result.stderr.count("\n")) == (125, 1)
        assert_says_what_it_needs(result, f"marline {name}")
