# SPDX-License-Identifier: Apache-2.0
"""`marline report --sqlite`: what is in the tables, and what the ten queries of docs/guide/sqlite.md answer, of a trace
made by hand with answers worked out by hand, and of a real run beside its report."""
from __future__ import annotations

import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import SECONDS
from handmade import ROOT, A, B, C
from handmade_ranks import D, two_ranks
from handmade_samples import MS, write_sampled
from in_process import document_of, report

PAGE = ROOT / "docs" / "guide" / "sqlite.md"
QUERIES = dict(re.findall(r"^\*\*([^`\n]+?)[.:]?\*\*.*?^```sql\n(.*?)^```",
                          PAGE.read_text().partition("## Ten queries")[2], re.DOTALL | re.MULTILINE))  # fmt: skip


def exported(folder: Path, *words: str) -> sqlite3.Connection:
    file = folder.parent / "out.db"
    result = report(folder, "--sqlite", file, *words)
    assert result.returncode == 0 and f"marline: {file}: SQLite database" in result.stderr, result.stderr
    return sqlite3.connect(file)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> sqlite3.Connection:
    return exported(two_ranks(tmp_path_factory.mktemp("sqlite") / "trace"))


def rows(database: sqlite3.Connection, query: str) -> list[tuple]:
    return database.execute(query).fetchall()


def test_tasks(database: sqlite3.Connection) -> None:
    columns = "number, tasks.rank, name, parent, created_ns, ready_ns, start_ns, end_ns, running_ns, slack_ns, deferred"
    assert rows(database, f"SELECT {columns} FROM tasks JOIN kinds ON kinds.id = kind ORDER BY tasks.id") == [
        (A, 0, "gemm", None, 2, 3, 10, 110, 100, 0, 1), (B, 0, "gemm", None, 4, 110, 130, 180, 50, 0, 1),
        (C, 0, "trsm", None, 6, 6, 20, 60, 40, 150 - (10 + 10 + 20), 1),
        (D, 1, "trsm", None, 1, 1, 10, 100, 90, 150 - (10 + 20 + 50), 1)]  # fmt: skip


def test_edges_calls_messages_and_regions(database: sqlite3.Connection) -> None:
    columns = "source, sink, kind, source_ns, sink_ns, weight_ns"
    assert rows(database, f"SELECT {columns} FROM edges ORDER BY kind, source") == [
        (0, 1, "dependence", 110, 130, 0), (2, 3, "message", 30, 50, 20), (3, 2, "message", 20, 40, 10)]
    columns = "name, kind, task, rank, thread, start_ns, end_ns, held_ns, peer, tag, bytes, returned"
    assert rows(database, f"SELECT {columns} FROM calls ORDER BY start_ns DESC") == [
        ("MPI_Send", "send", 2, 0, 1, 30, 40, 10, 1, 7, 64, 1),
        ("MPI_Recv", "receive", 3, 1, 0, 20, 50, 30, 0, 7, 64, 1)]
    assert rows(database, "SELECT source, target, bytes, sent_ns, received_ns FROM messages") == [(0, 1, 64, 30, 50)]
    assert rows(database, "SELECT name, task, rank, thread, start_ns, end_ns, closed FROM regions") == [
        ("step", None, 0, 0, 1, 200, 1)]


def test_facts_ranks_and_what_bounds_the_run(database: sqlite3.Connection) -> None:
    facts = dict(rows(database, "SELECT key, value FROM trace"))
    assert (facts["format"], facts["program"], facts["arguments"]) == ("marline-sqlite 1", "/there/app", '["7"]')
    assert (facts["begin_ns"], facts["end_ns"]) == ("10", "180")
    assert rows(database, "SELECT rank, host, threads, runtime FROM ranks") == [
        (0, "node", 2, "Marline 9"), (1, "node", 1, "Marline 9")]
    assert rows(database, "SELECT SUM(weight_ns) FROM critical_path") == [(150,)]
    assert rows(database, "SELECT SUM(end_ns - start_ns) FROM chain") == [(170,)]


ANSWERS = {
    "Kinds of tasks by time": [("gemm", 2, 150e-6, 0.075), ("trsm", 2, 130e-6, 0.065)],
    "The ten longest tasks": [(0, "gemm", 0, 10, 100), (3, "trsm", 1, 10, 90), (1, "gemm", 0, 130, 50),
                              (2, "trsm", 0, 20, 40)],
    # A was ready at 3 and began at 10, B at 110 and 130; C at 6 and 20, D at 1 and 10.
    "How long ready tasks waited for a thread": [("gemm", 13.5e-3, 20e-3), ("trsm", 11.5e-3, 14e-3)],
    "What the critical path is made of": [("gemm", "work", 150e-6)],
    "Tasks that may not come later": [("gemm", 2, 2), ("trsm", 0, 2)],
    "Which kinds depend on which": [("gemm", "gemm", 1)],
    # From 10 to 180, in tenths of 17 ns, at the middle of each: A and D, C until 60, then B.
    "How many threads ran a task": [(18, 2), (35, 3), (52, 3), (69, 2), (86, 2), (103, 1), (120, 0), (137, 1), (154, 1),
                                    (171, 1)],
    "Work of each rank": [(0, 190e-6, 190 / 280 * 2), (1, 90e-6, 90 / 280 * 2)],
    "Functions of MPI": [("MPI_Recv", 1, 30e-6, 30e-6, 64), ("MPI_Send", 1, 10e-6, 10e-6, 64)],
    "Late senders": [(0, 1, 1, 64, 1, 10e-6)],
}  # fmt: skip


def test_the_page_has_these_ten_queries() -> None:
    assert list(QUERIES) == list(ANSWERS) and len(ANSWERS) == 10


@pytest.mark.parametrize("name", ANSWERS)
def test_query_of_the_page(database: sqlite3.Connection, name: str) -> None:
    found, expected = rows(database, QUERIES[name]), ANSWERS[name]
    assert len(found) == len(expected)
    assert all(map(same, found, expected)), found


def same(row: tuple, answer: tuple) -> bool:
    return all(one == other if isinstance(other, str) else one == pytest.approx(other)
               for one, other in zip(row, answer, strict=True))  # fmt: skip


def test_the_page_s_tables_are_the_schema_s() -> None:
    check = [sys.executable, ROOT / "tools" / "gen_sqlite_doc.py", "--check"]
    result = subprocess.run(check, capture_output=True, text=True, timeout=SECONDS)
    assert result.returncode == 0, result.stdout


def test_the_database_explains_itself(database: sqlite3.Connection) -> None:
    (statement,) = rows(database, "SELECT sql FROM sqlite_master WHERE name = 'tasks'")[0]
    assert "running_ns INTEGER, -- time on threads, MPI included, waits not" in statement


def test_the_page_s_python_runs(database: sqlite3.Connection, tmp_path: Path) -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    copy = sqlite3.connect(tmp_path / "app.db")
    database.backup(copy)
    copy.close()
    result = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True,
                            timeout=SECONDS, check=True)  # fmt: skip
    assert [line.split()[-1] for line in result.stdout.splitlines()] == ["gemm", "trsm"]


def test_samples(tmp_path: Path) -> None:
    """Their weights add up to the time of their owners, and the innermost functions own what the report says."""
    (tmp_path / "trace").mkdir()
    database = exported(write_sampled(tmp_path / "trace"))
    assert rows(database, "SELECT task, time_ns, weight_ns, owner FROM samples ORDER BY id") == [
        (None, 1 * MS, 2 * MS, "serial code"), (0, 11 * MS, 1 * MS, "task"), (0, 12 * MS, 2 * MS, "task"),
        (0, 13 * MS, 1 * MS, "task"), (None, 22 * MS, 1 * MS, "waits")]  # fmt: skip
    assert rows(database, "SELECT function, file, line FROM frames WHERE sample = 1 ORDER BY place") == [
        ("memcpy", "libc.so.6", 0), ("inner", "/src/app.c", 21), ("middle", "/src/app.c", 20),
        ("body", "/src/app.c", 10)]  # fmt: skip
    own = "SELECT function, SUM(weight_ns) FROM samples JOIN frames ON sample = id WHERE place = 0 GROUP BY function"
    functions = document_of(tmp_path / "trace")["samples"]["functions"]
    assert dict(rows(database, own)) == {row["name"]: row["own_ns"] for row in functions if row["own_ns"]}


def test_a_file_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    result = report(two_ranks(tmp_path / "trace"), "--sqlite", tmp_path / "no" / "out.db")
    assert result.returncode == 125 and result.stdout == ""
    assert result.stderr == f"marline: {tmp_path}/no/out.db: SQLite cannot write it: unable to open database file\n"


def test_a_real_run_says_what_its_report_says(
    marline: Callable[..., subprocess.CompletedProcess[str]], compiled: Callable[..., Path], tmp_path: Path
) -> None:
    folder = tmp_path / "trace"
    result = marline("trace", "-t", "2", "-o", folder, "--", compiled("gcc-12", "analysis_tasks.c", "-fopenmp"))
    assert result.returncode == 0, result.stderr
    document = document_of(folder)
    database = exported(folder)
    for name in ANSWERS:
        rows(database, QUERIES[name])
    assert [row[1:3] for row in rows(database, QUERIES["Kinds of tasks by time"])] == [
        (kind["tasks"], pytest.approx(kind["total_ns"] / 1e6)) for kind in document["kinds"]]
    assert rows(database, "SELECT COUNT(*) FROM edges WHERE kind = 'dependence'") == [(document["graph"]["edges"],)]
    assert rows(database, "SELECT SUM(weight_ns) FROM critical_path") == [(document["critical_path"]["path_ns"],)]
