# SPDX-License-Identifier: Apache-2.0
"""The pass `memory`: how much memory each rank had over time, on which NUMA nodes it lay, and page faults of threads.

The recorder asks the kernel at the end of parallel regions and where a thread's records fill a window, ten times a
second at most (trace/usage/memory.hpp); threads it asks when they end, or when the run does (trace/kernel/threads.hpp).
Where pages lie is taken from the moment at which most were placed. With the threads of the rank by the node of the CPU
on which each ran last:

    share of pages(n)   = bytes on node n / bytes on all nodes
    share of threads(n) = threads that ran on node n / threads of the rank
    excess              = greatest of (share of pages(n) - share of threads(n)) over the nodes n

Linux places a page on the node of the thread that touches it first (numa(7)). So an excess of half says that half of
the pages lie on a node where too few threads run to use them: mostly, one thread has initialised the data of all. It is
not known on a machine with one node, where nothing asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...read.columns import group_starts
from ...read.records import Trace
from ...registry import Analysis, analysis_pass
from ...statistics import rows
from ...thread_numbers import thread_numbers

_RESIDENT, _ON_NODE = 1, 3  # `kind` of the event memory
_OF_THREAD = ("minor_faults", "major_faults", "cpu", "node")


@dataclass
class Memory:
    """Rows as the report has them: of ranks, of their nodes and threads, and of the moments of each."""

    ranks: list[dict[str, Any]]
    nodes: list[dict[str, Any]]
    threads: list[dict[str, Any]]
    over_time: list[dict[str, Any]]

    def document(self) -> dict[str, Any]:
        return {"ranks": self.ranks, "nodes": self.nodes, "threads": self.threads, "over_time": self.over_time}


@analysis_pass("memory")
def memory(of: Analysis) -> Memory:
    """Memory of ranks over time and by NUMA node, and page faults of threads."""
    trace = of.trace
    records = trace.select("memory")
    records = records[np.lexsort((trace.time[records], trace.rank[records]))]  # threads of a rank take turns
    kind = trace.field("memory", "kind", records)
    resident, placed = records[kind == _RESIDENT], records[kind == _ON_NODE]
    over_time = rows(rank=trace.rank[resident], time_ns=trace.time[resident],
                     resident_bytes=trace.field("memory", "bytes", resident).astype(np.int64))  # fmt: skip
    numbers = thread_numbers(trace)
    threads = [{"rank": rank, "thread": numbers.one(rank, one["thread"])} | {key: one[key] for key in _OF_THREAD}
               for rank, described in trace.ranks.items() for one in described.get("threads", [])]  # fmt: skip
    threads.sort(key=lambda row: (row["rank"], row["thread"]))
    threads_on = {rank: [one["node"] for one in described.get("threads", [])]
                  for rank, described in trace.ranks.items()}  # fmt: skip
    rank_of = trace.rank[placed]  # ascending
    nodes_of = {rank: _nodes(_most(trace, placed[slice(*np.searchsorted(rank_of, (rank, rank + 1)))]), on)
                for rank, on in threads_on.items()}  # fmt: skip
    # The kernel brings its own figure of the peak up to date now and then only.
    peak = {rank: described.get("machine_end", {}).get("peak_memory_bytes", 0)
            for rank, described in trace.ranks.items()}  # fmt: skip
    for one in over_time:
        peak[one["rank"]] = max(peak[one["rank"]], one["resident_bytes"])
    return Memory([{"rank": rank, "peak_bytes": peak[rank], "excess": _excess(nodes_of[rank])} for rank in trace.ranks],
                  [{"rank": rank} | one for rank in trace.ranks for one in nodes_of[rank]], threads, over_time)


def _excess(nodes: list[dict[str, Any]]) -> float | None:
    return max((one["page_share"] - one["thread_share"] for one in nodes), default=None)


def _most(trace: Trace, records: np.ndarray) -> dict[int, int]:
    """Bytes by node, of the moment with most of them; records of one moment have one time."""
    if not len(records):
        return {}
    size = trace.field("memory", "bytes", records).astype(np.int64)
    first = np.flatnonzero(group_starts(trace.time[records]))
    most = int(np.argmax(np.add.reduceat(size, first)))
    part = slice(first[most], first[most + 1] if most + 1 < len(first) else len(records))
    return dict(zip(trace.field("memory", "node", records[part]).tolist(), size[part].tolist()))


def _nodes(bytes_on: dict[int, int], threads_on: list[int]) -> list[dict[str, Any]]:
    whole = sum(bytes_on.values())
    known = [node for node in threads_on if node >= 0]
    if not whole or not known:
        return []
    return [{"node": node, "bytes": bytes_on.get(node, 0), "page_share": bytes_on.get(node, 0) / whole,
             "threads": known.count(node), "thread_share": known.count(node) / len(known)}
            for node in sorted({*bytes_on, *known})]  # fmt: skip
