# SPDX-License-Identifier: Apache-2.0
"""Which points a study has, and in which order they run. Pure: nothing is executed and nothing of the machine is read.

A point is a program on one choice of parameters under one variant. Rounds interleave all points: within a round the
inputs come in an order drawn from the seed, and the variants of one input follow each other, in an order drawn too, so
that a slow drift of the machine meets all variants of an input alike."""

from __future__ import annotations

import fnmatch
import itertools
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from marline.study.declare.document import BUILT_IN, SHAPES, Program, Study, Variant
from marline.study.declare.node import Scalar, StudyError

WARMUP, TIMED, TRACED = "warmup", "timed", "traced"
MOST_RECORDED = 3  # enough for a median that one disturbed run does not move
VARIABLE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True)
class Point:
    """`command` and `build` are complete words; `environment` is what the study adds for this point."""

    program: Program
    variant: Variant
    parameters: dict[str, Scalar]
    varying: tuple[str, ...]  # parameters with more than one value in the study
    mpi: str
    ranks: int
    threads: int
    command: tuple[str, ...] = ()
    build: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def input(self) -> str:
        """What the variants of one comparison share."""
        return " ".join([self.program.name, *self.settings()])

    def settings(self, without: str | None = None) -> list[str]:
        """Of the parameters that vary in this study."""
        return [f"{key}={self.parameters[key]}" for key in self.varying if key != without]

    @property
    def key(self) -> str:
        return f"{self.input} | {self.variant.name}"


@dataclass(frozen=True)
class Run:
    kind: str
    round: int
    point: Point

    @property
    def identity(self) -> tuple[str, int, str]:
        return self.kind, self.round, self.point.key


def points(study: Study, prefix: Path) -> list[Point]:
    """In the file's order."""
    made: dict[str, Point] = {}
    for program in study.programs.values():
        for variant in study.variants.values():
            for point in _of_pair(study, program, variant, prefix):
                made.setdefault(point.key, point)
    if not made:
        raise StudyError(f"{study.file}: no program is left to run: look at the keys 'only'")
    return list(made.values())


def _of_pair(study: Study, program: Program, variant: Variant, prefix: Path) -> Iterator[Point]:
    """A program meets only the parameters that its words name: another one would repeat the same run."""
    shape = {name: _first(getattr(program.shape, name), getattr(variant.shape, name), default)
             for name, default in (("mpi", "none"), ("ranks", None), ("threads", None))}  # fmt: skip
    mpi = shape["mpi"]
    swept = [name for name in SHAPES if shape[name] is None and name in study.parameters]
    environment = {**variant.shape.environment, **program.shape.environment}
    fixed = {"prefix": str(prefix), "here": str(study.file.resolve().parent), "program": program.name,
             "variant": variant.name, "compiler": variant.compiler, "runtime": variant.runtime, "mpi": mpi,
             **variant.set}  # fmt: skip
    if any(fixed[key] not in values for key, values in program.only.items()):
        return
    named = _names([*program.command, *program.build, *environment.values()]) | set(swept)
    named |= _names([variant.set[name] for name in named & set(variant.set)])
    named |= {study.following[name].leader for name in named & set(study.following)}
    used = [name for name in study.parameters if name in named and (name in swept or name not in SHAPES)]
    for name in named & set(study.following):
        if study.following[name].leader not in used:
            raise StudyError(f"{study.file}: programs.{program.name}: {name} follows {study.following[name].leader}, "
                             f"which is the program's or variant {variant.name}'s own")
    for chosen in itertools.product(*(study.parameters[name] for name in used)):
        parameters = dict(zip(used, chosen, strict=True))
        parameters |= {name: each.values[parameters[each.leader]] for name, each in study.following.items()
                       if name in named}  # fmt: skip
        ranks, threads = (int(parameters[name] if name in swept else shape[name] or 1) for name in SHAPES)
        if ranks > 1 and mpi == "none":
            raise StudyError(f"{study.file}: programs.{program.name}: {ranks} ranks under variant {variant.name}, "
                             "but mpi is none; set it to openmpi or mpich")
        values = fixed | {key: str(value) for key, value in parameters.items()}
        values |= {"ranks": str(ranks), "threads": str(threads), "workers": str(ranks * threads)}
        values |= {key: _fill(text, values, study, variant) for key, text in variant.set.items() if key in named}
        fill = [tuple(_fill(word, values, study, variant) for word in part)
                for part in (program.command, program.build)]  # fmt: skip
        fill[0] = (_located(fill[0][0], study.file.resolve().parent), *fill[0][1:])
        varying = tuple(name for name in used if len(study.parameters[name]) > 1)
        yield Point(program, variant, parameters, varying, mpi, ranks, threads, fill[0], fill[1],
                    {key: _fill(value, values, study, variant) for key, value in environment.items()})


def _located(program: str, folder: Path) -> str:
    """`./app` lies where the study's file does, whichever folder is the caller's; a plain name is looked up in PATH."""
    return str(folder / program) if "/" in program else program


def _names(words: Iterable[str]) -> set[str]:
    return {name for word in words for name in VARIABLE.findall(word)}


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _fill(word: str, values: Mapping[str, str], study: Study, variant: Variant) -> str:
    def value_of(match: re.Match[str]) -> str:
        if match[1] not in values:
            valid = [*BUILT_IN, *study.parameters, *study.following, *variant.set]
            raise StudyError(f"{study.file}: {word!r}: unknown variable {match[0]} under variant {variant.name}; "
                             f"valid: {', '.join(dict.fromkeys(valid))}")
        return values[match[1]]

    return VARIABLE.sub(value_of, word)


def chosen(of: list[Point], patterns: list[str]) -> list[Point]:
    """The points that every pattern fits, by the name of the program, of the variant, of a figure, or NAME=VALUE."""
    kept = of
    for pattern in patterns:
        kept = [point for point in kept if any(fnmatch.fnmatchcase(word, pattern) for word in names_of(point))]
        if not kept:
            names = dict.fromkeys(name for point in of for name in names_of(point))
            raise StudyError(f"--only {pattern}: fits nothing; there are: {', '.join(names)}")
    return kept


def names_of(point: Point) -> list[str]:
    return [point.program.name, point.variant.name, *point.program.figures, *point.settings()]


def schedule(study: Study, of: list[Point]) -> list[Run]:
    """All runs in their order: warm-up rounds, timed rounds, then traced rounds if the study has a breakdown."""
    runs = []
    for kind, count in rounds(study).items():
        for number in range(count):
            order = random.Random(f"{study.seed} {kind} {number}")
            runs += [Run(kind, number, point) for point in shuffled(of, order)
                     if kind != TRACED or point.program.breakdown]  # fmt: skip
    return runs


def rounds(study: Study) -> dict[str, int]:
    """How many of each kind, in their order."""
    recorded = min(MOST_RECORDED, study.repeats) if study.breakdown else 0
    return {WARMUP: study.warmup, TIMED: study.repeats, TRACED: recorded}


def shuffled(of: list[Point], order: random.Random) -> list[Point]:
    groups: dict[str, list[Point]] = {}
    for point in of:
        groups.setdefault(point.input, []).append(point)
    inputs = list(groups.values())
    order.shuffle(inputs)
    for group in inputs:
        order.shuffle(group)
    return [point for group in inputs for point in group]
