# SPDX-License-Identifier: Apache-2.0
"""What came of one run. Pure. The invariant: an Outcome has figures only if the program ended in time, passed its own
verdict, was served by the runtime that was meant, and gave every figure that is declared, once, in the declared unit;
any other ending has a status and a reason instead, and is never a data point."""

from __future__ import annotations

import math
import re
import signal
from dataclasses import dataclass, field
from pathlib import Path

from marline.layout import Layout
from marline.study.declare.document import Figure
from marline.study.declare.plan import Point
from marline.study.measure.process import MOST_OUTPUT, Ending

OK, FAILED, HANG, SKIPPED = "ok", "failed", "hang", "skipped"
OPENMP_LIBRARY = re.compile(r"lib(gomp|omp|iomp5|marline)\.so[\d.]*")


@dataclass
class Outcome:
    status: str
    reason: str = ""
    figures: dict[str, float] = field(default_factory=dict)
    remarks: dict[str, str] = field(default_factory=dict)


def judge(ending: Ending, point: Point, limit: float, layout: Layout, measured: bool = True) -> Outcome:
    """A recorded run is not `measured`: its trace is, and it need not print figures."""
    if ending.status is None:
        return Outcome(HANG, f"cut after {limit:g} s")
    text = ending.output + ending.errors
    verdict = point.program.verdict
    if ending.status != verdict.status:
        return Outcome(FAILED, f"{_how(ending.status)}: {first_line(ending.errors)}")
    if ending.cut:
        return Outcome(FAILED, f"printed more than {MOST_OUTPUT >> 20} MiB: let it print its figures only")
    if verdict.must and not verdict.must.search(text):
        return Outcome(FAILED, f"its output does not hold {verdict.must.pattern!r}")
    if verdict.must_not and (found := verdict.must_not.search(text)):
        return Outcome(FAILED, f"its output holds {found[0]!r}")
    remarks = remarks_of(ending.output)
    wrong = wrong_runtime(point.variant.runtime, remarks.get("runtime"), ending.libraries, layout)
    if wrong:
        return Outcome(FAILED, wrong)
    figures = {}
    for figure in point.program.figures.values() if measured else ():
        value = read_figure(figure, ending.output)
        if value == missing(figure) and figure.optional:
            continue
        if isinstance(value, str):
            return Outcome(FAILED, value)
        figures[figure.name] = value
    return Outcome(OK, "", figures, _without_folders(remarks))


def _how(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def first_line(text: str) -> str:
    """The first line that is not of the frame which an MPI launcher draws around its own words."""
    return next((line.strip() for line in text.splitlines() if line.strip("-= ")), "no message")


def remarks_of(text: str) -> dict[str, str]:
    """Lines `# KEY VALUE`."""
    found = (re.fullmatch(r"#\s+(\S+)\s+(.*\S)\s*", line) for line in text.splitlines())
    return {match[1]: match[2] for match in found if match}


def _without_folders(remarks: dict[str, str]) -> dict[str, str]:
    """Results are published: a library's name says enough, where it lay stays private."""
    return {key: Path(value).name if value.startswith("/") else value for key, value in remarks.items()}


def missing(figure: Figure) -> str:
    return f"did not print {figure.name}"


def read_figure(figure: Figure, text: str) -> float | str:
    """The value, or what is wrong."""
    if figure.regex:
        found = [match[1] for match in figure.regex.finditer(text)]
    else:
        found = []
        for line in map(str.split, text.splitlines()):
            if line and line[0] == figure.name:
                if len(line) != 3 or line[2] != figure.unit:
                    return f"cannot read its output: {' '.join(line)!r}, expected '{figure.name} VALUE {figure.unit}'"
                found.append(line[1])
    if len(found) != 1:
        return f"printed the figure {figure.name} {len(found)} times" if found else missing(figure)
    try:
        value = float(found[0])
    except ValueError:
        value = math.nan
    return value if math.isfinite(value) else f"cannot read its output: {figure.name} is {found[0]!r}"


def wrong_runtime(wanted: str, remark: str | None, libraries: set[str], layout: Layout) -> str:
    """Empty if the run was served by the runtime that is wanted. What the program itself found out counts most (the
    remark `# runtime PATH`, made by asking the loader who serves its entry point); else what it loaded does."""
    if wanted == "none":
        return ""
    if remark:
        served = runtime_of(remark, layout)
        return "" if served == wanted else f"meant for {wanted}, but {Path(remark).name} ({served}) served it"
    loaded = sorted(path for path in libraries if OPENMP_LIBRARY.fullmatch(Path(path).name))
    kinds = sorted({runtime_of(path, layout) for path in loaded})
    if not kinds:
        return f"meant for {wanted}, but it loaded no OpenMP runtime and printed no '# runtime PATH'"
    if kinds == [wanted]:
        return ""
    hint = "; let it print '# runtime PATH'" if wanted in kinds else ""
    return f"meant for {wanted}, but it loaded {' and '.join(kinds)}{hint}"


def runtime_of(library: str, layout: Layout) -> str:
    path = Path(library).resolve()
    if path.is_relative_to((layout.prefix / "lib").resolve()) or path.name.startswith("libmarline"):
        return "marline"
    name = OPENMP_LIBRARY.match(Path(library).name)
    return {"gomp": "libgomp", "omp": "libomp", "iomp5": "libomp"}.get(name[1], "unknown") if name else "unknown"
