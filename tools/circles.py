# SPDX-License-Identifier: Apache-2.0
"""For check_layers.py: who needs whom among the modules of C, C++ and Python, and the circles in that."""
from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

Graph = dict[str, set[str]]


def circles(graph: Graph) -> Iterator[list[str]]:
    """The largest sets of nodes that all lead to one another, of two nodes or more, each sorted (Tarjan, SIAM J.
    Comput. 1 (1972), section 4: a set is complete when the search leaves the node by which it came in)."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_nodes: list[str] = []
    for start in sorted(graph):
        path: list[tuple[str, Iterator[str]]] = []
        if start not in order:
            path.append(_enter(start, graph, order, lowest, open_nodes))
        while path:
            node, others = path[-1]
            other = next(others, None)
            if other is None:
                path.pop()
                if path:
                    lowest[path[-1][0]] = min(lowest[path[-1][0]], lowest[node])
                if lowest[node] == order[node]:
                    found = open_nodes[open_nodes.index(node):]
                    del open_nodes[-len(found):]
                    if len(found) > 1:
                        yield sorted(found)
            elif other not in order:
                path.append(_enter(other, graph, order, lowest, open_nodes))
            elif other in open_nodes:
                lowest[node] = min(lowest[node], order[other])


def _enter(node: str, graph: Graph, order: dict[str, int], lowest: dict[str, int],
           open_nodes: list[str]) -> tuple[str, Iterator[str]]:  # fmt: skip
    order[node] = lowest[node] = len(order)
    open_nodes.append(node)
    return node, iter(sorted(graph.get(node, ())))


def import_graph(folder: Path) -> Graph:
    """Which modules of the packages in this folder import which, also inside functions."""
    files = {_module_name(path.relative_to(folder)): path for path in sorted(folder.rglob("*.py"))}
    graph: Graph = {}
    for name, path in files.items():
        package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
        wanted: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                wanted |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                above = package[: len(package) - node.level + 1] if node.level else []
                origin = ".".join([*above, *([node.module] if node.module else [])])
                inner = {f"{origin}.{alias.name}" for alias in node.names}
                wanted |= inner & files.keys() or {origin}
        graph[name] = wanted & files.keys() - {name}
    return graph


def _module_name(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
