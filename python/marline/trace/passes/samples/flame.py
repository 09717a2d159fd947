# SPDX-License-Identifier: Apache-2.0
"""The pass `flame`: all sampled stacks as one tree (B. Gregg, The flame graph, CACM 59(6), 2016). Its root is the whole
time; below it are the kinds of tasks, regions and so on, then what these call. Where w(s) is the weight of sample s,

    time(node) = sum of w(s) of all s whose stack begins with the path to this node

so a node's own time is its time less that of its children.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...read.columns import distinct, order_of_small, sums
from ...registry import Analysis, analysis_pass
from .functions import Samples

LEAST = 0.0002  # of the time: smaller nodes are left out of a document, with all below them


@dataclass
class Flame:
    """Nodes, parents before their children; the first is the root, and its own parent. `name`: row of `names`."""

    parent: np.ndarray
    name: np.ndarray
    time: np.ndarray
    names: list[str]

    def shown(self) -> Flame:
        """Without what is too small to see."""
        kept = np.flatnonzero(self.time >= LEAST * self.time[:1].sum())
        # A parent has no less time than its child, so it is kept, too.
        return Flame(np.searchsorted(kept, self.parent[kept]), self.name[kept], self.time[kept], self.names)

    def document(self) -> dict[str, Any]:
        shown = self.shown()
        return {"parent": shown.parent.tolist(), "name": [self.names[one] for one in shown.name.tolist()],
                "time_ns": shown.time.tolist(), "left_out": len(self.time) - len(shown.time)}  # fmt: skip


@analysis_pass("flame", needs=("samples",))
def flame(of: Analysis) -> Flame:
    """All sampled call stacks as one tree."""
    # From the root, level by level: at each, samples with the same parent and function share a node.
    found: Samples = of["samples"]
    frames, owners, weight = found.frames, found.owners, found.stacks.weight
    depth = np.bincount(frames.sample, minlength=len(weight))
    # The outermost frame of each sample is at level 2, under its owner.
    level = depth[frames.sample] - frames.place + 1
    order = order_of_small(level, int(level.max(initial=0)) + 1)
    parents, names, times = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)], [weight.sum(keepdims=True)]
    node = np.zeros(len(weight), dtype=np.int64)  # of each sample, at the level before
    count, kinds = 1, 1 + len(owners.names) + len(frames.names)
    edges = np.searchsorted(level[order], np.arange(2, int(level.max(initial=1)) + 2))
    levels = [(np.arange(len(weight)), 1 + owners.of_sample)]
    for first, last in zip(edges[:-1].tolist(), edges[1:].tolist()):
        rows = order[first:last]
        levels.append((frames.sample[rows], 1 + len(owners.names) + frames.function[rows]))
    for sample, name in levels:
        key = node[sample] * kinds + name
        known = distinct(key)
        fresh = np.searchsorted(known, key)
        parents.append(known // kinds)
        names.append(known % kinds)
        times.append(sums(fresh, weight[sample], len(known)))
        node[sample] = count + fresh
        count += len(known)
    return Flame(np.concatenate(parents), np.concatenate(names), np.concatenate(times),
                 ["all", *owners.names, *frames.names])  # fmt: skip
