# SPDX-License-Identifier: Apache-2.0
"""`marline study FILE.yaml`: the command line. Measures what the results file does not hold yet, then reports."""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from marline.errors import Refusal, say
from marline.layout import Layout
from marline.study.declare import document, plan

if TYPE_CHECKING:
    from marline.study.measure.store import Records

STOPPED = 130  # as a shell says of a program that ended by Ctrl-C
PACKAGES = "python3 -m pip install numpy matplotlib rich PyYAML"

EPILOG = """results: DIR gets runs.jsonl (every run, at once), README.md, results.json, results.csv and plots.
A study that was stopped (Ctrl-C, power) goes on where it was when the same command is given again.
exit status: 0; 1 if a run failed or hung; 2 for a mistake in FILE or on the command line; 130 if stopped."""


def parse(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="marline study", formatter_class=argparse.RawDescriptionHelpFormatter, epilog=EPILOG,
        description="Runs programs under several runtimes in turns, as FILE declares, and compares their figures.",
    )  # fmt: skip
    parser.add_argument("file", type=Path, metavar="FILE.yaml", help="the study (docs/guide/studies.md describes it)")
    parser.add_argument("-o", dest="folder", type=Path, metavar="DIR", help="where results go (results/STUDY)")
    parser.add_argument("--quick", action="store_true", help="with the changes that FILE's key 'quick' declares")
    parser.add_argument("--only", action="append", default=[], metavar="PATTERN",
                        help="programs, variants, figures or PARAMETER=VALUE that fit; repeated: all must fit")
    parser.add_argument("--list", action="store_true", help="show the points and what is missing; run nothing")
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--report-only", action="store_true", help="run nothing, report what was measured")
    kinds.add_argument("--fresh", action="store_true", help="forget earlier results and measure all anew")
    return parser.parse_args(arguments)


def main(arguments: list[str], prefix: Path) -> int:
    options = parse(arguments)
    study = document.load(options.file, options.quick)
    layout = Layout(prefix)
    points = plan.chosen(plan.points(study, prefix), options.only)
    if options.list:
        return show(study, points, layout)
    _require_packages()
    folder = options.folder or Path("results") / study.name
    if options.report_only:
        return report(study, points, _recorded(study, folder), folder)
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        records = measure(study, points, layout, folder, options.fresh)
    except KeyboardInterrupt:
        say(f"stopped; what was measured is in {folder}; the same command continues from there")
        return STOPPED
    return report(study, points, records, folder)


def _require_packages() -> None:
    """Looked for, not imported: that takes its time, and a study without plots never draws."""
    missing = [name for name in ("numpy", "matplotlib", "rich") if importlib.util.find_spec(name) is None]
    if missing:
        raise Refusal(f"no Python package {', '.join(missing)}: studies need them; {PACKAGES}")


def _interrupt(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def show(study: document.Study, points: list[plan.Point], layout: Layout) -> int:
    """One line per point: its command, or why it would be skipped."""
    from marline.study.measure import launch

    runs = len(plan.schedule(study, points))
    print(f"{study.name}: {study.title}\n{len(points)} points, {runs} runs ({study.warmup} to warm up, {study.repeats} "
          f"timed{', 1 recorded' if study.breakdown else ''}), limit {study.limit:g} s each")  # fmt: skip
    for point in points:
        reason = launch.why_not(point, layout, point.variant.trace)
        if reason and point.build and launch.program_file(point) is None:
            reason += "; the program will be built"
        print(f"  {point.key}: {f'MISSING: {reason}' if reason else ' '.join(point.command)}")
    return 0


def _recorded(study: document.Study, folder: Path) -> Records:
    from marline.study.measure import store

    path = folder / store.FILE
    records = store.read(path)
    if records is None:
        raise Refusal(f"{path}: no results yet; leave --report-only out, or name their folder by -o")
    store.check_same(records, study, path, files={})
    return records


def measure(study: document.Study, points: list[plan.Point], layout: Layout, folder: Path, fresh: bool) -> Records:
    from marline.study.measure import machine, runner, store

    faults = runner.build_missing(points, say)
    skipped = runner.skips(points, study, layout, faults)
    if len(skipped) == len(points):
        raise Refusal(f"nothing of {study.file} can run here: {next(iter(skipped.values()))}; --list shows all")
    files = machine.fingerprints(layout, points)
    results = store.open_store(folder / store.FILE, study, files, fresh)
    try:
        for key, reason in skipped.items():
            if results.records.skips.get(key) != reason:
                results.append("skip", point=key, reason=reason)
        able = [point for point in points if point.key not in skipped]
        runner.Runner(study, layout, results).measure(able, files)
        return results.records
    finally:
        results.close()


def report(study: document.Study, points: list[plan.Point], records: Records, folder: Path) -> int:
    from marline.study.evaluate import metg, report, summary

    made = summary.summarise(study, records, points)
    curves = metg.curves(made) if study.metg else []
    print(report.terminal(made, curves))
    report.write(made, curves, folder)
    print(f"results: {folder}")
    sys.stdout.flush()
    return 1 if made.problems() else 0
