# SPDX-License-Identifier: Apache-2.0
"""Traces of Marline's recorder: read (read/), interpreted (model.py, graph.py, passes/), exported (views/).

Everything is columnar: a trace is a handful of NumPy arrays and no event is ever a Python object, so the cost of a pass
is a few array operations. Needs NumPy; views/gantt.py needs Matplotlib.
"""
