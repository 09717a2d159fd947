# SPDX-License-Identifier: Apache-2.0
"""Lines of the report that are there only if they have something to say: messages that leave late, tasks that took much
longer than others of their kind."""

from typing import Any

from marline.trace.passes.of_tasks.addresses import Addresses
from marline.units import count, duration

WORTH_SAYING = 0.01  # outliers: of all work; late sends: of the makespan, in the mean
_PARTS = (("undiscovered_ns", "until their task was created"), ("queued_ns", "in a queue"),
          ("inside_ns", "in the task before it sent"))  # fmt: skip


LATE_SENDS = "late sends"


def notable(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Title and text of each line."""
    return [*_late_sends(document), *_outliers(document), *_slow_patterns(document)]


def bounds_by_machine(found: dict[str, Any]) -> list[tuple[str, str]]:
    """Only where MPI takes time: else the line on the critical path has said all."""
    if found["infinite_threads_ns"] == found["infinite_threads_and_network_ns"]:
        return []
    return [("at best", f"{duration(found['infinite_threads_ns'])} with infinite threads, "
             f"{duration(found['infinite_network_ns'])} with an infinite network "
             f"({duration(found['infinite_network_same_order_ns'])} if tasks keep their order), "
             f"{duration(found['infinite_threads_and_network_ns'])} with both")]  # fmt: skip


def _late_sends(document: dict[str, Any]) -> list[tuple[str, str]]:
    found = document["early_sends"]
    if found["mean_ns"] <= WORTH_SAYING * document["total"]["makespan_ns"]:
        return []
    parts = sorted(((found[key] / found["messages"], text) for key, text in _PARTS), reverse=True)
    worst = found["latest"][0]
    return [(LATE_SENDS, f"messages left {duration(found['mean_ns'])} after their data was ready, in the mean: "
             + ", ".join(f"{duration(time)} {text}" for time, text in parts if time)
             + f"; latest: {worst['name']} of rank {worst['rank']}, {duration(worst['late_ns'])}")]  # fmt: skip


def _outliers(document: dict[str, Any]) -> list[tuple[str, str]]:
    found = document["outliers"]
    if not found["outliers"] or found["excess_ns"] <= WORTH_SAYING * document["total"]["work_ns"]:
        return []
    worst, number = found["worst"][0], found["outliers"]
    return [("outliers", f"{count(number)} task{'s' * (number > 1)} took {duration(found['excess_ns'])} more than "
             f"others of their kind; worst: {worst['name']}, rank {worst['rank']}, thread {worst['thread']}, "
             f"{duration(worst['running_ns'])} from {duration(worst['start_ns'] - document['windows']['edges_ns'][0])} "
             f"of the run on ({count(worst['times_median'])} x median)")]  # fmt: skip


MOST_ALONE = 0.5  # of all pairs of tasks that are ordered
LEAST_ORDERED = 3  # tasks


def one_address(found: Addresses) -> str:
    """Which variable brings about most of a graph's edges; empty if none does. Begins with a semicolon."""
    if not len(found.alone) or found.alone[0] < MOST_ALONE * found.pairs or found.tasks[0] < LEAST_ORDERED:
        return ""
    row = found.document()["most"][0]
    ask = "would `in` do?" if row["writers"] == row["tasks"] else "are they all needed?"
    return (f"; {count(row['alone'])} of {count(found.pairs)} dependences come from {row['name']} alone, which "
            f"{count(row['tasks'])} tasks name, {count(row['writers'])} of them to write: {ask}")  # fmt: skip


_PATTERNS = (("duplicate", "repeat others"), ("transitive", "follow from others"),
             ("product", "could be left out with inoutset"))  # fmt: skip


def _slow_patterns(document: dict[str, Any]) -> list[tuple[str, str]]:
    found = document["slow_patterns"]
    worth = [(found[name], text) for name, text in _PATTERNS
             if (found[name]["time_ns"] or 0) > WORTH_SAYING * document["total"]["makespan_ns"]]  # fmt: skip
    if not worth:
        return []
    parts = [f"{count(round(one['edges']))} {text} (up to {duration(one['time_ns'])} of creation)"
             for one, text in worth]  # fmt: skip
    return [("extra edges", f"of {count(found['declared'])} declared: " + ", ".join(parts)
             + f", at {duration(found['edge_ns'])} each")]  # fmt: skip
