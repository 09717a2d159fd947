#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds and runs the programs in tests/programs with compilers that the tests do not have, on Marline, and keeps the
results as facts in tests/programs/other_compilers.txt, from which tools/gen_features.py makes its columns.

The compilers lie in a root, a folder with another release of Debian, which this command makes (as root, some GB):

    mmdebstrap --variant=apt --include=python3,gcc-16,g++-16,gfortran-16,clang-23,clang-tools-23,llvm-23,flang-23 \
        sid ROOT

In 2026 sid has GCC 13 to 16, Clang and flang 21 to 23; trixie Clang and flang 17 to 19; bookworm Clang 15. Clang 20 was
in none.

BUILD is configured for the tests; of it this tool takes the command lines of each program, and puts the other compiler
into them. It takes the programs that the tests build with the next older or the next newer version of the same
compiler: what Clang 16 or Clang 19 builds, for Clang 17; what GCC 12 builds, for GCC 13 to 16; what gfortran 12 builds,
for flang. Programs with target regions run on the device `host`, but `target_offload` on the processor as LLVM's
libomptarget has it: the compiler's version of it where ROOT has that (liboffload-23-dev), else LLVM 19's, which needs
libllvm19 in ROOT. BUILD must be built, as programs open its libraries. It runs all in a mount namespace of its own,
with the folders of the project, of the build and of LLVM 19 (whose libomp programs of all Clangs are linked with,
before Marline takes its place) mounted in ROOT.

    run_other_compilers.py BUILD ROOT COMPILER... [--only REGEX] [--again]      exit 1 if a program failed

--again runs only programs that have not passed before.

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
sys.path.insert(0, str(HERE))
from compiler_facts import keep_fact, read_facts, split_version  # noqa: E402

RESULTS = HERE.parent / "tests" / "programs" / "other_compilers.txt"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# What became of the programs in this folder with compilers that the tests do not have, on four threads:
# COMPILER PROGRAM RESULT. Written by tools/run_other_compilers.py; tools/gen_features.py makes columns of the page from
# it. Programs with target regions ran on the device `host`, target_offload on the processor as LLVM's libomptarget has
# it, of LLVM 19 or of the compiler's version.
"""
TESTED = {"gcc": [12], "clang": [14, 16, 19, 22], "gfortran": [12]}  # versions
LIKE = {"gcc": "gcc", "clang": "clang", "gfortran": "gfortran", "flang": "gfortran"}  # whose programs a compiler builds
LLVM_19 = "/usr/lib/llvm-19/lib"  # has libomp, omp.h and omp-tools.h
OFFLOAD = "target_offload"  # has target regions, and runs on LLVM's libomptarget, not on Marline's devices
TEST = re.compile(r"(?:programs\.[^.]+\.(\w+)|devices\.[^.]+\.(\w+)\.host)\.t(\d+)")
SECONDS = 300  # one program, as the tests


@dataclass
class Job:
    program: str
    build: str  # a command line of the shell
    run: list[str]
    environment: dict[str, str]
    folder: str


def neighbours(compiler: str) -> list[str]:
    """The tests' compilers that are next to it: the older one, the newer one."""
    name, version = split_version(compiler)
    tested = TESTED[LIKE[name]]
    older = [of for of in tested if of < version] if name != "flang" else tested
    newer = [of for of in tested if of > version] if name != "flang" else []
    return [f"{LIKE[name]}{of}" for of in older[-1:] + newer[:1]]


def for_flang(line: str, version: int, output: Path) -> str:
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


def build_line(line: str, base: str, compiler: str) -> str:
    """The command line that builds a program with its base compiler, for another compiler."""
    line = re.sub(r" -MMD -MT \S+ -MF \S+", "", line).partition(" && /usr/bin/cmake -E")[0]
    (like, of), (name, version) = split_version(base), split_version(compiler)
    if name == "flang":
        line = re.sub(rf"/usr/bin/gfortran-{of}(?= )", f"/usr/bin/flang-{version}", line)
    else:
        line = re.sub(rf"/usr/bin/(gcc|g\+\+|clang\+\+|clang|gfortran)-{of}(?= )", rf"/usr/bin/\1-{version}", line)
    if name == "clang":
        line = line.replace(" -fopenmp=libomp ", f" -fopenmp=libomp -idirafter {LLVM_19}/clang/19/include ", 1)
    return line


def with_own_libomptarget(line: str, compiler: str, root: Path) -> str:
    """A program that is linked with LLVM 19's libomptarget: with that of the compiler's version, if ROOT has it."""
    own = f"/usr/lib/llvm-{split_version(compiler)[1]}/lib"
    if not (root / own[1:] / "libomptarget.so").exists():
        return line
    return line.replace(f" -L{LLVM_19} ", f" -L{own} ").replace(f"-rpath,{LLVM_19} ", f"-rpath,{own} ")


def read_tests(file: Path) -> dict[str, tuple[list[str], str]]:
    """What CMake has written for ctest: name -> command, properties. (ctest leaves out the command of what is not built
    yet.)"""
    text = file.read_text()
    commands = {name: [re.sub(r"\\(.)", r"\1", word) for word in re.findall(r'"((?:[^"\\]|\\.)*)"', words)]
                for name, words in re.findall(r"^add_test\(\[=\[(\S+)\]=\] (.*)\)$", text, re.MULTILINE)}
    properties = re.findall(r"^set_tests_properties\(\[=\[(\S+)\]=\] PROPERTIES (.*)\)$", text, re.MULTILINE)
    return {name: (commands[name], words) for name, words in properties if name in commands}


def environment_of(properties: str) -> dict[str, str]:
    listed = re.search(r' ENVIRONMENT "((?:[^"\\]|\\.)*)"', " " + properties)
    pairs = [pair.split("=", 1) for pair in re.split(r"(?<!\\);", listed[1]) if pair] if listed else []
    return {key: value for key, value in pairs}


def tests_of(build: Path) -> dict[str, tuple[list[str], dict[str, str]]]:
    """The tests of programs that have to succeed: name -> command, environment."""
    folder = build / "tests" / "programs"
    tests = read_tests(folder / "CTestTestfile.cmake") | read_tests(folder / "offload" / "CTestTestfile.cmake")
    return {name: (command, environment_of(words)) for name, (command, words) in tests.items()
            if TEST.fullmatch(name) and "PASS_REGULAR_EXPRESSION" not in words}


def programs_of(build: Path, compilers: list[str]) -> set[str]:
    """The programs that the tests build with one of these compilers. Three Clangs take turns in a build: these are
    those of all turns."""
    programs = json.loads((build / "tests" / "programs" / "programs.json").read_text())
    return {program["name"] for program in programs if set(compilers) & set(program["compilers"])}


def jobs_of(build: Path, compiler: str, root: Path, folder: Path, only: str) -> list[Job]:
    like = LIKE[split_version(compiler)[0]]
    wanted = programs_of(build, neighbours(compiler))
    if like == "clang" and split_version(compiler)[1] > 19:
        wanted.add(OFFLOAD)  # Clang 22's is not tested with LLVM 19's libomptarget
    jobs: dict[str, Job] = {}
    lines = build_lines(build)
    best = sorted(TESTED[like], key=lambda version: version != 19)  # Clang 19 builds nearly all, as users would
    tests = tests_of(build)
    for base in (f"{like}{version}" for version in best):
        of_base = {}
        for test, (command, environment) in tests.items():
            match = TEST.fullmatch(test)
            binary = Path(command[0]).name
            program = binary.removesuffix(f"_{base}")
            if base not in match.groups() or binary not in lines or program not in wanted:
                continue
            if not re.search(only, program) or (program in of_base and match[3] != "4"):
                continue
            line = build_line(lines[binary], base, compiler)
            line = with_own_libomptarget(line, compiler, root) if program == OFFLOAD else line
            of_base[program] = job_of(build, folder, Job(program, line, command, environment, ""), binary, compiler)
        jobs = of_base | jobs
    missing = {word for job in jobs.values() for word in job.run[1:]
               if word.startswith(f"{build}/") and not Path(word).exists()}  # fmt: skip
    if missing:
        sys.exit(f"{', '.join(sorted(missing))}: not built")
    return list(jobs.values())


def job_of(build: Path, folder: Path, job: Job, binary: str, compiler: str) -> Job:
    """The job with the copies of the build's files that are in `folder`, and what it writes there, too."""
    built = f"{build}/tests/programs/bin/{binary}"
    output = folder / "bin" / job.program
    line = job.build.replace(f"{build}/lib", f"{folder}/lib").replace(f"-o {built} ", f"-o {output} ")
    line = re.sub(r" -J ?\S+", f" -J{folder}", line)
    line = re.sub(r"^cd \S+ ", f"cd {folder} ", line)
    if compiler.startswith("flang"):
        line = for_flang(line, split_version(compiler)[1], output)
    return Job(job.program, line, [word.replace(built, str(output)) for word in job.run],
               {key: value.replace(f"{build}/lib", f"{folder}/lib") for key, value in job.environment.items()},
               str(folder))  # fmt: skip


def first_error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    lines = [line for line in lines if "Semantic errors in" not in line]  # flang's first line
    telling = [line for line in lines if re.search(r"error|undefined|fatal|CHECK|not found|cannot|sorry", line, re.I)]
    first = re.sub(r"/\S*/", "", (telling or lines or ["nothing printed"])[0])
    return re.sub(r"0x[0-9a-f]+", "0x...", first)[:160]  # addresses differ from run to run


def build_once(job: Job, built: dict[str, tuple[str, str]]) -> str:
    """Builds the program and returns what is wrong. Programs that are run with several settings are built once: `built`
    has the output and the result of each command line."""
    output = job.run[0]
    line = job.build.replace(output, "OUTPUT")
    if line in built:
        first, wrong = built[line]
        if not wrong:
            os.link(first, output)
        return wrong
    result = subprocess.run(["sh", "-c", job.build], capture_output=True, text=True, timeout=SECONDS, errors="replace")
    built[line] = output, "" if result.returncode == 0 else f"refused: {first_error(result.stderr)}"
    return built[line][1]


def attempt(job: Job, built: dict[str, tuple[str, str]]) -> str:
    try:
        refused = build_once(job, built)
        if refused:
            return refused
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
    built: dict[str, tuple[str, str]] = {}
    for fields in json.loads(Path(path).read_text()):
        job = Job(**fields)
        print(json.dumps([job.program, attempt(job, built)]), flush=True)


def words_in_root(root: Path, folders: list[str], script: list[str]) -> list[str]:
    """The command that runs a script of Python in the root, where these folders are mounted, too."""
    mounts = "".join(f"mkdir -p {root}{path} && mount --rbind {path} {root}{path} && "
                     for path in [*folders, "/proc", "/dev", LLVM_19])  # fmt: skip
    script = [str(Path(script[0]).resolve()), *script[1:]]
    return ["unshare", "-m", "sh", "-c", f'{mounts} exec chroot {root} "$@"', "sh", "/usr/bin/python3", *script]


def run_in_root(compiler: str, root: Path, project: Path, jobs: list[Job], folder: Path) -> bool:
    """Keeps each result at once, and returns whether a program failed."""
    listing = folder / "jobs.json"
    listing.write_text(json.dumps([vars(job) for job in jobs]))
    words = words_in_root(root, [str(project), str(folder)], [__file__, "--inside", str(listing)])
    count, failed = 0, False
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            program, result = json.loads(line)
            print(f"{compiler} {program} {result}", flush=True)
            keep_fact(compiler, program, result, RESULTS, HEAD)
            count, failed = count + 1, failed or result.startswith("fails")
    if process.returncode != 0 or count != len(jobs):
        sys.exit(f"{root}: ended with {process.returncode} after {count} of {len(jobs)} programs")
    return failed


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
    for compiler in given.compilers:
        if split_version(compiler)[0] not in LIKE or not split_version(compiler)[1]:
            sys.exit(f"{compiler}: not one of {', '.join(LIKE)} with a version, such as gcc16")
    build, root = given.build.resolve(), given.root.resolve()
    project = Path(os.path.commonpath([build, HERE]))
    failed = False
    for compiler in given.compilers:
        with tempfile.TemporaryDirectory(prefix="others-") as folder:
            shutil.copytree(build / "lib", Path(folder) / "lib", symlinks=True)  # BUILD may be built meanwhile
            (Path(folder) / "bin").mkdir()
            jobs = jobs_of(build, compiler, root, Path(folder), given.only)
            passed = (compiler, "passes")
            done = {program for of, program, result in read_facts(RESULTS) if given.again and (of, result) == passed}
            jobs = [job for job in jobs if job.program not in done]
            failed |= bool(jobs) and run_in_root(compiler, root, project, jobs, Path(folder))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
