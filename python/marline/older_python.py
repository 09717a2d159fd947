# SPDX-License-Identifier: Apache-2.0
"""Lets Python 3.6 to 3.9 read the modules that FOR_OLDER names. They would evaluate annotations, and fail at those of
Python 3.10 (`int | None`): so annotations are taken out when a module is compiled. Python 3.6 has no dataclasses:
older_dataclasses.py has what is used of them. All else in these modules keeps to the language and the library of Python
3.6 (tests/e2e/run/test_older_python.py). This file itself cannot have annotations."""

import ast
import shlex
import sys
from importlib.machinery import PathFinder, SourceFileLoader

OLDEST = (3, 6)  # for the commands without one of their own, and for this package's own modules
NEEDED = (3, 10)  # for all the rest; from there on, nothing of this file is used
# The modules and packages, below `marline`, of run's options, trace (but for its report), check, ps, devices and info.
FOR_OLDER = ("bug", "check", "cli", "devices", "errors", "features", "info", "launch", "layout", "loading",
             "older_dataclasses", "older_python", "ps", "symbolizer", "trace/command", "trace/views/options",
             "units")  # fmt: skip


def name_of(version):
    return ".".join(str(number) for number in version[:2])


class WithoutAnnotations(ast.NodeTransformer):
    """A field of a class (of a dataclass, of a NamedTuple) must keep an annotation: it becomes a text, which is not
    evaluated."""

    def visit_arg(self, node):
        node.annotation = None
        return node

    def visit_FunctionDef(self, node):
        node.returns = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node):
        node.annotation = ast.copy_location(ast.Str("unread"), node.annotation)
        return self.generic_visit(node)

    def visit_ImportFrom(self, node):
        return ast.copy_location(ast.Pass(), node) if node.module == "__future__" else node


def own_name(path):
    return path[:-len(".pyc")] + ".older.pyc" if path.endswith(".pyc") else path


class Loader(SourceFileLoader):
    """Its compiled modules have names of their own: pip and others leave some that have their annotations."""

    def get_data(self, path):
        return SourceFileLoader.get_data(self, own_name(path))

    def set_data(self, path, data, **more):
        SourceFileLoader.set_data(self, own_name(path), data, **more)

    def source_to_code(self, data, path, *, _optimize=-1):
        tree = WithoutAnnotations().visit(ast.parse(data, path))
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True, optimize=_optimize)


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        spec = PathFinder.find_spec(name, path, target) if name.startswith("marline.") else None
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(spec.loader.name, spec.loader.path)
        return spec


def refuse_what_needs_newer(what, arguments):
    """`arguments`: of the command that a newer Python can run."""
    from marline.errors import Refusal

    words = " ".join(map(shlex.quote, [sys.argv[0], *arguments]))
    raise Refusal(f"{what} needs Python {name_of(NEEDED)} or newer, and {sys.executable} is Python "
                  f"{name_of(sys.version_info)}; start it by a newer one, as in `python3.11 {words}`")  # fmt: skip


def prepare():
    """For all other modules of `marline`, which are imported later."""
    sys.meta_path.insert(0, Finder)
    if sys.version_info < (3, 7):
        from marline import older_dataclasses

        sys.modules["dataclasses"] = older_dataclasses
