# SPDX-License-Identifier: Apache-2.0
"""Names of tasks, functions and constructs, cut to the room that a line has for them."""

import re
from collections.abc import Mapping
from typing import Any

from marline.trace.passes.without_tasks.constructs import WORK_NAMES

# The file and line at the end of a name, and after them the schedule of a loop.
_PLACE = re.compile(r" \S+:\d+(?:, \w+)?$")
_CODE_BEFORE = "code before"
_KINDS = (*sorted(set(WORK_NAMES.values())), "region", _CODE_BEFORE)


def fitted(name: str, room: int) -> str:
    """The file and line stay: they matter more than the end of the function's name. Of a construct without them its
    kind and the end stay: of C++ the function without its namespaces."""
    if len(name) <= room:
        return name
    kind = next((f"{one} " for one in _KINDS if name.startswith(f"{one} ")), "")
    place = _PLACE.search(name)
    if place and len(kind) + len(place[0]) < room:
        return f"{name[: room - len(place[0]) - 1].rstrip()}…{place[0]}"
    if kind and len(kind) < room:
        return f"{kind}…{name[len(name) - (room - len(kind) - 1) :]}"
    return f"{name[: room - 1].rstrip()}…"


def place_of_function(row: Mapping[str, Any]) -> str:
    """Of samples: the function, and its line with most time."""
    return f"{row['name']} {row['file'].rpartition('/')[2]}:{row['line']}" if row["line"] else str(row["name"])
