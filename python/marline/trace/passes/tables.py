# SPDX-License-Identifier: Apache-2.0
"""The tables of the model as passes: what every metric and every drawing starts from."""

from __future__ import annotations

import numpy as np

from .. import graph, model
from .. import iterations as iterations_of
from ..read import calls as calls_of
from ..read import messages as messages_of
from ..registry import Analysis, analysis_pass


@analysis_pass("segments")
def segments(of: Analysis) -> model.Segments:
    """Which task was on which thread, and when."""
    return model.segments(of.trace)


@analysis_pass("tasks", needs=("segments",))
def tasks(of: Analysis) -> model.Tasks:
    """All explicit tasks."""
    return model.tasks(of.trace, of["segments"])


@analysis_pass("calls")
def calls(of: Analysis) -> calls_of.Calls:
    """All MPI calls."""
    return calls_of.mpi_calls(of.trace)


@analysis_pass("in_mpi", needs=("calls",))
def in_mpi(of: Analysis) -> calls_of.InMpi:
    """When tasks were in MPI."""
    return calls_of.in_mpi(of.trace, of["calls"])


@analysis_pass("owners", needs=("segments", "tasks"))
def owners(of: Analysis) -> np.ndarray:
    """Row of each segment's task, -1 for an implicit one."""
    return of["tasks"].index(of["segments"].task)


@analysis_pass("suspensions", needs=("tasks", "segments", "calls", "owners"))
def suspensions(of: Analysis) -> model.Suspensions:
    """When tasks that had begun were on no thread."""
    return model.suspensions(of.trace, of["tasks"], of["segments"], of["calls"], of["owners"])


@analysis_pass("requests", needs=("calls",))
def requests(of: Analysis) -> calls_of.Requests:
    """All requests, from start to completion."""
    return calls_of.requests(of.trace, of["calls"])


@analysis_pass("iterations", needs=("tasks",))
def iterations(of: Analysis) -> iterations_of.Iterations:
    """Iterations of persistent graphs."""
    return iterations_of.iterations(of.trace, of["tasks"])


@analysis_pass("accesses", needs=("tasks",))
def accesses(of: Analysis) -> graph.Accesses:
    """The addresses that tasks declare dependences on."""
    return graph.accesses(of.trace, of["tasks"])


@analysis_pass("edges", needs=("accesses",))
def edges(of: Analysis) -> graph.Edges:
    """The dependences between tasks."""
    return graph.dependence_edges(of["accesses"])


@analysis_pass("messages", needs=("calls", "requests"))
def messages(of: Analysis) -> messages_of.Messages:
    """Sends and the receives that match them."""
    return messages_of.messages(of.trace, of["calls"], of["requests"])
