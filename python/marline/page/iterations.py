# SPDX-License-Identifier: Apache-2.0
"""The number of the iteration that each task belongs to, by which a page can colour it."""

from __future__ import annotations

import numpy as np

from marline.trace.analysis import Analysis
from marline.trace.passes.picture import by_region


def find_iterations(of: Analysis, region: str | None) -> np.ndarray:
    """By row of tasks; 0: of none. With `region` (--color-by): how often the task's creator had begun it; else the
    iteration of its persistent graph."""
    if region:
        return by_region(of, region).kind_of_task
    found: np.ndarray = of["iterations"].iteration
    return found
