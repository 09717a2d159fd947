# SPDX-License-Identifier: Apache-2.0
"""Properties of the passes on any valid trace, of the small runtime of test_analysis_properties.py."""
from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from test_analysis_properties import Runtime, analysed, runtimes  # first: it finds marline
from marline.trace.passes.efficiency.ideal_network import replay

few = settings(max_examples=25, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
RANKS = st.lists(runtimes(), min_size=1, max_size=2)


def close(one: float, other: float) -> bool:
    return abs(one - other) < 1e-9


@few
@given(RANKS)
def test_efficiencies(ranks: list[Runtime]) -> None:
    """Factors multiply to what they are factors of; efficiencies of time are at most 1; the replay with the network as
    it was gives the run again, and without it none that is longer."""
    of = analysed(ranks)
    found, graph, network = of.document("efficiency"), of["global_graph"], of["ideal_network"]
    assert replay(graph, ideal=False) == graph.end - graph.begin == network.makespan >= network.ideal
    assert 0 <= found["parallel"] <= 1 and 0 <= found["load_balance"] <= 1 and 0 <= found["communication"] <= 1
    assert close(found["parallel"], found["load_balance"] * found["communication"])
    mpi, openmp = found["mpi"], found["openmp"]
    if mpi:
        assert close(mpi["parallel"], mpi["load_balance"] * mpi["serialisation"] * mpi["transfer"])
        assert max(mpi.pop("ideal_ns") - network.makespan, *(0, *mpi.pop("outside_ns"))) <= network.makespan
        assert all(0 <= value <= 1 + 1e-9 for value in mpi.values())
    if openmp and found["useful_ns"]:
        assert close(found["parallel"], mpi["parallel"] * openmp["parallel"])
        assert close(openmp["parallel"], openmp["load_balance"] * openmp["scheduling"])
