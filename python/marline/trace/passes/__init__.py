# SPDX-License-Identifier: Apache-2.0
"""Marline's own analysis passes: importing this package registers them."""

from . import communication, discovery, graph_metrics, gtdg_metrics, integrity, overlap, regions, tables  # noqa: F401
from . import devices, picture  # noqa: F401  picture: kinds, lanes, picture
from .critical_path import path  # noqa: F401
from .efficiency import bounds, ideal_network, pop, useful  # noqa: F401
from .of_tasks import addresses, known_graph, levels, outliers, slow_patterns, work_by_kind  # noqa: F401
from .thread_time import breakdown, code_pieces, creations, locks, states  # noqa: F401
from .samples import flame, functions  # noqa: F401
from .traffic import early_sends, matrix, overlap_of_set  # noqa: F401
from .usage import counted_loops, counters, memory  # noqa: F401
from .without_tasks import loops, mpi_waits  # noqa: F401
