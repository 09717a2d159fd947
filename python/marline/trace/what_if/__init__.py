# SPDX-License-Identifier: Apache-2.0
"""What a run would have taken with other costs, threads or messages: the run's global graph, replayed in a model of the
scheduler (docs/design/what-if.md)."""
