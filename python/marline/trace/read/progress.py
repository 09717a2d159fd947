# SPDX-License-Identifier: Apache-2.0
"""How reading and analysis say how far they are: a call (what is under way, how much is done, of how much).

The unit is the caller's business (bytes for files, passes for an analysis); the last call of a piece of work has
done == total.
"""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]


def no_progress(_what: str, _done: int, _total: int) -> None:
    """Says nothing."""
