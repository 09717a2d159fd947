#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says what `make quick ROOM=...` builds and tests (tests/quick.txt).

    quick.py targets ROOM     names for cmake --build --target
    quick.py tests ROOM       a regular expression for ctest -R
"""
from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path

TABLE = Path(__file__).parent.parent / "tests" / "quick.txt"


@dataclass
class Room:
    targets: list[str] = field(default_factory=list)
    tests: list[str] = field(default_factory=list)


def read_table(text: str) -> dict[str, Room]:
    rooms: dict[str, Room] = {}
    room = None
    for number, line in enumerate(text.splitlines(), 1):
        word, _, rest = line.partition(" ")
        if word == "room":
            room = rooms.setdefault(rest, Room())
        elif word == "targets" and room is not None:
            room.targets += rest.split()
        elif word == "tests" and room is not None:
            room.tests.append(rest)
        elif line and word != "#":
            sys.exit(f"{TABLE}:{number}: expected 'room NAME', 'targets NAME...' or 'tests EXPRESSION': {line}")
    return rooms


def main() -> int:
    if len(sys.argv) != 3 or sys.argv[1] not in ("targets", "tests"):
        print(__doc__, file=sys.stderr)
        return 2
    rooms = read_table(TABLE.read_text())
    if sys.argv[2] not in rooms:
        print(f"quick: there is no room {sys.argv[2]!r}: use one of {', '.join(rooms)}", file=sys.stderr)
        return 2
    room = rooms[sys.argv[2]]
    print(" ".join(room.targets) if sys.argv[1] == "targets" else "|".join(room.tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
