# SPDX-License-Identifier: Apache-2.0
"""Medians, spreads and bootstrap confidence intervals. Pure; every random draw comes from a seed that the caller names,
so that a report made twice from the same runs is the same.

Percentile bootstrap (Efron 1979): the runs are drawn anew with replacement, the figure is computed of each draw, and
the interval is what the middle 95 % of these figures span. With very few runs it cannot be wider than the runs are."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

RESAMPLES = 2000
TAILS = (2.5, 97.5)  # per cent
FEWEST_PAIRS = 5


@dataclass(frozen=True)
class Spread:
    """Of one point's runs. `deviation` is the median absolute deviation, low and high the median's interval."""

    median: float
    deviation: float
    lower_quartile: float
    upper_quartile: float
    low: float
    high: float


@dataclass(frozen=True)
class Ratio:
    """A figure over the baseline's."""

    value: float
    low: float
    high: float
    baseline: str


def generator(name: str) -> np.random.Generator:
    return np.random.default_rng(zlib.crc32(name.encode()))


def draws(count: int, random: np.random.Generator, resamples: int = RESAMPLES) -> np.ndarray:
    """Row r names the runs of draw r."""
    return random.integers(0, count, (resamples, count))


def medians_of_draws(samples: Sequence[float], random: np.random.Generator) -> np.ndarray:
    values = np.asarray(samples, dtype=float)
    return np.median(values[draws(len(values), random)], axis=1)


def interval(values: np.ndarray) -> tuple[float, float]:
    low, high = np.percentile(values, TAILS)
    return float(low), float(high)


def spread(samples: Sequence[float], name: str) -> Spread:
    values = np.asarray(samples, dtype=float)
    middle = float(np.median(values))
    lower, upper = np.percentile(values, (25, 75))
    low, high = interval(medians_of_draws(values, generator(name)))
    return Spread(middle, float(np.median(np.abs(values - middle))), float(lower), float(upper), low, high)


def ratio(samples: Sequence[float], base: Sequence[float], name: str, baseline: str,
          pairs: Sequence[tuple[float, float]] = ()) -> Ratio | None:  # fmt: skip
    """None where it means nothing: one run has no interval, and a baseline must be positive in every draw. `pairs`:
    figures of neighbouring runs. With enough of them the median of their ratios is taken: a machine that is slower for
    a while is slower for both."""
    if min(len(samples), len(base)) < 2:
        return None
    random = generator(name)
    if len(pairs) >= FEWEST_PAIRS and min(under for _, under in pairs) > 0:
        ratios = [over / under for over, under in pairs]
        return Ratio(float(np.median(ratios)), *interval(medians_of_draws(ratios, random)), baseline)
    over, under = medians_of_draws(samples, random), medians_of_draws(base, random)
    if np.min(under) <= 0:
        return None
    return Ratio(float(np.median(samples) / np.median(base)), *interval(over / under), baseline)
