# SPDX-License-Identifier: Apache-2.0
"""Traces of a recorder that always runs (MARLINE_TRACE_RING): the newest records of each thread, and what must be known
of those that were overwritten (trace/base/ring.hpp, trace/file/kept.hpp).

The records of a process are complete from its horizon on. So the trace begins at the latest horizon of all ranks, as if
recording had been switched on there. What happened before is reduced to what is still true then, by `state_at`: tasks
and teams that had begun and not ended, their labels, the waits, calls and regions that they were in, and the task that
each thread ran. All of it gets the time of the beginning.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .clock import ClockMap
from .columns import group_starts
from .container import RECORD, Container
from .events import EVENTS
from .records import Trace, TraceError

MAGIC = b"MARLRNG1"
HEADER = struct.Struct("<8s14QIIQQQ8x")
SLOT = np.dtype([("sequence", "<u8"), ("thread", "<u4"), ("count", "<u4"), ("copy", "<u8"), ("last", "<u8")])
WINDOW = 2048  # records
_IDS = np.uint64((1 << 48) - 1)
_LOW = np.uint64((1 << 32) - 1)
_16, _32, _48 = np.uint64(16), np.uint64(32), np.uint64(48)
_N = {name: event.number for name, event in EVENTS.items()}
_LIVES = [_N[name] for name in ("task_create", "implicit_begin", "parallel_begin")]
_DEFINITIONS = [_N[name] for name in ("text", "mpi_comm", "mpi_member", "device_begin", "counter_name", "thread_name")]
_SCOPES = [(_N[begin], _N[end]) for begin, end in (
    ("work_begin", "work_end"), ("sync_begin", "sync_end"), ("region_begin", "region_end"),
    ("group_begin", "group_end"),
    ("mpi_enter", "mpi_exit"), ("mutex_acquire", "mutex_acquired"), ("wait_begin", "wait_end"))]  # fmt: skip
_SWITCH = 7  # ompt_task_switch
_OWN_TASK = [_N[name] for name in ("implicit_begin", "parallel_end", "recording_on", "wait_begin", "wait_end")]
_NO_TASK = [_N[name] for name in ("implicit_end", "thread_end", "recording_off")]


@dataclass
class Ring:
    """The file of one process. `pieces`: by thread the slots' records in order. `copies`: by thread the number of its
    last copy. `kept`: records as they were written, but for `_original`."""

    path: Path
    fingerprint: int  # of its event table
    horizon: int  # in cycles; 0: nothing has been overwritten
    until: int  # of a copy of a running process: what follows is not complete; else 0
    clock: tuple[int, int]  # cycles and nanoseconds of one moment
    pieces: dict[int, list[np.ndarray]]
    copies: dict[int, int]
    kept: np.ndarray
    earlier: np.ndarray  # of a copy of a running process: the same, from before the copy of the rest began
    definitions: np.ndarray
    lost: int

    def remarks(self) -> list[str]:
        if not self.lost:
            return []
        return [f"{self.path.name}: its tables were full, so {self.lost} tasks or definitions from before its "
                "beginning are not known: a larger MARLINE_TRACE_RING has larger tables"]  # fmt: skip


class RingRecords:
    """The records of one process: those of its ring, and the windows that its threads have in the node's file, if that
    is there. It is asked as a Container is."""

    missing = 0

    def __init__(self, ring: Ring, container: Container | None) -> None:
        self.path = ring.path
        self._ring, self._container = ring, container

    def threads(self, process: int) -> list[int]:
        return sorted({*self._ring.pieces, *(self._container.threads(process) if self._container else ())})

    def bytes(self, process: int, thread: int) -> int:
        return sum(piece.nbytes for piece in self._ring.pieces.get(thread, []))

    def records(self, process: int, thread: int, who: str, cut: list[str]) -> np.ndarray:
        """Its slots, and its window, unless a slot has all of that already."""
        parts = self._ring.pieces.get(thread, [])
        if self._container is not None and thread in self._container.threads(process):
            sequence, window = self._container.last_window(process, thread)
            if self._ring.copies.get(thread, 0) <= sequence:
                parts = [*parts, window]
        return complete(np.concatenate(parts) if parts else _NOTHING, self._ring)


_NOTHING = np.zeros(0, dtype=RECORD)
NO_RING = Ring(Path(), 0, 0, 0, (0, 0), {}, {}, _NOTHING, _NOTHING, _NOTHING, 0)  # of a rank that has kept all


def read_ring(path: Path) -> Ring:
    try:
        data = np.fromfile(path, dtype=np.uint8)
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror}: copy it from where the trace was recorded") from error
    if len(data) < HEADER.size or bytes(data[: len(MAGIC)]) != MAGIC:
        raise TraceError(f"{path}: no ring of this version of Marline, or never begun: remove it and its .json to read "
                         "the others")  # fmt: skip
    (_, fingerprint, slots, slots_at, index_at, table_at, places, definitions_at, room, defined, lost, _, horizon,
     cycles, nanoseconds, _, record_bytes, earlier_at, earlier_places, until) = HEADER.unpack(
        data[: HEADER.size].tobytes())  # fmt: skip
    if (record_bytes != RECORD.itemsize or slots_at + slots * WINDOW * RECORD.itemsize > len(data)
            or index_at + slots * SLOT.itemsize > len(data) or table_at + places * RECORD.itemsize > len(data)
            or defined > room or definitions_at + room * RECORD.itemsize > slots_at
            or earlier_at + earlier_places * RECORD.itemsize > len(data)):  # fmt: skip
        raise TraceError(f"{path}: its header says more than the file holds: damaged")
    index = data[index_at : index_at + slots * SLOT.itemsize].view(SLOT)
    content = data[slots_at : slots_at + slots * WINDOW * RECORD.itemsize].view(RECORD)
    pieces: dict[int, list[np.ndarray]] = {}
    copies: dict[int, int] = {}
    used = np.flatnonzero(index["sequence"])
    for slot in used[np.argsort(index["sequence"][used])].tolist():
        thread, count = int(index["thread"][slot]), int(index["count"][slot])
        if not 0 < thread < 1 << 16 or count > WINDOW:
            raise TraceError(f"{path}: slot {slot} is of thread {thread} with {count} records: damaged")
        pieces.setdefault(thread, []).append(content[slot * WINDOW : slot * WINDOW + count])
        copies[thread] = int(index["copy"][slot])
    kept, earlier = (data[at : at + count * RECORD.itemsize].view(RECORD)
                     for at, count in ((table_at, places), (earlier_at, earlier_places)))  # fmt: skip
    kept, earlier = kept[kept["time"] != 0], earlier[earlier["time"] != 0]
    definitions = data[definitions_at : definitions_at + defined * RECORD.itemsize].view(RECORD)
    return Ring(path, fingerprint, horizon, until, (cycles, nanoseconds), pieces, copies,
                kept[np.argsort(kept["time"], kind="stable")], earlier, definitions, lost)  # fmt: skip


def complete(records: np.ndarray, ring: Ring) -> np.ndarray:
    """A thread's records up to the time at which all threads of a running process had been read."""
    return records if not ring.until else records[records["time"] <= ring.until]


def newer_clock(metadata: dict[str, Any], ring: Ring) -> None:
    """The ring's moment on both clocks is later than that of a killed program's description: a better frequency."""
    cycles, nanoseconds = ring.clock
    end = metadata["clock_end"]
    if cycles > end["cycles"] and nanoseconds > end["monotonic_ns"]:
        metadata["clock_end"] = {"cycles": cycles, "monotonic_ns": nanoseconds}


def beginning(rings: dict[int, Ring], to_nanoseconds: dict[int, ClockMap]) -> int | None:
    """The time from which on all ranks have all records; None: none has lost any."""
    horizons = [to_nanoseconds[rank](np.array([ring.horizon], dtype=np.uint64))[0]
                for rank, ring in rings.items() if ring.horizon]  # fmt: skip
    return int(max(horizons)) if horizons else None


def cut_at(began: int, records: dict[int, np.ndarray], ring: Ring | None,
           to_nanoseconds: ClockMap) -> dict[int, np.ndarray]:  # fmt: skip
    """One rank's records by thread: what is true at the beginning, then all that follows. The last thing that is known
    of a thread is said again at the end, so that it does not end with its last record."""
    ring = ring or NO_RING
    old = {thread: to_nanoseconds(one["time"]) <= began for thread, one in records.items()}
    missed = _missed(ring, np.concatenate([one[~old[thread]] for thread, one in records.items()]))
    state = state_at(ring, {thread: one[old[thread]] for thread, one in records.items()}, missed)
    end = max(int(one["time"][-1]) for one in records.values())
    found = {}
    for thread, one in records.items():
        parts = np.concatenate([state[thread], one[~old[thread]]])
        if len(parts):
            found[thread] = np.concatenate([parts, recording_on(end, last_task(thread, parts))])
    return found


def without_the_whole_run(metadata: dict[str, Any]) -> None:
    """Drops what the kernel has counted over the whole run: it says nothing of the part that the ring has."""
    for key in ("machine_begin", "machine_end", "waited_for_core_ns", "counters"):
        metadata.pop(key, None)


def created_before(trace: Trace) -> np.ndarray:
    """The explicit tasks of which the trace holds the creation only because they lived on, sorted."""
    rows = trace.select("task_create")
    return np.sort(trace.task[rows[trace.time[rows] == 0]])


def _numbers(records: np.ndarray) -> np.ndarray:
    return records["head"].astype(np.uint16)


def _ids(records: np.ndarray) -> np.ndarray:
    return records["head"] >> _16


def _life_ids(records: np.ndarray) -> np.ndarray:
    """Of creations: a team's id stands among the fields."""
    return np.where(_numbers(records) == _N["parallel_begin"], records["payload"][:, 1] & _IDS, _ids(records))


def _original(kept: np.ndarray) -> np.ndarray:
    """The table's records as they were written: the table finds a team by its own id, a graph and a range by their
    numbers, so the task stands elsewhere in it."""
    kept = kept.copy()
    numbers, ids = _numbers(kept), _ids(kept)
    payload = kept["payload"]
    teams = numbers == _N["parallel_begin"]
    kept["head"][teams] = (payload[teams, 1] & _IDS) << _16 | np.uint64(_N["parallel_begin"])
    payload[teams, 1] = (payload[teams, 1] & ~_IDS) | ids[teams]
    graphs = numbers == _N["graph_iteration"]
    kept["head"][graphs] = (payload[graphs, 1] >> _16) << _16 | np.uint64(_N["graph_iteration"])
    payload[graphs, 1] &= np.uint64(0xFFFF)
    ranges = numbers == _N["range_begin"]
    task = (payload[ranges, 0] >> _48) << _32 | (payload[ranges, 1] & _LOW)
    kept["head"][ranges] = task << _16 | np.uint64(_N["range_begin"])
    payload[ranges, 0] &= _IDS
    payload[ranges, 1] = (payload[ranges, 1] & ~_LOW) | ids[ranges]
    return kept


def _missed(ring: Ring, young: np.ndarray) -> np.ndarray:
    """Creations and labels of the first of two tables for tasks that records name and the second does not have: it was
    read while entries moved."""
    if not len(ring.earlier):
        return _NOTHING
    named = np.concatenate([_ids(young), young["payload"][_numbers(young) == _N["task_schedule"], 0] & _IDS])
    numbers, ids = _numbers(ring.earlier), _ids(ring.earlier)
    wanted = np.isin(numbers, [_N["task_create"], _N["implicit_begin"], _N["task_label"]]) & np.isin(ids, named)
    created = _ids(ring.kept[np.isin(_numbers(ring.kept), _LIVES)])
    return ring.earlier[wanted & ~np.isin(ids, created)]


def state_at(ring: Ring, before: dict[int, np.ndarray], missed: np.ndarray) -> dict[int, np.ndarray]:
    """What is true at the beginning, as records by thread. `before`: by thread its records up to there that the ring
    still has."""
    numbers = _numbers(ring.kept)
    ends = ring.kept[numbers == _N["task_run"]]  # folded before the creation was
    current = {int(one["head"] >> _16): int(one["payload"][0]) for one in ring.kept[numbers == _N["recording_on"]]}
    over = _ids(ring.kept[numbers == _N["range_end"]])  # likewise
    kept = ring.kept[~np.isin(numbers, [_N["task_run"], _N["range_end"], _N["recording_on"], _N["text"]])]
    kept = _original(np.concatenate([kept, missed]))
    old = np.concatenate([kept, *before.values()])
    thread = np.concatenate([_home(kept), *(np.full(len(one), number) for number, one in before.items())])
    lives = _lives(old, np.concatenate([_ended(old), _ids(ends)]))
    ids = np.unique(_life_ids(old[lives]))
    numbers = _numbers(old)
    labels = np.flatnonzero((numbers == _N["task_label"]) & np.isin(_ids(old), ids))
    graphs = _last_of_each(np.flatnonzero(numbers == _N["graph_iteration"]), old["payload"][:, 0] & _LOW)
    scopes = _open_scopes(old, ids)
    threads = sorted(before) or [1]
    rows = np.concatenate([lives, labels, graphs, scopes, _open_ranges(old, over)])
    homes = np.where(np.isin(thread[rows], threads), thread[rows], threads[0])
    # A team's member begins on its own thread, which is the one that numbered it.
    own = np.isin(_numbers(old[rows]), [_N["implicit_begin"]])
    homes = np.where(own & np.isin(_home(old[rows]), threads), _home(old[rows]), homes)
    found = {number: [old[rows[homes == number]]] for number in threads}
    found[threads[0]].insert(0, _definitions(ring, old))
    for number in threads:
        task = last_task(number, before[number]) if number in before else None
        current[number] = current.get(number, 0) if task is None else task
    # Tasks that have begun are taken up; then each thread goes on with the one that it is in.
    begun = _begun(old, lives, len(kept), list(current.values()))
    found[threads[0]].append(_taken_up(threads[0], ring.horizon, begun))
    for number in threads:
        found[number].append(recording_on(ring.horizon, current[number]))
    return {number: _without_parents(np.concatenate(parts), ids) for number, parts in found.items()}


def _home(records: np.ndarray) -> np.ndarray:
    """The thread that numbered each record's task."""
    return (_ids(records) >> _32).astype(np.int64)


def _ended(records: np.ndarray) -> np.ndarray:
    numbers, payload = _numbers(records), records["payload"]
    status = payload[:, 0] >> _48
    ended = (numbers == _N["task_run"]) | (numbers == _N["implicit_end"]) | (
        (numbers == _N["task_schedule"]) & (np.isin(status, (1, 3, 6)) | (status > 7)))  # fmt: skip
    return np.concatenate([_ids(records[ended]), payload[numbers == _N["parallel_end"], 0] & _IDS])


def _lives(records: np.ndarray, ended: np.ndarray) -> np.ndarray:
    """Rows of the creations of what had not ended; one row each, also where the table and the ring have it."""
    rows = np.flatnonzero(np.isin(_numbers(records), _LIVES))
    ids = _life_ids(records[rows])
    rows, ids = rows[~np.isin(ids, ended)], ids[~np.isin(ids, ended)]
    return np.sort(rows[np.unique(np.stack([ids, _numbers(records[rows]).astype(np.uint64)]), axis=1,
                                  return_index=True)[1]])  # fmt: skip


def _begun(records: np.ndarray, lives: np.ndarray, kept: int, current: list[int]) -> np.ndarray:
    """Ids of the tasks that live and have run. The first `kept` records are the table's, which notes it in creations,
    if these come first; `current`: what threads are in."""
    numbers, payload = _numbers(records), records["payload"]
    tasks = lives[numbers[lives] == _N["task_create"]]
    noted = tasks[(tasks < kept) & (payload[tasks, 1] >> _48 != 0)]
    taken_up = payload[numbers == _N["task_schedule"], 0] & _IDS
    ids = _ids(records[tasks])
    return ids[np.isin(ids, np.concatenate([_ids(records[noted]), taken_up, np.array(current, dtype=np.uint64)]))]


def _taken_up(thread: int, time: int, tasks: np.ndarray) -> np.ndarray:
    found = np.zeros(len(tasks), dtype=RECORD)
    found["time"], found["head"] = time, thread << 48 | _N["task_schedule"]
    found["payload"][:, 0] = tasks | np.uint64(_SWITCH << 48)
    return found


def _last_of_each(rows: np.ndarray, key: np.ndarray) -> np.ndarray:
    order = rows[::-1]
    return np.sort(order[np.unique(key[order], return_index=True)[1]])


def _open_scopes(records: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Rows of the begins that had no end, in order of time. Scopes of one kind, and of one group of annotations, nest
    within a task."""
    numbers, ids = _numbers(records), _ids(records)
    family = np.full(1 << 16, -1)
    for index, pair in enumerate(_SCOPES):
        family[list(pair)] = index
    begins = np.isin(numbers, [begin for begin, _ in _SCOPES])
    rows = np.flatnonzero((family[numbers] >= 0) & (np.isin(ids, alive) | (ids & _LOW == 0)))
    if not len(rows):
        return rows
    groups = _annotation_groups(records)
    rows = rows[np.lexsort((records["time"][rows], groups[rows], ids[rows], family[numbers[rows]]))]
    group = np.cumsum(group_starts(family[numbers[rows]], ids[rows], groups[rows]))
    depth = np.cumsum(np.where(begins[rows], 1, -1))
    # The least depth from each row to the end of its group: later groups, which come first from behind, lie higher.
    apart = 2 * len(rows) + 1
    least = np.minimum.accumulate((depth + group * apart)[::-1])[::-1] - group * apart
    rows = rows[begins[rows] & (least >= depth)]
    return rows[np.argsort(records["time"][rows], kind="stable")]


def _annotation_groups(records: np.ndarray) -> np.ndarray:
    """0 for all but annotations for other tools."""
    numbers, word = _numbers(records), records["payload"][:, 0]
    found = np.where(numbers == _N["group_begin"], word >> _48, np.uint64(0))
    return np.where(numbers == _N["group_end"], word & np.uint64(0xFFFF), found)


def _open_ranges(records: np.ndarray, over: np.ndarray) -> np.ndarray:
    """Rows of the ranges that had no end, neither here nor in `over`."""
    numbers, payload = _numbers(records), records["payload"]
    rows = np.flatnonzero(numbers == _N["range_begin"])
    ended = np.concatenate([payload[numbers == _N["range_end"], 0] & _LOW, over])
    rows = rows[~np.isin(payload[rows, 1] & _LOW, ended)]
    return rows[np.unique(payload[rows, 1] & _LOW, return_index=True)[1]]


def _definitions(ring: Ring, old: np.ndarray) -> np.ndarray:
    """Each text's pieces side by side."""
    found = np.concatenate([ring.definitions, old[np.isin(_numbers(old), _DEFINITIONS)]])
    key = np.where(_numbers(found) == _N["text"], _ids(found), np.uint64(0))
    return found[np.argsort(key, kind="stable")]


def last_task(thread: int, records: np.ndarray) -> int | None:
    """The task that the thread is in after these records; None: they do not say."""
    numbers, payload = _numbers(records), records["payload"]
    following = np.where(numbers == _N["task_run"], payload[:, 1] & _IDS, _ids(records))
    schedule = numbers == _N["task_schedule"]
    following[schedule] = payload[schedule, 0] & _IDS
    says = np.isin(numbers, [*_OWN_TASK, *_NO_TASK, _N["task_run"]]) | (schedule & (following != 0))
    rows = np.flatnonzero(says)
    if not len(rows):
        return None
    return thread << 32 if int(numbers[rows[-1]]) in _NO_TASK else int(following[rows[-1]])


def recording_on(time: int, task: int | None) -> np.ndarray:
    """A record that says which task a thread is in; none where that is not known, or the thread is in no task."""
    if task is None or task & 0xFFFFFFFF == 0:
        return _NOTHING
    return np.array([(time, task << 16 | _N["recording_on"], (0, 0))], dtype=RECORD)


def _without_parents(records: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """Creations without the parents that the trace does not have, and without what they took: that was before."""
    rows = np.flatnonzero(_numbers(records) == _N["task_create"])
    parent = records["payload"][rows, 1] & _IDS
    records["payload"][rows, 1] = np.where(np.isin(parent, alive), parent, np.uint64(0))
    return records
