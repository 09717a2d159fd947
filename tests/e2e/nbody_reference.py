# SPDX-License-Identifier: Apache-2.0
"""What apps/nbody must compute, a second time and as simply as possible: its cluster of bodies, its steps, its ramp.
For tests/e2e/apps/test_nbody.py; pure functions."""

import itertools
import math
from collections.abc import Iterator

Cluster = list[tuple[float, list[float], list[float]]]  # mass, place and velocity of each body
MASK = (1 << 64) - 1


def mix(x: int) -> int:
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & MASK
    return x ^ (x >> 31)


def numbers(seed: int, body: int) -> Iterator[float]:
    state = mix(seed + 1) ^ mix(body + 1)
    while True:
        state = (state + 0x9E3779B97F4A7C15) & MASK
        yield (mix(state) >> 11) / (1 << 53)


def direction(draw: Iterator[float], length: float) -> list[float]:
    cosine, angle = 2 * next(draw) - 1, 2 * math.pi * next(draw)
    across = length * math.sqrt(1 - cosine * cosine)
    return [across * math.cos(angle), across * math.sin(angle), length * cosine]


def speed(draw: Iterator[float]) -> float:
    while True:
        q, height = next(draw), 0.1 * next(draw)
        if height <= q * q * (1 - q * q) ** 3.5:
            return q


def plummer(seed: int, bodies: int) -> Cluster:
    cluster = []
    for body in range(bodies):
        draw = numbers(seed, body)
        mass = (0.5 + next(draw)) / bodies
        radius = next(r for r in (((1 - x) ** (-2 / 3) - 1) ** -0.5 for x in draw if x > 0) if r <= 10)
        place = direction(draw, radius)
        escape = math.sqrt(2) / (1 + radius * radius) ** 0.25
        cluster.append((mass, place, direction(draw, speed(draw) * escape)))
    return cluster


def accelerations(cluster: Cluster, softening: float) -> list[list[float]]:
    def acceleration(of: list[float]) -> list[float]:
        total = [0.0, 0.0, 0.0]
        for mass, place, _ in cluster:
            apart = [b - a for a, b in zip(of, place)]
            cube = (sum(x * x for x in apart) + softening**2) ** 1.5
            total = [t + mass * x / cube for t, x in zip(total, apart)]
        return total

    return [acceleration(place) for _, place, _ in cluster]


def kick(cluster: Cluster, forces: list[list[float]], time: float) -> None:
    for (_, _, velocity), force in zip(cluster, forces):
        velocity[:] = [v + f * time for v, f in zip(velocity, force)]


def expected_checksum(seed: int, bodies: int, steps: int, dt: float = 0.01) -> float:
    softening = bodies ** (-1 / 3)
    cluster = plummer(seed, bodies)
    forces = accelerations(cluster, softening)
    for _ in range(steps):
        kick(cluster, forces, dt / 2)
        for _, place, velocity in cluster:
            place[:] = [x + v * dt for x, v in zip(place, velocity)]
        forces = accelerations(cluster, softening)
        kick(cluster, forces, dt / 2)
    return math.fsum((1 + i / bodies) * (sum(x) + sum(v)) for i, (_, x, v) in enumerate(cluster))


def share(bodies: int, parts: int, imbalance: float) -> list[int]:
    """How many bodies each part gets by the ramp of apps/nbody/layout.h."""
    if parts == 1:
        return [bodies]
    weights = [(1 + imbalance * (2 * p / (parts - 1) - 1)) / parts for p in range(parts)]
    ends = [math.floor(bodies * sum(weights[:p]) + 1e-9) for p in range(parts)] + [bodies]
    return [b - a for a, b in itertools.pairwise(ends)]
