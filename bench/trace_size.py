#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many bytes a record takes in traces: of those that were compressed, and in all on the disk.

    trace_size.py [--markdown FILE] TRACE ...
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release"))
sys.path.insert(0, str(BUILD / "lib" / "marline" / "python"))

from marline.trace.read.container import RECORD, Container  # noqa: E402
from marline.trace.read.reader import read_trace  # noqa: E402


def row(folder: Path) -> str:
    records = len(read_trace(folder).time)
    files = list(folder.glob("*.mtr"))
    blocks = [piece for file in files for piece in Container(file).pieces() if piece.form is not None]
    packed, octets = sum(piece.records for piece in blocks), sum(piece.bytes for piece in blocks)
    on_disk = sum(file.stat().st_blocks * 512 for file in files)
    each = f"{octets / packed:.2f}" if packed else ""
    return (f"| {folder.name.removesuffix('.trace')} | {records:,} | {packed / records:.0%} | {each} | "
            f"{on_disk / records:.2f} | {RECORD.itemsize} |")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description="How many bytes a record takes.")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="also write the table to FILE")
    parser.add_argument("traces", type=Path, nargs="+", metavar="TRACE")
    options = parser.parse_args()
    lines = ["| program | records | compressed | bytes per compressed record | bytes per record on the disk | "
             "uncompressed |", "|---|---:|---:|---:|---:|---:|", *map(row, options.traces)]  # fmt: skip
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
