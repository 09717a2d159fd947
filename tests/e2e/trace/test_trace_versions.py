# SPDX-License-Identifier: Apache-2.0
"""Traces of other versions of Marline: records of events that the reader lacks are skipped and told of; whatever it
would misread is refused in one line. The traces are made by hand: a description names the event table by a hash, and
the table lies beside it."""
from __future__ import annotations

import json
from pathlib import Path

import pytest

from handmade import EVENTS, save, suspended_receive  # first: it finds marline
from marline.trace.analysis import Analysis
from marline.trace.read import events, reader

NEW_EVENTS = "900 weather u64 degrees : 64;\n901 tide u64 level : 16; u64 moon : 8;\n"


def write_with(folder: Path, table: str, extra: dict[int, int], keep_table: bool = True) -> Path:
    """The trace of `suspended_receive`, as a recorder with this table writes it. `extra`: events, how many of each."""
    streams = suspended_receive()
    for number, count in extra.items():
        streams[0].records += [(1195, 101 << 16 | number, (1, 2))] * count
    streams[0].records.sort(key=lambda record: record[0])
    table_hash = events.fingerprint(table)
    save(folder, streams, fingerprint=f"{table_hash:016x}")
    if keep_table:
        (folder / f"events.{table_hash:016x}.def").write_text(table)
    return folder


def edited(number: int, line: str) -> str:
    """The table with another line for this number; without it, if the line is empty."""
    lines = [one for one in events.STORED.splitlines(True) if not one.startswith(f"{number} ")]
    return "".join(lines) + line


def test_unknown_events_are_skipped_and_told_of(tmp_path: Path) -> None:
    trace = reader.read_trace(write_with(tmp_path, events.STORED + NEW_EVENTS, {900: 3, 901: 1}))
    known = reader.read_trace(save(tmp_path, suspended_receive()))
    assert trace.skipped == {"weather": 3, "tide": 1} and known.skipped == {}
    for column in ("time", "kind", "task", "thread", "payload"):
        assert (getattr(trace, column) == getattr(known, column)).all()
    told = [line for line in Analysis(trace)["integrity"].incomplete if "does not know" in line]
    assert told == ["4 records of events that this version of Marline does not know, skipped: tide (1), weather (3)"]
    assert not [line for line in Analysis(known)["integrity"].incomplete if "does not know" in line]


def test_table_of_an_older_recorder_lacks_events(tmp_path: Path) -> None:
    number = EVENTS["region_end"].number
    trace = reader.read_trace(write_with(tmp_path, edited(number, ""), {}))
    assert len(trace.time) == 8 + 5 and trace.skipped == {}
    with pytest.raises(reader.TraceError, match=f"unknown event number {number}: the file is damaged"):
        reader.read_trace(write_with(tmp_path, edited(number, ""), {number: 1}))


def test_event_with_other_fields_is_refused(tmp_path: Path) -> None:
    number = EVENTS["region_begin"].number
    table = edited(number, f"{number} region_begin u64 color : 32; u64 text : 64;\n")
    assert len(reader.read_trace(write_with(tmp_path, table, {})).time) == 8 + 5  # there is no such record
    with pytest.raises(reader.TraceError) as error:
        reader.read_trace(write_with(tmp_path, table, {number: 1}))
    assert f"event {number} is 'region_begin u64 color : 32; u64 text : 64;' in this trace" in str(error.value)
    assert "read it with the version of Marline that wrote it" in str(error.value)


def test_call_of_another_name_is_refused(tmp_path: Path) -> None:
    with pytest.raises(reader.TraceError, match="MPI call 1 is 'MPI_Other send' in this trace and 'MPI_Send send' in"):
        reader.read_trace(write_with(tmp_path, edited(1, "1 MPI_Other send\n") + events.STORED.splitlines(True)[0], {}))


@pytest.mark.parametrize(("damage", "message"), [("lost", "cannot be read"), ("changed", "damaged: copy it from")])
def test_table_that_is_not_there(tmp_path: Path, damage: str, message: str) -> None:
    table = events.STORED + NEW_EVENTS
    write_with(tmp_path, table, {}, keep_table=damage == "changed")
    if damage == "changed":
        (tmp_path / f"events.{events.fingerprint(table):016x}.def").write_text(table + " ")
    with pytest.raises(reader.TraceError) as error:
        reader.read_trace(tmp_path)
    assert message in str(error.value) and len(str(error.value).splitlines()) == 1


@pytest.mark.parametrize("version", [1, 2])
def test_trace_of_an_older_format_is_refused(tmp_path: Path, version: int) -> None:
    save(tmp_path, suspended_receive())
    path = tmp_path / "rank0000.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"format": f"marline-trace {version}"}))
    with pytest.raises(reader.TraceError) as error:
        reader.read_trace(tmp_path)
    told = (f"format 'marline-trace {version}', expected 'marline-trace 3': read it with the version of Marline that "
            "wrote it")
    assert told in str(error.value)
    assert len(str(error.value).splitlines()) == 1
