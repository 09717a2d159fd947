# SPDX-License-Identifier: Apache-2.0
"""The compiled half of the command, bin/marline (launch/ in the sources): it runs programs, and knows launchers,
loaders and devices. Standard library only."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from marline.errors import NOT_EXECUTABLE, Refusal
from marline.launch import stopping
from marline.layout import Layout

SECONDS = 60
UNSTARTED = 1 << 16  # is added to the wait status of a program that was not started (launch/process/stopping.hpp)


def become(layout: Layout, words: Sequence[str]) -> None:
    """This process goes on as the compiled half."""
    stopping.forget()
    try:
        os.execv(str(layout.command), [str(layout.command), *words])
    except OSError as error:
        raise Refusal(f"{layout.command}: {error.strerror}; install Marline again", NOT_EXECUTABLE) from error


def then(*words: str) -> list[str]:
    """The option by which the compiled half goes on as this one when the program has ended, with --ended=STATUS as the
    first word after the command's name."""
    script = Path(sys.argv[0]).absolute()
    name, *rest = words
    return [f"--then={word}" for word in (sys.executable, str(script), name, "--ended=", *rest)]


def ask(layout: Layout, *question: str, environment: Mapping[str, str] | None = None) -> list[str]:
    """The lines that it answers (launch/start/facts.hpp). Its refusal is ours."""
    layout.require(layout.command, "install Marline again")
    asked = subprocess.run([str(layout.command), "facts", *question], env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True,
                           errors="surrogateescape", timeout=SECONDS, check=False)  # fmt: skip
    if asked.returncode != 0:
        raise Refusal(asked.stderr.strip().partition("marline: ")[2] or f"{layout.command} gives no answer to "
                      f"`facts {' '.join(question)}`; install Marline again", asked.returncode)  # fmt: skip
    return asked.stdout.splitlines()


def find_launcher(layout: Layout, mpi: str, environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """`path` and, if it is known, `version` of the launcher that starts ranks of this MPI."""
    lines = ask(layout, "launcher", mpi, environment=environment)
    return {key: value for key, _, value in (line.partition("\t") for line in lines)}


def words_before_ranks(layout: Layout, mpi: str, ranks: int, threads: int | None,
                       environment: Mapping[str, str]) -> list[str]:  # fmt: skip
    """What starts a program as ranks, each on cores of its own: the launcher and its options."""
    return ask(layout, "ranks", mpi, str(ranks), *([str(threads)] if threads else []), environment=environment)
