# SPDX-License-Identifier: Apache-2.0
"""Ends of threads and processes at which the recorder must lose nothing: threads that are cancelled, many short threads,
and forked children that exit."""
from __future__ import annotations

import subprocess
from pathlib import Path

import handmade  # noqa: F401  first: it finds marline
from test_trace_control import Records, build, execute

REGIONS = r"""
#define _GNU_SOURCE
#include <marline/trace.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static void regions(int count) {
  for (int i = 0; i < count; i++) {
    marline_region_begin("one");
    marline_region_end();
  }
}
"""


def recorded(folder: Path, source: str, **changes: str) -> Records:
    result: subprocess.CompletedProcess[str] = execute(build(folder, REGIONS + source, "-pthread"), **changes)
    assert result.stderr == ""
    return Records(folder / "trace")


def assert_all_there(records: Records, count: int) -> None:
    assert records.trace.cut == []
    assert (records.count["region_begin"], records.count["region_end"]) == (count, count)


def test_a_thread_is_not_cancelled_while_the_recorder_writes(tmp_path: Path) -> None:
    """It has been cancelled before it records. Until it asks, nothing that it calls but the recorder could end it."""
    records = recorded(tmp_path, r"""
    static pthread_barrier_t cancelled;
    static int finished;
    static void *body(void *unused) {
      pthread_barrier_wait(&cancelled);
      regions(20000);
      finished = 1;
      pthread_testcancel();
      return unused;
    }
    int main(void) {
      pthread_t thread;
      void *result;
      pthread_barrier_init(&cancelled, 0, 2);
      pthread_create(&thread, 0, body, 0);
      pthread_cancel(thread);
      pthread_barrier_wait(&cancelled);
      pthread_join(thread, &result);
      regions(1);
      return !finished || result != PTHREAD_CANCELED;
    }
    """)
    assert_all_there(records, 20001)
