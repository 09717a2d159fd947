# SPDX-License-Identifier: Apache-2.0
"""Large copies to and from devices on nodes: the bytes are right, and data that goes to many devices at about the same
time leaves the program's node once. The bytes that leave it are counted by the system, at the program's sockets."""

import pytest
from nodes_support import MPIS, built, jobs  # noqa: F401  (a fixture)

KIB = 4096
DEVICES = 5
NODES = "head,a,a,b,b,c"
FORMS = ["memcpy", "maps", "devices", "parts", "changes", "threads", "gathering"]


def run(jobs, threads: int, nodes_as: str, *words: object, **changes: str):
    made_up = ["--nodes-as", nodes_as] if nodes_as else []
    return jobs.run("-n", DEVICES + 1, "-t", threads, "--devices=nodes", *made_up, "--", *words,
                    OMP_TARGET_OFFLOAD="mandatory", **changes)  # fmt: skip


def sent(result) -> int:
    """The fewest KiB of a round that the program sent, and no value was wrong."""
    assert result.returncode == 0, result.stderr
    rounds = [line.split() for line in result.stdout.splitlines()]
    assert [wrong for wrong, _ in rounds] == ["0", "0", "0"], result.stdout
    return min(int(kib) for _, kib in rounds)


@pytest.mark.parametrize(("kind", "form"), [*(("gcc", form) for form in FORMS), ("clang", "maps"), ("clang", "async")])
def test_copies_of_the_same_bytes_share_the_way(jobs, compiled, kind, form):
    program = built(compiled, kind, "nodes_many.c")
    kib = sent(run(jobs, 1, NODES, program, form, KIB))
    times = 2 if form == "maps" else 1
    if form in ("parts", "gathering"):
        assert kib > (DEVICES - 1) * KIB, "these are not the same bytes, or do not begin together"
    elif form != "threads":  # of which some may begin when others have ended
        assert kib < (times + 1) * KIB


@pytest.mark.parametrize("form", ["memcpy", "devices"])
@pytest.mark.parametrize("nodes_as", ["", "0,0,0,1,1,1", "apart"])
def test_wherever_the_devices_are(jobs, compiled, form, nodes_as):
    program = built(compiled, "gcc", "nodes_many.c")
    sent(run(jobs, 2, nodes_as, program, form, KIB, MARLINE_LINK="latency=20us,card=1G"))


@pytest.mark.parametrize("mpi", MPIS)
def test_by_mpi(jobs, compiled, mpi):
    program = built(compiled, "gcc", "nodes_many.c")
    for form in ("memcpy", "changes"):
        sent(jobs.mpirun(mpi, 4, *jobs.preloaded(), program, form, KIB, MARLINE_DEVICES="nodes",
                         MARLINE_NODES_AS="0,1,1,2"))


def test_the_benchmark_compares_what_it_copies(jobs, build):
    """It ends with an error where a byte is wrong; which ways there are depends on where the devices are."""
    bench = build / "bench" / "device" / "device-ways-cpu"
    if not bench.exists():
        pytest.skip(f"{bench} is not built")
    for nodes_as, ways in (("", {"here"}), ("apart", {"there"}), (NODES, {"here", "there"})):
        result = run(jobs, 1, nodes_as, bench, "--kib", 1024)
        assert result.returncode == 0, result.stderr
        figures = {line.split()[0] for line in result.stdout.splitlines() if not line.startswith("#")}
        assert {f"{way}_1M" for way in {"to", "from", "one_to_many", "many_to_one"} | ways} <= figures
        assert {way for way in ("here", "there") if f"{way}_1M_ratio" in figures} == ways
