# SPDX-License-Identifier: Apache-2.0
"""Where a rank and its workers run, so that no two workers of a node share a core if there are enough. `decide` is a
pure function of the machine, the launcher's masks and the environment: machines that we do not have are tested from
their descriptions. node.py finds out what it needs, and run.py carries out what it says. Standard library only."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from itertools import groupby
from operator import mul

# Lists of CPUs: who writes one has decided where every thread goes.
EXPLICIT = ("GOMP_CPU_AFFINITY", "KMP_AFFINITY")


@dataclass(frozen=True)
class Core:
    """The hardware threads of one core that may be used; its domain is what shares memory and a package with it."""

    cpus: tuple[int, ...]
    domain: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Situation:
    """What one rank finds. `shared` is what the launcher itself may use, and `own` what it left to this rank: the same
    where it does not bind. Without a launcher `ranks` is 0."""

    cores: Sequence[Core]  # of the machine, in the order of its topology
    own: frozenset[int]
    shared: frozenset[int] = frozenset()
    rank: int = 0  # among the ranks of this node
    ranks: int = 0
    threads: int | None = None  # of each rank; None: whatever fits
    batch: bool = False  # a batch system started the rank: CPUs beyond `own` may be another job's
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Placement:
    """`cpus`: what the rank is to be bound to, None: leave it. `variables`: for the program. `note`: for the user."""

    cpus: frozenset[int] | None = None
    variables: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None


def threads_in(environment: Mapping[str, str]) -> int | None:
    """How many threads OMP_NUM_THREADS asks for, with the threads of nested regions."""
    words = [word.strip() for word in environment.get("OMP_NUM_THREADS", "").split(",")]
    numbers = [int(word) for word in words if word.isdecimal() and int(word)]
    return reduce(mul, numbers) if numbers and len(numbers) == len(words) else None


def usable(cores: Sequence[Core], cpus: frozenset[int]) -> list[Core]:
    """The cores with at least one hardware thread among `cpus`, reduced to the hardware threads in `cpus`."""
    left = ((tuple(cpu for cpu in core.cpus if cpu in cpus), core.domain) for core in cores)
    return [Core(some, domain) for some, domain in left if some]


def decide(at: Situation) -> Placement:
    places = at.environment.get("OMP_PLACES", "")
    if "{" in places or any(at.environment.get(name) for name in EXPLICIT):
        return Placement()
    if at.ranks == 0:
        return Placement(note=_crowd(at.threads or 0, len(usable(at.cores, at.own))))
    return _keep(at) if at.batch or at.own != at.shared else _divide(at, usable(at.cores, at.own))


def _keep(at: Situation) -> Placement:
    """The launcher has bound this rank, or must not be overruled."""
    mine = usable(at.cores, at.own)
    wanted = at.threads or len(mine)
    if at.own == at.shared:  # under a batch system that does not bind: what the ranks share may not be ours alone
        note = _crowd(wanted * at.ranks, len(mine)) if at.threads else None
        return Placement(note=note if at.rank == 0 else None)
    if wanted <= len(mine):
        return Placement(variables=_bound_cores(at, wanted, mine))
    if not at.batch:
        everywhere = usable(at.cores, at.shared)
        if at.ranks * wanted <= len(everywhere):
            note = (f"the launcher binds each rank to {_number(len(mine), 'core')}, too few for {wanted} threads: its "
                    f"ranks are bound to {wanted} cores each instead (--no-bind leaves them)")  # fmt: skip
            return _with_note(_divide(at, everywhere), note if at.rank == 0 else None)
    remedy = f", to which the launcher binds it; ask it for {_number(wanted, 'core')} for each rank"
    note = f"on each rank {_crowd(wanted, len(mine))}{remedy}"
    return Placement(note=note if at.rank == 0 else None)


def _divide(at: Situation, cores: list[Core]) -> Placement:
    """All ranks of the node may use all of `cores`."""
    threads = at.threads or max(1, len(cores) // at.ranks)
    workers = at.ranks * threads
    if workers <= len(cores):
        mine = pack(cores, at.ranks, threads)[at.rank]
        return Placement(_cpus(mine), _bound_cores(at, threads, mine))
    note = _crowd(workers, len(cores)) if at.rank == 0 else None
    halves = [Core((cpu,), core.domain) for core in cores for cpu in core.cpus]
    if workers <= len(halves):
        mine = pack(halves, at.ranks, threads)[at.rank]
        note = f"{note}, each on a hardware thread of its own" if note else None
        return Placement(_cpus(mine), _bound_threads(at, threads, "threads"), note)
    if at.ranks > len(cores):
        return Placement(note=note)
    # Ranks, at least, stay out of each other's way.
    mine = cores[at.rank * len(cores) // at.ranks : (at.rank + 1) * len(cores) // at.ranks]
    return Placement(_cpus(mine), note=note)


def pack(cores: Sequence[Core], ranks: int, threads: int) -> list[list[Core]]:
    """`threads` neighbouring cores for each rank; across the border of a domain only if not all ranks fit otherwise."""
    domains = [list(group) for _, group in groupby(cores, key=lambda core: core.domain)]
    inside = [domain[at : at + threads] for domain in domains for at in range(0, len(domain) - threads + 1, threads)]
    if len(inside) >= ranks:
        return inside[:ranks]
    return [list(cores[rank * threads : (rank + 1) * threads]) for rank in range(ranks)]


def _bound_threads(at: Situation, threads: int, level: str) -> dict[str, str]:
    """Each worker on a place of its own, unless the user has said what is to be done, or there is one worker."""
    if threads == 1 or at.environment.get("OMP_PROC_BIND") or at.environment.get("OMP_PLACES"):
        return {}
    return {"OMP_PLACES": level, "OMP_PROC_BIND": "spread"}


def _bound_cores(at: Situation, threads: int, mine: list[Core]) -> dict[str, str]:
    return {**_bound_threads(at, threads, "cores"), **_count(at, mine)}


def _count(at: Situation, mine: list[Core]) -> dict[str, str]:
    """The runtime would start a worker on each hardware thread."""
    return {"OMP_NUM_THREADS": str(len(mine))} if at.threads is None and len(_cpus(mine)) > len(mine) else {}


def _cpus(cores: Sequence[Core]) -> frozenset[int]:
    return frozenset(cpu for core in cores for cpu in core.cpus)


def _crowd(workers: int, cores: int) -> str | None:
    return f"{workers} workers share {_number(cores, 'core')}" if workers > cores > 0 else None


def _number(count: int, what: str) -> str:
    return f"{count} {what}{'s' * (count != 1)}"


def _with_note(placement: Placement, note: str | None) -> Placement:
    return Placement(placement.cpus, placement.variables, note)
