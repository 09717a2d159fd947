# SPDX-License-Identifier: Apache-2.0
"""The register of analysis passes, and the analysis that computes them: named passes that need one another, each
computed once and when it is asked for. Whoever wants Marline's own passes imports analysis.py, which fills the
register.

A pass is a function from the Analysis to its result, registered under a name with the passes that it needs:

    @analysis_pass("longest", needs=("tasks",))
    def longest(of: Analysis) -> Longest:
        return Longest(int(of["tasks"].running.max()))

`Analysis(trace)["longest"]` computes what it needs first, in an order that respects all needs, then itself. A pass may
use only what it declares. A user's file with such functions is loaded by `load_passes`; a result that goes to a report
has a method `document()` that returns what JSON can hold.
"""

from __future__ import annotations

import difflib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .read.progress import Progress, no_progress
from .read.records import Trace
from .selection import Selection


class AnalysisError(Exception):
    """A pass that cannot be found, loaded or computed; the text is meant for the user."""


PassFunction = Callable[["Analysis"], Any]


@dataclass(frozen=True)
class Pass:
    """A registered pass and the file that it comes from."""

    name: str
    needs: tuple[str, ...]
    function: PassFunction
    file: str


_passes: dict[str, Pass] = {}


def analysis_pass(name: str, *, needs: Iterable[str] = ()) -> Callable[[PassFunction], PassFunction]:
    """Registers the decorated function as pass `name`."""

    def register(function: PassFunction) -> PassFunction:
        new = Pass(name, tuple(needs), function, function.__code__.co_filename)
        if isinstance(needs, str):
            raise AnalysisError(f"{new.file}: needs={needs!r} of pass '{name}' is a text: write needs=({needs!r},)")
        old = _passes.get(name)
        if old is not None and old.file != new.file:
            raise AnalysisError(f"{new.file}: pass '{name}' already exists in {old.file}: give it another name")
        _passes[name] = new
        return function

    return register


def pass_names() -> list[str]:
    """All registered passes, sorted."""
    return sorted(_passes)


def is_built_in(name: str) -> bool:
    """Whether Marline itself brings the pass."""
    return name in _passes and Path(__file__).parent in Path(_passes[name].file).parents


def named_passes(word: str | Path) -> list[str]:
    """What `--pass` asks for: the pass of Marline that is called `word`, or those that the file of this name adds."""
    return [str(word)] if is_built_in(str(word)) else load_passes(word)


def load_passes(path: str | Path) -> list[str]:
    """Runs a user's file, and returns the names of the passes that it registers."""
    path = Path(path).resolve()
    if not path.is_file():
        near = difflib.get_close_matches(path.name, pass_names(), 1)
        raise AnalysisError(f"{path}: no such file: --pass takes a Python file that registers a pass, or the name of "
                            f"one of Marline's: " + (f"'{near[0]}'?" if near else ", ".join(pass_names())))  # fmt: skip
    spec = importlib.util.spec_from_file_location(f"marline_user_pass_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise AnalysisError(f"{path}: not a Python file: its name must end in .py")
    before = dict(_passes)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up by name
    try:
        spec.loader.exec_module(module)
    except AnalysisError:
        _restore(before)
        raise
    except SyntaxError as error:
        _restore(before)
        raise AnalysisError(f"{path}:{error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        _restore(before)
        raise AnalysisError(f"{path}: {type(error).__name__} while it was loaded: {error}") from error
    names = [name for name, one in _passes.items() if before.get(name) is not one]
    if not names:
        raise AnalysisError(f"{path}: registers no pass: decorate a function with @analysis_pass(NAME, needs=(...))")
    return names


def _restore(before: dict[str, Pass]) -> None:
    _passes.clear()
    _passes.update(before)


class Analysis:
    """The results of passes over one trace, by name. `windows` is into how many time windows results are divided,
    `selection` the part of the run that a user has asked for."""

    def __init__(self, trace: Trace, progress: Progress = no_progress, windows: int = 50,
                 selection: Selection = Selection()) -> None:  # fmt: skip
        if windows < 1:
            raise AnalysisError(f"{windows} time windows: give at least 1")
        self.trace = trace
        self.windows = windows
        self.selection = selection
        self._progress = progress
        self._results: dict[str, Any] = {}
        self._current: Pass | None = None

    def __getitem__(self, name: str) -> Any:
        """The result of pass `name`, computed now unless it was before."""
        if self._current is not None and name not in self._current.needs:
            raise AnalysisError(
                f"pass '{self._current.name}' ({self._current.file}) uses '{name}' but does not declare it: "
                f"add it to needs"
            )
        if name not in self._results:
            order = [one for one in resolve(name) if one.name not in self._results]
            for done, one in enumerate(order):
                self._progress(one.name, done, len(order))
                self._results[one.name] = self._compute(one)
            self._progress(name, len(order), len(order))
        return self._results[name]

    def document(self, name: str) -> Any:
        """What pass `name` gives to a report: values that JSON can hold."""
        result = self[name]
        one = _passes[name]
        method = getattr(result, "document", None)
        if not callable(method):
            raise AnalysisError(f"pass '{name}' ({one.file}): its result has no method document(): add one")
        try:
            document = method()
            json.dumps(document, allow_nan=False)
        except Exception as error:
            raise AnalysisError(f"pass '{name}' ({one.file}): document(): {type(error).__name__}: {error}") from error
        return document

    def _compute(self, one: Pass) -> Any:
        self._current = one
        try:
            return one.function(self)
        except AnalysisError:
            raise
        except (Exception, SystemExit) as error:
            raise AnalysisError(f"pass '{one.name}' ({one.file}): {type(error).__name__}: {error}") from error
        finally:
            self._current = None


def resolve(name: str) -> list[Pass]:
    """The pass `name` and all that it needs, directly or not, each after what it needs."""
    order: list[Pass] = []
    done: set[str] = set()
    _visit(name, [], done, order)
    return order


def _visit(name: str, path: list[str], done: set[str], order: list[Pass]) -> None:
    if name in done:
        return
    if name in path:
        raise AnalysisError(f"passes need each other in a cycle: {' -> '.join([*path[path.index(name):], name])}")
    if name not in _passes:
        wanted = f"pass '{path[-1]}' needs '{name}'" if path else f"'{name}'"
        raise AnalysisError(f"{wanted}: no such pass; there are: {', '.join(sorted(_passes))}")
    for need in _passes[name].needs:
        _visit(need, [*path, name], done, order)
    done.add(name)
    order.append(_passes[name])
