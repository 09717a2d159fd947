#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/results/dependences.md: what `marline check --dependences` finds in each program of tests/dependences, by
running it on all of them.

    gen_dependence_table.py BUILD [--check]     --check: writes nothing, exit 1 if the page is another one
"""
from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from instrumented import FOUND, build, lacks

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "dependences"
PAGE = ROOT / "docs" / "results" / "dependences.md"
COMPILERS = {"GCC 12": "gcc-12", "Clang 19": "clang-19"}
HEAD = """\
<!-- Made by tools/gen_dependence_table.py, which runs all these programs. Edit them, not this page. -->
# What the check of dependences finds

The programs in `tests/dependences` are small and each right or wrong in one way. `marline check --dependences`
([guide](../guide/dependences.md)) ran each on two threads, compiled with `-fsanitize=thread`. The clause is what the
check says is missing, with the place left out where it belongs; the number of findings is given if it is not one.

    tools/gen_dependence_table.py build/release

"""


def comment(source: Path) -> str:
    """What the program says of itself."""
    lines = re.findall(r"^// (.*)$", source.read_text(), re.M)[1:]
    at = next(i for i, line in enumerate(lines) if line.startswith("Expect: "))
    return " ".join(lines[:at])


def clauses(output: str) -> list[str]:
    texts = [re.sub(r" to (?:the )?(?:task|loop)[^;]*| before .*", "", line).strip()
             for line in re.findall(r"^  missing: (.*)$", output, re.M)]  # fmt: skip
    return list(dict.fromkeys(texts))


def judge(source: Path, compiler: str, folder: Path, prefix: Path) -> tuple[int, list[str]] | None:
    """The number of findings and what is missing; None: the compiler does not know the program's clauses."""
    if lacks(source, compiler):
        return None
    program = build(source, compiler, folder, prefix)
    ran = subprocess.run([str(prefix / "bin" / "marline"), "check", "--dependences", "-t", "2", str(program)],
                         capture_output=True, text=True, timeout=120, env={**os.environ, "NO_COLOR": "1"})  # fmt: skip
    if ran.returncode not in (0, FOUND):
        raise SystemExit(f"{source.name} with {compiler}: status {ran.returncode}\n{ran.stderr}")
    found = clauses(ran.stderr)
    times = re.search(r"(\d+) pairs? of accesses", ran.stderr)
    if (ran.returncode == FOUND) != bool(found):
        raise SystemExit(f"{source.name} with {compiler}: status {ran.returncode}, but\n{ran.stderr}")
    return (int(times[1]) if times else 0), found


def cell(result: tuple[int, list[str]] | None) -> str:
    if result is None:
        return "does not know the clause"
    count, found = result
    if not count:
        return "none"
    return ", or ".join(f"`{text}`" for text in found) + (f" ({count} findings)" if count > 1 else "")


def table(kind: str, results: dict[tuple[Path, str], tuple[int, list[str]] | None]) -> list[str]:
    rows = [f"| program | what it does | {' | '.join(COMPILERS)} |", "|---|---|" + "---|" * len(COMPILERS)]
    for source in sorted(CORPUS.glob(f"{kind}/*.c")):
        cells = [cell(results[source, compiler]) for compiler in COMPILERS.values()]
        rows.append(f"| `{source.stem}` | {comment(source)} | {' | '.join(cells)} |")
    return rows


def summary(results: dict[tuple[Path, str], tuple[int, list[str]] | None]) -> list[str]:
    lines = []
    for name, compiler in COMPILERS.items():
        ran = {source: result for (source, by), result in results.items() if by == compiler and result is not None}
        wrong = [result for source, result in ran.items() if source.parent.name == "wrong"]
        right = [result for source, result in ran.items() if source.parent.name == "right"]
        found, false = (sum(count > 0 for count, _ in part) for part in (wrong, right))
        lines.append(f"- {name}: {found} of {len(wrong)} wrong programs found; "
                     f"findings in {false} of {len(right)} right ones")  # fmt: skip
    return lines


def page(prefix: Path) -> str:
    sources = sorted(CORPUS.glob("*/*.c"))
    keys = [(source, compiler) for source in sources for compiler in COMPILERS.values()]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:
        results = dict(zip(keys, pool.map(lambda key: judge(*key, Path(folder), prefix), keys)))
    parts = [*summary(results), "", "## Wrong programs", "", *table("wrong", results), "",
             "## Right programs", "", *table("right", results)]  # fmt: skip
    return HEAD + "\n".join(parts) + "\n"


def main() -> int:
    made = page(Path(sys.argv[1]).resolve())
    if "--check" in sys.argv:
        return int(made != PAGE.read_text())
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
