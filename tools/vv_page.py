# SPDX-License-Identifier: Apache-2.0
"""The page that tools/run_vv.py writes: a table of features, the tests whose result differs between a compiler's own
runtime and Marline, the tests that fail on both, and the ones that are refused by the compiler. Pure: facts in, text
out."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from suite import header, paragraph, row, state, with_runs

Result = dict  # a run_vv.Result, as stored in results.json
LINK = "[OpenMP_VV](https://github.com/OpenMP-Validation-and-Verification/OpenMP_VV)"


def differs(result: Result) -> bool:
    return not result["built"] and state(result["stock"]) != state(result["marline"])


def fails_on_both(result: Result) -> bool:
    return state(result["stock"]) == state(result["marline"]) == "fails"


def skipped_on_both(result: Result) -> bool:
    return state(result["stock"]) == state(result["marline"]) == "skipped"


def feature(name: str) -> str:
    """`4.5/task/test_task_if.c` -> `4.5/task`; a test that lies in no feature's folder belongs to its version."""
    return str(Path(name).parent)


def counts(results: list[Result], compiler: str) -> list[int | str]:
    """Tests, compiled, passed on the compiler's runtime, passed on Marline."""
    own = [result for result in results if result["compiler"] == compiler]
    passed = [sum(result[runtime] == "passes" for result in own) for runtime in ("stock", "marline")]
    return [len(own), sum(not result["built"] for result in own), *passed]


def stock_name(compiler: dict) -> str:
    return Path(compiler["runtime"]).name.split(".")[0] or "its runtime"


def counts_table(facts: dict) -> str:
    titles = ["feature"]
    for compiler in facts["compilers"]:
        titles += [f"{compiler['name']}: tests", "compiled", stock_name(compiler), "Marline"]
    text, results = header(*titles), facts["results"]
    names = [compiler["name"] for compiler in facts["compilers"]]
    for version in sorted({result["test"].split("/")[0] for result in results}):
        mine = [result for result in results if result["test"].startswith(f"{version}/")]
        for each in sorted({feature(result["test"]) for result in mine}):
            own = [result for result in mine if feature(result["test"]) == each]
            text += row(each, *(count for name in names for count in counts(own, name)))
        text += row(f"**{version}**", *(f"**{count}**" for name in names for count in counts(mine, name)))
    return text + row("**all**", *(f"**{count}**" for name in names for count in counts(results, name)))


def differing(results: list[Result], notes: dict[str, str]) -> Iterator[str]:
    for result in results:
        yield row(result["test"], result["compiler"], with_runs(result, "stock"), with_runs(result, "marline"),
                  notes.get(result["test"], ""))  # fmt: skip


def failing(results: list[Result], notes: dict[str, str]) -> Iterator[str]:
    """One line a test, with what it prints on Marline by the first compiler."""
    for test in sorted({result["test"] for result in results}):
        own = [result for result in results if result["test"] == test]
        said = own[0]["marline"].removeprefix("fails: ")
        yield row(test, ", ".join(result["compiler"] for result in own), said, notes.get(test, ""))


def refused(results: list[Result]) -> Iterator[str]:
    for result in results:
        yield row(result["test"], result["compiler"], result["built"])


def section(title: str, titles: list[str], results: list[Result],
            rows: Callable[[list[Result]], Iterator[str]]) -> str:  # fmt: skip
    table = header(*titles) + "".join(rows(results)) if results else "None.\n"
    return f"\n## {title}\n\n{table}"


def page(facts: dict, notes: dict[str, str]) -> str:
    results = facts["results"]
    suite = "" if facts["suite"] == "unknown" else f" at `{facts['suite']}`"
    files = len({result["test"] for result in results})
    lines = ["# OpenMP_VV beside the compilers' own runtimes\n", paragraph(
        f"Written by `tools/run_vv.py PATH`: {files} tests of {LINK}{suite}, the public validation suite of OpenMP, "
        "built once by each compiler, run on the runtime that the compiler brings and on Marline (`marline run`), "
        "without offloading.")]  # fmt: skip
    if notes.get("suite"):
        lines.append(paragraph(notes["suite"]))
    lines.append(paragraph(f"{facts['cpu']}, {facts['cpus']} CPUs, OMP_THREAD_LIMIT={facts['threads']}, at most "
                           f"{facts['seconds']:.0f} s a run; Marline at `{facts['commit']}`.") + "\n")  # fmt: skip
    lines += [f"- {compiler['name']}: {compiler['version']}; runtime `{Path(compiler['runtime']).name}`\n"
              for compiler in facts["compilers"]]  # fmt: skip
    lines.append("\n## What passes\n" + paragraph(
        "The last two columns of a compiler count the tests that pass on its runtime and on Marline. Where these "
        "differ, both ran the test five times, and a test that fails once does not pass.") + "\n")  # fmt: skip
    lines.append(counts_table(facts))
    different = [result for result in results if differs(result)]
    lines.append(section("Tests whose result differs", ["test", "compiler", "its runtime", "Marline", "why"],
                         different, lambda chosen: differing(chosen, notes)))  # fmt: skip
    lines.append(section("Tests that fail on both", ["test", "compilers", "last line on Marline", "why"],
                         list(filter(fails_on_both, results)), lambda chosen: failing(chosen, notes)))  # fmt: skip
    if skipped := sorted({result["test"] for result in results if skipped_on_both(result)}):
        lines.append(f"\nSkipped by themselves on both: {', '.join(skipped)}.\n")
    lines.append(section("Tests that a compiler refuses", ["test", "compiler", "its first error"],
                         [result for result in results if result["built"]], refused))  # fmt: skip
    return "".join(lines)
