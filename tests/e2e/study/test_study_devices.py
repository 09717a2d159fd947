# SPDX-License-Identifier: Apache-2.0
"""studies/b5.yaml, devices.yaml, nodes.yaml, cluster.yaml, cluster_links.yaml and rtm.yaml on the real programs, cut to
a few points: LLVM's runtime and Marline meet the same devices, every figure is there, and the programs have checked
what the devices did."""

import json
from pathlib import Path

import pytest
import study_fake
from conftest import run

STUDIES = Path(__file__).resolve().parents[3] / "studies"


def measured(build: Path, folder: Path, study: str, *points: tuple[str, ...]) -> dict[tuple[str, str], dict]:
    """Cells by program and figure, after a run of these points alone; of each program one input is run."""
    for program in ("bench/device/device-b5-gpu", "bench/device/device-regions-cpu", "lib/marline/emulator/libcuda.so"):
        if not (build / program).exists():
            pytest.skip(f"{program} is not built")
    result = study_fake.measured(STUDIES / study, folder, build, *points)
    assert result.returncode == 0, result.stdout + result.stderr
    result = run([build / "bin" / "marline", "study", STUDIES / study, "--quick", "-o", folder, "--report-only"])
    assert result.returncode == 0, result.stdout + result.stderr
    document = json.loads((folder / "results.json").read_text())
    rows = [row for row in document["results"] if any(cell["status"] == "ok" for cell in row["variants"].values())]
    return {(row["program"], row["figure"]): row["variants"] for row in rows}


def test_b5_meets_emulated_gpus_under_both_runtimes(build, tmp_path):
    """LLVM's runtime with one thread and few helpers; with more threads it sometimes dies of an assertion."""
    cells = measured(build, tmp_path, "b5.yaml", ("fine", "fine=16", "libomp t1 h2"), ("fine", "fine=16", "marline t1"),
                     ("computed", "marline t2"))  # fmt: skip
    for figure in ("b5", "b5_cpu"):
        assert cells["fine", figure]["marline t1"]["samples"][0] > 0
        assert cells["fine", figure]["libomp t1 h2"]["samples"][0] > 0
        assert cells["computed", figure]["marline t2"]["status"] == "ok"


def test_devices_of_all_kinds(build, tmp_path):
    cells = measured(build, tmp_path, "devices.yaml", ("regions", "host t1"), ("process_regions", "process t1"),
                     ("process_behind", "process t1"), ("gpu_updates", "gpu t1"), ("copies", "host t1"))  # fmt: skip
    assert cells["regions", "each"]["host t1"]["status"] == "ok"
    assert cells["process_regions", "memory"]["process t1"]["status"] == "ok"
    assert cells["process_behind", "in_flight"]["process t1"]["samples"] == [1000], "all are under way at a time"
    assert cells["gpu_updates", "in_flight"]["gpu t1"]["samples"] == [1000], "all are under way at a time"
    assert cells["copies", "to_share"]["host t1"]["status"] == "ok"


def test_devices_on_nodes(build, tmp_path):
    cells = measured(build, tmp_path, "nodes.yaml", ("roundtrip", "together"), ("roundtrip_tcp", "loopback"),
                     ("minimod", "devices=2", "apart"), ("xsbench_weak", "devices=2", "together"))  # fmt: skip
    assert cells["roundtrip", "map_8"]["together"]["status"] == "ok"
    assert cells["roundtrip_tcp", "map_8"]["loopback"]["status"] == "ok"
    assert cells["minimod", "step_us"]["apart"]["samples"][0] > 10_000, "kernels sleep for 10 ms"
    assert 0 < cells["xsbench_weak", "efficiency"]["together"]["samples"][0] <= 100


def test_plain_mpi_beside_devices_on_nodes(build, tmp_path):
    for program in ("bench/device/device-messages-openmpi", "apps/minimod-mpi-gcc12-openmpi"):
        if not (build / program).exists():
            pytest.skip(f"{program} is not built")
    cells = measured(build, tmp_path, "nodes.yaml", ("messages_tcp",), ("copies_mpi",), ("start_end",),
                     ("roundtrip_mpi_tcp",), ("minimod_overlap", "MPI"))  # fmt: skip
    assert cells["messages_tcp", "mpi_to_tcp"]["MPI"]["samples"][0] > 0
    assert cells["roundtrip_mpi_tcp", "map_8"]["by MPI"]["status"] == "ok"
    assert cells["copies_mpi", "to"]["by MPI"]["status"] == "ok"
    assert cells["start_end", "node_extra"]["by MPI"]["status"] == "ok"
    assert cells["minimod_overlap", "halos_us"]["MPI"]["samples"][0] > 0


def test_shots_on_threads_and_devices(build, tmp_path):
    cells = measured(build, tmp_path, "rtm.yaml", ("strong_threads", "places=2", "tasks"),
                     ("strong_devices", "places=2", "nodes apart"), ("speed_devices", "processes"))  # fmt: skip
    assert 0 < cells["strong_threads", "efficiency"]["tasks"]["samples"][0] <= 100
    assert 0 < cells["strong_devices", "efficiency"]["nodes apart"]["samples"][0] <= 100
    assert cells["speed_devices", "seconds"]["processes"]["status"] == "ok"


def test_nodes_as_one_device_over_slow_links(build, tmp_path):
    cells = measured(build, tmp_path, "cluster_links.yaml", ("links", "1 GB/s"))
    assert cells["links", "granularity_us"]["1 GB/s"]["samples"][0] >= 5000, "tasks sleep for 5 ms"


def test_nodes_as_one_device(build, tmp_path):
    cells = measured(build, tmp_path, "cluster.yaml", ("patterns", "nodes=2", "cluster"),
                     ("cholesky", "nodes=2", "cluster"), ("steady_50", "cluster, clang"), ("in_flight",))  # fmt: skip
    assert cells["patterns", "granularity_us"]["cluster"]["samples"][0] >= 5000, "tasks sleep for 5 ms"
    assert cells["cholesky", "seconds"]["cluster"]["status"] == "ok"
    assert cells["steady_50", "steady_50"]["cluster, clang"]["samples"][0] >= 50, "tasks spin for 50 us"
    assert cells["in_flight", "in_flight"]["cluster, clang"]["samples"][0] > 0


def test_simulated_clusters(build, tmp_path):
    """Models agree where it is known what they must give; others take no longer for one of many iterations than for one
    alone."""
    cells = measured(build, tmp_path, "cluster_scaling.yaml", ("ccr",), ("weak", "nodes=4"))
    times = {variant: cell["samples"][0] for variant, cell in cells["ccr", "time"].items()}
    assert times["MPI"] <= times["MPI, blocking"] and times["MPI, repeated"] <= times["MPI, blocking, repeated"]
    for variant in ("StarPU-MPI", "MPI", "MPI, blocking"):
        assert times[f"{variant}, repeated"] <= 1.001 * times[variant], variant
    tasks, nodes, milliseconds = 2 * 16 * 32, 16, 50
    assert all(time > 0.9 * tasks / nodes * milliseconds for time in times.values()), "no core does more than it can"
    efficiencies = {variant: cell["samples"][0] for variant, cell in cells["weak", "efficiency"].items()
                    if "samples" in cell}
    assert (all(0 < value <= 100.01 for value in efficiencies.values())
            and efficiencies["replayed"] > efficiencies["OMPC"])  # fmt: skip
