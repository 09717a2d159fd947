#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records the first minutes of a user with the wheel: `first_minutes.py dist`, as root after `make wheel`, installs a
Debian 13 with GCC and Open MPI into a folder, types the commands below as a user without rights, and writes what they
print, with times, into docs/results/first-ten-minutes.md."""

import datetime
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import clean_root
import pages

PAGE = pages.ROOT / "docs" / "results" / "first-ten-minutes.md"
PACKAGES = ["python3-venv", "ca-certificates", "gcc", "libc6-dev", "libopenmpi-dev", "openmpi-bin"]
SOURCES = "analysis check cmake common include mpi offload packaging pmpi python runtime trace".split()  # of the wheel
MOST_LINES = 60  # of the output of one command: a report's verdict is at its end
# Comments become paragraphs. `&` begins a job that hangs; PID is the number of its `marline run`.
COMMANDS = """\
# ## Install it
python3 -m venv marline
. marline/bin/activate
pip install ./marline-VERSION-py3-none-manylinux_2_28_x86_64.whl
# ## A first program, and a first report
# The program is the one of [the tutorial](../guide/ten-minutes.md); it is installed with the documentation.
cp marline/share/doc/marline/docs/guide/programs/*.c .
mpicc -g -fopenmp -O2 laser.c -o laser
marline run -n 2 -t 1 ./laser
marline trace -n 2 -t 1 -- ./laser
# ## The same with tasks
mpicc -g -fopenmp -O2 laser_tasks.c -o laser_tasks
marline trace -n 2 -t 1 -- ./laser_tasks
marline report laser_tasks.trace
# ## A program that stock runtimes cannot run
# The program of [the README](../../README.md). GCC's own runtime first, for five seconds:
mpicc -g -fopenmp -O2 exchange.c -o exchange
OMP_NUM_THREADS=1 timeout 5 mpirun -n 2 ./exchange
marline run -n 2 -t 1 ./exchange
marline check -n 2 -t 1 ./exchange
# ## A mistake, and what it hangs in
sed 's/left, step, MPI_COMM_WORLD, MPI_STATUS/left, step + 1, MPI_COMM_WORLD, MPI_STATUS/' laser_tasks.c > wrong.c
mpicc -g -fopenmp -O2 wrong.c -o wrong
marline run -n 2 -t 1 ./wrong &
sleep 2
marline ps
marline ps PID
kill PID
# ## Devices that are processes
# The program of [devices on other nodes](../guide/nodes.md), built by plain GCC.
gcc -O2 -fopenmp sums.c -o sums
marline run -t 2 --devices=process:2 ./sums
# Two other ranks: device 0 is both together, devices 1 and 2 are each of them.
marline run -n 3 -t 1 --devices=cluster ./sums
# ## What is there
marline devices --devices process:2
marline info
"""
# Each command prints a line that begins with \\x01, and its status and the times at its end.
TYPED = """\
exec 2>&1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe
export OMPI_MCA_btl_tcp_if_include=lo
began=$EPOCHREALTIME
begins() { printf '\\001%s\\n' "$1"; at=$EPOCHREALTIME; }
ends() { printf '\\002%s %s %s\\n' $? $(awk "BEGIN { print $at - $began, $EPOCHREALTIME - $at }"); }
"""


def script(version: str) -> str:
    parts = [TYPED]
    for line in COMMANDS.replace("VERSION", version).splitlines():
        if line.startswith("#"):
            parts.append("echo " + shlex.quote("\x03" + line[2:]))
            continue
        run = f"{line} job=$!" if line.endswith("&") else line.replace("PID", "$job")
        parts.append(f"begins {shlex.quote(line)}\n{run}\nends")
    return "\n".join(parts) + "\n"


def clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


def shortened(lines: list[str]) -> list[str]:
    cut = len(lines) - MOST_LINES
    return lines if cut <= 1 else [*lines[:MOST_LINES], f"... ({cut} more lines)"]


def page(output: str) -> tuple[str, dict[str, float]]:
    """The recording as text, and when each command had ended."""
    text, ended = "", {}
    for part in re.split(r"(?=[\x01\x03])", output)[1:]:
        if part.startswith("\x03"):
            text += f"{part[1:].strip()}\n\n"
            continue
        command, _, rest = part[1:].partition("\n")
        printed, _, times = rest.partition("\x02")
        status, at, took = times.split()[:3]
        ended[command] = float(at) + float(took)
        note = "" if status == "0" else f", status {status}"
        lines = shortened([line.rstrip() for line in printed.strip("\n").splitlines()])
        body = "".join(f"{line}\n" for line in lines)
        text += f"`{clock(float(at))}`, {float(took):.1f} s{note}\n\n```console\n$ {command}\n{body}```\n\n"
    return text, ended


def git(*words: str) -> str:
    return subprocess.run(["git", "-C", pages.ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()


def head(version: str, ended: dict[str, float], installed: str) -> str:
    def done(word: str) -> float:
        return next(at for command, at in ended.items() if command.startswith(word))

    with Path("/proc/cpuinfo").open() as file:
        processor = re.search(r"model name\s*: (.*)", file.read())[1]
    commit = git("log", "-1", "--abbrev=12", "--format=%h", "--", *SOURCES)
    commit += "-dirty" if git("status", "--porcelain", "--", *SOURCES) else ""
    return f"""\
# The first ten minutes, recorded

What a user without rights meets with the wheel in a new Debian 13, in which nothing but Python, GCC and Open MPI has
been installed. `tests/install/first_minutes.py` has typed the commands and written this page. Before each command
stands when it was typed, in minutes and seconds, and how long it took. Open MPI may start more ranks than there are
cores, and is told to use no network.

The first report was there {done("marline trace") - done("pip"):.0f} s after `pip install` had ended,
and the last command had ended after {clock(max(ended.values()))}.

{datetime.date.today()}; Marline {version}, commit `{commit}`; {installed}; {processor},
{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} at the end.

"""


def take_programs(root: clean_root.CleanRoot) -> None:
    """Those that pages print."""
    for page_name, name in (("README.md", "exchange.c"), ("nodes.md", "sums.c")):
        found = [block for page in pages.PAGES if page.name == page_name for block in pages.blocks(page)]
        (root.home / name).write_text(next(block.text for block in found if block.name == name))


def main() -> int:
    (wheel,) = Path(sys.argv[1]).glob("marline-*x86_64.whl")
    version = wheel.name.split("-")[1]
    with tempfile.TemporaryDirectory(prefix="first-minutes-") as folder:
        root = clean_root.CleanRoot(Path(folder) / "root", "trixie", PACKAGES)
        root.take(wheel)
        take_programs(root)
        (root.home / "typed.sh").write_text(script(version))
        root.run("chown -R user /home/user", user="root")
        text, ended = page(root.run("bash typed.sh; true"))
        names = ["python3", "gcc", "openmpi-bin"]
        versions = root.run(f"dpkg-query -W -f '${{Package}} ${{Version}}, ' {' '.join(names)}")
        root.remove()
    PAGE.write_text((head(version, ended, "Debian 13: " + versions.rstrip(", \n")) + text).rstrip() + "\n")
    print(PAGE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
