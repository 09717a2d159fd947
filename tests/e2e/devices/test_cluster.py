# SPDX-License-Identifier: Apache-2.0
"""The workers of a job as one device: how it is started, what its options and mistakes say, and how jobs end. Programs
for its memory are tests/programs/offload/cluster_*.c."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import handmade  # noqa: F401  first: it finds marline
import numpy as np
import pytest
from conftest import SECONDS, clean_environment
from marline.trace.analysis import Analysis
from marline.trace.passes.devices import FROM_DEVICE, KERNEL, TO_DEVICE, UPKEEP, WAIT
from marline.trace.views import gantt
from marline.trace.views.export import load
from marline.trace.views.timeline import KERNEL_RUN, timeline
from nodes_support import built, emulated, gpu_program, jobs, only, said, values  # noqa: F401  (fixtures)


@pytest.fixture(params=["gcc", "clang"])
def program(request, compiled):
    return built(compiled, request.param, "cluster.c")




def cluster(jobs, *words, count=4, **changes):
    return jobs.run("-n", count, "--devices=cluster", "-t", 2, "--", *words, OMP_TARGET_OFFLOAD="mandatory", **changes)


@pytest.mark.parametrize("placement", ["heft", "hold", "roundrobin", "owner"])
def test_regions_are_spread_over_the_nodes(jobs, program, placement):
    found = values(cluster(jobs, program, MARLINE_CLUSTER_PLACEMENT=placement))
    assert (found["good"], found["others"], found["devices"]) == ("1", "8", "4")
    if placement == "roundrobin":  # the others choose by what takes time
        assert found["processes"] == "3"


def run_by_idle_nodes(result) -> int:
    return int(re.search(r"cluster: idle nodes have run (\d+) regions? that waited on busy ones", result.stderr)[1])


@pytest.mark.parametrize("threads", [1, 2])
def test_idle_nodes_run_what_waits_on_busy_ones(jobs, program, threads):
    result = jobs.run("-n", 4, "--devices=cluster", "-t", threads, "--", program, "uneven",
                      OMP_TARGET_OFFLOAD="mandatory", OMP_DISPLAY_ENV="verbose")  # fmt: skip
    found = values(result)
    assert found["good"] == "1"
    assert run_by_idle_nodes(result) >= 1
    assert int(found["on_slow"]) < 48 // 3


def test_random_regions_of_unequal_length(jobs, build):
    program = build / "tests" / "programs" / "bin" / "device_cluster_tasks_gcc12"
    moved = 0
    for seed in range(1, 40):
        if seed > 6 and moved > 0:
            break
        result = jobs.run("-n", 3, "--devices=cluster", "-t", 1, "--", program, seed, 600, 3000, "uneven",
                          OMP_TARGET_OFFLOAD="mandatory", OMP_DISPLAY_ENV="verbose")  # fmt: skip
        assert result.returncode == 0, f"seed {seed}: {result.stdout}{result.stderr}"
        moved += run_by_idle_nodes(result)
    assert moved >= 1


# With `heft` each does, however long it takes.
@pytest.mark.parametrize(("placement", "milliseconds", "early"), [("heft", 30000, "5"), ("hold", 100, "0")])
def test_regions_may_be_held_until_the_program_waits(jobs, program, placement, milliseconds, early):
    found = values(cluster(jobs, program, "early", milliseconds, count=3, MARLINE_CLUSTER_PLACEMENT=placement))
    assert found == {"early": early, "made": "6"}


def test_the_program_hears_at_once_of_ends_that_it_waits_for(jobs, program):
    result = jobs.run("-n", 3, "--devices=cluster", "-t", 1, "--", program, "ends", OMP_TARGET_OFFLOAD="mandatory")
    assert values(result) == {"cells": "3333", "late": "0"}


# Node k of a cluster is process k, in whatever order the user lists the devices.
def test_the_order_of_devices_does_not_matter(jobs, program):
    found = values(cluster(jobs, program, count=3, MARLINE_CLUSTER_PLACEMENT="roundrobin",
                           OMP_AVAILABLE_DEVICES="*[0],*[2],*[1]"))
    assert (found["good"], found["others"], found["processes"]) == ("1", "8", "2")


def test_members_are_devices_too(jobs, program):
    found = values(cluster(jobs, program, "pinned", count=3))
    assert found == {f"device{number}": str(number) for number in range(3)}


def test_a_program_may_have_a_cluster_of_its_own(jobs, compiled):
    result = jobs.run("--devices=cluster:2", "--nodes-as=apart", built(compiled, "gcc", "cluster.c"))
    assert values(result)["good"] == "1"


def test_mpirun_starts_a_cluster(jobs, compiled):
    program = built(compiled, "clang", "cluster.c")
    result = jobs.mpirun("openmpi", 3, *jobs.preloaded(), program, MARLINE_DEVICES="cluster")
    assert values(result)["good"] == "1"


@pytest.mark.parametrize("shell", [(), ("sh", "-c")])
def test_a_program_without_regions_runs_once(jobs, compiled, shell):
    result = jobs.run("-n", 3, "--devices=cluster", "--", *shell, built(compiled, "gcc", "nodes_routines.c"))
    assert (result.returncode, result.stdout) == (0, "value=7\n")


def test_the_list_of_devices_says_what_it_is(jobs, build):
    listed = subprocess.run([jobs.command, "devices", "--devices", "cluster:2"], env=clean_environment(), text=True,
                            capture_output=True, check=True)  # fmt: skip
    first, *others = listed.stdout.splitlines()[1:]
    assert first.split()[:4] == ["*", "0", "cluster", "cluster"]
    assert first.endswith("2 nodes as one device")
    assert [line.split()[1] for line in others] == ["node", "node"]
    assert ["node 1 of the cluster" in others[0], "node 2 of the cluster" in others[1]] == [True, True]


# With `depend`, too, if it has no such clause.
@pytest.mark.parametrize("writes", ["diff", "depend"])
def test_regions_may_write_what_they_map_to(jobs, program, writes):
    assert values(cluster(jobs, program, "writes_to", count=3, MARLINE_CLUSTER_WRITES=writes))["value"] == "5"


def repeated(result):
    """How many iterations the nodes have repeated, how many of these the program has told in one, and how many in
    part."""
    assert values(result)["good"] == "1"
    found = re.search(r"cluster: iterations of persistent graphs that the nodes repeated: (\d+), of these as a whole: "
                      r"(\d+), in part: (\d+), by \d+ plan", result.stderr)  # fmt: skip
    return tuple(int(found[i]) for i in (1, 2, 3)) if found else (0, 0, 0)


# Firstprivate data differs in each, but in the last mode, which does not run the code again. In the first one no region
# is a task of the program's.
@pytest.mark.parametrize("mode", [0, 1, 2], ids=["barrier", "nowait", "replay"])
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_nodes_repeat_iterations_of_persistent_graphs(jobs, compiled, kind, mode):
    program = built(compiled, kind, "cluster_graphs.c")
    iterations, whole, parts = repeated(cluster(jobs, program, str(mode), OMP_DISPLAY_ENV="verbose"))
    assert iterations >= 30 and parts == 0
    assert whole >= 30 if mode in (0, 2) else whole == 0


# Of a short region, and of one of which only the end is worth reporting.
@pytest.mark.parametrize("microseconds", [100, 20000])
def test_an_end_is_not_held_back_behind_a_long_region(jobs, compiled, tmp_path, microseconds):
    program = built(compiled, "gcc", "cluster_late_ends.c")
    result = jobs.run("-n", 2, "--devices=cluster", "-t", 1, "--", program, tmp_path / "made", str(microseconds),
                      OMP_TARGET_OFFLOAD="mandatory")  # fmt: skip
    assert values(result) == {"good": "1", "early": "1"}


# The node's only thread runs the region, another one waits for messages. It was 500 times.
def test_a_node_whose_region_takes_long_is_left_alone(jobs, compiled):
    result = jobs.run("-n", 2, "--devices=cluster", "-t", 1, "--", built(compiled, "gcc", "cluster_rests.c"),
                      OMP_TARGET_OFFLOAD="mandatory")  # fmt: skip
    assert 0 <= int(values(result)["woken"]) <= 50


# Of one thread: only the watchdog is there when it computes.
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_regions_are_placed_together_unless_no_other_follows(jobs, compiled, tmp_path, kind):
    program = built(compiled, kind, "cluster_groups.c")
    result = jobs.run("-n", 4, "--devices=cluster", "-t", 1, "--", program, tmp_path / "made",
                      OMP_TARGET_OFFLOAD="mandatory", OMP_DISPLAY_ENV="verbose")  # fmt: skip
    assert values(result) == {"good": "1", "early": "1"}
    assert re.search(r"cluster: regions that were placed together: \d{2,}, in groups of \d+", result.stderr)


# It counted as the others did: its process had 17 of 25 to do. Without a barrier between iterations, times come when
# there is a plan, which is given up.
@pytest.mark.parametrize("mode, iterations, unit, given_up", [(0, 8, 10000, "0"), (1, 40, 3000, "[12]")],
                         ids=["barrier", "nowait"])
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_a_region_that_takes_longer_than_its_kind_counts_with_its_time(jobs, compiled, build, kind, mode, iterations,
                                                                       unit, given_up):  # fmt: skip
    run_uneven(jobs, compiled, build, kind, (mode, iterations, unit, 0), iterations - 6, given_up)


# The nodes tell what repeated iterations take.
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_a_region_that_takes_longer_from_some_iteration_on_counts_with_its_time(jobs, compiled, build, kind):
    run_uneven(jobs, compiled, build, kind, (0, 60, 4000, 12), 46, "[12]")


TRIES = 4


def run_uneven(jobs, compiled, build, kind, words, least, given_up):
    """In one of a few runs, at least `least` iterations are repeated, `given_up` plans are given up, and no process has
    more than 15 of the regions. Beside other busy processes all regions take uneven times."""
    include = Path(__file__).resolve().parents[3] / "include"
    program = built(compiled, kind, "cluster_uneven.c", f"-I{include}", f"-L{build / 'lib'}", "-lmarline",
                    f"-Wl,-rpath,{build / 'lib'}")  # fmt: skip
    seen = []
    while not seen or not seen[-1][0] and len(seen) < TRIES:
        result = jobs.run("-n", 3, "--devices=cluster", "-t", 1, "--", program, *map(str, words),
                          OMP_TARGET_OFFLOAD="mandatory", OMP_DISPLAY_ENV="verbose")  # fmt: skip
        plans = re.search(r"of which (\d+) were given up as times were uneven", result.stderr)[1]
        most, iterations = int(values(result)["most"]), repeated(result)[0]
        seen.append((iterations >= least and re.fullmatch(given_up, plans) and most <= 15, iterations, plans, most))
    assert seen[-1][0], seen


# Else none of its regions could be sent ahead: in each iteration each kind of array has some.
def test_descriptors_of_fortran_arrays_are_copied_only_if_they_change(jobs, build):
    program = build / "tests/programs/bin/fortran_cluster_descriptors_gfortran12"
    if not program.exists():
        pytest.skip("no gfortran-12")
    result = jobs.run("-n", 4, "--devices=cluster", "-t", 1, "--", program, OMP_TARGET_OFFLOAD="mandatory",
                      OMP_DISPLAY_ENV="verbose")  # fmt: skip
    iterations, whole, _ = repeated(result)
    assert iterations >= 60 and whole >= 30, "of 120"


def test_an_iteration_that_differs_is_repeated_in_part(jobs, compiled):
    """Placed by data: by times, the head may have given up the plan just then, and would have nothing to repeat."""
    program = built(compiled, "gcc", "cluster_graphs.c")
    iterations, whole, parts = repeated(cluster(jobs, program, "0", "differs", OMP_DISPLAY_ENV="verbose",
                                                MARLINE_CLUSTER_PLACEMENT="owner"))  # fmt: skip
    assert iterations >= 20 and parts == 1
    assert whole >= 24, "regions of iterations behind it are no tasks of the program's, either"


def test_regions_of_a_graph_that_reduce_run_at_the_same_time(jobs, compiled, build):
    include = Path(__file__).resolve().parents[3] / "include"
    program = built(compiled, "clang", "cluster_graph_meets.c", f"-I{include}", f"-L{build / 'lib'}", "-lmarline",
                    f"-Wl,-rpath,{build / 'lib'}")  # fmt: skip
    result = jobs.run("-n", 2, "--devices=cluster", "-t", 2, "--", program, OMP_TARGET_OFFLOAD="mandatory")
    assert (result.returncode, result.stdout) == (0, "met=10\n"), result.stderr


def test_graphs_are_not_repeated_where_regions_are_sent_when_they_can_run(jobs, compiled):
    program = built(compiled, "gcc", "cluster_graphs.c")
    assert repeated(cluster(jobs, program, "1", OMP_DISPLAY_ENV="verbose", MARLINE_CLUSTER_SENDS="ready")) == (0, 0, 0)


def test_a_fork_leaves_the_cluster_to_its_parent(jobs, program):
    assert values(cluster(jobs, program, "forked", count=3)) == {"value": "3", "child": "0"}


@pytest.mark.parametrize("writes", ["map", "check"])
def test_writes_by_maps_alone_and_checked(jobs, program, writes):
    assert values(cluster(jobs, program, count=3, MARLINE_CLUSTER_WRITES=writes))["good"] == "1"


# Nodes run one region at a time, and these take long: so the data construct comes while the region is under way.
@pytest.mark.parametrize("kind", ["gcc", "clang"])
@pytest.mark.parametrize("words", [(), ("unordered",)], ids=["ordered", "unordered"])
def test_constructs_without_an_order_are_found(jobs, compiled, kind, words):
    program = built(compiled, kind, "cluster_unordered.c", "-g")
    result = cluster(jobs, program, *words, count=2, MARLINE_CLUSTER_WRITES="check")
    lines = [line for line in said(result) if line.startswith("marline: check: ")]
    assert result.stdout == "good=1\n"
    if not words:
        assert (result.returncode, lines) == (0, [])
        return
    region = r"the target region at \S+"
    data = r"the {} data" + ("" if kind == "gcc" else r" at \S*cluster_unordered.c:\d+")
    order = "and comes neither before nor behind it: order them by depend or taskwait"
    assert result.returncode == 123
    assert len(lines) == 3 and lines[2] == "marline: check: 2 pairs of constructs without an order"
    assert re.fullmatch(rf"marline: check: {data.format('enter')} uses 800 bytes that are mapped from 0x\w+ on, which "
                        rf"{region} maps, {order}", lines[0])  # fmt: skip
    assert re.fullmatch(rf"marline: check: {data.format('exit')} takes away 800 bytes that are mapped from 0x\w+ on, "
                        rf"which {region} uses, {order}", lines[1])  # fmt: skip


@pytest.mark.parametrize("kind", ["gcc", "clang"])
@pytest.mark.parametrize("words", [(), ("ordered",)], ids=["unordered", "ordered"])
def test_what_two_regions_without_an_order_write_is_found(jobs, compiled, kind, words):
    program = built(compiled, kind, "cluster_atomic.c", "-g")
    result = cluster(jobs, program, *words, count=3, MARLINE_CLUSTER_WRITES="check")
    lines = [line for line in said(result) if line.startswith("marline: check: ")]
    if words:
        assert (result.returncode, result.stdout, lines) == (0, "good=1 counted=1\n", [])
        return
    assert (result.returncode, result.stdout) == (123, "good=1 counted=0\n")
    assert len(lines) == 2, lines
    assert re.match(r"marline: check: the target region \S.* has written bytes (\d+) to \1 \(1 of them\) of the \d+ "
                    r"bytes that are mapped from 0x\w+ on, which a construct that has no order to it has written as "
                    r"well: atomic, ", lines[0])  # fmt: skip
    assert re.fullmatch(r"marline: check: \d+ writes? to what another region without an order writes", lines[1])


def test_written_pages_are_found(jobs, program):
    result = cluster(jobs, program, count=3, MARLINE_CLUSTER_WRITES="map,pages")
    if "pages needs Linux 6.7 or later, and " in result.stderr:
        pytest.skip(result.stderr)
    assert values(result)["good"] == "1"
    found = values(cluster(jobs, program, "read_call", count=2, MARLINE_CLUSTER_WRITES="pages"))
    assert found == {"failed": "0", "read": "123"}


# The region writes bytes 800 to 815 of the array; of each integer one byte changes.
def test_writes_that_no_depend_clause_names_are_found(jobs, program):
    result = cluster(jobs, program, "unnamed", count=3, MARLINE_CLUSTER_WRITES="check")
    found = dict(line.split("=", 1) for line in result.stdout.splitlines())
    assert (result.returncode, found["beside"]) == (123, "3")
    line, summary = said(result)
    number = re.search(r"has written bytes (\d+) to (\d+) \(4 of them\) of the \d+ bytes that are mapped from (\w+) on",
                       line)
    assert number is not None, line
    assert int(number[3], 16) + int(number[1]) == int(found["at"], 16) + 800
    assert int(number[2]) == int(number[1]) + 12
    assert line.startswith("marline: check: the target region ")
    assert re.search(", on node [12], has written .*, which its depend clauses do not name$", line)
    assert summary == "marline: check: 1 write that no depend clause names"


def test_what_no_depend_clause_names_is_no_write(jobs, program):
    found = values(cluster(jobs, program, "unnamed", count=3, MARLINE_CLUSTER_WRITES="depend"))
    assert (found["first"], found["second"], found["beside"]) == ("1", "2", "0")


def test_a_region_that_does_not_fit_runs_all_the_same(jobs, compiled):
    result = cluster(jobs, built(compiled, "gcc", "cluster.c"), count=3, MARLINE_CLUSTER_MEMORY="1k")
    assert values(result)["good"] == "1"
    assert any("bytes more on node" in line and "MARLINE_CLUSTER_MEMORY allows" in line for line in said(result))


@pytest.mark.parametrize(("what", "line"), [
    ("crash", "has ended by signal 11 (Segmentation fault)"),
    ("killed", "has gone, so the program cannot go on"),
])  # fmt: skip
def test_a_worker_that_ends_ends_the_job(jobs, compiled, what, line):
    result = cluster(jobs, built(compiled, "clang", "cluster.c", "-g"), what, count=3)
    assert result.returncode != 0
    assert any(line in text for text in said(result)), result.stderr
    assert result.stderr.count(", in the target region at") == (what == "crash")
    assert re.search(r"has gone, .*; it had one task, the target region at \S*cluster\.c:\d+", result.stderr)


def test_a_part_of_the_workers_is_no_cluster(jobs, compiled):
    result = cluster(jobs, built(compiled, "gcc", "cluster.c"), count=3, OMP_AVAILABLE_DEVICES="*[0:2]")
    assert result.returncode != 0
    assert "needs each of the job's 2 workers as one device, but there are 1" in result.stderr


# The program's devices, and its choice among them, are not its nodes'.
@pytest.mark.parametrize("changes", [
    {},
    {"OMP_AVAILABLE_DEVICES": "*[0],*[2],*[1]"},
    {"OMP_AVAILABLE_DEVICES": "uid(cluster),kind(nohost)"},
    {"OMP_DEFAULT_DEVICE": "uid(cluster)"},
])  # fmt: skip
def test_a_target_construct_in_a_region_is_its_nodes(jobs, compiled, changes):
    result = cluster(jobs, built(compiled, "gcc", "cluster.c"), "nested", count=3, **changes)
    assert values(result)["good"] == "1"


def test_a_hint_for_a_node_that_is_not_there_is_an_error(jobs, program):
    result = cluster(jobs, program, "no_such_node", count=3)
    assert result.returncode != 0
    assert "marline_task_node(3): the cluster has the nodes 1 to 2" in result.stderr


def test_a_cluster_of_no_nodes_is_refused(jobs, compiled):
    result = jobs.run("-n", 3, "--devices=cluster:0", built(compiled, "gcc", "cluster.c"))
    assert result.returncode != 0
    assert "needs a number from 1 to 255" in only(result)


def test_a_trace_has_the_nodes_and_what_goes_between_them(jobs, compiled, tmp_path):
    """Kernels lie in the lanes of the nodes that ran them, and what went from node to node has its bytes."""
    program = built(compiled, "gcc", "cluster.c", "-g")
    words = [jobs.command, "trace", "-n", "3", "-t", "2", "--devices=cluster", "--nodes-as=apart", "-o",
             tmp_path / "trace", program, "steps"]  # fmt: skip
    changes = {"OMP_TARGET_OFFLOAD": "mandatory", "MARLINE_CLUSTER_PLACEMENT": "roundrobin"}
    result = subprocess.run([str(word) for word in words], env=clean_environment(**changes), text=True,
                            capture_output=True, timeout=SECONDS, check=True)  # fmt: skip
    steps, octets = 6, 1 << 18
    assert result.stdout == f"value={steps}\n"
    analysis = Analysis(load(tmp_path / "trace"))
    found = analysis["devices"]
    kernels = np.flatnonzero(found.what == KERNEL)
    assert [int(np.sum(found.device[kernels] == device)) for device in range(3)] == [0, steps // 2, steps // 2]
    assert all("cluster.c:" in found.names[name] for name in found.name[kernels].tolist())
    # Each rests on the one before, on the other node.
    assert np.all(found.start[kernels][1:] >= found.end[kernels][:-1])
    assert {UPKEEP, WAIT} <= set(found.what.tolist())
    moved = {(row["from"], row["to"]): row for row in analysis.document("links")}
    assert moved[1, 2]["bytes"] >= octets * steps // 2 and moved[2, 1]["bytes"] >= octets * (steps // 2 - 1)
    assert moved[0, 1]["bytes"] >= octets and moved[2, 0]["bytes"] >= octets
    back = np.flatnonzero((found.what == FROM_DEVICE) & (found.twin >= 0))
    assert (np.all(found.what[found.twin[back]] == TO_DEVICE)
            and np.all(found.other[back] == found.device[found.twin[back]]))  # fmt: skip
    for row in analysis.document("devices"):
        time = row["time"]
        assert time["work_ns"] + time["upkeep_ns"] + time["wait_ns"] + time["idle_ns"] == time["span_ns"]
        assert (time["work_ns"] > 0) == (row["device"] != 0)
    gantt.write_svg(analysis["picture"], tmp_path / "lanes.svg")
    text = (tmp_path / "lanes.svg").read_text()
    for label in ("device 1 (node-1-1) kernels", "device 2 (node-2-2) upkeep, waits", "waits for inputs"):
        assert label in text
    report = subprocess.run([jobs.command, "report", tmp_path / "trace"], text=True, capture_output=True,
                            timeout=SECONDS).stdout
    assert re.search(r"device 1 \(node.* +to device 2 \(node", report), report


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_a_traced_run_sends_ahead(jobs, compiled, compiler, tmp_path):
    """The first region of a chain stops the program's process, and its successors find it stopped (cluster_ahead.c).
    The tasks have their dependences, begin one after the other, and have their work on the nodes."""
    program = built(compiled, compiler, "../../programs/offload/cluster/cluster_ahead.c", "-g", "-ldl")
    words = [jobs.command, "trace", "-n", "4", "-t", "2", "--devices=cluster", "-o", tmp_path / "trace", program]
    changes = {"OMP_TARGET_OFFLOAD": "mandatory", "MARLINE_CLUSTER_PLACEMENT": "roundrobin"}
    result = subprocess.run([str(word) for word in words], env=clean_environment(**changes), text=True,
                            capture_output=True, timeout=SECONDS)  # fmt: skip
    assert result.returncode == 0, result.stderr
    analysis = Analysis(load(tmp_path / "trace"))
    trace, tasks, edges, found = (analysis.trace, *(analysis[name] for name in ("tasks", "edges", "devices")))
    work, task = analysis["device_work"], analysis["kernel_tasks"]
    chain = np.argsort(tasks.created)  # a region that finds the kernel, and six
    assert (len(chain) == 7 and edges.source.tolist() == chain[:-1].tolist()
            and edges.sink.tolist() == chain[1:].tolist())  # fmt: skip
    assert np.all(tasks.end >= tasks.start) and np.all(tasks.start[edges.sink] >= tasks.end[edges.source])
    assert np.all(work > 0) and np.all(tasks.running < work.max())
    begins = trace.select("target_begin")
    handed = dict(zip(tasks.index(trace.task[begins]).tolist(), trace.time[begins].tolist()))
    kernel = {one: int(np.flatnonzero(task == one)[0]) for one in chain.tolist()}
    ends = found.end[[kernel[one] for one in chain.tolist()]]
    assert all(handed[one] < ends[1] for one in chain[2:].tolist())
    assert np.all(found.start[[kernel[one] for one in chain[1:].tolist()]] >= ends[:-1])
    drawn = timeline(analysis)
    rest = ~drawn.arrows.is_message
    assert np.sum(rest) == 6 and np.all(drawn.slices.category[drawn.arrows.source[rest]] == KERNEL_RUN)
    (kind,) = analysis.document("graph")["kinds"]
    assert (kind["tasks"], kind["device_ns"]) == (7, int(work.sum()))
    assert analysis.document("integrity") == {"incomplete": []}


def test_ps_shows_what_each_node_has(jobs, compiled):
    words = [jobs.command, "run", "-n", "3", "-t", "2", "--devices=cluster", built(compiled, "gcc", "cluster.c", "-g"),
             "hangs"]
    program = subprocess.Popen([str(word) for word in words], env=clean_environment(OMP_TARGET_OFFLOAD="mandatory"),
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # fmt: skip
    try:
        pid = program.stdout.readline().strip().removeprefix("pid=")
        until = time.monotonic() + SECONDS
        running = []
        while not running:
            assert time.monotonic() < until
            text = subprocess.run([jobs.command, "ps", pid, "--json", "--seconds", "0.2"], text=True,
                                  capture_output=True).stdout
            (found,) = json.loads(text)["ranks"]
            running = [worker for worker in found["workers"] if worker["kernels"]]
        (node,) = running
        assert "cluster.c:" in node["kernels"][0]["where"]
        assert node["cluster"]["node"] == node["number"] and node["cluster"]["copies"] >= 1
        assert node["cluster"]["bytes"] >= 1 << 20
        assert found["cluster"]["under_way"] >= 1 and found["cluster"]["sent"] >= 1 << 20
        said = subprocess.run([jobs.command, "ps", pid, "--seconds", "0.2"], text=True, capture_output=True).stdout
        text = " ".join(said.split())
        assert re.search(r"cluster: \d+ tasks? under way, \d+ buffers? held", text), text
        assert re.search(r"1 region running, \d+ buffers? held \([0-9.]+ MiB\)", text), text
    finally:
        os.kill(int(pid), signal.SIGKILL)
        program.wait(SECONDS)
        program.stdout.close()


# GPUs of workers ------------------------------------------------------------------------------------------------------


@pytest.fixture
def pointers(build):
    return gpu_program(build, "emulator_device_cluster_pointers")


def test_gpus_are_one_device(jobs, pointers, emulated):
    result = jobs.run("-n", 3, "-t", 2, "--devices=cluster:gpu", pointers, **emulated)
    assert (result.returncode, said(result)) == (0, [])


# Of the regions of a chain, the first one gets the array, and the last one's comes home.
def test_a_chain_stays_on_a_gpu(jobs, build, emulated, tmp_path):
    regions, octets = 20, 1 << 20
    log = tmp_path / "calls"
    chain = gpu_program(build, "emulator_device_cluster_gpu_chain")
    result = jobs.run("-n", 2, "-t", 2, "--devices=cluster:gpu", chain, "chain", regions, octets,
                      **emulated | {"MARLINE_EMULATOR_LOG": str(log)})  # fmt: skip
    assert result.returncode == 0, result.stderr
    calls = log.read_text()
    for way in ("HtoD", "DtoH"):
        moved = sum(int(size) for size in re.findall(rf"cuMemcpy{way}\w*.*?(\d+) bytes", calls))
        assert octets <= moved < 2 * octets, way
    assert calls.count("cuLaunchKernel") == 2 * regions  # each region's, and ours that looks for pointers


# A worker takes one of its node's GPUs. Where the driver does not give the cluster's addresses, the second emulated
# GPU's addresses differ from the first one's, in any process.
@pytest.mark.parametrize(("nodes", "gives", "line"), [
    ("0,1,1", "yes", None),
    ("0,1,2", "no", None),
    ("0,1,1", "no", "have no addresses in common"),
])  # fmt: skip
def test_each_worker_of_a_node_takes_another_gpu(jobs, pointers, emulated, nodes, gives, line):
    result = jobs.run("-n", 3, "-t", 2, "--devices=cluster:gpu", "--nodes-as", nodes, pointers,
                      **emulated | {"MARLINE_EMULATOR_DEVICES": "2", "MARLINE_EMULATOR_ADDRESSES": gives})  # fmt: skip
    assert (result.returncode == 0) == (line is None), result.stderr
    assert line is None or line in result.stderr


def test_workers_that_are_processors_are_no_cluster_of_gpus(jobs, pointers, emulated):
    result = jobs.run("-n", 3, "-t", 2, "--devices=cluster:gpu", pointers, MARLINE_NODE_DEVICES="2", **emulated)
    assert result.returncode != 0
    assert "MARLINE_DEVICES names cluster:gpu, and no worker has a GPU" in result.stderr
