# SPDX-License-Identifier: Apache-2.0
"""`bench/lulesh/scaling.py`: the simulation of a cube of ranks against times that a reader can add up, and the whole of
it on small meshes."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS, clean_environment

FOLDER = Path(__file__).resolve().parents[3] / "bench" / "lulesh"
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "python")]
import recorded  # noqa: E402
from simulation import Cycle, Machine, Task, simulate  # noqa: E402

RIGHT, LEFT = (0, 0, 1), (0, 0, -1)  # the last number of a place runs fastest


def link(cycle: Cycle, source: int, sink: int, later: bool = False) -> None:
    (cycle[source].successors_after if later else cycle[source].successors).append(sink)
    if later:
        cycle[sink].waits_before += 1
    else:
        cycle[sink].waits += 1


def chain(*tasks: Task) -> Cycle:
    """One after another, and the next cycle's first after the last."""
    cycle = list(tasks)
    for i in range(1, len(cycle)):
        link(cycle, i - 1, i)
    link(cycle, len(cycle) - 1, 0, later=True)
    return cycle


def fan(step: float, costs: list[float]) -> Cycle:
    """A step, then tasks side by side, all of which the next step waits for."""
    cycle = [Task("step", step), *(Task("work", cost) for cost in costs)]
    for i in range(1, len(cycle)):
        link(cycle, 0, i)
        link(cycle, i, 0, later=True)
    return cycle


def test_a_chain_takes_the_sum():
    found = simulate(1, lambda place: chain(Task("step", 1), Task("a", 10), Task("b", 20)), Machine(4, 5, 1, 0), 4)
    assert found.cycle == 31  # one rank reduces alone
    assert found.busy == pytest.approx(31 * 4 / (31 * 4 * 4))


@pytest.mark.parametrize(("cores", "expected"), [(1, 41), (2, 21), (4, 11), (8, 11)])
def test_tasks_side_by_side_use_the_cores(cores: int, expected: float):
    assert simulate(1, lambda place: fan(1, [10] * 4), Machine(cores, 5, 1, 0), 4).cycle == expected


def test_all_ranks_go_at_the_pace_of_the_slowest_and_the_reduction():
    """8 ranks: three levels, up and down."""
    found = simulate(2, lambda place: chain(Task("step", 1), Task("a", 50 if place == (1, 0, 1) else 10)),
                     Machine(1, 5, 1, 0), 5)  # fmt: skip
    assert found.cycle == 51 + 2 * 3 * 5


def in_a_row(place: tuple[int, int, int], cost: float, bytes_sent: int) -> Cycle:
    """Packs for the right-hand neighbour, computes something else, and then needs the left one's message. The ranks at
    the ends only send or only receive."""
    cycle = [Task("step", 0), Task("send", 1, 2), Task("work", cost), Task("use", 2)]
    for sink in (1, 2):
        link(cycle, 0, sink)
    link(cycle, 2, 3)
    for source in (1, 3):
        link(cycle, source, 0, later=True)
    if place[2] == 0:
        cycle[1].sends = [(RIGHT, 7, bytes_sent)]
    else:
        cycle[3].receives = [(LEFT, 7)]
    return cycle


@pytest.mark.parametrize(("cost", "expected"), [
    (4, 1 + 10 + 100 + 2),  # the message is waited for: sent at 1, 1,000 bytes at 10 per us, 10 us on the way
    (200, 1 + 200 + 2),  # it comes meanwhile, and costs nothing
])  # fmt: skip
def test_a_message_is_hidden_by_work(cost: float, expected: float):
    found = simulate(2, lambda place: in_a_row(place, cost, 1000), Machine(1, 10, 10, 0), 4)
    assert found.cycle == expected + 2 * 3 * 10


def test_messages_leave_one_after_another():
    def of(place: tuple[int, int, int]) -> Cycle:
        cycle = in_a_row(place, 4, 1000)
        for task in cycle:
            task.sends += [(way, tag + 1, size) for way, tag, size in task.sends]
            task.receives += [(way, tag + 1) for way, tag in task.receives]
        return cycle

    assert simulate(2, of, Machine(1, 10, 10, 0), 4).cycle == 1 + 10 + 200 + 2 + 60


def test_creation_takes_a_core_and_goes_ahead():
    """One core: 5 tasks of a cycle take 2 us each to create; on two, creation of the next cycle goes on beside work."""
    alone = simulate(1, lambda place: fan(1, [10] * 4), Machine(1, 0, 1, 2), 4)
    beside = simulate(1, lambda place: fan(1, [10] * 4), Machine(2, 0, 1, 2), 6)
    assert alone.cycle == 41 + 5 * 2
    assert 21 <= beside.cycle <= 21 + 10


def test_one_core_of_a_rank_is_in_mpi():
    cycle = fan(0, [10] * 4)
    for task in cycle[1:3]:
        task.bytes = 1
    assert simulate(1, lambda place: cycle, Machine(4, 0, 1, 0), 4).cycle == 20


def test_higher_priorities_come_first():
    """Two cores; the long task is ready with the short ones, and last by age."""
    cycle = fan(0, [40, 10, 10, 10, 10])
    assert simulate(1, lambda place: cycle, Machine(2, 0, 1, 0), 4).cycle > 40
    cycle[1].priority = 1
    assert simulate(1, lambda place: cycle, Machine(2, 0, 1, 0), 4).cycle == 40


def test_ranks_that_wait_for_ever_are_said():
    cycle = chain(Task("step", 1), Task("a", 1))
    cycle[1].waits += 1
    with pytest.raises(ValueError, match="stand still"):
        simulate(1, lambda place: cycle, Machine(1, 0, 1, 0), 3)


def test_loops_end_with_the_slowest_share():
    """Four blocks on two cores: 1 + 2 against 3 + 4; three blocks: the middle one is cut in halves."""
    cycle = [Task("step", 1), *(Task("forces", us) for us in (1, 2, 3, 4)), *(Task("material", us) for us in (3, 6, 3))]
    loops = recorded.as_loops(cycle, None, 2, 0.5)
    costs = {task.kind: task.cost for task in loops}
    assert (costs["forces"], costs["material"]) == (7.5, 6.5)
    assert simulate(1, lambda place: loops, Machine(1, 0, 1, 0), 3).cycle == 1 + 7.5 + 6.5 + 3 * 0.5


def test_gather_alone_has_accelerated_as_well():
    def run(*cycle: Task) -> recorded.Run:
        return recorded.Run({0: list(cycle)}, 0, 0, 0)

    alone = run(Task("step", 1), Task("gather", 10), Task("move", 5))
    together = run(Task("step", 9), Task("gather", 99), Task("accelerate", 3), Task("move", 99))
    recorded.at_speed_of(alone, together)
    assert [task.cost for task in together.ranks[0]] == [1, 7, 3, 5]


@pytest.mark.parametrize("edge", [2, 3, 5])
def test_each_place_has_the_neighbours_of_the_rank_that_stands_for_it(edge: int):
    def ends(at: int, length: int) -> tuple[bool, bool]:
        return at == 0, at == length - 1

    for rank in range(edge**3):
        place = recorded.place_of(rank, edge)
        other = recorded.place_of(recorded.stands_for(place, edge), 3)
        assert [ends(at, edge) for at in place] == [ends(at, 3) for at in other]


def test_the_whole(build: Path, tmp_path: Path):
    """27 recorded ranks, up to 64 simulated ones."""
    page = tmp_path / "page.md"
    command = [sys.executable, FOLDER / "scaling.py", "--prefix", build, "--weak", "4", "--strong", "12", "--edges",
               "1,2,3,4", "--tasks", "8", "--per-face", "2", "--cores", "4", "--cycles", "4", "--markdown",
               page]  # fmt: skip
    result = subprocess.run(list(map(str, command)), env=clean_environment(), capture_output=True, text=True,
                            timeout=SECONDS, check=False)  # fmt: skip
    assert result.returncode == 0, result.stderr
    rows = [re.findall(r"[^| ][^|]*", line) for line in page.read_text().splitlines() if re.match(r"\| [0-9]", line)]
    assert [(row[0].strip(), row[1].strip()) for row in rows] == [
        ("1", "4^3"), ("8", "4^3"), ("27", "4^3"), ("64", "4^3"), ("27", "4^3"), ("64", "3^3")]  # fmt: skip
    assert all(float(row[2]) > 0 and float(row[3]) > 0 and [row[4].strip(), row[5].strip()] == ["8", "2"]
               for row in rows)
