# SPDX-License-Identifier: Apache-2.0
"""The README and the guide as what a reader types: blocks of commands and of programs.

  ```sh         commands
  ```console    commands after `$ `, and what they print
  ```c, ```python, ...  a program, if it is a whole one; its name is the file that the text before it names
  ```           output, or the form of a command

A command that not every reader can run says so in a comment: `# needs the sources`, `# needs a GPU`. A line that is
such a comment and nothing else holds for all lines after it. NEEDS has the words."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OF_MISTAKES = "messages.md"  # its commands fail on purpose: tests/e2e/docs/test_messages.py runs them
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs" / "guide").glob("*.md"))
                               if page.name != OF_MISTAKES)]  # fmt: skip
NEEDS = {
    "sources": "builds, benchmarks and studies of this project are not installed",
    "GPU": "no GPU is there",
    "CUDA": "CUDA's assembler is not there",
    "Slurm": "no Slurm is there",
    "PAPI": "PAPI, or a processor whose events it can count, is not there",
    "root": "a user without rights",
    "terminal": "somebody has to type into it",
    "debug files": "the wheel has no debug information",
}
# What begins a command in a block that is none of commands. `marline run [-n ...` is a form, not a command.
TOOLS = r"marline|mpirun|srun|mpicc\S*|gcc|clang\S*|pip|python3?|make|cmake|gdb|\./\w+"
COMMAND = re.compile(rf"^ *(\$ |(\w+=\S+ )*({TOOLS})( (?!.*\[)|$))")
WHOLE = {"c": "int main(", "python": "__main__|@analysis_pass", "yaml": "^study:"}


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    kind: str
    text: str
    name: str  # the file that the text before it names last; empty: none

    @property
    def place(self) -> str:
        return f"{self.page.name}:{self.line}"

    @property
    def is_program(self) -> bool:
        return self.kind in WHOLE and re.search(WHOLE[self.kind].replace("(", r"\("), self.text, re.M) is not None

    def commands(self) -> list[str]:
        """Lines as a shell takes them: each with those that continue it."""
        text = re.sub(r"\\\n", "\\\n ", self.text)
        lines = text.split("\n")
        if self.kind == "console":
            lines = [line[2:] for line in lines if line.startswith("$ ")]
        elif self.kind != "sh":
            return []
        joined: list[str] = []
        for line in lines:
            if joined and joined[-1].endswith("\\"):
                joined[-1] = joined[-1][:-1].rstrip() + " " + line.strip()
            elif line.strip():
                joined.append(line)
        return joined

    def printed(self) -> list[str]:
        return [line for line in self.text.splitlines() if not line.startswith("$ ")] if self.kind == "console" else []

    def split(self) -> tuple[list[str], list[tuple[str, str]]]:
        """What everybody can run, and what not, with the words that say why."""
        runs, left, rest_needs = [], [], ""
        for command in self.commands():
            needs = needs_of(command) or rest_needs
            if command.lstrip().startswith("#") and needs:
                rest_needs = needs
            elif needs:
                left.append((command, needs))
            else:
                runs.append(command)
        return runs, left


def needs_of(command: str) -> str:
    found = re.search(r"#[^#]*\bneeds (.*)", command)
    return found[1] if found else ""


def reasons(needs: str) -> list[str]:
    return [reason for word, reason in NEEDS.items() if re.search(rf"\b{word}s?\b", needs)]


def blocks(page: Path) -> list[Block]:
    text = page.read_text()
    found, end = [], 0
    for match in re.finditer(r"^( *)```(\w*)\n(.*?)^ *```$", text, re.DOTALL | re.MULTILINE):
        indent, kind, body = match.groups()
        names = re.findall(r"`([\w.-]+\.(?:c|py|yaml))`", text[end:match.start()])
        body = re.sub(rf"^{indent}", "", body, flags=re.MULTILINE)
        found.append(Block(page, text.count("\n", 0, match.start()) + 1, kind, body, names[-1] if names else ""))
        end = match.end()
    return found
