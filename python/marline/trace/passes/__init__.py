# SPDX-License-Identifier: Apache-2.0
"""Marline's own analysis passes: importing this package registers them."""

from . import (breakdown, communication, discovery, graph_metrics, integrity, overlap, regions, states,  # noqa: F401
               tables)  # noqa: F401
from . import devices, picture  # noqa: F401  its passes: kinds, lanes, picture
