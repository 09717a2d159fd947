# SPDX-License-Identifier: Apache-2.0
"""`marline report DIR`: reads a trace once and prints the report, as text, JSON or CSV; writes charts where asked."""

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from marline.errors import HOLDS, Refusal, say, what_failed
from marline.report import conditions
from marline.report.badge import write_badge
from marline.report.options import add_parts, add_scripting, check_options, check_sums
from marline.report.progress import progress_bar
from marline.report.several.options import add_several
from marline.trace.exports.options import FORMATS, add_exports
from marline.trace.selection import Selection, add_selection
from marline.trace.views.options import add_views, check_views, views_of

try:
    import numpy  # noqa: F401  (first: a message about missing packages begins with it)

    from marline.report import history, metrics
    from marline.report import text as report_text
    from marline.report.causes import MACHINE_RULES, RULES
    from marline.report import what_if
    from marline.report.several import merged
    from marline.report.several.command import print_several
    from marline.report.sums import document as sums
    from marline.report.sums import text as sums_text
    from marline.trace.analysis import Analysis, AnalysisError, named_passes
    from marline.trace.exports.write import write_exports
    from marline.trace.passes.thread_time.causes import CAUSES
    from marline.trace.allocation import keep_memory
    from marline.trace.read.reader import TraceError
    from marline.trace.views.export import Views, load, write_views
except ImportError as error:  # `--help` needs none of these
    _missing: ImportError | None = error
else:
    _missing = None

DEFAULT_WINDOWS = 50
MOST_WINDOWS = 10_000  # a line each; far more would only fill memory


def main(arguments: list[str], _: Path) -> int:
    options = parse(arguments)
    check_options(options, arguments, list(FORMATS))
    require_packages()
    check_views(options)
    if options.history is not None:
        with refusing():
            return print_history(options)
    if options.merge is not None:
        with refusing():
            return print_merge(options)
    if len(options.folders) > 1 or options.scaling or options.weak_scaling:
        with refusing():
            print_several(options)
        return 0
    with refusing():
        if sums.holds_sums(options.folder):
            check_sums(options, arguments)
            print_sums(options)
            return 0
        more = shown_passes(options)
        of, own = analyse(options.folder, options, more)
        document = metrics.make_document(of, own, more)
        document["what_if"] = what_if.predictions(of, options.what_if)
        write_html(of, document, options)
    if options.csv:
        metrics.write_csv(document, sys.stdout)
    elif options.json:
        print(json.dumps(document, indent=1))
    else:
        report_text.print_report(document, report_text.console_for(sys.stdout), bool(options.windows))
    with refusing():
        keep(options, document)
    return judge(options, document)


def shown_passes(options: argparse.Namespace) -> tuple[str, ...]:
    """Those of metrics.FURTHER and metrics.DETAILS that anybody will see."""
    if options.json or options.fail_if:
        return metrics.FURTHER + metrics.DETAILS
    return metrics.FURTHER + (metrics.FOR_PAGE if options.html else ())


def keep(options: argparse.Namespace, document: dict[str, Any]) -> None:
    if options.badge:
        write_badge(options.badge, document["total"]["work_share"])
    if options.summary:
        say(f"{history.store(history.summary(document, options.commit), options.summary)}: stored")


def judge(options: argparse.Namespace, document: dict[str, Any]) -> int:
    """The exit status."""
    causes = conditions.Absent(tuple(cause.name for cause in CAUSES))
    rules = conditions.Absent(tuple(rule.name for rule in (*RULES, *MACHINE_RULES)))
    absent = {"total.causes": causes, "causes": rules}
    lines = conditions.failures(options.fail_if, document, absent)
    for line in lines:
        say(line)
    return HOLDS if lines else 0


def print_merge(options: argparse.Namespace) -> int:
    document = merged.merge(options.merge)
    if options.json:
        print(json.dumps(document, indent=1))
    else:
        merged.print_merged(document, report_text.console_for(sys.stdout))
    return 0


def print_sums(options: argparse.Namespace) -> None:
    document = sums.make_document(sums.read_sums(options.folder))
    if options.json:
        print(json.dumps(document, indent=1))
    else:
        sums_text.print_sums(document, report_text.console_for(sys.stdout))


def print_history(options: argparse.Namespace) -> int:
    lines = history.read(options.history)
    if options.badge:
        newest = max(lines, key=lambda line: line.date).commit
        write_badge(options.badge, next(line for line in lines if line.commit == newest).median("efficiency"))
    if options.html:
        from marline.page.runs.history import write_history  # only here, as below

        write_history(lines, options.html)
        say(f"{options.html}: open it in a browser")
    if options.csv:
        history.write_csv(lines, sys.stdout)
    elif options.json:
        print(json.dumps([line.document() for line in lines], indent=1))
    else:
        history.print_history(lines, report_text.console_for(sys.stdout))
    return 0


def require_packages() -> None:
    """Called before anything is read."""
    if _missing is not None:
        raise Refusal(f"{_missing}: reports need NumPy and Rich, charts Matplotlib; "
                      "python3 -m pip install numpy rich matplotlib") from _missing  # fmt: skip
    keep_memory()


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="marline report",
        usage="marline report DIR [OPTION ...]\n"
        "       marline report DIR DIR ... [--scaling | --weak-scaling] [--json] [--html FILE]\n"
        "       marline report --history DIR [--csv | --json] [--html FILE] [--badge FILE]\n"
        "       marline report --merge PART ... [--json]",
        description="Says what a trace holds: work, idle and overhead of each rank, the biggest cause of lost time, "
        "and what to try next.",
    )
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="*",
                        help="a trace, as `marline trace` leaves it; of two, the second is compared with the first; "
                        "A,B,C: three runs of the same, whose medians are compared")  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print everything as JSON")
    form.add_argument("--csv", action="store_true", help="print the breakdown of each thread as CSV")
    parser.add_argument("--windows", type=_windows, metavar="N", help="the breakdown of N windows of time, too")
    parser.add_argument("--what-if", metavar="CHANGES", action="append", default=[],
                        help='predict the run with other costs or threads, as in "task_gemm x0.5, network x0, threads '
                        '16"; may be repeated (docs/guide/what-if.md)')  # fmt: skip
    add_several(parser)
    add_selection(parser)
    add_views(parser)
    add_exports(parser)
    add_scripting(parser)
    add_parts(parser)
    options = parser.parse_args(arguments)
    options.folder = options.folders[0] if options.folders else None
    return options


def _windows(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WINDOWS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {MOST_WINDOWS}")
    return int(text)


@contextmanager
def refusing() -> Iterator[None]:
    """What is wrong with a trace, a pass or a file is one line for the user."""
    try:
        yield
    except BrokenPipeError:
        raise
    except (TraceError, AnalysisError) as error:
        raise Refusal(str(error)) from error
    except OSError as error:
        raise Refusal(what_failed(error)) from error


def analyse(folder: Path, options: argparse.Namespace, more: tuple[str, ...]) -> tuple["Analysis", list[str]]:
    """The analysis with all that a report and the files asked for need, and the passes that --pass names. `more`: as
    for metrics.make_document."""
    own = [name for path in options.passes for name in named_passes(path)]
    with progress_bar() as progress:
        windows = getattr(options, "windows", None) or DEFAULT_WINDOWS
        selection = Selection(getattr(options, "selected_window", None), getattr(options, "selected_ranks", None))
        own += ["overlap_of_set"] if selection and "overlap_of_set" not in own else []
        of = Analysis(load(folder, progress, getattr(options, "here", False)), progress, windows, selection)
        for name in (*metrics.PASSES, *more, *own):
            of[name]
        said = write_views(of, Views(options.perfetto, options.chrome, options.png, options.svg, options.color_by),
                           progress)
        said += write_exports(of, options, progress)
    for line in said:
        say(line)
    return of, own


def write_html(of: "Analysis", document: dict[str, Any], options: argparse.Namespace) -> None:
    if options.html:
        from marline.page.write import write_page  # only here: other reports need none of it

        for line in write_page(of, document, options.html, options.full, options.color_by):
            say(f"{options.html}: {line}")


def report_short(folder: Path, options: argparse.Namespace) -> None:
    """What `marline trace` says of the run that it has recorded, on standard error."""
    require_packages()
    with refusing():
        if sums.holds_sums(folder):
            document = sums.make_document(sums.read_sums(folder))
            sums_text.print_short(document, report_text.console_for(sys.stderr))
            for name in views_of(options):
                say(f"{name} needs records, and {folder} holds sums only (MARLINE_TRACE_AGGREGATE)")
            return
        more = metrics.FURTHER + metrics.FOR_PAGE if options.html else ()
        of, own = analyse(folder, options, more)
        document = metrics.make_document(of, own, more)
        write_html(of, document, options)
        report_text.print_short(document, report_text.console_for(sys.stderr))
