# SPDX-License-Identifier: Apache-2.0
"""The tables of a page, from the report's document; each row with the place that shows it best."""

from __future__ import annotations

from typing import Any

import numpy as np

from marline.report.without_tasks import main_places
from marline.trace.analysis import Analysis
from marline.trace.passes.regions import Marks, Spans
from marline.trace.read.events import CALL_NUMBER
from marline.trace.statistics import group_by
from marline.units import duration

from . import further, places
from .bars import Lanes, Names, Timeline, construct_names
from .graph.kind_graph import kind_graph
from .html import MOST_ROWS, Cell, Row, number, octets, share, table, time, words
from .places import Place
from .sections import flame
from .styles import Styles

MOST_IN_MATRIX = 32  # rows
MOST_STYLES = 8  # columns of the timeline in numbers

Document = dict[str, Any]
_AROUND = ("MPI_Init", "MPI_Init_thread", "MPI_Finalize")


def all_tables(of: Analysis, document: Document, timeline: Timeline, styles: Styles) -> str:
    """A new table is one function and one entry here."""
    lanes = timeline.lanes
    all_ranks = not document["program"]["ranks_left_out"]
    return "".join((
        kinds(of, document, lanes), further.counters(document), flame.functions(document),
        bounds(of, document, lanes) if all_ranks else "",
        outliers(of, document, lanes), kind_graph(of, styles),
        further.loops(of, document, lanes) or loops(of, lanes), regions(of, lanes), locks(document),
        calls(of, document, lanes),
        further.mpi_waits(of, document, lanes), messages(of, lanes),
        further.early_sends(of, document, lanes) if all_ranks else "",
        further.slow_patterns(of, document, lanes), ranks(of, document, lanes), further.nodes(document),
        further.threads(document), devices(of, document, lanes), passes(document), rows_of_timeline(timeline, styles),
    ))  # fmt: skip


def kinds(of: Analysis, document: Document, lanes: Lanes) -> str:
    longest = places.longest_tasks(of, lanes, [row["name"] for row in document["kinds"][:MOST_ROWS]])
    work = sum(row["total_ns"] for row in document["kinds"])
    slack = {row["name"]: row for row in document["critical_path"]["slack"]}
    rows = [Row((words(row["name"]), number(row["tasks"]), time(row["total_ns"]), share(row["total_ns"], work),
                 time(row["total_ns"] / row["tasks"]), time(row["min_ns"]), time(row["max_ns"]),
                 number(slack.get(row["name"], {}).get("critical", 0))), longest.get(row["name"]))
            for row in document["kinds"]]  # fmt: skip
    heads = ("kind", "tasks", "sum", "share", "mean", "shortest", "longest", "critical")
    return table("kinds", "Kinds of tasks", heads, rows, "Critical: tasks that could not end later without a later end "
                 "of the run. \"show\" leads to the longest task.")  # fmt: skip


def bounds(of: Analysis, document: Document, lanes: Lanes) -> str:
    path, where = document["critical_path"], places.longest_steps(of, lanes)
    rows = [Row((words(row["name"]), time(row["total_ns"]), share(row["total_ns"], path["makespan_ns"]),
                 number(row["edges"])), where.get(row["name"])) for row in path["chain"]]  # fmt: skip
    return table("bounds", "What bounded this run", ("part", "time", "share", "steps"), rows,
                 "From the run's end back, each time to what came last of all that was waited for. "
                 "\"show\" leads to the longest step.")  # fmt: skip


def outliers(of: Analysis, document: Document, lanes: Lanes) -> str:
    """The worst of the pass `outliers`, as in the text; its document has them in the order of its tasks."""
    found = document["outliers"]
    where = places.of_tasks(of, lanes, of["outliers"].task[: len(found["worst"])])
    rows = [Row((words(one["name"]), number(one["rank"]), time(one["running_ns"]),
                 Cell(f"{one['times_median']:.1f} x", one["times_median"])), place)
            for one, place in zip(found["worst"], where)]  # fmt: skip
    return table("outliers", "Outliers", ("kind", "rank", "ran", "of its kind's median"), rows,
                 f"The worst of {found['outliers']:,} tasks that took far longer than others of their kind, "
                 f"{duration(found['excess_ns'])} more in all.")  # fmt: skip


def loops(of: Analysis, lanes: Lanes) -> str:
    """By what it is and its line in the source."""
    spans: Spans = of["worksharing"]
    names = Names()
    rows = _rows_of_spans(construct_names(of, names), names.texts, spans, lanes)
    return table("worksharing", "Loops and other worksharing", _SPAN_HEADS, rows, "\"show\" leads to the longest.")


def regions(of: Analysis, lanes: Lanes) -> str:
    spans: Spans = of["regions"]
    rows = _rows_of_spans(spans.name, spans.names, spans, lanes) + _rows_of_marks(of["marks"], lanes)
    return table("regions", "Regions that the program named", _SPAN_HEADS, rows, "Most / mean: of the threads that "
                 "were in it. \"show\" leads to the longest.")  # fmt: skip


_SPAN_HEADS = ("name", "rank", "times", "sum", "mean", "shortest", "longest", "threads", "most / mean")


def _rows_of_spans(name: np.ndarray, texts: list[str], spans: Spans, lanes: Lanes) -> list[Row]:
    length = spans.end - spans.start
    groups = group_by(name, spans.rank)
    longest = np.lexsort((length, spans.rank, name))[np.cumsum(groups.count) - 1] if len(groups.count) else groups.first
    lane = lanes.of_threads(spans.rank, spans.thread)
    by_thread = group_by(name, spans.rank, spans.thread)
    threads = group_by(by_thread.key(name), by_thread.key(spans.rank))
    total = groups.sum(length)
    unequal = threads.max(by_thread.sum(length)) * threads.count / np.maximum(total, 1)
    columns = (groups.key(name), groups.key(spans.rank), groups.count, total, groups.min(length), longest,
               threads.count, unequal)  # fmt: skip
    rows = []
    for one, rank, times, spent, least, row, many, most in zip(*(column.tolist() for column in columns)):
        cells = (words(texts[one]), number(rank), number(times), time(spent), time(spent / times), time(least),
                 time(int(length[row])), number(many), Cell(f"{most:.2f}" if many > 1 else "", most))  # fmt: skip
        rows.append(Row(cells, Place(int(spans.start[row]), int(spans.end[row]), int(lane[row]))))
    return sorted(rows, key=lambda row: -float(row.cells[3].key))


def _rows_of_marks(marks: Marks, lanes: Lanes) -> list[Row]:
    """Moments; each leads to the first one."""
    groups = group_by(marks.name, marks.rank, marks.time)
    by_rank = group_by(groups.key(marks.name), groups.key(marks.rank))
    first = groups.order[groups.first][by_rank.order[by_rank.first]]
    lane = lanes.of_threads(marks.rank, marks.thread)
    none = Cell("", 0)
    return [Row((words(f"{marks.names[name]} (mark)"), number(rank), number(times), *(none,) * 6),
                Place(at, at + 1, one))
            for name, rank, times, at, one in zip(*(column.tolist() for column in (
                marks.name[first], marks.rank[first], by_rank.sum(groups.count), marks.time[first], lane[first])))
            ]  # fmt: skip


def calls(of: Analysis, document: Document, lanes: Lanes) -> str:
    where = places.longest_calls(of, lanes)
    # MPI_Init and MPI_Finalize lie outside of the time that the report is of.
    some = [row for row in document["communication"]["calls"] if row["name"] not in _AROUND]
    whole = sum(row["total_ns"] for row in some)
    most_at = {row["name"]: ", ".join(main_places(row)) for row in document["mpi"]["functions"]}
    rows = [Row((words(row["name"]), words(most_at.get(row["name"], "")), number(row["count"]),
                 time(row["total_ns"]), share(row["total_ns"], whole),
                 time(row["held_ns"]), time(row["suspended_ns"]), time(row["mean_ns"]), time(row["max_ns"]),
                 octets(row["bytes"])), where.get(CALL_NUMBER.get(row["name"], -1))) for row in some]  # fmt: skip
    return table("calls", "MPI calls", ("function", "mostly at", "calls", "sum", "share", "held a thread",
                                        "task suspended", "mean", "longest", "bytes"), rows)  # fmt: skip


def locks(document: Document) -> str:
    rows = [Row((words(one["name"]), number(one["calls"]), time(one["total_ns"])))
            for one in document["locks"]["places"]]  # fmt: skip
    return table("locks", "Locks by source line", ("requested at", "requests", "waited"), rows,
                 "What tasks waited for locks, critical regions and the like, whatever their threads did meanwhile.")


def messages(of: Analysis, lanes: Lanes) -> str:
    pairs = places.message_pairs(of, lanes)
    rows = [Row((number(pair.source), number(pair.sink), number(pair.count), octets(pair.bytes),
                 octets(pair.bytes // pair.count), time(pair.mean_ns)), pair.place)
            for pair in sorted(pairs, key=lambda pair: -pair.bytes)]  # fmt: skip
    listed = table("messages", "Messages by pair of ranks", ("from", "to", "messages", "bytes", "bytes each",
                                                             "mean time"), rows,
                   "From the start of the send to the end of the receive. \"show\" leads to the slowest.")  # fmt: skip
    return _matrix(pairs) + listed


def _matrix(pairs: list[places.Pair]) -> str:
    """Of more ranks than it has room for, neighbours stand together."""
    ends = sorted({pair.source for pair in pairs} | {pair.sink for pair in pairs})
    if len(ends) < 2:
        return ""
    together = -(-len(ends) // MOST_IN_MATRIX)
    blocks = [ends[at : at + together] for at in range(0, len(ends), together)]
    block_of = {end: number for number, block in enumerate(blocks) for end in block}
    of: dict[tuple[int, int], list[places.Pair]] = {}
    for pair in pairs:
        of.setdefault((block_of[pair.source], block_of[pair.sink]), []).append(pair)
    most = max(sum(pair.bytes for pair in some) for some in of.values()) or 1
    names = [str(block[0]) if len(block) == 1 else f"{block[0]}-{block[-1]}" for block in blocks]
    head = "".join(f'<th scope="col" class="n">{name}</th>' for name in names)
    body = "".join(f'<tr><th scope="row" class="n">{name}</th>'
                   + "".join(_matrix_cell(of.get((row, column)), most) for column in range(len(blocks))) + "</tr>"
                   for row, name in enumerate(names))  # fmt: skip
    return ('<section class="card" id="matrix"><h3>Bytes between ranks</h3><div class="scroll"><table class="matrix" '
            'aria-label="Bytes between ranks"><thead><tr><th scope="col">from \\ to</th>'
            f"{head}</tr></thead><tbody>{body}</tbody></table></div></section>\n")  # fmt: skip


def _matrix_cell(pairs: list[places.Pair] | None, most: int) -> str:
    """Leads to the slowest message of the ranks that exchange most."""
    if pairs is None:
        return "<td></td>"
    octets_of, times = sum(pair.bytes for pair in pairs), sum(pair.count for pair in pairs)
    place: Place = max(pairs, key=lambda pair: pair.bytes).place
    return (f'<td class="n heat" style="--heat:{octets_of / most:.3f}"><button type="button" class="jump" data-go="'
            f'{place.start},{place.end},{place.lane}" title="{times:,} messages; show the slowest">'
            f"{octets(octets_of).text}</button></td>")  # fmt: skip


def ranks(of: Analysis, document: Document, lanes: Lanes) -> str:
    rows, where = [], places.of_ranks(of, lanes)
    for row in document["ranks"]:
        whole = row["work_ns"] + row["idle_ns"] + row["overhead_ns"]
        rows.append(Row((number(row["rank"]), number(row["threads"]), time(row["makespan_ns"]),
                         *(share(row[f"{part}_ns"], whole) for part in ("work", "idle", "overhead"))),
                        where.get(row["rank"])))
    return table("ranks", "Ranks", ("rank", "threads", "makespan", "work", "idle", "overhead"), rows)


def devices(of: Analysis, document: Document, lanes: Lanes) -> str:
    rows, where = [], places.longest_kernels(of, lanes)
    for row in document["devices"]:
        spent = row["time"]
        rows.append(Row((number(row["rank"]), words(f"device {row['device']} {row['type']}".strip()),
                         number(row["kernels"]["count"]), time(row["kernels"]["total_ns"]),
                         share(spent["work_ns"], spent["span_ns"]), octets(row["to_device"]["bytes"]),
                         octets(row["from_device"]["bytes"]), share(spent["idle_ns"], spent["span_ns"])),
                        where.get((row["rank"], row["device"]))))
    return table("devices", "Devices", ("rank", "device", "kernels", "sum", "works", "bytes to it", "bytes from it",
                                        "idle"), rows)  # fmt: skip


def rows_of_timeline(timeline: Timeline, styles: Styles) -> str:
    """The timeline in numbers: for who cannot see it, and on paper."""
    main, lanes, named = timeline.layers["main"], timeline.lanes.all, styles.document()
    if not len(main.lane):
        return ""
    time_of = np.bincount(main.lane * len(named) + main.style, weights=main.end - main.start,
                          minlength=len(lanes) * len(named)).reshape(len(lanes), len(named))  # fmt: skip
    total = time_of.sum(axis=0)
    columns = [one for one in np.argsort(-total, kind="stable")[:MOST_STYLES].tolist() if total[one]]
    others = time_of.sum(axis=1) - time_of[:, columns].sum(axis=1)
    has_others = bool(others.any())
    span = int(main.start.min()), int(main.end.max())
    rows = [Row((words(lane.text), *(time(one) for one in time_of[number, columns].tolist()),
                 *((time(float(others[number])),) if has_others else ())), Place(*span, number))
            for number, lane in enumerate(lanes)]  # fmt: skip
    heads = ("row", *(named[one]["name"] for one in columns), *(("all else",) if has_others else ()))
    return table("timeline-rows", "The timeline in numbers", heads, rows, "What each row of the timeline holds.")


def passes(document: Document) -> str:
    rows = []
    for name, result in document["passes"].items():
        for key, value in (result if isinstance(result, dict) else {"": result}).items():
            rows.append(Row((words(f"{name} {key}".rstrip()), words(str(value)))))
    return table("passes", "Your own passes", ("value", "is"), rows)
