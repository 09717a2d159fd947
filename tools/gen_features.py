#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/features.md: which features of OpenMP (python/marline/features.txt) the test programs cover, under which
compilers.

A program says so near its top, in a comment; a line that ends with a comma goes on in the next:

    Covers: parallel(num_threads, if), task(depend:in/out), omp_get_level
    Covers (clang): masked(filter)
    Covers (gcc, clang19): loop(bind)

`a:b/c` is short for `a:b, a:c`; the names in brackets are compilers, `clang19` with a version: from this one on. Only
there the program contains this, because of an `#if` or of what a compiler makes no code of. Which compilers build a
program, tests/programs/CMakeLists.txt knows: CMake writes it to BUILD/tests/programs/programs.json. What a program
claims must stand in its source. Compilers that the tests do not have count, too, with the programs that pass with them
(tests/programs/other_compilers.txt, from tools/run_other_compilers.py); why others fail, other_compilers_causes.txt
says. A column is a kind of compiler; where not all of its versions have a feature, a cell says which.

    gen_features.py BUILD [ROOT]            writes the page
    gen_features.py --check BUILD [ROOT]    exit 1 if something is wrong, or the page is not what this would write
    gen_features.py --suggest SOURCE...     prints a Covers line from the directives in a source, to be judged by hand
"""
from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))

from compiler_facts import FAMILIES, Causes, read_causes, read_facts, split_version  # noqa: E402
from marline.features import SUPPORTED, Feature, Malformed, read_features  # noqa: E402
from pragmas import Pragma, pragmas_of  # noqa: E402

COMPILERS = {"gcc12": "GCC 12", "clang14": "Clang 14", "clang16": "Clang 16", "clang19": "Clang 19",
             "clang22": "Clang 22", "gfortran12": "gfortran 12"}  # fmt: skip
LANGUAGES = {".c": "C", ".h": "C", ".cpp": "C++", ".f90": "Fortran"}
HEAD_LINES = 40
SHOWN = 2  # programs per feature on the page
COVERS = re.compile(r"^[ */!#]*Covers(?: \(([^)]*)\))?: *(.*)$")
ITEM = re.compile(r"([\w ]+?)\s*(?:\(([^)]*)\))?\s*(?:,|$)")

INTRODUCTION = """\
<!-- Made by tools/gen_features.py from python/marline/features.txt and the test programs. Do not edit this page. -->
# Features

What OpenMP 5.2 has for a host, and where it is tested: in which languages the programs in `tests/programs` that cover
a feature are, and with which compilers they pass. Two programs per feature are named.

A column is a kind of compiler, with the versions that have been tried. `C, C++` alone holds for all of these;
`C since 19` for these from 19 on; `C 16, 22` for these two. A dash: no program covers the feature with a version of
this compiler, often because the compiler does not accept it.

The tests build and run each program with @tested@, on several numbers of threads and with perturbed schedules. With the
other versions (@others@), which other releases of Debian have, the same programs ran once, on four threads;
[what did not pass](#programs-that-do-not-pass) is listed.@gaps@

"Section" is that of the OpenMP 5.2 specification. `marline info --features` prints the list in short.
"""


@dataclass
class Claim:
    """One Covers line: words of the list, and the compilers that it is about (empty: all)."""

    source: Path
    compilers: list[str]
    words: list[str]

    def holds_for(self, compiler: str) -> bool:
        """A name without a version: all versions; `clang19`: this one and later ones."""
        name, version = split_version(compiler)
        wanted = [split_version(text) for text in self.compilers]
        return not wanted or any(name == of and version >= since for of, since in wanted)


@dataclass
class Others:
    """What became of the programs with compilers that the tests do not have."""

    passed: dict[str, set[str]] = field(default_factory=dict)  # compiler -> programs
    failed: list[tuple[str, str, str]] = field(default_factory=list)  # compiler, program, result
    causes: Causes = field(default_factory=Causes)

    def builders_of(self, program: str) -> list[str]:
        return [compiler for compiler, programs in self.passed.items() if program in programs]

    def wrong_causes(self) -> list[str]:
        """What a compiler refuses need not have a cause."""
        missing = [f"{compiler}: `{program}` fails, and other_compilers_causes.txt does not say why"
                   for compiler, program, result in self.failed
                   if result.startswith("fails") and not self.causes.of(compiler, program)]  # fmt: skip
        return missing + self.causes.without_failure([(compiler, program) for compiler, program, _ in self.failed])

    def versions(self) -> dict[str, list[int]]:
        """The columns: the versions of each family that have been tried, by the tests too."""
        keys = [split_version(key) for key in {*COMPILERS, *self.passed}]
        families = {name: sorted(version for of, version in keys if of == name) for name in FAMILIES}
        return {name: versions for name, versions in families.items() if versions}


def read_others(root: Path) -> Others:
    folder, others = root / "tests" / "programs", Others()
    for compiler, program, result in read_facts(folder / "other_compilers.txt"):
        others.passed.setdefault(compiler, set())
        if result == "passes":
            others.passed[compiler].add(program)
        else:
            others.failed.append((compiler, program, result))
    others.causes = read_causes(folder / "other_compilers_causes.txt")
    return others


def ranges(versions: Iterable[int]) -> str:
    """`12–14, 16` of 12, 13, 14, 16."""
    runs: list[list[int]] = []
    for version in sorted(versions):
        if runs and version == runs[-1][-1] + 1:
            runs[-1].append(version)
        else:
            runs.append([version])
    return ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)


def some_of(versions: set[int], tried: list[int]) -> str:
    """Which versions these are of those that have been tried: empty for all of them."""
    if versions == set(tried):
        return ""
    is_rest = versions == {version for version in tried if version >= min(versions)}
    return f" since {min(versions)}" if is_rest else f" {ranges(versions)}"


def cell(languages: dict[str, set[int]], tried: list[int]) -> str:
    """`C` and `C++` with their versions: together where these are the same."""
    together: dict[str, list[str]] = {}
    for language, versions in sorted(languages.items()):
        together.setdefault(some_of(versions, tried), []).append(language)
    return "; ".join(", ".join(names) + which for which, names in sorted(together.items())) or "–"


@dataclass
class Coverage:
    languages: dict[tuple[str, str], set[str]] = field(default_factory=dict)  # (word, compiler) -> languages
    programs: dict[str, list[str]] = field(default_factory=dict)  # word -> programs, in the order of CMakeLists.txt

    def add(self, word: str, compiler: str, source: Path, folder: Path) -> None:
        self.languages.setdefault((word, compiler), set()).add(LANGUAGES.get(source.suffix, source.suffix))
        name = str(source.relative_to(folder)) if source.is_relative_to(folder) else source.name
        programs = self.programs.setdefault(word, [])
        if name not in programs:
            programs.append(name)

    def by_language(self, word: str, family: str, tried: list[int]) -> dict[str, set[int]]:
        """In which languages it is covered, with which versions of this compiler."""
        found: dict[str, set[int]] = {}
        for version in tried:
            for language in self.languages.get((word, f"{family}{version}"), ()):
                found.setdefault(language, set()).add(version)
        return found


def claims_of(source: Path) -> list[Claim]:
    claims: list[Claim] = []
    goes_on = False
    for line in source.read_text().splitlines()[:HEAD_LINES]:
        match = COVERS.match(line)
        if match:
            claims.append(Claim(source, re.split(r",\s*", match[1]) if match[1] else [], []))
        if match or goes_on:
            text = (match[2] if match else line.lstrip(" */!#")).removesuffix("*/").rstrip()
            claims[-1].words += [text]
            goes_on = text.endswith(",")
    for claim in claims:
        claim.words = list(split_words(" ".join(claim.words)))
    return claims


def split_words(text: str) -> Iterable[str]:
    """`task(depend:in/out, if)` gives task, task(depend:in), task(depend:out), task(if)."""
    for name, clauses in ITEM.findall(text):
        if not name.strip():
            continue
        yield name.strip()
        for clause in filter(None, re.split(r",\s*", clauses)):
            base, colon, modifiers = clause.partition(":")
            yield from (f"{name.strip()}({base}{colon}{modifier})" for modifier in modifiers.split("/"))


def with_implied(word: str, known: dict[str, Feature]) -> list[str]:
    """A clause's modifier covers the clause."""
    bare = word.partition(":")[0] + ")" if ":" in word else word
    return [word, bare] if bare != word and bare in known else [word]


def is_in(feature: Feature, pragmas: list[Pragma], text: str, environment: Iterable[str]) -> bool:
    """Whether a source has what it claims to cover."""
    if not feature.section[0].isdigit():
        return True  # no word of OpenMP
    if re.match(r"(omp|OMP|ompt)_", feature.directive):
        return feature.directive in environment or re.search(rf"\b{feature.directive}\b", text) is not None
    if any(pragma.has(feature.directive, feature.clause) for pragma in pragmas):
        return True
    # The clause may be the argument of a macro that holds the directive.
    everywhere = Pragma((), text)
    return any(pragma.has(feature.directive, "") for pragma in pragmas) and everywhere.has_clause(feature.clause)


def read_programs(build: Path) -> list[dict]:
    path = build / "tests" / "programs" / "programs.json"
    if not path.is_file():
        sys.exit(f"{path} is not there: run cmake first")
    return json.loads(path.read_text())


def without_claims(text: str) -> str:
    """The source without its Covers lines."""
    lines, goes_on = [], False
    for line in text.splitlines():
        is_claim = goes_on or COVERS.match(line) is not None
        goes_on = is_claim and line.rstrip().endswith(",")
        lines += [] if is_claim else [line]
    return "\n".join(lines)


def source_text(source: Path) -> str:
    """The source without its Covers lines, and the headers of the tests that it includes."""
    text = without_claims(source.read_text())
    headers = [source.parent / name for name in re.findall(r'^#\s*include "([^"]+)"', text, re.MULTILINE)]
    return "\n".join([text] + [header.read_text() for header in headers if header.is_file()])


def judge(features: list[Feature], programs: list[dict], folder: Path, others: Others) -> tuple[Coverage, list[str]]:
    """What is covered, and what is wrong."""
    known = {feature.word: feature for feature in features}
    coverage, wrong = Coverage(), []
    for program in programs:
        claims = [claim for name in program["sources"] for claim in claims_of(Path(name))]
        if not claims:
            wrong.append(f"{program['name']}: no Covers line in {', '.join(Path(s).name for s in program['sources'])}")
        for claim in claims:
            text = source_text(claim.source)
            pragmas = pragmas_of(text)
            for word in claim.words:
                if word not in known:
                    wrong.append(f"{claim.source.name}: `{word}` is not in features.txt")
                elif not is_in(known[word], pragmas, text, program["environment"]):
                    wrong.append(f"{claim.source.name}: says that it covers {word}, which it does not contain")
                else:
                    add(coverage, with_implied(word, known), claim, program, folder, others)
    return coverage, list(dict.fromkeys(wrong)) + judge_status(features, coverage)


def add(coverage: Coverage, words: list[str], claim: Claim, program: dict, folder: Path, others: Others) -> None:
    tested = [compiler for compiler in program["compilers"] if compiler in COMPILERS]
    for compiler in tested + others.builders_of(program["name"]):
        if claim.holds_for(compiler):
            for word in words:
                coverage.add(word, compiler, claim.source, folder)


def judge_status(features: list[Feature], coverage: Coverage) -> list[str]:
    wrong = []
    for feature in features:
        if feature.kind == SUPPORTED and feature.word not in coverage.programs:
            wrong.append(f"{feature.word}: supported, says features.txt, but no program covers it")
        if feature.kind != SUPPORTED and feature.word in coverage.programs:
            wrong.append(f"{feature.word}: `{feature.kind}` in features.txt, but {coverage.programs[feature.word][0]} "
                         "covers it")
    return wrong


def introduction(others: Others) -> str:
    versions = others.versions()
    tested = {name: {version for version in tried if f"{name}{version}" in COMPILERS}
              for name, tried in versions.items()}  # fmt: skip
    added = {name: set(tried) - tested[name] for name, tried in versions.items()}
    gaps = {name: set(range(tried[0], tried[-1])) - set(tried) for name, tried in versions.items()}
    text = INTRODUCTION.replace("@tested@", in_words(tested)).replace("@others@", in_words(added) or "none")
    return text.replace("@gaps@", f"\nNot tried: {in_words(gaps)}." if any(gaps.values()) else "")


def in_words(versions: dict[str, set[int]]) -> str:
    """`GCC 13–15; Clang 23`."""
    return "; ".join(f"{FAMILIES[name]} {ranges(some)}" for name, some in versions.items() if some)


def page(features: list[Feature], coverage: Coverage, others: Others) -> str:
    lines, versions = [introduction(others)], others.versions()
    titles = [f"{FAMILIES[name]} {ranges(tried)}" for name, tried in versions.items()]
    for heading in dict.fromkeys(feature.heading for feature in features):
        own = [feature for feature in features if feature.heading == heading]
        lines += [f"## {heading}", "", f"| | section | {' | '.join(titles)} | programs |",
                  "|---|---|" + "---|" * len(titles) + "---|"]  # fmt: skip
        lines += [row(feature, coverage, versions) for feature in own] + [""]
    return "\n".join(lines + not_passed(others)).rstrip("\n") + "\n"


def not_passed(others: Others) -> list[str]:
    """The programs that fail, and with which versions; those that fail alike in one row."""
    lines = ["## Programs that do not pass", "",
             "With the compilers that the tests do not have, of the programs that the tests build with the next older",
             "or the next newer version (flang: with gfortran 12).", "",
             "| compiler | programs that pass | others |", "|---|---|---|"]  # fmt: skip
    for name, versions in others.versions().items():
        for key in (f"{name}{version}" for version in versions):
            if key in others.passed:
                count = sum(compiler == key for compiler, _, _ in others.failed)
                lines.append(f"| {FAMILIES[name]} {split_version(key)[1]} | {len(others.passed[key])} | {count} |")
    rows: dict[tuple[str, str, str], set[int]] = {}
    for compiler, program, result in others.failed:
        name, version = split_version(compiler)
        cause = others.causes.of(compiler, program)
        what = result.replace("|", "\\|") + (f" ({cause})" if cause else "")
        rows.setdefault((name, program, what), set()).add(version)
    lines += ["", "| program | with | what happens |", "|---|---|---|"] if rows else []
    for (name, program, what), versions in sorted(rows.items(), key=lambda of: (of[0][:2], sorted(of[1]))):
        lines.append(f"| `{program}` | {FAMILIES[name]} {ranges(versions)} | {what} |")
    return lines if others.passed else []


def row(feature: Feature, coverage: Coverage, versions: dict[str, list[int]]) -> str:
    name = f"&emsp;{feature.clause}" if feature.clause else f"**{feature.directive}**"
    section = feature.section if feature.section[0].isdigit() else f"[page](../{feature.section})"
    if feature.kind != SUPPORTED:
        return f"| {name} | {section} | {' | '.join('–' for _ in versions)} | {feature.status} |"
    cells = [cell(coverage.by_language(feature.word, family, tried), tried) for family, tried in versions.items()]
    shown = ", ".join(f"`{name}`" for name in coverage.programs.get(feature.word, [])[:SHOWN])
    return f"| {name} | {section} | {' | '.join(cells)} | {shown} |"


def suggest(source: Path, features: list[Feature]) -> str:
    found: dict[str, list[str]] = {}
    text = without_claims(source.read_text())
    pragmas = pragmas_of(text)
    for feature in features:
        used = any(pragma.has(feature.directive, feature.clause) for pragma in pragmas)
        if used or (re.match(r"(omp|OMP|ompt)_", feature.directive) and is_in(feature, [], text, ())):
            found.setdefault(feature.directive, []).extend([feature.clause] if feature.clause else [])
    return "Covers: " + ", ".join(f"{name}({', '.join(clauses)})" if clauses else name
                                  for name, clauses in found.items())


def main() -> int:
    arguments = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    if not arguments:
        sys.exit(__doc__)
    root = Path(arguments[1] if len(arguments) > 1 and "--suggest" not in sys.argv else HERE.parent).resolve()
    try:
        features = read_features(root / "python" / "marline" / "features.txt")
    except Malformed as error:
        sys.exit(str(error))
    if "--suggest" in sys.argv:
        print("\n".join(f"{name}: {suggest(Path(name), features)}" for name in arguments))
        return 0
    others = read_others(root)
    coverage, wrong = judge(features, read_programs(Path(arguments[0])), root / "tests" / "programs", others)
    wrong += others.wrong_causes()
    text, target = page(features, coverage, others), root / "docs" / "features.md"
    if "--check" not in sys.argv:
        target.write_text(text)
    elif not target.is_file() or target.read_text() != text:
        wrong.append(f"{target} is not what the tests say: run tools/gen_features.py BUILD")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
