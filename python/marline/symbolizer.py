# SPDX-License-Identifier: Apache-2.0
"""Asks llvm-symbolizer, or addr2line, where addresses of a file lie in its source. Standard library only."""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_SYMBOLIZERS = ("llvm-symbolizer", "llvm-symbolizer-19", "llvm-symbolizer-14")
_SECONDS = 60


@dataclass(frozen=True)
class Location:
    """Where an address lies in the source; line 0 where unknown."""

    function: str
    file: str
    line: int

    def short(self) -> str:
        """`function file:line`, without what compilers add to the function that they outline from a construct."""
        return f"{self.written()} {Path(self.file).name}:{self.line}".lstrip() if self.line else self.written()

    def written(self) -> str:
        """The function that its author knows: that from which a compiler has outlined this one."""
        return plain_name(re.split(r"(?: [(\[](?:clone )?)?\.?[._]omp_", self.function)[0])


def plain_name(function: str) -> str:
    """As a programmer calls it: of C++ without the types of its arguments and of its result, of a procedure in a
    Fortran module `module::procedure` (gfortran's name of it is __module_MOD_procedure)."""
    in_module = re.fullmatch(r"__(\w+?)_MOD_(\w+)", function)
    if in_module:
        return "::".join(in_module.groups())
    end = re.sub(r"( const| volatile|&| \[(clone|abi:).*\])+$", "", function)
    if not end.endswith(")"):
        return function
    begin, open_parts = len(end), 0
    while begin and (begin == len(end) or open_parts):
        begin -= 1
        open_parts += {")": 1, "(": -1}.get(end[begin], 0)
    name = end[:begin]
    if not name or name.endswith("operator"):
        return function
    return _without_result(name)


def _without_result(name: str) -> str:
    """`void f<int>` is f<int>; blanks within brackets, and those of operators, belong to the name."""
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += {")": 1, ">": 1, "(": -1, "<": -1}.get(name[at], 0)
        if name[at] == " " and not depth and "operator" not in name[:at]:
            return name[at + 1 :]
    return name


class Failure(Exception):
    """Why a symbolizer gave no answer."""


def ask(path: str, addresses: Sequence[int]) -> list[Location | None]:
    """The places of these addresses (as linked) in the file, None where it does not say; of inlined code, the place in
    the function that it was inlined into."""
    lines = [line for line in _run(path, addresses, inlined=False).splitlines() if line]
    if len(lines) != 2 * len(addresses):
        raise Failure(f"the symbolizer answered {len(lines)} lines to {len(addresses)} addresses")
    return [_parse(function, place) for function, place in zip(lines[::2], lines[1::2])]


def ask_inlined(path: str, addresses: Sequence[int]) -> list[list[Location]]:
    """The places of each address, from the innermost inlined function to the one that there is code of."""
    found: list[list[Location]] = []
    function = ""
    for line in _run(path, addresses, inlined=True).splitlines():
        if re.fullmatch(r"0x[0-9a-fA-F]+", line):
            found.append([])
            function = ""
        elif line and found and not function:
            function = line
        elif line and found:
            place = _parse(function, line)
            found[-1] += [place] if place else []
            function = ""
    if len(found) != len(addresses):
        raise Failure(f"the symbolizer answered for {len(found)} of {len(addresses)} addresses")
    return found


def _run(path: str, addresses: Sequence[int], inlined: bool) -> str:
    tool = next((tool for tool in map(shutil.which, _SYMBOLIZERS) if tool), None)
    plain = shutil.which("addr2line")
    if tool:
        command = [tool, "--functions", "--demangle", f"--obj={path}"]
        command += ["--inlines", "--addresses"] if inlined else ["--no-inlines"]
    elif plain:
        tool = plain
        command = [tool, "-f", "-C", "-e", path, *(["-i", "-a"] if inlined else [])]
    else:
        raise Failure("neither llvm-symbolizer nor addr2line is in PATH (Debian: binutils)")
    text = "".join(f"{address:#x}\n" for address in addresses)
    try:
        return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True, errors="replace", timeout=_SECONDS, check=True,
                              start_new_session=True).stdout  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        raise Failure(f"{Path(tool).name} failed ({type(error).__name__})") from error


def _parse(function: str, place: str) -> Location | None:
    if function == "??":
        return None
    parts = place.split(" ")[0].rsplit(":", 2)  # FILE:LINE[:COLUMN]; addr2line adds "(discriminator n)"
    numbers = [int(part) for part in parts[1:] if part.isdigit()]
    return Location(function, "" if parts[0] == "??" else parts[0], numbers[0] if numbers else 0)
