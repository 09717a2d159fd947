# SPDX-License-Identifier: Apache-2.0
"""The study as its file declares it: read strictly, once, into immutable values. The guide's page on studies
(docs/guide/studies.md) is the description of these keys; every valid key stands in one of the tuples below."""

from __future__ import annotations

import copy
import hashlib
import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from marline.study.declare.node import Node, Scalar, read_yaml

RUNTIMES = ("marline", "libomp", "libgomp", "none")
MPIS = ("openmpi", "mpich", "none")
BREAKDOWN_UNITS = {"work": "s", "idle": "s", "overhead": "s", "discovery": "s", "overlap": "%",
                   "overlap_collectives": "%", "collectives": "s", "inflation": "%"}  # fmt: skip
INFLATION = "inflation"  # of work: no run's own, but of a point beside the others of its curve
HIGHER_BETTER = ("overlap", "overlap_collectives")
SHAPES = ("ranks", "threads")  # that may also be parameters
TABLES = ("figures", "finishes")
BUILT_IN = ("prefix", "here", "program", "variant", "compiler", "runtime", "mpi", "ranks", "threads", "workers")
FILTERS = ("program", "variant", "compiler", "runtime", "mpi")

STUDY = ("study", "title", "text", "common", "programs", "parameters", "sweep", "variants", "baseline", "repeats",
         "warmup", "limit", "seed", "breakdown", "handover", "metg", "remarks", "tables", "plots", "quick")  # fmt: skip
SHAPE = ("mpi", "ranks", "threads", "environment")
PROGRAM = ("command", "when_recorded", "build", "figures", "verdict", "only", "breakdown", *SHAPE)
VARIANT = ("compiler", "runtime", "trace", "set", "baseline", *SHAPE)
FIGURE = ("unit", "regex", "better", "goal", "optional")
QUICK = ("parameters", "repeats", "warmup", "limit")
BASELINE = "baseline"  # in a goal's `of`
LONGEST = 1e6  # seconds: eleven days; poll(2) takes milliseconds in 31 bits
# Keys that say how to report, not what to run: a change of them keeps the measured runs.
REPORT_KEYS = ("title", "text", "baseline", "metg", "remarks", "tables", "plots", "quick")


@dataclass(frozen=True)
class Goal:
    """At most `value`, or `value` times the best sample of the figure `of`, or the median of the row's baseline."""

    value: float
    of: str | None = None

    def text(self) -> str:
        return f"{self.value:g} x {self.of}" if self.of else f"{self.value:,g}"


@dataclass(frozen=True)
class Figure:
    name: str
    unit: str
    regex: re.Pattern[str] | None = None  # None: the line `NAME VALUE UNIT`
    lower_is_better: bool = True
    goal: Goal | None = None
    optional: bool = False  # a run need not print it


@dataclass(frozen=True)
class Verdict:
    status: int = 0
    must: re.Pattern[str] | None = None
    must_not: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Shape:
    """How a program is started. None: not said here."""

    mpi: str | None = None
    ranks: int | None = None
    threads: int | None = None
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Program:
    name: str
    command: tuple[str, ...]
    when_recorded: tuple[str, ...]  # more words for the recorded run of a breakdown
    build: tuple[str, ...]
    figures: dict[str, Figure]
    verdict: Verdict
    only: dict[str, list[str]]
    shape: Shape
    breakdown: bool  # is it recorded, too?


@dataclass(frozen=True)
class Variant:
    name: str
    compiler: str
    runtime: str
    trace: bool
    set: dict[str, str]
    baseline: tuple[str, ...]
    shape: Shape


@dataclass(frozen=True)
class Following:
    """A parameter that takes its value from the value of another one."""

    leader: str
    values: dict[Scalar, Scalar]


@dataclass(frozen=True)
class Metg:
    granularity: str
    rate: str
    at: tuple[float, ...]  # in per cent


@dataclass(frozen=True)
class Table:
    """`kind` figures: medians. `kind` finishes: a row per program, a column per variant, and how many points end."""

    title: str
    figures: tuple[str, ...]
    kind: str = "figures"


@dataclass(frozen=True)
class Plot:
    file: str
    kind: str  # bars, curve, breakdown, efficiency
    title: str
    figures: tuple[str, ...]
    ratio: bool
    panels: dict[str, list[Scalar]]  # parameters that are restricted for this plot


@dataclass(frozen=True)
class Study:
    file: Path
    name: str
    title: str
    text: str
    programs: dict[str, Program]
    parameters: dict[str, list[Scalar]]
    following: dict[str, Following]
    sweep: str | None
    variants: dict[str, Variant]
    repeats: int
    warmup: int
    limit: float
    seed: int
    breakdown: bool
    handover: bool
    metg: Metg | None
    remarks: tuple[str, ...]
    tables: tuple[Table, ...]
    plots: tuple[Plot, ...]
    quick: bool
    digest: str

    def figure(self, program: str, name: str) -> Figure:
        if self.programs[program].breakdown and name in BREAKDOWN_UNITS:
            return Figure(name, BREAKDOWN_UNITS[name], lower_is_better=name not in HIGHER_BETTER)
        return self.programs[program].figures[name]


def load(path: Path, quick: bool) -> Study:
    """The study of `path`; with `quick`, after the changes that its `quick` declares. Both forms are always checked."""
    document = read_yaml(path)
    full = _study(Node(str(path), "", document), path, False)
    changed = _study(Node(str(path), "", _quickened(document)), path, True)
    return changed if quick else full


def _quickened(document: dict[str, Any]) -> dict[str, Any]:
    result = copy.deepcopy(document)
    changes = dict(result.get("quick") or {})
    result["parameters"] = {**result.get("parameters", {}), **changes.pop("parameters", {})}
    result.update(changes)
    if not result["parameters"]:
        del result["parameters"]
    return result


def _digest(document: dict[str, Any], quick: bool) -> str:
    measured = {key: value for key, value in document.items() if key not in REPORT_KEYS}
    text = json.dumps([quick, measured], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def _study(root: Node, path: Path, quick: bool) -> Study:
    of = root.fields(STUDY, required=("study", "programs", "variants"))
    name = of["study"].text()
    if not re.fullmatch(r"[\w-][\w.-]*", name):
        of["study"].fail(f"{name!r} becomes a folder's name: letters, digits, _ . - only, no . first")
    if "quick" in of:
        _check_quick(of["quick"], of.get("parameters"))
    parameters, following = _parameters(of["parameters"]) if "parameters" in of else ({}, {})
    breakdown = of["breakdown"].flag() if "breakdown" in of else False
    programs = _programs(of["programs"], of.get("common"), breakdown)
    variants = _variants(of["variants"], of.get("baseline"), {*parameters, *following})
    _check_only(programs, variants, of["programs"], of.get("common"))
    figures = _figure_names(programs, breakdown)
    _check_goals(programs, figures, of["programs"])
    sweep = of["sweep"].text() if "sweep" in of else None
    if sweep is not None and sweep not in parameters:
        of["sweep"].fail(f"no parameter is called {sweep!r}; there are: {', '.join(parameters) or 'none'}")
    title = of["title"].text() if "title" in of else name
    metg = _metg(of["metg"], figures, sweep) if "metg" in of else None
    return Study(
        file=path, name=name, title=title, text=of["text"].text().strip() if "text" in of else "", programs=programs,
        parameters=parameters, following=following, sweep=sweep, variants=variants,
        breakdown=breakdown, metg=metg, quick=quick,
        repeats=of["repeats"].whole(1) if "repeats" in of else 5,
        warmup=of["warmup"].whole(0) if "warmup" in of else 1,
        limit=min(of["limit"].positive(), LONGEST) if "limit" in of else 60.0,
        remarks=tuple(of["remarks"].words()) if "remarks" in of else (),
        seed=of["seed"].whole(0) if "seed" in of else 1,
        handover=of["handover"].flag() if "handover" in of else False,
        tables=_tables(of["tables"], figures) if "tables" in of else (Table("Figures", tuple(figures)),),
        plots=_plots(of["plots"], figures, parameters, sweep, breakdown, metg) if "plots" in of else (),
        digest=_digest(root.value, quick),
    )  # fmt: skip


def _check_quick(node: Node, parameters: Node | None) -> None:
    of = node.fields(QUICK)
    if "parameters" in of:
        known = parameters.items() if parameters else {}
        for name, value in of["parameters"].items().items():
            if name not in known:
                value.fail(f"no parameter is called {name!r}; there are: {', '.join(known) or 'none'}")


def _parameters(node: Node) -> tuple[dict[str, list[Scalar]], dict[str, Following]]:
    parameters, followers = {}, {}
    for name, value in node.items().items():
        if not re.fullmatch(r"[a-zA-Z_]\w*", name) or name in BUILT_IN and name not in SHAPES:
            taken = ", ".join(each for each in BUILT_IN if each not in SHAPES)
            value.fail(f"not a parameter's name: a word, and none of {taken}")
        if isinstance(value.value, dict):
            followers[name] = value
            continue
        parameters[name] = [each.whole(1) if name in SHAPES else each.scalar() for each in value.list()]
        if len(set(parameters[name])) != len(parameters[name]):
            value.fail("a value is there twice")
    return parameters, {name: _following(value, parameters) for name, value in followers.items()}


def _following(node: Node, parameters: dict[str, list[Scalar]]) -> Following:
    of = node.fields(("follows", "values"), required=("follows", "values"))
    leader = of["follows"].text()
    if leader not in parameters:
        of["follows"].fail(f"no parameter is called {leader!r}; there are: {', '.join(parameters) or 'none'}")
    values = [each.scalar() for each in of["values"].list()]
    if len(values) != len(parameters[leader]):
        of["values"].fail(f"{len(values)} values, but {leader} has {len(parameters[leader])}: one for each")
    return Following(leader, dict(zip(parameters[leader], values, strict=True)))


def _shape(of: dict[str, Node]) -> Shape:
    environment = {key: str(node.scalar()) for key, node in of["environment"].items().items()} \
        if "environment" in of else {}  # fmt: skip
    return Shape(mpi=of["mpi"].choice(MPIS) if "mpi" in of else None,
                 ranks=of["ranks"].whole(1) if "ranks" in of else None,
                 threads=of["threads"].whole(1) if "threads" in of else None, environment=environment)  # fmt: skip


def _programs(node: Node, common: Node | None, breakdown: bool) -> dict[str, Program]:
    shared = common.fields(PROGRAM) if common else {}
    return {name: _program(name, each, shared, breakdown) for name, each in node.items().items()}


def _program(name: str, node: Node, shared: dict[str, Node], breakdown: bool) -> Program:
    of = {**shared, **node.fields(PROGRAM)}
    for key in ("command", "figures"):
        if key not in of:
            node.fail(f"the key {key!r} is missing, here and in 'common'; valid here: {', '.join(PROGRAM)}")
    figures = {key: _figure(key, each) for key, each in of["figures"].items().items()}
    recorded = breakdown and ("breakdown" not in of or of["breakdown"].flag())
    for taken in BREAKDOWN_UNITS if recorded else ():
        if taken in figures:
            of["figures"].child(taken, None).fail("'breakdown: true' adds a figure of that name; choose another one")
    only = {key: each.words() for key, each in of["only"].fields(FILTERS).items()} if "only" in of else {}
    words = {key: _command(of[key]) if key in of else () for key in ("command", "when_recorded", "build")}
    return Program(name, words["command"], words["when_recorded"], words["build"], figures,
                   _verdict(of["verdict"]) if "verdict" in of else Verdict(), only, _shape(of), recorded)  # fmt: skip


def _command(node: Node) -> tuple[str, ...]:
    """A list of words, or a text that is split as a shell would, without a shell."""
    if isinstance(node.value, list):
        return tuple(str(each.scalar()) for each in node.list())
    try:
        return tuple(shlex.split(node.text()))
    except ValueError as error:
        node.fail(f"cannot be split into words: {error}")


def _figure(name: str, node: Node) -> Figure:
    if not re.fullmatch(r"\S+", name):
        node.fail("a figure's name is one word")
    if isinstance(node.value, str):
        return Figure(name, node.text())
    of = node.fields(FIGURE, required=("unit",))
    return Figure(name, of["unit"].text(), of["regex"].pattern(groups=1) if "regex" in of else None,
                  "better" not in of or of["better"].choice(("lower", "higher")) == "lower",
                  _goal(of["goal"]) if "goal" in of else None,
                  of["optional"].flag() if "optional" in of else False)  # fmt: skip


def _goal(node: Node) -> Goal:
    if not isinstance(node.value, dict):
        return Goal(node.positive())
    of = node.fields(("times", "of"), required=("times", "of"))
    return Goal(of["times"].positive(), of["of"].text())


def _verdict(node: Node) -> Verdict:
    of = node.fields(("status", "must", "must_not"))
    return Verdict(of["status"].whole(0) if "status" in of else 0, of["must"].pattern() if "must" in of else None,
                   of["must_not"].pattern() if "must_not" in of else None)  # fmt: skip


def _variants(node: Node, baseline: Node | None, parameters: set[str]) -> dict[str, Variant]:
    nodes = node.items()
    names = list(nodes)
    default = tuple(baseline.one_of_each(names, "variant")) if baseline else ()
    return {name: _variant(name, each, names, default, parameters) for name, each in nodes.items()}


def _variant(name: str, node: Node, names: list[str], default: tuple[str, ...], parameters: set[str]) -> Variant:
    of = node.fields(VARIANT, required=("runtime",))
    values = {key: str(each.scalar()) for key, each in of["set"].items().items()} if "set" in of else {}
    for key in values:
        if key in BUILT_IN or key in parameters:
            of["set"].child(key, None).fail("that name is a parameter's or a built-in variable's; choose another one")
    own = tuple(of["baseline"].one_of_each(names, "variant")) if "baseline" in of else default
    return Variant(name, of["compiler"].text() if "compiler" in of else "", of["runtime"].choice(RUNTIMES),
                   of["trace"].flag() if "trace" in of else False, values, own, _shape(of))  # fmt: skip


def _check_only(programs: dict[str, Program], variants: dict[str, Variant], node: Node, common: Node | None) -> None:
    known = {"program": set(programs), "variant": set(variants), "mpi": set(MPIS), "runtime": set(RUNTIMES),
             "compiler": {v.compiler for v in variants.values()} - {""}}  # fmt: skip
    for program in programs.values():
        for key, values in program.only.items():
            for value in values:
                if value not in known[key]:
                    node.child(f"{program.name}.only.{key}", None).fail(
                        f"no {key} is called {value!r}; there are: {', '.join(sorted(known[key]))}")


def _figure_names(programs: dict[str, Program], breakdown: bool) -> list[str]:
    names = [figure for program in programs.values() for figure in program.figures]
    return list(dict.fromkeys(names + (list(BREAKDOWN_UNITS) if breakdown else [])))


def _check_goals(programs: dict[str, Program], figures: list[str], node: Node) -> None:
    for program in programs.values():
        for figure in program.figures.values():
            if figure.goal and figure.goal.of and figure.goal.of not in (*figures, BASELINE):
                node.child(f"{program.name}.figures.{figure.name}.goal.of", None).fail(
                    f"no figure is called {figure.goal.of!r}; there are: {', '.join(figures)}")


def _metg(node: Node, figures: list[str], sweep: str | None) -> Metg:
    if sweep is None:
        node.fail("needs the key 'sweep': the parameter that sets the grain")
    of = node.fields(("granularity", "rate", "at"), required=("granularity", "rate"))
    for key in ("granularity", "rate"):
        of[key].one_of_each(figures, "figure")
    at = tuple(each.positive() for each in of["at"].list()) if "at" in of else (50.0, 95.0)
    if max(at) >= 100:
        of["at"].fail("an efficiency is below 100 (per cent)")
    return Metg(of["granularity"].text(), of["rate"].text(), at)


def _tables(node: Node, figures: list[str]) -> tuple[Table, ...]:
    tables = []
    for each in node.list():
        of = each.fields(("title", "figures", "kind"))
        kind = of["kind"].choice(TABLES) if "kind" in of else TABLES[0]
        if kind == "finishes":
            tables.append(Table(of["title"].text() if "title" in of else "Which programs end", (), kind))
            continue
        if "figures" not in of:
            each.fail("the key 'figures' is missing: the names of the figures to show")
        names = tuple(of["figures"].one_of_each(figures, "figure"))
        tables.append(Table(of["title"].text() if "title" in of else ", ".join(names), names))
    return tuple(tables)


def _plots(node: Node, figures: list[str], parameters: dict[str, list[Scalar]], sweep: str | None, breakdown: bool,
           metg: Metg | None) -> tuple[Plot, ...]:  # fmt: skip
    needs = {"curve": (sweep, "sweep"), "breakdown": (breakdown, "breakdown"), "efficiency": (metg, "metg"),
             "bars": (True, "")}  # fmt: skip
    plots: dict[str, Plot] = {}
    for each in node.list():
        of = each.fields(("file", "kind", "title", "figures", "ratio", "panels"), required=("file", "kind"))
        kind, file = of["kind"].choice(tuple(needs)), of["file"].text()
        if not needs[kind][0]:
            of["kind"].fail(f"{kind} needs the study's key {needs[kind][1]!r}")
        if not re.fullmatch(r"[\w-]+", file) or file in plots:
            of["file"].fail(f"{file!r}: a name of letters, digits, _ and -, without suffix, that no other plot has")
        if kind in ("bars", "curve") and "figures" not in of:
            each.fail(f"{kind} needs the key 'figures'")
        shown = tuple(of["figures"].one_of_each(figures, "figure")) if "figures" in of else ()
        panels = _panels(of["panels"], parameters) if "panels" in of else {}
        plots[file] = Plot(file, kind, of["title"].text() if "title" in of else file, shown,
                           of["ratio"].flag() if "ratio" in of else False, panels)  # fmt: skip
    return tuple(plots.values())


def _panels(node: Node, parameters: dict[str, list[Scalar]]) -> dict[str, list[Scalar]]:
    for name, each in node.items().items():
        if name not in parameters:
            each.fail(f"no parameter is called {name!r}; there are: {', '.join(parameters) or 'none'}")
    return {name: [value.scalar() for value in each.list()] for name, each in node.items().items()}
