#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of the SQLite export into docs/guide/sqlite.md, from python/marline/trace/exports/schema.py.

    gen_sqlite_doc.py [--check]     --check: writes nothing, exit 1 if the page is not what the schema says
"""
from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guide" / "sqlite.md"
BEGIN, END = "<!-- tables: made by", "<!-- end of tables -->"


def tables() -> str:
    sys.path.insert(0, str(ROOT / "python"))
    from marline.trace.exports.schema import TABLES

    parts = []
    for table in TABLES:
        rows = [f"| `{column.name}` | {column.text.replace('|', chr(92) + '|')} |" for column in table.columns]
        parts.append("\n".join([f"**`{table.name}`**: {table.text}", "", "| column | meaning |", "|---|---|", *rows]))
    return "\n\n".join(parts)


def main(arguments: list[str]) -> int:
    page = PAGE.read_text(encoding="utf-8")
    before, after = page.index("-->", page.index(BEGIN)) + len("-->"), page.index(END)
    made = f"{page[:before]}\n{tables()}\n\n{page[after:]}"
    if arguments == ["--check"]:
        if made != page:
            print(f"{PAGE.relative_to(ROOT)} is not what the schema says: run tools/gen_sqlite_doc.py")
        return int(made != page)
    PAGE.write_text(made, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
