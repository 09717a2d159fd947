# SPDX-License-Identifier: Apache-2.0
"""The list of features in features.txt: what OpenMP has for a host, and what of it is supported. `marline info
--features` prints it; tools/gen_features.py joins it with what the test programs cover."""

import re
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).with_name("features.txt")
SUPPORTED = "supported"
# Widest line of `marline info --features`.
WIDTH = 118


class Malformed(Exception):
    """A line of the list that cannot be read; the message names it."""


@dataclass(frozen=True)
class Feature:
    heading: str
    directive: str  # or a routine, a variable, a topic of Marline's own
    clause: str  # empty: the directive itself; `clause:modifier` for a modifier
    section: str  # of OpenMP 5.2, or the page that describes it
    status: str  # SUPPORTED, `not yet: reason` or `untested: reason`

    @property
    def word(self) -> str:
        return f"{self.directive}({self.clause})" if self.clause else self.directive

    @property
    def kind(self) -> str:
        """supported, not yet or untested."""
        return self.status.partition(":")[0]

    @property
    def reason(self) -> str:
        return self.status.partition(": ")[2]


def read_features(path: Path = LIST) -> list[Feature]:
    features: list[Feature] = []
    heading = ""
    words: set[str] = set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("== "):
            heading = line[3:].strip()
            continue
        feature = _read_line(line, heading, features)
        if feature is None or feature.word in words:
            what = "it is there twice" if feature else "expected `name  section  [not yet: reason]`"
            raise Malformed(f"{path.name}:{number}: {line.strip()}: {what}")
        words.add(feature.word)
        features.append(feature)
    return features


def _read_line(line: str, heading: str, before: list[Feature]) -> Feature | None:
    fields = re.split(r" {2,}", line.strip())
    status = fields[2] if len(fields) > 2 else SUPPORTED
    is_clause = line.startswith(" ")
    known = status == SUPPORTED or re.match(r"(not yet|untested): .", status)
    if len(fields) not in (2, 3) or not known or not heading or (is_clause and not before):
        return None
    if not is_clause:
        return Feature(heading, fields[0], "", fields[1], status)
    owner = next(feature for feature in reversed(before) if not feature.clause)
    inherited = status if len(fields) == 3 else owner.status
    return Feature(heading, owner.directive, fields[0], fields[1], inherited)


def in_short(features: list[Feature]) -> list[str]:
    """Each heading, then a line per directive with its clauses; routines and variables many to a line; what is not
    supported with the reason."""
    lines: list[str] = []
    for heading in dict.fromkeys(feature.heading for feature in features):
        own = [feature for feature in features if feature.heading == heading]
        lines += ([""] if lines else []) + [heading]
        lines += _wrapped([_directive(own, name) for name in _directives(own) if _is_kind(own, name, SUPPORTED)])
        lacking: dict[str, list[str]] = {}
        for feature in own:
            if feature.kind != SUPPORTED and not _said_by_its_directive(feature, own):
                lacking.setdefault(feature.status, []).append(feature.word)
        for status, words in lacking.items():
            lines += _fill(f"{status}: {', '.join(words)}", "  ", "      ")
    return lines


def _directives(features: list[Feature]) -> list[str]:
    return [feature.directive for feature in features if not feature.clause]


def _is_kind(features: list[Feature], directive: str, kind: str) -> bool:
    return any(feature.kind == kind for feature in features if feature.directive == directive and not feature.clause)


def _directive(features: list[Feature], directive: str) -> str:
    clauses = [feature.clause for feature in features
               if feature.directive == directive and feature.clause and feature.kind == SUPPORTED]  # fmt: skip
    return f"{directive}({', '.join(_joined(clauses))})" if clauses else directive


def _joined(clauses: list[str]) -> list[str]:
    """depend:in, depend:out as depend:in/out."""
    modifiers: dict[str, list[str]] = {}
    for clause in clauses:
        base, colon, modifier = clause.partition(":")
        modifiers.setdefault(base + colon, []).append(modifier)
    return [base + "/".join(given) for base, given in modifiers.items()]


def _said_by_its_directive(feature: Feature, features: list[Feature]) -> bool:
    same = [other for other in features if other.directive == feature.directive and not other.clause]
    return bool(feature.clause) and same[0].status == feature.status


def _wrapped(items: list[str]) -> list[str]:
    """Items with clauses get lines of their own, wrapped at a comma; the others share lines."""
    lines: list[str] = []
    shared = ""
    for item in items:
        if "(" in item:
            lines += _fill(item, "  ", "      ")
        else:
            shared += (", " if shared else "") + item
    return lines + (_fill(shared, "  ", "  ") if shared else [])


def _fill(text: str, first: str, later: str) -> list[str]:
    lines = [first]
    for piece in re.split(r"(?<=,) ", text):
        if len(lines[-1]) + 1 + len(piece) > WIDTH:
            lines.append(later)
        lines[-1] += (" " if lines[-1].strip() else "") + piece
    return lines
