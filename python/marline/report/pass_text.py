# SPDX-License-Identifier: Apache-2.0
"""What any pass gives, as text: a line per value, a table per list of rows. Times have units."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table

from marline.units import count, duration

MOST_ROWS = 20  # of a table; --json has all
MOST_VALUES = 12  # of a list of numbers


def pass_result(name: str, result: Any) -> RenderableType:
    """The lines first, then the tables, without what is itself a list in a row of one."""
    lines = Table(box=None, show_header=False, padding=(0, 2, 0, 0), pad_edge=False)
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column()
    tables: list[RenderableType] = []
    for key, value in _flat(name, result):
        if _is_table(value):
            tables += ["", _table(key.replace("_", " "), value)]
        else:
            lines.add_row(key.removesuffix("_ns").replace("_", " "), _text(key, value))
    return Group(*([lines] if lines.row_count else []), *tables)


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Values of dictionaries in dictionaries, each with the names on the way to it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _flat(f"{name} {key}", inner)
    else:
        yield name, value


def _is_table(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, Mapping) for row in value)


def _table(title: str, rows: list[Mapping[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, title=title, title_justify="left",
                  title_style="bold")  # fmt: skip
    columns = [name for name, value in rows[0].items() if not isinstance(value, (list, Mapping))]
    for column in columns:
        is_number = isinstance(rows[0][column], (int, float))
        table.add_column(column.removesuffix("_ns").replace("_", " "), justify="right" if is_number else "left")
    for row in rows[:MOST_ROWS]:
        table.add_row(*(_text(column, row.get(column)) for column in columns))
    if len(rows) > MOST_ROWS:
        table.add_row(f"... {len(rows) - MOST_ROWS} more (--json)")
    return table


def _text(key: str, value: Any) -> str:
    if value is None or value == []:
        return "-"
    if isinstance(value, list):
        more = f" ... {len(value) - MOST_VALUES} more (--json)" if len(value) > MOST_VALUES else ""
        return " ".join(_text(key, one) for one in value[:MOST_VALUES]) + more
    if isinstance(value, Mapping):
        return ", ".join(f"{inner} {_text(inner, one)}" for inner, one in value.items())
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if key.endswith("_ns"):
        return duration(value)
    return f"{value:.4g}" if isinstance(value, float) and not value.is_integer() else count(value)
