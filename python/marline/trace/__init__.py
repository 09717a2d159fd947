# SPDX-License-Identifier: Apache-2.0
"""Traces of Marline's recorder: read (reader), interpreted (model), exported (perfetto, gantt).

Everything is columnar: a trace is a handful of NumPy arrays and no event is ever a Python object, so the cost of a pass
is a few array operations. Needs NumPy; `gantt` needs Matplotlib.
"""
