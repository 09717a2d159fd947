# SPDX-License-Identifier: Apache-2.0
"""The task graph that the program declared.

Edges follow from the dependence records alone (OpenMP 5.1, 2.19.11), whether or not the predecessor had already
ended: the graph does not depend on timing or runtime. Per parent and address, tasks in creation order fall into
generations: one writer, or a run of readers (or of inoutset, or of mutexinoutset members, which exclude each other
but are not ordered). Each member of a generation follows each member of the one before.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .model import Tasks
from .read.columns import Columns, distinct, group_starts, order_of_small
from .read.records import Trace
from .native_base import count_less

# ompt_dependence_type_t (OpenMP 5.1, 4.4.4.23); source and sink (5, 6) belong to ordered loops and make no edges here.
IN, OUT, INOUT, MUTEXINOUTSET, INOUTSET, OUT_ALL, INOUT_ALL = 1, 2, 3, 4, 7, 34, 35
_WRITERS = (OUT, INOUT)
_EVERYTHING = (OUT_ALL, INOUT_ALL)
_KINDS = (IN, OUT, INOUT, MUTEXINOUTSET, INOUTSET)


@dataclass
class Edges:
    """Task `sink` may start only after `source` has ended. Rows of Tasks; sorted, without duplicates."""

    source: np.ndarray
    sink: np.ndarray
    times: np.ndarray  # by how many addresses each pair was declared

    @property
    def duplicates(self) -> int:
        """How often a pair was declared by one more address."""
        return int(self.times.sum()) - len(self.times)


@dataclass
class Accesses:
    """What tasks declare (rows of Tasks): by parent and address, each place in order of creation. `first`: where each
    generation begins."""

    task: np.ndarray
    kind: np.ndarray
    address: np.ndarray
    new_place: np.ndarray
    first: np.ndarray
    generation: np.ndarray


@dataclass
class _Declared(Columns):
    """By order of creation within each parent; a task's own in the order of its clauses."""

    parent: np.ndarray  # a number per parent
    address: np.ndarray
    task: np.ndarray
    kind: np.ndarray


def accesses(trace: Trace, table: Tasks) -> Accesses:
    """All accesses of known tasks."""
    return _by_place(_spread_everything(_declared(trace, table)))


def dependence_edges(accesses: Accesses) -> Edges:
    """All edges between sibling tasks."""
    none = np.zeros(0, dtype=np.int64)
    if not len(accesses.task):
        return Edges(none, none, none)
    task = accesses.task
    source, sink = (task[access] for access in _looking_back(accesses))
    itself = source == sink
    pairs = source[~itself] * (int(task.max()) + 1) + sink[~itself]
    pairs.sort()
    first_of_pair = np.flatnonzero(group_starts(pairs))
    source, sink = np.divmod(pairs[first_of_pair], int(task.max()) + 1)
    return Edges(source, sink, np.diff(np.r_[first_of_pair, len(pairs)]))


@dataclass
class AddressEdges:
    """Each pair of tasks once for each address that orders it; rows of Tasks. By parent and address, then in the order
    of creation of the tasks that wait."""

    source: np.ndarray
    sink: np.ndarray
    address: np.ndarray


def edges_by_address(accesses: Accesses) -> AddressEdges:
    """All edges between sibling tasks, with the addresses that they come from."""
    source, sink = _looking_back(accesses)
    kept = np.flatnonzero(accesses.task[source] != accesses.task[sink])
    source, sink = source[kept], sink[kept]
    return AddressEdges(accesses.task[source], accesses.task[sink], accesses.address[sink])


def exclusive_sets(accesses: Accesses, tasks: int) -> np.ndarray:
    """By row of Tasks: a number for the members of one mutexinoutset generation, -1 for all other tasks. A task that is
    in several is counted in one of them."""
    found = np.full(tasks, -1, dtype=np.int64)
    members = np.flatnonzero(accesses.kind == MUTEXINOUTSET)
    found[accesses.task[members]] = accesses.generation[members]
    return found


def _declared(trace: Trace, table: Tasks) -> _Declared:
    """All accesses of known tasks, by order of creation within each parent."""
    rows = trace.select("dependence")
    task = table.index(trace.task[rows])
    kind = trace.field("dependence", "type", rows).astype(np.uint8)
    kept = (task >= 0) & np.isin(kind, _KINDS + _EVERYTHING)
    if not kept.all():
        rows, task, kind = rows[kept], task[kept], kind[kept]
    parents = distinct(table.parent)
    parent = count_less(parents, table.parent)
    accesses = _Declared(
        parent[task],
        trace.field("dependence", "address", rows),
        task,
        np.where(np.isin(kind, _WRITERS), np.uint8(OUT), kind),
    )
    return _by_creation(accesses, len(parents), table.created[task], trace.time[rows])


def _by_creation(accesses: _Declared, parents: int, created: np.ndarray, time: np.ndarray) -> _Declared:
    """A parent creates its tasks one after another, mostly on one thread: then the records are in order."""
    order = order_of_small(accesses.parent, parents)
    parent, created = accesses.parent[order], created[order]
    if np.any((created[1:] < created[:-1]) & (parent[1:] == parent[:-1])):
        order = order[np.lexsort((time[order], created, parent))]
    return accesses.take(order)


def _spread_everything(accesses: _Declared) -> _Declared:
    """omp_all_memory: the task writes every address that a sibling names, and one of its own (0) so that two such tasks
    follow one another."""
    everything = np.isin(accesses.kind, _EVERYTHING)
    if not everything.any():
        return accesses
    plain = accesses.take(np.flatnonzero(~everything))
    parts, places = [plain], [np.flatnonzero(~everything)]
    for row in np.flatnonzero(everything).tolist():
        siblings = plain.parent == accesses.parent[row]
        address = np.union1d(plain.address[siblings], np.zeros(1, dtype=np.uint64))
        count = len(address)
        parts.append(_Declared(np.full(count, accesses.parent[row]), address, np.full(count, accesses.task[row]),
                               np.full(count, OUT, dtype=np.uint8)))  # fmt: skip
        places.append(np.full(count, row))
    return parts[0].joined(*parts[1:]).take(np.argsort(np.concatenate(places), kind="stable"))


def _by_place(accesses: _Declared) -> Accesses:
    addresses = distinct(accesses.address)
    place = accesses.parent * len(addresses) + count_less(addresses, accesses.address)
    order = order_of_small(place, int(place.max(initial=0)) + 1)
    place, task, kind = place[order], accesses.task[order], accesses.kind[order]
    new_place = group_starts(place)
    new_generation = new_place | (kind == OUT) | group_starts(kind)
    return Accesses(task, kind, accesses.address[order], new_place, np.flatnonzero(new_generation),
                    np.cumsum(new_generation) - 1)  # fmt: skip


def _looking_back(by_place: Accesses) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of accesses: each looks back at the whole generation before its own, if that is of the same address."""
    first, generation = by_place.first, by_place.generation
    size = np.diff(np.r_[first, len(by_place.task)])
    size_before = np.where(by_place.new_place[first], 0, np.r_[0, size[:-1]])
    before = size_before[generation]
    sink = np.repeat(np.arange(len(by_place.task)), before)
    offset = np.arange(len(sink)) - np.repeat(np.cumsum(before) - before, before)
    return np.repeat(first[generation - 1], before) + offset, sink
