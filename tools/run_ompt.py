#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs LLVM's own tests of OMPT on LLVM's runtime and on Marline, and writes what passed into a folder: README.md for
people, results.json for programs.

    apt-get source --tar-only llvm-toolchain-19      (or a clone of github.com/llvm/llvm-project)
    run_ompt.py PATH [--compiler clang-19] [--filecheck FileCheck-19] [-o docs/results/ompt]

PATH has openmp/runtime/test/ompt, and openmp/runtime/src, of which the tests include a header. FileCheck is in Debian's
llvm-19-tools. Exit 1 if a test fails on Marline only and the reason is not known. The suite is no part of this project.

A test's `RUN:` lines run as LLVM's lit runs them, with the substitutions of the suite's lit.cfg, in a folder of their
own. The one thing that differs between the two runs is LD_LIBRARY_PATH: the compiler's libraries, or Marline's compat
folder. `UNSUPPORTED:` and `XFAIL:` lines with the compiler's name leave a test out.

Why tests fail on Marline only is said by hand in differences.toml of the output folder:

    [[difference]]
    kind = "words of the log"
    why = "OpenMP does not give the words"
    tests = ["loadtool/tool_available/tool_available.c"]
    edits = [["a regular expression", "what Marline does instead"]]

The edits are applied to the test and the headers beside it, and may change comments only, where the expectations
stand. `program = [...]`, in the same form, changes the program as well. In an expression `.*` does not cross a line,
and `^` is the begin of a line. The edited test must then pass on Marline: otherwise it is not explained. A
test with several differences gets the edits of all of them.
"""
from __future__ import annotations

import argparse
import functools
import json
import os
import re
import shlex
import shutil
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "python")]

import ompt_page  # noqa: E402  (the paths above are what finds them)
import suite as suites  # noqa: E402
from marline.study.measure.launch import own_environment  # noqa: E402
from marline.study.measure.machine import first_line  # noqa: E402

LETTERS = 160  # of a reason


@dataclass(frozen=True)
class Tools:
    compiler: str
    filecheck: str
    stock: str  # the folder with the compiler's libomp.so
    compat: str  # Marline's

    def libraries(self, runtime: str) -> str:
        return self.stock if runtime == "stock" else self.compat

    def substitutions(self) -> list[tuple[str, str]]:
        """Those of lit.cfg for Linux, in an order in which one may contain later ones. `%t` is a file for the test's
        own use, `%T` its folder."""
        compile_c = "%clang -fopenmp %flags %s -o %t -lm -latomic"
        flags = f"-I %R -L {shlex.quote(self.stock)} -fno-omit-frame-pointer -I %R/ompt"
        return [(r"%libomp-((?:c99-|cxx-|cxx20-)?)compile-and-run", r"%libomp-\1compile && %libomp-run"),
                ("%libomp-c99-compile", compile_c.replace("%s", "-std=c99 %s")),
                ("%libomp-cxx-compile", compile_c.replace("%clang", "%clangXX").replace("%s", "-std=c++17 %s")),
                ("%libomp-cxx20-compile", compile_c.replace("%clang", "%clangXX").replace("%s", "-std=c++20 %s")),
                ("%libomp-compile", compile_c), ("%libomp-run", "%t"),
                ("%clangXX", shlex.quote(self.compiler.replace("clang", "clang++"))),
                ("%clang", shlex.quote(self.compiler)), ("%flags", flags), ("%sort-threads", "sort -n -s"),
                ("%preload-tool", "env LD_PRELOAD=%T/tool.so"), ("%no-as-needed-flag", "-Wl,--no-as-needed"),
                (r"\bFileCheck\b", shlex.quote(self.filecheck))]  # fmt: skip


@dataclass
class Result:
    """What became of a test; `runs` as suite.compare says. For one that fails on Marline only: the kind and the reason
    of its differences, and the outcome of the edited test on Marline."""
    test: str
    stock: str = ""
    marline: str = ""
    runs: dict[str, str] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)
    edited: str = ""


def find_suite(path: Path) -> Path:
    for folder in (path, path / "openmp" / "runtime" / "test", *path.glob("*/openmp/runtime/test")):
        if (folder / "ompt" / "callback.h").is_file():
            return folder.resolve()
    sys.exit(f"run_ompt: {path}: has no openmp/runtime/test/ompt: name a clone of llvm-project")


def find_tests(suite: Path, only: str) -> list[str]:
    folder = suite / "ompt"
    names = [str(path.relative_to(folder)) for path in sorted(folder.rglob("*")) if path.suffix in (".c", ".cpp")]
    if not (chosen := [name for name in names if re.search(only, name)]):
        sys.exit(f"run_ompt: {suite}: none of its {len(names)} tests" + (f" matches {only}" if only else ""))
    return chosen


def find_tools(given: argparse.Namespace) -> Tools:
    if not re.fullmatch(r"clang(-\d+)?", Path(given.compiler).name) or shutil.which(given.compiler) is None:
        sys.exit(f"run_ompt: {given.compiler}: no Clang that is there, such as clang-19")
    library = first_line(given.compiler, "-print-file-name=libomp.so")
    filecheck = shutil.which(given.filecheck)
    if not os.path.isabs(library) or filecheck is None:
        sys.exit(f"run_ompt: no {'libomp.so of ' + given.compiler if filecheck else given.filecheck}: install it, or "
                 "name another one by --compiler or --filecheck")  # fmt: skip
    compat = given.marline.parent.parent / "lib" / "marline" / "compat"
    return Tools(given.compiler, filecheck, os.path.dirname(os.path.realpath(library)), str(compat))


def lines_of(text: str, keyword: str) -> list[str]:
    """What stands after `KEYWORD:`; lines that end with a backslash go on."""
    joined: list[str] = []
    for line in re.findall(rf"\b{keyword}:(.*)", text):
        if joined and joined[-1].endswith("\\"):
            joined[-1] = joined[-1][:-1] + line
        else:
            joined.append(line.rstrip())
    return [line.strip() for line in joined]


def left_out(text: str, compiler: str) -> bool:
    features = {Path(compiler).name, "clang"}
    return any(features & set(re.split(r"[\s,]+", line)) for keyword in ("UNSUPPORTED", "XFAIL")
               for line in lines_of(text, keyword))  # fmt: skip


def script_of(source: Path, suite: Path, folder: Path, tools: Tools) -> str:
    """The test's RUN lines for bash; each must succeed, with each part of its pipes."""
    script = " && ".join(f"{{ {line}; }}" for line in lines_of(source.read_text(errors="replace"), "RUN"))
    places = [("%t", folder / "program"), ("%T", folder), ("%s", source), ("%S", source.parent), ("%R", suite)]
    for old, new in tools.substitutions():
        script = re.sub(old + r"(?![\w-])", new, script)
    for old, path in places:
        script = re.sub(old + r"(?!\w)", shlex.quote(str(path)), script)
    return f"set -o pipefail; {script}"


def reason(output: str) -> str:
    """The compiler's or FileCheck's first error; of FileCheck with the expectation that it names, which stands in the
    next line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for at, line in enumerate(lines):
        if match := re.search(r"[\w.]+:(\d+):\d+: (?:fatal )?error: (.*)", line):
            expected = re.sub(r"^//\s*", "", lines[at + 1]) if at + 1 < len(lines) else ""
            return f"line {match[1]}: {match[2]}: {expected}"[:LETTERS]
    return (lines or ["nothing printed"])[-1][:LETTERS]


def run_test(source: Path, suite: Path, runtime: str, tools: Tools, seconds: float) -> str:
    with tempfile.TemporaryDirectory(prefix="ompt-") as name:
        environment = own_environment() | {"LD_LIBRARY_PATH": tools.libraries(runtime)}
        words = ["bash", "-c", script_of(source, suite, Path(name), tools)]
        code, output = suites.run_words(words, Path(name), environment, seconds)
    if code is None:
        return f"fails: {suites.TOO_LONG} {seconds:.0f} s"
    return "passes" if code == 0 else f"fails: {suites.status(code)}: {reason(output)}"


def code_of(text: str) -> str:
    return "\n".join(line.strip() for line in text.splitlines() if line.strip() and not re.match(r"\s*//", line))


def edit(folder: Path, difference: dict, path_of_list: Path) -> None:
    """All files of the folder: first their expectations, then, if the difference says so, the program."""
    for path in folder.iterdir():
        before = text = path.read_text(errors="replace")
        for old, new in difference["edits"]:
            text = re.sub(old, new, text, flags=re.MULTILINE)
        if code_of(text) != code_of(before):
            sys.exit(f"run_ompt: {path_of_list}: the edits of \"{difference['kind']}\" change the program of "
                     f"{path.name}, not only its comments: see `program`")  # fmt: skip
        for old, new in difference.get("program", []):
            text = re.sub(old, new, text, flags=re.MULTILINE)
        path.write_text(text)


def run_edited(source: Path, given: argparse.Namespace, differences: list[dict], tools: Tools) -> str:
    """On Marline, as often as a test whose two runtimes differ; the first failure, if there is one."""
    with tempfile.TemporaryDirectory(prefix="ompt-edited-") as name:
        for path in source.parent.iterdir():
            if path.is_file():
                shutil.copy(path, name)
        for difference in differences:
            edit(Path(name), difference, given.output / "differences.toml")
        outcomes = [run_test(Path(name) / source.name, given.suite, "marline", tools, given.seconds)
                    for _ in range(given.repeats + 1)]  # fmt: skip
    return next((outcome for outcome in outcomes if outcome != "passes"), "passes")


def read_differences(output: Path) -> list[dict]:
    path = output / "differences.toml"
    if not path.exists():
        return []
    with path.open("rb") as file:
        differences = tomllib.load(file).get("difference", [])
    for difference in differences:
        if set(difference) - {"program"} != {"kind", "why", "tests", "edits"}:
            sys.exit(f"run_ompt: {path}: a difference needs kind, why, tests and edits, and has {sorted(difference)}")
    return differences


def examine(name: str, given: argparse.Namespace, tools: Tools, differences: list[dict]) -> Result:
    source = given.suite / "ompt" / name
    result = Result(name)
    if left_out(source.read_text(errors="replace"), given.compiler):
        result.stock = result.marline = "skipped"
        return result
    outcomes, result.runs = suites.compare({
        runtime: functools.partial(run_test, source, given.suite, runtime, tools, given.seconds)
        for runtime in suites.RUNTIMES}, given.repeats)  # fmt: skip
    result.stock, result.marline = outcomes["stock"], outcomes["marline"]
    mine = [difference for difference in differences if name in difference["tests"]]
    if mine and result.marline.startswith("fails"):
        result.kinds = [difference["kind"] for difference in mine]
        result.edited = run_edited(source, given, mine, tools)
    return result


def write_page(facts: dict, output: Path) -> None:
    (output / "README.md").write_text(ompt_page.page(facts, read_differences(output)))


def main() -> int:
    parser = suites.options(__doc__, "a clone of llvm-project, or its openmp/runtime/test", "ompt")
    parser.add_argument("--compiler", default="clang-19")
    parser.add_argument("--filecheck", default="/usr/lib/llvm-19/bin/FileCheck", metavar="COMMAND")
    given = parser.parse_args()
    if given.page:
        write_page(json.loads((given.output / "results.json").read_text()), given.output)
        return 0
    if given.suite is None:
        parser.error("name the path of a clone of llvm-project")
    given.suite, given.marline = find_suite(given.suite), given.marline.resolve()
    tests, tools = find_tests(given.suite, given.only), find_tools(given)
    suites.check_marline("run_ompt", given.marline)
    differences = read_differences(given.output)
    given.output.mkdir(parents=True, exist_ok=True)
    results = []
    for name in tests:
        results.append(vars(examine(name, given, tools, differences)))
        said = f"; edited {results[-1]['edited']}" if results[-1]["edited"] else ""
        print(f"{name}: {results[-1]['stock']}; on Marline {results[-1]['marline']}{said}", flush=True)
    facts = {"compiler": first_line(given.compiler, "--version"), "seconds": given.seconds, "runs": given.repeats + 1,
             **suites.machine(given.output), "results": results}  # fmt: skip
    (given.output / "results.json").write_text(json.dumps(facts, indent=1) + "\n")
    write_page(facts, given.output)
    return 1 if any(map(ompt_page.unexplained, results)) else 0


if __name__ == "__main__":
    sys.exit(main())
