# SPDX-License-Identifier: Apache-2.0
"""The page that tools/run_ompt.py writes: counts by folder of the suite, the tests that fail on Marline only with the
reason, those that fail on LLVM's runtime. Pure: facts in, text out."""
from __future__ import annotations

from pathlib import Path

from suite import header, paragraph, row, state, with_runs

Result = dict  # a run_ompt.Result, as stored in results.json


def only_marline_fails(result: Result) -> bool:
    return state(result["marline"]) == "fails" and state(result["stock"]) != "fails"


def unexplained(result: Result) -> bool:
    return only_marline_fails(result) and result["edited"] != "passes"


def folder_of(name: str) -> str:
    return Path(name).parts[0]


def counts_table(results: list[Result]) -> str:
    text = header("tests of", "tests", "pass on libomp", "pass on Marline", "with the differences below")
    folders = sorted({folder_of(result["test"]) for result in results})
    for folder in [*folders, ""]:
        mine = [result for result in results if folder in ("", folder_of(result["test"]))]
        numbers = [len(mine), *(sum(result[runtime] == "passes" for result in mine)
                                for runtime in ("stock", "marline")),
                   sum("passes" in (result["marline"], result["edited"]) for result in mine)]  # fmt: skip
        mark = "" if folder else "**"
        text += row(*(f"{mark}{each}{mark}" for each in (folder or "all", *numbers)))
    return text


def differences_table(results: list[Result], differences: list[dict]) -> str:
    failing = [result for result in results if only_marline_fails(result)]
    if not failing:
        return "None.\n"
    text = header("kind", "why", "tests that pass on Marline when they expect it")
    for difference in differences:
        tests = [result["test"] for result in failing
                 if difference["kind"] in result["kinds"] and not unexplained(result)]  # fmt: skip
        if tests:
            text += row(difference["kind"], difference["why"], ", ".join(tests))
    return text


def unexplained_table(results: list[Result]) -> str:
    text = header("test", "on libomp", "on Marline", "not explained")
    for result in filter(unexplained, results):
        listed = f"listed as {', '.join(result['kinds'])}, but then {result['edited']}" if result["kinds"] else ""
        text += row(result["test"], with_runs(result, "stock"), with_runs(result, "marline"), listed or "not listed")
    return text


def page(facts: dict, differences: list[dict]) -> str:
    results = facts["results"]
    lines = ["# LLVM's tests of OMPT\n", paragraph(
        f"Written by `tools/run_ompt.py PATH`: {len(results)} tests from `openmp/runtime/test/ompt` of LLVM, "
        "built and checked as LLVM does it, on LLVM's runtime and on Marline.")]  # fmt: skip
    lines.append(paragraph(f"{facts['compiler']}; {facts['cpu']}, {facts['cpus']} CPUs, at most {facts['seconds']:.0f} "
                           f"s a run; Marline at `{facts['commit']}`.") + "\n")  # fmt: skip
    lines.append(counts_table(results))
    lines.append("\n## Tests that fail on Marline only\n" + paragraph(
        "Each expects something that OpenMP leaves open, or that it says otherwise. With its expectation changed (or, "
        "where `program` says so, its code) as "
        f"[differences.toml](differences.toml) says, the test passes on Marline (runs of each: {facts['runs']}). "
        "[Where Marline differs](../../design/ompt.md#where-marline-differs-from-llvms-runtime) says the same by "
        "event.") + "\n")  # fmt: skip
    lines.append(differences_table(results, differences))
    if any(map(unexplained, results)):
        lines.append("\n## Not explained\n\n" + unexplained_table(results))
    if failing := [result for result in results if state(result["stock"]) == "fails"]:
        lines.append("\n## Tests that fail on LLVM's runtime\n\n" + header("test", "on libomp", "on Marline"))
        lines += [row(result["test"], with_runs(result, "stock"), with_runs(result, "marline")) for result in failing]
    if skipped := [result["test"] for result in results if result["stock"] == "skipped"]:
        lines.append(paragraph(f"Left out, as the tests themselves ask for with this compiler: {', '.join(skipped)}."))
    return "".join(lines)
