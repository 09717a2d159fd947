#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fetches the libraries of the report's page (python/marline/page/vendor) from npm's registry, as libraries.txt there
names them, and checks every hash. An archive or a file with another hash is refused, and nothing is written.

    fetch_page_libraries.py           fetches and writes the files
    fetch_page_libraries.py --check   compares the files that are there with the list; needs no network
"""

from __future__ import annotations

import hashlib
import io
import sys
import tarfile
import urllib.request
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[1] / "python" / "marline" / "page" / "vendor"


def check_hash(name: str, content: bytes, wanted: str) -> bytes:
    found = hashlib.sha256(content).hexdigest()
    if found != wanted:
        sys.exit(f"fetch_page_libraries: {name} has SHA-256 {found}, and libraries.txt names {wanted}")
    return content


def entries() -> list[list[str]]:
    lines = (VENDOR / "libraries.txt").read_text(encoding="utf-8").splitlines()
    return [line.split() for line in lines if line and not line.startswith("#")]


def fetch() -> None:
    files: dict[Path, bytes] = {}
    archive: tarfile.TarFile | None = None
    for first, second, third in entries():
        if first == "archive":
            with urllib.request.urlopen(second, timeout=60) as answer:
                content = check_hash(second, answer.read(), third)
            archive = tarfile.open(fileobj=io.BytesIO(content))
            continue
        member = archive.extractfile(third) if archive else None
        if member is None:
            sys.exit(f"fetch_page_libraries: {third} is no file of the archive before it in libraries.txt")
        files[VENDOR / second] = check_hash(third, member.read(), first)
    for path, content in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)
        print(path)


def check() -> None:
    for first, second, _ in entries():
        if first != "archive":
            check_hash(second, (VENDOR / second).read_bytes(), first)


if __name__ == "__main__":
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    check() if sys.argv[1:] else fetch()
