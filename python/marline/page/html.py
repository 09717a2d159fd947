# SPDX-License-Identifier: Apache-2.0
"""Pieces of HTML: text that is safe, jumps into the timeline, and tables that the page can sort."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from marline.units import count, duration, percent, size

from .places import Place

MOST_ROWS = 200
LONG_TEXT = 50  # letters


@dataclass(frozen=True)
class Cell:
    """What a table shows, and by what it sorts; `share`, from 0 to 1, is drawn as a bar behind the number."""

    text: str
    key: float | str
    share: float = 0.0


def words(text: str) -> Cell:
    return Cell(text, text)


def number(value: float) -> Cell:
    return Cell(count(value), value)


def time(value: float) -> Cell:
    return Cell(duration(value), value)


def octets(value: int) -> Cell:
    return Cell(size(value), value)


def share(part: float, whole: float) -> Cell:
    ratio = part / whole if whole else 0.0
    return Cell(percent(part, whole), ratio, ratio)


@dataclass(frozen=True)
class Row:
    cells: Sequence[Cell]
    place: Place | None = None


def jump(place: Place, text: str, title: str) -> str:
    """A button that shows the place in the timeline."""
    return (f'<button type="button" class="jump" data-go="{place.start},{place.end},{place.lane}" '
            f'title="{escape(title)}">{escape(text)}</button>')  # fmt: skip


def table(name: str, title: str, heads: Sequence[str], rows: Sequence[Row], note: str = "") -> str:
    """Numbers are right-aligned. `heads` without the column of jumps."""
    if not rows:
        return ""
    jumps = any(row.place for row in rows)
    numeric = [not isinstance(cell.key, str) for cell in rows[0].cells]
    head = "".join(f'<th scope="col"{_class(is_number)}><button type="button">{escape(text)}</button></th>'
                   for text, is_number in zip(heads, numeric))  # fmt: skip
    body = "".join(_row(row, numeric, jumps) for row in rows[:MOST_ROWS])
    rest = f"{len(rows) - MOST_ROWS:,} more rows: marline report --json" if len(rows) > MOST_ROWS else ""
    notes = "".join(f'<p class="note">{escape(text)}</p>' for text in (note, rest) if text)
    last = '<th scope="col" class="go"><span class="hidden">where</span></th>' if jumps else ""
    return (f'<section class="card" id="{name}"><h3>{escape(title)}</h3><div class="scroll"><table class="sortable" '
            f'aria-label="{escape(title)}"><thead><tr>{head}{last}</tr></thead><tbody>{body}</tbody></table></div>'
            f"{notes}</section>\n")  # fmt: skip


def _class(is_number: bool) -> str:
    return ' class="n"' if is_number else ""


def _row(row: Row, numeric: Sequence[bool], jumps: bool) -> str:
    cells = "".join(_cell(cell, is_number) for cell, is_number in zip(row.cells, numeric))
    go = jump(row.place, "show", "show it in the timeline") if row.place else ""
    return f"<tr>{cells}{f'<td class=go>{go}</td>' if jumps else ''}</tr>"


def _cell(cell: Cell, is_number: bool) -> str:
    key = f' data-key="{cell.key:.9g}"' if is_number else ""
    bar = f' style="--share:{100 * cell.share:.1f}%"' if cell.share else ""
    name = ("n bar" if cell.share else "n") if is_number else ""
    # What the column is too narrow for.
    title = f' title="{escape(cell.text)}"' if len(cell.text) > LONG_TEXT else ""
    return f"<td{title}{f' class={chr(34)}{name}{chr(34)}' if name else ''}{key}{bar}>{escape(cell.text)}</td>"
