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


# Of programs without tasks: what would have to go.
_WITHOUT = (("no_barrier_waits_ns", "if threads came to barriers together"),
            ("no_serial_code_ns", "without serial code"), ("no_lock_waits_ns", "without waits for locks"))  # fmt: skip
_BUSY = "if all threads worked all the time"


def bounds_by_machine(found: dict[str, Any], tasks: int) -> list[tuple[str, str]]:
    """How fast the same work could be, as far as the line on the critical path has not said it: where MPI takes time,
    with another machine; else without what makes threads wait."""
    has_mpi = found["infinite_threads_ns"] != found["infinite_threads_and_network_ns"]
    parts = []
    if has_mpi and tasks:
        parts += [f"{duration(found['infinite_threads_ns'])} with infinite threads",
                  f"{duration(found['infinite_network_ns'])} with an infinite network "
                  f"({duration(found['infinite_network_same_order_ns'])} if tasks keep their order)",
                  f"{duration(found['infinite_threads_and_network_ns'])} with both"]  # fmt: skip
    elif has_mpi:
        parts.append(f"{duration(found['infinite_network_same_order_ns'])} with an infinite network")
    parts += [f"{duration(found[key])} {text}" for key, text in _WITHOUT if is_gain(found, key)]
    if is_gain(found, "all_busy_ns", found["infinite_network_ns"] if tasks else found["makespan_ns"]):
        parts.append(f"{duration(found['all_busy_ns'])} {_BUSY}" + (", whatever waits for what" if tasks else ""))
    return [("at best", ", ".join(parts))] if parts else []


def is_gain(found: dict[str, Any], key: str, than: int | None = None) -> bool:
    """Whether a bound is below the makespan, or another one, by more than nothing."""
    return bool(found[key] <= (1 - WORTH_SAYING) * (found["makespan_ns"] if than is None else than))


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
