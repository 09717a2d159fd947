# SPDX-License-Identifier: Apache-2.0
"""Marline's own analysis passes: importing this package registers them."""

from . import breakdown, states, tables  # noqa: F401
