#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs OpenMP_VV, the public validation suite of OpenMP, on the runtime that each compiler brings and on Marline, and
writes what passed into a folder: README.md for people, results.json for programs.

    git clone https://github.com/OpenMP-Validation-and-Verification/OpenMP_VV
    run_vv.py OpenMP_VV [--compilers clang-19,gcc-12] [--marline build/release/bin/marline] [-o docs/results/vv]

exit 1 if a test passes on a compiler's own runtime and not on Marline. The suite is not part of this project.

Tests are compiled once per compiler, with the flags of the suite's sys/make/make.def without offloading, and
-fopenmp-version=60 for Clang where the suite's list of versions ends. They run as by its sys/scripts/run_test.sh:
status 0 passes, `Test skipped` in the output is neither, no more threads than CPUs (OMP_THREAD_LIMIT), 60 s at most;
`_env_` in a name sets a variable. Where the two runtimes differ, both run the test four more times; a test that fails
once fails. One that takes too long is not run again.

A file notes.txt in the output folder is written by hand: `TEST: text` is put beside a test that fails. After a change
there, `run_vv.py --page [-o DIR]` writes README.md anew, from results.json.
"""
from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import suite as suites  # noqa: E402  (the paths above are what finds them)
import vv_page  # noqa: E402
from marline.study.measure.launch import own_environment  # noqa: E402
from marline.study.measure.machine import first_line  # noqa: E402
from run_other_compilers import first_error  # noqa: E402

LANGUAGES = {".c": "C", ".cpp": "C++", ".F90": "Fortran", ".F95": "Fortran", ".F03": "Fortran", ".F": "Fortran"}
NEEDS_LIBRARY = "qmcpack_target_static_lib.c"  # the suite leaves it out, too, unless its library is asked for
VERSIONS = {"5.0": 50, "5.1": 51, "5.2": 52, "6.0": 60}  # which Clang does not take by default
LETTERS = 120  # of a reason
COMPILE_SECONDS = 300


@dataclass(frozen=True)
class Test:
    name: str  # VERSION/FEATURE/file
    source: Path

    @property
    def version(self) -> str:
        return self.name.split("/")[0]

    @property
    def language(self) -> str:
        return LANGUAGES[self.source.suffix]


@dataclass
class Compiler:
    name: str  # as given, such as clang-19
    drivers: dict[str, str]  # language -> command
    version: str
    runtime: str = ""  # the library that its programs use: libomp.so.5

    def command(self, test: Test, suite: Path, folder: Path) -> list[str]:
        clang = "clang" in Path(self.name).name
        words = [self.drivers[test.language], f"-I{suite / 'ompvv'}", "-O3", "-fopenmp", "-DVERBOSE_MODE=1"]
        if clang and test.version in VERSIONS:
            words.append(f"-fopenmp-version={VERSIONS[test.version]}")
        if not clang:
            words.append("-foffload=disable")
        if test.language == "Fortran":
            words += ["-module-dir", str(folder)] if clang else ["-ffree-line-length-none", f"-J{folder}"]
        elif test.language == "C++" or not clang:
            words.append("-std=c++11" if test.language == "C++" else "-std=c99")
        return [*words, str(test.source), "-o", str(folder / "program"), "-lm"]


@dataclass
class Result:
    """What became of a test with a compiler. `built` is empty or the compiler's error; a run's text is `passes`,
    `skipped`, or `fails: ...`; `runs` says how many passed, such as `2 of 5`, where the two were unequal."""
    test: str
    compiler: str
    built: str = ""
    stock: str = ""
    marline: str = ""
    runs: dict[str, str] = field(default_factory=dict)


def find_compiler(name: str) -> Compiler:
    match = re.fullmatch(r"(gcc|clang)(-\d+)?", Path(name).name)
    if not match:
        sys.exit(f"run_vv: {name}: not gcc or clang with a version, such as clang-19")
    if shutil.which(name) is None:
        sys.exit(f"run_vv: {name}: not found; name compilers that are there by --compilers")
    others = {"gcc": ("g++", "gfortran"), "clang": ("clang++", "flang")}[match[1]]
    plain, fortran = (str(Path(name).with_name(other + (match[2] or ""))) for other in others)
    drivers = {"C": name, "C++": plain, "Fortran": fortran}
    found = {language: driver for language, driver in drivers.items() if shutil.which(driver)}
    return Compiler(name, found, first_line(name, "--version"))


def find_tests(suite: Path, only: str) -> list[Test]:
    if not (suite / "ompvv" / "ompvv.h").is_file() or not (suite / "tests").is_dir():
        sys.exit(f"run_vv: {suite}: has no ompvv/ompvv.h and tests: name a clone of OpenMP_VV")
    tests = [Test(str(path.relative_to(suite / "tests")), path) for path in sorted((suite / "tests").rglob("*"))
             if path.suffix in LANGUAGES and path.name != NEEDS_LIBRARY]  # fmt: skip
    if not (chosen := [test for test in tests if re.search(only, test.name)]):
        sys.exit(f"run_vv: {suite}: none of its {len(tests)} tests" + (f" matches {only}" if only else ""))
    return chosen


def compile_test(test: Test, compiler: Compiler, suite: Path, folder: Path) -> str:
    """Nothing, or what is wrong."""
    folder.mkdir(parents=True)
    try:
        built = subprocess.run(compiler.command(test, suite, folder), capture_output=True, text=True, errors="replace",
                               timeout=COMPILE_SECONDS)  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"{suites.TOO_LONG} {COMPILE_SECONDS} s to compile"
    return "" if built.returncode == 0 else first_error(built.stderr)


def variable_of(test: Test) -> dict[str, str]:
    match = re.fullmatch(r"test_(.*)_env_([^.]*)", test.source.stem)
    return {match[1].upper(): match[2].replace("PERCENTAGE", "%")} if match else {}


def reason(output: str) -> str:
    """The suite's last message of an error, without its file and line, the first line that looks like an error, or the
    last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    if errors := [line for line in lines if "OMPVV_ERROR" in line]:
        lines = errors
    elif telling := [line for line in lines if re.search(r"error|fatal|assert", line, re.IGNORECASE)]:
        lines = telling[:1]
    return re.sub(r"^\[OMPVV_\w+[^]]*\]\s*", "", (lines or ["nothing printed"])[-1])[:LETTERS]


def run_test(words: list[str], folder: Path, environment: dict[str, str], seconds: float) -> str:
    code, output = suites.run_words(words, folder, environment, seconds)
    if code is None:
        return f"fails: {suites.TOO_LONG} {seconds:.0f} s"
    if "Test skipped" in output:
        return "skipped"
    return "passes" if code == 0 else f"fails: {suites.status(code)}: {reason(output)}"


def compare(result: Result, test: Test, folder: Path, given: argparse.Namespace) -> None:
    environment = own_environment() | {"OMP_THREAD_LIMIT": str(given.threads)} | variable_of(test)
    program = str(folder / "program")
    commands = {"stock": [program], "marline": [str(given.marline), "run", program]}
    outcomes, result.runs = suites.compare({
        name: functools.partial(run_test, words, folder, environment, given.seconds)
        for name, words in commands.items()}, given.repeats)  # fmt: skip
    result.stock, result.marline = outcomes["stock"], outcomes["marline"]


def runtime_of(program: Path) -> str:
    output = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    match = re.search(r"=> (\S*/(libomp|libgomp|libiomp5)\.so\S*)", output)
    return os.path.realpath(match[1]) if match else ""


def run_compiler(compiler: Compiler, tests: list[Test], folder: Path, given: argparse.Namespace) -> list[Result]:
    tests = [test for test in tests if test.language in compiler.drivers]
    folders = [folder / compiler.name.replace("/", "_") / str(at) for at in range(len(tests))]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        errors = list(pool.map(lambda pair: compile_test(pair[0], compiler, given.suite, pair[1]),
                               zip(tests, folders)))  # fmt: skip
    results = []
    for test, where, error in zip(tests, folders, errors):
        result = Result(test.name, compiler.name, error)
        if not error:
            compiler.runtime = compiler.runtime or runtime_of(where / "program")
            compare(result, test, where, given)
        outcome = f"does not compile: {error}" if error else f"{result.stock}; on Marline {result.marline}"
        print(f"{compiler.name} {test.name}: {outcome}", flush=True)
        results.append(result)
        shutil.rmtree(where)
    return results


def read_notes(path: Path) -> dict[str, str]:
    lines = path.read_text().splitlines() if path.exists() else []
    return dict(line.split(": ", 1) for line in lines if line and not line.startswith("#"))


def write_page(facts: dict, output: Path) -> None:
    (output / "README.md").write_text(vv_page.page(facts, read_notes(output / "notes.txt")))


def main() -> int:
    parser = suites.options(__doc__, "a clone of OpenMP_VV", "vv")
    parser.add_argument("--compilers", default="clang-19,gcc-12")
    parser.add_argument("--threads", type=int, metavar="N", default=len(os.sched_getaffinity(0)),
                        help="OMP_THREAD_LIMIT (the number of CPUs)")  # fmt: skip
    given = parser.parse_args()
    if given.page:
        write_page(json.loads((given.output / "results.json").read_text()), given.output)
        return 0
    if given.suite is None:
        parser.error("name the path of a clone of OpenMP_VV")
    given.suite, given.marline = given.suite.resolve(), given.marline.resolve()
    tests = find_tests(given.suite, given.only)
    compilers = [find_compiler(name) for name in given.compilers.split(",")]
    suites.check_marline("run_vv", given.marline)
    given.output.mkdir(parents=True, exist_ok=True)
    results = []
    with tempfile.TemporaryDirectory(prefix="vv-") as folder:
        for compiler in compilers:
            results += run_compiler(compiler, tests, Path(folder), given)
    facts = {"suite": first_line("git", "-C", str(given.suite), "describe", "--always"),
             "threads": given.threads, "seconds": given.seconds, **suites.machine(given.output),
             "compilers": [vars(compiler) for compiler in compilers],
             "results": [vars(result) for result in results]}  # fmt: skip
    (given.output / "results.json").write_text(json.dumps(facts, indent=1) + "\n")
    write_page(facts, given.output)
    return 1 if any(result.stock == "passes" and result.marline.startswith("fails") for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
