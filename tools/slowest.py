#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Says where the time of `make check` went: of each build below build/, how long its steps and tests took in all, and
which took longest. Times are those of the last run of each; two run at a time, so their sum is about twice the wait.

    slowest.py [BUILD_FOLDER] [COUNT]      build, 8
"""
from __future__ import annotations

import sys
from pathlib import Path

Times = list[tuple[float, str]]  # seconds, what


def steps(log: Path) -> Times:
    """The steps in ninja's log (version 5: start, end in ms, time stamp, output, hash of the command): the last run of
    each command, by its first output."""
    times: dict[str, tuple[float, str]] = {}
    for line in log.read_text().splitlines()[1:]:
        start, end, _, output, command = line.split("\t")
        if not output.startswith("/"):
            times[command] = ((int(end) - int(start)) / 1000, output)
    return list(times.values())


def tests(costs: Path) -> Times:
    """Of CTest's costs (name, runs, mean seconds); after a line of dashes come the tests that failed."""
    lines = costs.read_text().split("---")[0].splitlines()
    return [(float(line.split()[2]), line.split()[0]) for line in lines if line]


def report(title: str, times: Times, count: int) -> None:
    print(f"{title}: {len(times)}, {sum(seconds for seconds, _ in times):.0f} s in all; the longest:")
    for seconds, what in sorted(times, reverse=True)[:count]:
        print(f"  {seconds:6.1f} s  {what}")


def main() -> int:
    root = Path(sys.argv[1] if len(sys.argv) > 1 else "build")
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 8
    logs = sorted(root.glob("*/.ninja_log"))
    if not logs:
        print(f"slowest: there is no build below {root}", file=sys.stderr)
        return 2
    for log in logs:
        report(f"{log.parent.name}: build steps", steps(log), count)
        costs = log.parent / "Testing" / "Temporary" / "CTestCostData.txt"
        if costs.is_file():
            report(f"{log.parent.name}: tests", tests(costs), count)
    return 0


if __name__ == "__main__":
    sys.exit(main())
