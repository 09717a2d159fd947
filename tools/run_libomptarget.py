#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the programs for emulated GPUs (tests/emulator/README.md) on Marline with versions of LLVM's libomptarget that
the tests do not have, and keeps the results as facts in tests/emulator/other_libraries.txt.

The libraries lie in a root, a folder with a release of Debian, which this command makes (as root, 1 GB). In 2026, sid
has LLVM 21 to 23:

    mmdebstrap --variant=extract --include=python3,libatomic1,libllvm21,libllvm22,libllvm23 sid ROOT

The packages of libomptarget (liboffload-23) exclude one another, so each is put into ROOT by `dpkg -x`, of
`apt-get download liboffload-23`.

BUILD has the tests' programs, which Clang 19 has built. They run in ROOT, in a mount namespace of their own, in which
the folders of the project and of LLVM 19 are mounted, too. Tests that name a library of their own are left out.

    run_libomptarget.py BUILD ROOT VERSION... [--only REGEX]      exit 1 if a program failed

A line of the file is VERSION TEST RESULT: `passes`, or `fails: ...` with what was printed.
"""
from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
from compiler_facts import keep_fact  # noqa: E402
from run_other_compilers import SECONDS, environment_of, first_error, read_tests, words_in_root  # noqa: E402

RESULTS = HERE.parent / "tests" / "emulator" / "other_libraries.txt"
HEAD = """\
# SPDX-License-Identifier: Apache-2.0
#
# What became of the programs for emulated GPUs, built by Clang 19, with versions of libomptarget that the tests do not
# have, on Marline: VERSION TEST RESULT. Written by tools/run_libomptarget.py.
"""
TEST = re.compile(r"emulator\.(\w+)\.marline")


def library_in(root: Path, version: str) -> str:
    """Its path as the root sees it."""
    found = sorted(root.glob(f"usr/lib/llvm-{version}/lib/libomptarget.so.{version}*"))
    if not found:
        sys.exit(f"{root}: no usr/lib/llvm-{version}/lib/libomptarget.so.{version}*")
    return f"/{found[0].relative_to(root)}"


def jobs_of(build: Path, library: str, only: str) -> list[dict]:
    jobs = []
    for folder in (build / "tests" / "emulator", build / "tests" / "programs" / "offload"):
        for test, (command, properties) in read_tests(folder / "CTestTestfile.cmake").items():
            match, environment = TEST.fullmatch(test), environment_of(properties)
            if not match or "MARLINE_LIBOMPTARGET" in environment or not re.search(only, match[1]):
                continue
            expected = re.search(r' PASS_REGULAR_EXPRESSION "((?:[^"\\]|\\.)*)"', " " + properties)
            jobs.append({"test": match[1], "command": command, "folder": str(folder),
                         "expected": re.sub(r"\\(.)", r"\1", expected[1]) if expected else None,
                         "environment": environment | {"MARLINE_LIBOMPTARGET": library}})  # fmt: skip
    return jobs


def attempt(job: dict) -> str:
    environment = {"PATH": os.environ["PATH"], "HOME": "/tmp"} | job["environment"]
    try:
        ran = subprocess.run(job["command"], cwd=job["folder"], env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=SECONDS, errors="replace")  # fmt: skip
    except subprocess.TimeoutExpired as expired:
        return f"fails: takes longer than {expired.timeout:.0f} s"
    if job["expected"] is None:
        return "passes" if ran.returncode == 0 else f"fails: exit {ran.returncode}: {first_error(ran.stdout)}"
    passes = re.search(job["expected"], ran.stdout, re.DOTALL) is not None  # in CMake's, a point is any character
    return "passes" if passes else f"fails: not what is expected: {first_error(ran.stdout)}"


def inside() -> None:
    """In the root: reads the jobs, prints a line for each."""
    for job in json.load(sys.stdin):
        print(json.dumps([job["test"], attempt(job)]), flush=True)


def run(version: str, root: Path, project: str, jobs: list[dict]) -> bool:
    """Keeps each result at once, and returns whether a program failed."""
    words = words_in_root(root, [project], [__file__, "--inside"])
    count, failed = 0, False
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(json.dumps(jobs))
        process.stdin.close()
        for line in process.stdout:
            test, result = json.loads(line)
            print(f"{version} {test} {result}", flush=True)
            keep_fact(version, test, result, RESULTS, HEAD)
            count, failed = count + 1, failed or result != "passes"
    if process.returncode != 0 or count != len(jobs):
        sys.exit(f"{root}: ended with {process.returncode} after {count} of {len(jobs)} programs")
    return failed


def main() -> int:
    if sys.argv[1:] == ["--inside"]:
        inside()
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("root", type=Path)
    parser.add_argument("versions", nargs="+")
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    build, root = given.build.resolve(), given.root.resolve()
    project = os.path.commonpath([build, HERE])
    failed = False
    for version in given.versions:
        jobs = jobs_of(build, library_in(root, version), given.only)
        failed |= bool(jobs) and run(version, root, project, jobs)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
