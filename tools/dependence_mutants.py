#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes one clause of an application's tasks at a time, and asks `marline check --dependences` whether it notices.

    dependence_mutants.py BUILD [--seed N] [--count N] [--app NAME] [--page FILE] [--least PERCENT]

A mutant drops an item of a `depend` clause, makes it weaker (out or inout becomes in), moves it to a neighbouring tile
or another element, or narrows it to every other tile. LULESH and HPCCG give their clauses as lists, which plan.c makes:
there, the calls that add to the lists are changed. Programs run on one rank; calls that such a run does not come to are
left out, which a copy shows that traps there. Each change is made with each compiler.

Found: the check has findings. As the unchanged program must have none, they come from the change. A mutant without
findings whose tasks are all ordered as before, by the clauses alone, is the same program: it does not count. That order
is computed here, not by the check.
"""
from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from array import array
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from instrumented import COMPILING, FOUND, linking

ROOT = Path(__file__).resolve().parents[1]
APPS = ROOT / "apps"
HEAD = """\
<!-- Made by tools/dependence_mutants.py. -->
# Clauses that were changed, and whether the check notices

One clause of an application's tasks was dropped, made weaker (`out` or `inout` became `in`), moved to a neighbouring
tile or another element, or narrowed to every other tile; then `marline check --dependences`
([guide](../guide/dependences.md)) ran the program on one rank and one thread, compiled by GCC 12 or Clang 19. The
changes were drawn by seed from all that the tool can make with either compiler. The unchanged programs have no
findings, so each finding comes from the change. Cholesky has a BLAS of its own here, as a library's code is not seen.

Where the status is 1, the program ended with an error of its own, as tasks ran in a wrong order, and never made the
other access. HPCCG's tiles of `r` may be named by their neighbours: the task that reads them names all tiles, so all
accesses stay in order.

    tools/dependence_mutants.py build/release

"""
COMMON = ["argument", "failure", "job", "market"]


@dataclass(frozen=True)
class App:
    name: str
    changed: tuple[str, ...]  # the files with clauses
    left_out: tuple[str, ...]  # sources that are not part of the program
    common: tuple[str, ...]
    arguments: tuple[str, ...]
    more: tuple[str, ...] = ()  # further sources and libraries


@dataclass(frozen=True)
class Mutant:
    file: str
    begin: int  # in the file's text
    end: int
    text: str  # in place of what stands there
    kind: str
    shown: str


ALL = {app.name: app for app in (
    App("lulesh", ("plan.c",), (), (*COMMON, "entries"),
        ("--form", "tasks", "-s", "4", "-i", "3", "-tel", "4", "-tnl", "4")),
    App("hpccg", ("plan.c",), (), (*COMMON, "entries"),
        ("--size", "6x6x6", "--tiles", "4", "--dependences", "minimal", "--iterations", "4")),
    App("cholesky", ("factorise.c",), ("starpu.c",), (*COMMON, "device"), ("-n", "48", "-b", "12"),
        (str(ROOT / "tests" / "dependences" / "blas.c"),)),
    App("rtm", ("forms.c",), (), ("argument", "failure", "device"),
        ("--form", "tasks", "--grid", "64x48", "--shots", "3", "--time", "0.1")),
)}  # fmt: skip
CALL = re.compile(r"^( *)(add(?:_tile|_element|_range)?\(to, )(.*), (MARLINE_\w+)\);$", re.M)
CLAUSE = re.compile(r"depend\((\w+) : ([^()]*)\)")


def of_call(file: str, found: re.Match[str]) -> list[Mutant]:
    indent, call, arguments, kind = found.groups()
    values = arguments.split(", ", 1)
    shown = found[0].strip()

    def mutant(how: str, text: str) -> Mutant:
        return Mutant(file, found.start(), found.end(), indent + text, how, shown)

    made = [mutant("drop", ";")]
    if kind != "MARLINE_IN":
        made.append(mutant("weaken", f"{call}{arguments}, MARLINE_IN);"))
    if len(values) == 2 and values[1] != "0" and call != "add_range(to, ":
        place = f"(({values[1]}) > 0 ? ({values[1]}) - 1 : 0)"
        made.append(mutant("move", f"{call}{values[0]}, {place}, {kind});"))
        made.append(mutant("narrow", f"if (({values[1]}) % 2 == 0) {{ {shown} }}"))
    return made


def of_clause(file: str, found: re.Match[str]) -> list[Mutant]:
    kind, items = found[1], [item.strip() for item in found[2].split(",")]
    made = []
    for i, item in enumerate(items):
        def mutant(how: str, text: str, shown: str = f"{kind} : {item}") -> Mutant:
            return Mutant(file, found.start(), found.end(), text, how, shown)

        others = ", ".join(items[:i] + items[i + 1 :])
        rest = f"depend({kind} : {others})" if others else ""
        made.append(mutant("drop", rest))
        if kind != "in":
            made.append(mutant("weaken", f"{rest} depend(in : {item})"))
        moved = item.replace("[0]", "[1]")
        if moved != item:
            made.append(mutant("move", f"{rest} depend({kind} : {moved})"))
    return made


Order = list[int]  # of each task in the order of creation: the bits of the tasks that it comes after by dependences


def order_of(record: Path) -> Order:
    """By the clauses alone (OpenMP 5.2, section 15.9.5), from the records of common/accesses_format.h. It shares no
    code with the check, and does not look at accesses."""
    kTask, kDependences, kIn, kOut, kInout = 2, 3, 1, 2, 3
    words = array("Q", record.read_bytes())
    order: list[int] = []
    tasks: dict[int, tuple[int, int]] = {}  # by their numbers: the place in `order`, the creator
    readers: dict[tuple[int, int], list[int]] = {}
    writer: dict[tuple[int, int], list[int]] = {}  # the last one, if there is one
    at = 0
    while at < len(words):
        kind, count = words[at] & 0xFF, words[at] >> 8
        values = words[at + 1 : at + 1 + count]
        at += 1 + count
        if kind == kTask:
            tasks[values[0]] = (len(order), values[1])
            order.append(0)
        elif kind == kDependences:
            task, creator = tasks[values[0]]
            for address, how in zip(values[1::2], values[2::2]):
                if how not in (kIn, kOut, kInout):
                    raise SystemExit(f"dependence_mutants: no rule for dependences of type {how}")
                object_ = (creator, address)
                before = writer.get(object_, []) + ([] if how == kIn else readers.get(object_, []))
                for other in set(before) - {task}:
                    order[task] |= order[other] | 1 << other
                if how == kIn:
                    readers.setdefault(object_, []).append(task)
                else:
                    writer[object_], readers[object_] = [task], []
    return order


@dataclass(frozen=True)
class Ran:
    status: int
    output: str
    order: Order | None = None


class Program:
    """One application in a folder of its own, compiled once; mutants compile one file. It must have no findings."""

    def __init__(self, app: App, prefix: Path, folder: Path, compiler: str) -> None:
        self.app, self.prefix, self.folder, self.compiler = app, prefix, folder / f"{app.name}-{compiler}", compiler
        self.folder.mkdir()
        sources = [path for path in sorted((APPS / app.name).glob("*.c")) if path.name not in app.left_out]
        sources += [APPS / "common" / f"{name}.c" for name in app.common] + [Path(path) for path in app.more]
        self.objects = {path.stem: self.folder / f"{path.stem}.o" for path in sources}
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(lambda path: self.compile(path, self.objects[path.stem]), sources))
        self.texts = {file: (APPS / app.name / file).read_text() for file in app.changed}
        self.unchanged = self.run()
        if self.unchanged.status != 0:
            raise SystemExit(f"{app.name} with {compiler}, unchanged: {self.unchanged}")

    def wrapper(self, *words: str) -> None:
        subprocess.run(["mpicc.openmpi", *words], check=True, env={**os.environ, "OMPI_CC": self.compiler})

    def compile(self, source: Path, target: Path) -> None:
        self.wrapper(*COMPILING, "-std=c11", "-D_GNU_SOURCE", "-w", "-ffp-contract=off", f"-I{APPS / self.app.name}",
                     f"-I{APPS / 'common'}", f"-I{ROOT / 'include'}", str(source), "-o", str(target))  # fmt: skip

    def run(self, mutant: Mutant | None = None, wants_order: bool = True) -> Ran:
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            objects = dict(self.objects)
            if mutant:
                text, source = self.texts[mutant.file], Path(folder) / mutant.file
                source.write_text(text[: mutant.begin] + mutant.text + text[mutant.end :])
                objects[source.stem] = source.with_suffix(".o")
                self.compile(source, objects[source.stem])
            program = Path(folder) / self.app.name
            self.wrapper(*map(str, objects.values()), "-o", str(program), *linking(self.compiler, self.prefix), "-lm")
            ran = self.marline(program, "check", "--dependences")
            in_order = ran.returncode == 0 and wants_order
            return Ran(ran.returncode, ran.stderr, self.order(program) if in_order else None)

    def marline(self, program: Path, *how: str, **changes: str) -> subprocess.CompletedProcess[str]:
        words = [str(self.prefix / "bin" / "marline"), *how, "-t", "1", str(program), *self.app.arguments]
        return subprocess.run(words, capture_output=True, text=True, timeout=300, cwd=program.parent, check=False,
                              env={**os.environ, **changes})  # fmt: skip

    def order(self, program: Path) -> Order:
        """From the record of a run of its own."""
        folder = program.parent / "record"
        folder.mkdir()
        libraries = str(self.prefix / "lib" / "marline")
        ran = self.marline(program, "run", MARLINE_CHECK_DIR=str(folder), LD_LIBRARY_PATH=libraries)
        ran.check_returncode()
        (record,) = (path for path in folder.glob("accesses.*") if path.stat().st_size)
        return order_of(record)

    def mutants(self) -> list[Mutant]:
        made: list[Mutant] = []
        for file, text in self.texts.items():
            calls = [of_call(file, found) for found in CALL.finditer(text)]
            clauses = [of_clause(file, found) for found in CLAUSE.finditer(text)]
            for site in [*(site for site in calls if self.comes_to(site[0])), *clauses]:
                made += site
        return made

    def comes_to(self, call: Mutant) -> bool:
        """Whether the call is ever made: a program that traps in its place does not end well."""
        return self.run(replace(call, text="{ __builtin_trap(); }"), wants_order=False).status not in (0, FOUND)

    def judge(self, mutant: Mutant) -> Ran:
        try:
            return self.run(mutant)
        except subprocess.SubprocessError as error:
            return Ran(-1, str(error))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--app", action="append", choices=list(ALL))
    parser.add_argument("--page", type=Path)
    parser.add_argument("--least", type=float, default=95)
    arguments = parser.parse_args()
    if shutil.which("mpicc.openmpi") is None:
        raise SystemExit("dependence_mutants: mpicc.openmpi is not installed")
    with tempfile.TemporaryDirectory() as folder:
        programs = [Program(ALL[name], arguments.build.resolve(), Path(folder), compiler)
                    for name in arguments.app or ALL for compiler in ("gcc-12", "clang-19")]  # fmt: skip
        drawn = [(program, mutant) for program in programs for mutant in program.mutants()]
        random.Random(arguments.seed).shuffle(drawn)
        drawn = drawn[: arguments.count]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda pair: pair[0].judge(pair[1]), drawn))
    return report(drawn, results, arguments)


def report(drawn: list[tuple[Program, Mutant]], results: list[Ran], arguments: argparse.Namespace) -> int:
    missed, same = [], []
    counts: dict[tuple[str, str], list[int]] = {}
    for (program, mutant), ran in zip(drawn, results):
        shown = f"{program.app.name}, {program.compiler}: {mutant.kind} `{mutant.shown}`"
        if ran.status == 0 and ran.order == program.unchanged.order:
            same.append(shown)
            continue
        count = counts.setdefault((program.app.name, mutant.kind), [0, 0])
        count[0] += ran.status == FOUND
        count[1] += 1
        if ran.status != FOUND:
            missed.append(f"{shown} (status {ran.status})")
    found, total = (sum(column) for column in zip(*counts.values()))
    lines = ["| application | change | found | of |", "|---|---|---:|---:|"]
    lines += [f"| {name} | {kind} | {count[0]} | {count[1]} |" for (name, kind), count in sorted(counts.items())]
    lines += ["", f"{found} of {total} found (seed {arguments.seed})."]
    for title, some in (("Not found:", missed), ("Ordered as before by the clauses alone, so not counted:", same)):
        lines += ["", title, "", *(f"- {line}" for line in sorted(some))] if some else []
    text = "\n".join(lines) + "\n"
    if arguments.page:
        arguments.page.write_text(HEAD + text)
    print(text)
    return int(100 * found < arguments.least * total)


if __name__ == "__main__":
    sys.exit(main())
