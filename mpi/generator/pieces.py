# SPDX-License-Identifier: Apache-2.0
"""Text of C with places to fill in, from a file of pieces beside this one (wrappers.c.in). A line `//@ NAME` begins a
piece, which ends with its last line that is not empty. Lines before the first piece are for readers of the file.

In a piece `$name` is replaced by a value. On a line of its own it is replaced by whole lines, or by none."""

from __future__ import annotations

import re
from pathlib import Path
from string import Template


class Pieces:
    def __init__(self, file: str) -> None:
        text = Path(__file__).with_name(file).read_text(encoding="ascii")
        parts = re.split(r"^//@ (\w+)\n", text, flags=re.MULTILINE)
        self._pieces = {name: piece.rstrip("\n") for name, piece in zip(parts[1::2], parts[2::2])}

    def fill(self, piece: str, **values: str) -> str:
        """Returns the piece's lines. A value for whole lines is the result of fill, several results, or empty."""
        done = ""
        for line in self._pieces[piece].split("\n"):
            block = re.fullmatch(r"\$(\w+)", line)
            done += values[block[1]] if block else Template(line).substitute(values) + "\n"
        return done
