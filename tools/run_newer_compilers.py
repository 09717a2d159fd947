#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the programs in tests/programs with compilers that are newer than the ones of the tests, on Marline,
and keeps the results as facts in tests/programs/newer_compilers.txt, from which tools/gen_features.py makes columns.

The compilers lie in a root, a folder with a newer release of Debian, which this command makes (as root, some GB):

    mmdebstrap --include=gcc-16,g++-16,gfortran-16,clang-23,flang-23,libomp-23-dev,lld-23,clang-tools-23 sid ROOT

BUILD is configured for the tests; of it this tool takes the command lines of each program, and puts the newer compiler
into them: gcc16 for gcc12, clang23 for clang19, flang23 or gfortran16 for gfortran12. It runs all in a mount namespace
of its own, with the folders of the project and of the build mounted in ROOT.

    run_newer_compilers.py BUILD ROOT COMPILER... [--only REGEX] [--again]      exit 1 if a program failed

--again runs only programs that have not passed before. ROOT needs a python3.

A line of the file is COMPILER PROGRAM RESULT: `passes`, `builds` (it was not run), or what went wrong: `refused: ...`
(the compiler does not accept it), `fails: ...`. Lines of other compilers stay as they are.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "tests" / "programs" / "newer_compilers.txt"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# What became of the programs in this folder with compilers that are newer than the ones of the tests, on four threads:
# COMPILER PROGRAM RESULT. Written by tools/run_newer_compilers.py; tools/gen_features.py makes columns of the page from
# it.
"""
BASE = {"gcc": "gcc12", "clang": "clang19", "gfortran": "gfortran12", "flang": "gfortran12"}
LLVM_19 = ["/usr/lib/llvm-19/lib/clang"]  # has omp-tools.h
SECONDS = 120  # one program; the ones that take longer are exhaustive forms


@dataclass
class Job:
    program: str
    build: str  # a command line of the shell
    run: list[str]
    environment: dict[str, str]
    folder: str


def split_version(compiler: str) -> tuple[str, str]:
    name = compiler.rstrip("0123456789")
    if name not in BASE or name == compiler:
        sys.exit(f"{compiler}: not one of {', '.join(BASE)} with a version, such as gcc16")
    return name, compiler[len(name):]


def for_flang(line: str, version: str, output: Path) -> str:
    """Without gfortran's own flags; C sources, which flang does not take, are compiled by Clang."""
    line = re.sub(r" -(Wall|ffree-line-length-none)(?= )", "", line)
    line = re.sub(r" -J ?", " -module-dir ", line).replace(" -fopenmp ", " -fopenmp -fopenmp-version=52 ", 1)
    for source in re.findall(r"\S+\.c(?= )", line):
        compiled = f"{output}_{Path(source).stem}.o"
        flags = " ".join(re.findall(r" -I\S+", line))
        line = line.replace(" && ", 
                            f" && /usr/bin/clang-{version} -fopenmp -O2 -g {flags} -c {source} -o {compiled} && ", 1)
        line = re.sub(rf" {re.escape(source)}(?= (?!-o {re.escape(compiled)}))", f" {compiled}", line)
    return line


def build_lines(build: Path) -> dict[str, str]:
    """The command lines of all programs: by the file that each makes."""
    output = subprocess.run(["ninja", "-C", build, "-t", "commands"], capture_output=True, text=True, check=True).stdout
    found = re.findall(rf"^(.* -o {re.escape(str(build))}/tests/programs/bin/(\S+) .*)$", output, re.MULTILINE)
    return {name: line for line, name in found}


def build_line(build: Path, line: str, binary: str, compiler: str, output: Path) -> str:
    """The command line of the program for its base compiler, for this one and to another file."""
    line = re.sub(r" -MMD -MT \S+ -MF \S+", "", line).partition(" && /usr/bin/cmake -E")[0]
    name, version = split_version(compiler)
    driver = {"gcc": (r"(gcc|g\+\+)-12", rf"\1-{version}"),
              "clang": (r"(clang\+\+|clang)-19", rf"\1-{version}"),
              "gfortran": (r"(gfortran)-12", rf"\1-{version}"),
              "flang": (r"gfortran-12", f"flang-{version}")}[name]  # fmt: skip
    line = re.sub(r"/usr/bin/" + driver[0] + r"(?= )", "/usr/bin/" + driver[1], line)
    line = line.replace("-L/usr/lib/llvm-19/", f"-L/usr/lib/llvm-{version}/")
    if name == "flang":
        line = for_flang(line, version, output)
    line = line.replace(f"{build}/lib", f"{output.parent}/lib")
    return line.replace(f"-o {build}/tests/programs/bin/{binary} ", f"-o {output} ")


def tests_of(build: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """The program tests: name -> command, environment. (ctest leaves out the command of what is not built yet.)"""
    text = (build / "tests" / "programs" / "CTestTestfile.cmake").read_text()
    commands = {name: re.findall(r'"((?:[^"\\]|\\.)*)"', words)
                for name, words in re.findall(r"^add_test\(\[=\[(programs\.\S+)\]=\] (.*)\)$", text, re.MULTILINE)}
    tests = {}
    for name, words in re.findall(r"^set_tests_properties\(\[=\[(programs\.\S+)\]=\] PROPERTIES (.*)\)$", text,
                                  re.MULTILINE):  # fmt: skip
        listed = re.search(r' ENVIRONMENT "((?:[^"\\]|\\.)*)"', " " + words)
        pairs = [pair.split("=", 1) for pair in re.split(r"(?<!\\);", listed[1])] if listed else []
        tests[name] = (commands[name], {key: value for key, value in pairs})
    return tests


def jobs_of(build: Path, compiler: str, folder: Path, only: str) -> list[Job]:
    base = BASE[split_version(compiler)[0]]
    jobs: dict[str, Job] = {}
    lines = build_lines(build)
    for test, (command, environment) in tests_of(build).items():
        match = re.fullmatch(rf"programs\.([^.]+)\.{base}\.t(\d+)", test)
        if not match or not re.search(only, match[1]) or (match[1] in jobs and match[2] != "4"):
            continue
        binary = f"{match[1]}_{base}"
        if binary not in lines:
            continue
        line = build_line(build, lines[binary], binary, compiler, folder / binary)
        command = [word.replace(f"{build}/tests/programs/bin/{binary}", str(folder / binary)) for word in command]
        environment = {key: value.replace(f"{build}/lib", f"{folder}/lib") for key, value in environment.items()}
        jobs[match[1]] = Job(match[1], line, command, environment, str(build / "tests" / "programs"))
    return list(jobs.values())


def first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if "Semantic errors in" not in line]  # flang's first line
    telling = [line for line in lines if re.search(r"error|undefined|fatal|CHECK|not found|cannot|sorry", line, re.I)]
    return re.sub(r"/\S*/", "", (telling or lines or ["nothing printed"])[0])[:160]


def attempt(job: Job) -> str:
    os.makedirs(job.folder, exist_ok=True)
    try:
        built = subprocess.run(["sh", "-c", job.build], capture_output=True, text=True, timeout=SECONDS,
                               errors="replace")  # fmt: skip
        if built.returncode != 0:
            return f"refused: {first_error(built.stderr)}"
        environment = {"PATH": os.environ["PATH"], "HOME": "/tmp"} | job.environment
        ran = subprocess.run(job.run, cwd=job.folder, env=environment, capture_output=True, text=True, timeout=SECONDS,
                             errors="replace")  # fmt: skip
    except subprocess.TimeoutExpired as expired:
        return f"fails: takes longer than {expired.timeout:.0f} s"
    if ran.returncode == 77:
        return "builds"
    return "passes" if ran.returncode == 0 else f"fails: exit {ran.returncode}: {first_error(ran.stderr + ran.stdout)}"


def inside(path: str) -> None:
    """In the root: reads the jobs, prints a line for each."""
    for fields in json.loads(Path(path).read_text()):
        job = Job(**fields)
        print(json.dumps([job.program, attempt(job)]), flush=True)


def run_in_root(root: Path, project: Path, jobs: list[Job], folder: Path) -> dict[str, str]:
    listing = folder / "jobs.json"
    listing.write_text(json.dumps([vars(job) for job in jobs]))
    mounts = [str(project), "/proc", "/dev", str(folder), *LLVM_19]
    script = "".join(f"mkdir -p {root}{path} && mount --rbind {path} {root}{path} && " for path in mounts)
    words = ["unshare", "-m", "sh", "-c", f'{script} exec chroot {root} "$@"', "sh", "/usr/bin/python3",
             str(Path(__file__).resolve()), "--inside", str(listing)]  # fmt: skip
    results = {}
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            program, result = json.loads(line)
            print(f"{program}: {result}", flush=True)
            results[program] = result
    if process.returncode != 0 or len(results) != len(jobs):
        sys.exit(f"{root}: ended with {process.returncode} after {len(results)} of {len(jobs)} programs")
    return results


def read_results() -> dict[str, dict[str, str]]:
    results: dict[str, dict[str, str]] = {}
    for line in RESULTS.read_text().splitlines() if RESULTS.exists() else ():
        if line and not line.startswith("#"):
            compiler, program, result = line.split(" ", 2)
            results.setdefault(compiler, {})[program] = result
    return results


def keep(compiler: str, results: dict[str, str]) -> None:
    """One compiler at a time: others may have written in between."""
    known = read_results()
    known.setdefault(compiler, {}).update(results)
    lines = [f"{name} {program} {result}\n" 
             for name, of in sorted(known.items()) for program, result in sorted(of.items())]  # fmt: skip
    RESULTS.write_text(HEAD + "".join(lines))


def main() -> int:
    if sys.argv[1:2] == ["--inside"]:
        inside(sys.argv[2])
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("compilers", nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    build, root = given.build.resolve(), given.root.resolve()
    project = Path(os.path.commonpath([build, HERE]))
    failed = False
    for compiler in given.compilers:
        with tempfile.TemporaryDirectory(prefix="newer-") as folder:
            shutil.copytree(build / "lib", Path(folder) / "lib", symlinks=True)  # BUILD may be built meanwhile
            jobs = jobs_of(build, compiler, Path(folder), given.only)
            done = read_results().get(compiler, {}) if given.again else {}
            jobs = [job for job in jobs if done.get(job.program) != "passes"]
            results = run_in_root(root, project, jobs, Path(folder))
        keep(compiler, results)
        failed |= any(result.startswith("fails") for result in results.values())
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
