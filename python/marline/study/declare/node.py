# SPDX-License-Identifier: Apache-2.0
"""A value of a YAML file together with its place, and the strict questions one may ask of it.

The invariant: whatever is not exactly what was asked for ends in one line that names the file, the key and what would
have been valid. Duplicate keys, which PyYAML would let the last one win, are refused too."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from marline.errors import Refusal

USAGE = 2
Scalar = int | float | str


class StudyError(Refusal):
    """The study's file is wrong: the author's mistake."""

    def __init__(self, text: str) -> None:
        super().__init__(text, USAGE)


class Node:
    """One value at `path` (keys joined by dots) in `file`."""

    def __init__(self, file: str, path: str, value: Any) -> None:
        self.file, self.path, self.value = file, path, value

    def fail(self, text: str) -> NoReturn:
        raise StudyError(f"{self.file}: {self.path + ': ' if self.path else ''}{text}")

    def _expected(self, what: str) -> NoReturn:
        shown = "nothing" if self.value is None else repr(self.value)
        self.fail(f"expected {what}, found {shown if len(shown) < 60 else shown[:57] + '...'}")

    def child(self, key: object, value: Any) -> Node:
        return Node(self.file, f"{self.path}.{key}" if self.path else str(key), value)

    def items(self) -> dict[str, Node]:
        """A mapping with keys of the author's choice."""
        if not isinstance(self.value, dict) or not self.value:
            self._expected("a mapping with at least one key")
        for key in self.value:
            if not isinstance(key, str):
                self.child(key, None).fail(f"the key is not a text; quote it: '{key}'")
        return {key: self.child(key, value) for key, value in self.value.items()}

    def fields(self, valid: Sequence[str], required: Sequence[str] = ()) -> dict[str, Node]:
        """A mapping with keys from `valid` only."""
        items = self.items()
        for key, node in items.items():
            if key not in valid:
                node.fail(f"unknown key; valid here: {', '.join(valid)}")
        for key in required:
            if key not in items:
                self.fail(f"the key {key!r} is missing; valid here: {', '.join(valid)}")
        return items

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value.strip():
            self._expected("a text")
        return self.value

    def choice(self, valid: Sequence[str]) -> str:
        if self.value not in valid:
            self._expected(f"one of {', '.join(valid)}")
        return self.value

    def whole(self, least: int) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < least:
            self._expected(f"a whole number from {least} up")
        return self.value

    def positive(self) -> float:
        if not isinstance(self.value, (int, float)) or isinstance(self.value, bool) \
                or not math.isfinite(self.value) or self.value <= 0:  # fmt: skip
            self._expected("a positive number")
        return float(self.value)

    def flag(self) -> bool:
        if not isinstance(self.value, bool):
            self._expected("true or false")
        return self.value

    def pattern(self, groups: int | None = None) -> re.Pattern[str]:
        try:
            compiled = re.compile(self.text(), re.MULTILINE)
        except re.error as error:
            self.fail(f"not a regular expression: {error}")
        if groups is not None and compiled.groups != groups:
            self.fail(f"expected a regular expression with {groups} group in parentheses, found {compiled.groups}")
        return compiled

    def scalar(self) -> Scalar:
        if isinstance(self.value, bool) or not isinstance(self.value, (int, float, str)):
            self._expected("a number or a text (quote yes, no, on, off, true and false)")
        return self.value

    def list(self) -> list[Node]:
        """A list, or one value that stands for a list of itself."""
        values = self.value if isinstance(self.value, list) else [self.value]
        if not values:
            self._expected("a list that is not empty")
        return [Node(self.file, f"{self.path}[{i}]", v) if isinstance(self.value, list) else self
                for i, v in enumerate(values)]  # fmt: skip

    def words(self) -> list[str]:
        return [node.text() for node in self.list()]

    def one_of_each(self, valid: Sequence[str], what: str) -> list[str]:
        for node in self.list():
            if node.value not in valid:
                node.fail(f"no {what} is called {node.value!r}; there are: {', '.join(valid)}")
        return [node.value for node in self.list()]


def read_yaml(path: Path) -> Any:
    """The file's document, by PyYAML's safe loader, which builds nothing but plain values."""
    try:
        import yaml
    except ImportError as error:
        raise Refusal(f"{error}: studies are written in YAML; python3 -m pip install PyYAML") from error

    class Loader(yaml.SafeLoader):
        """SafeLoader that refuses a key that is there twice (keys merged by `<<` may be overridden)."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
            seen = set()
            for key, _ in node.value:
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    if key.value in seen:
                        raise StudyError(f"{path}:{key.start_mark.line + 1}: the key {key.value!r} is there twice")
                    seen.add(key.value)
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader)  # noqa: S506  (a SafeLoader)
    except OSError as error:
        raise StudyError(f"{path}: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise StudyError(f"{path}: not a UTF-8 text: {error.reason} at byte {error.start}") from error
    except yaml.YAMLError as error:
        raise StudyError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
