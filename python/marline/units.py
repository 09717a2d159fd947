# SPDX-License-Identifier: Apache-2.0
"""Numbers as people read them: three significant digits and a unit that fits."""

_TIMES = ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1.0, "ns"))
_COUNTS = ((1e9, "G"), (1e6, "M"), (1e4, "k"))
_SIZES = ((1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
_THOUSAND = 1e3


def duration(nanoseconds: float) -> str:
    """1234567 -> "1.23 ms"."""
    if not nanoseconds:
        return "0 s"
    factor, unit = next(((f, u) for f, u in _TIMES if abs(nanoseconds) >= f), _TIMES[-1])
    return f"{_three_digits(nanoseconds / factor)} {unit}"


def count(value: float) -> str:
    """1234567 -> "1.23 M", 1234 -> "1,234"."""
    for factor, unit in _COUNTS:
        if abs(value) >= factor:
            return f"{_three_digits(value / (_THOUSAND if unit == 'k' else factor))} {unit}"
    return f"{value:,.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.3g}"


def size(octets: float) -> str:
    """8388608 -> "8 MiB", 1000 -> "1000 B"."""
    factor, unit = next(((f, u) for f, u in _SIZES if octets >= f), (1, "B"))
    return f"{octets / factor:.3g} {unit}" if factor > 1 else f"{octets} B"


def plural(number: int, noun: str, exact: bool = False) -> str:
    """3, "task" -> "3 tasks". `exact`: with all digits."""
    return f"{number if exact else count(number)} {noun}{'' if number == 1 else 's'}"


def percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "-"


def _three_digits(value: float) -> str:
    size = abs(value)
    return f"{value:.0f}" if size >= 99.95 else f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"
