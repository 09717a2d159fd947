# SPDX-License-Identifier: Apache-2.0
"""Ends of threads and processes at which the recorder must lose nothing: threads that are cancelled, many short
threads, and forked children that exit."""
from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import handmade  # noqa: F401  first: it finds marline
from conftest import EXHAUSTIVE, SECONDS
from test_trace_control import Records, build, environment, execute

from marline.trace.read.container import UNIT_BYTES

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


@pytest.mark.parametrize("asks", [True, False], ids=["at its own point", "never"])
def test_a_thread_is_not_cancelled_while_the_recorder_writes(tmp_path: Path, asks: bool) -> None:
    """It has been cancelled before it records. Until it asks, only the recorder's calls could end it. If it never
    asks, it ends as it likes, and the recorder gives back disk space then."""
    records = recorded(tmp_path, r"""
    static pthread_barrier_t cancelled;
    static int finished;
    static void *body(void *unused) {
      pthread_barrier_wait(&cancelled);
      regions(20000);
      finished = 1;
      if (ASKS) pthread_testcancel();
      return unused;
    }
    int main(void) {
      pthread_t thread;
      void *result;
      alarm(120);  /* in place of a wait for a lock that no thread holds any more */
      pthread_barrier_init(&cancelled, 0, 2);
      pthread_create(&thread, 0, body, 0);
      pthread_cancel(thread);
      pthread_barrier_wait(&cancelled);
      pthread_join(thread, &result);
      regions(1);
      return !finished || result != (ASKS ? PTHREAD_CANCELED : 0);
    }
    """.replace("ASKS", str(int(asks))))
    assert_all_there(records, 20001)


SHORT_THREADS = r"""
static void *body(void *unused) {
  regions(1);
  return unused;
}
int main(int count, char **arguments) {
  for (int i = atoi(arguments[1]); i > 0; i--) {
    pthread_t thread;
    pthread_create(&thread, 0, body, 0);
    pthread_join(thread, 0);
  }
  return count != 2;
}
"""


def test_many_short_threads_while_the_packer_has_no_core(tmp_path: Path) -> None:
    """The threads keep the only core busy, so the packer, which has the lowest priority, gets next to none. The file
    stays small all the same: a thread that finds 64 windows before its own compresses that one itself."""
    count = 60_000 if EXHAUSTIVE else 2_000  # a process may have 65,535
    program = build(tmp_path, REGIONS + SHORT_THREADS, "-pthread")
    core = min(os.sched_getaffinity(0))
    result = subprocess.run([program, str(count)], env=environment(tmp_path, "libomp"), capture_output=True, text=True,
                            timeout=SECONDS, check=True,
                            preexec_fn=lambda: os.sched_setaffinity(0, [core]))  # fmt: skip
    assert result.stderr == ""
    (file,) = (tmp_path / "trace").glob("*.mtr")
    assert file.stat().st_size < (1 + 64 + 32 + count // 400) * UNIT_BYTES
    assert_all_there(Records(tmp_path / "trace"), count)


def test_a_forked_child_that_exits_leaves_its_parents_blocks(tmp_path: Path) -> None:
    """The parent has begun a group of blocks when it forks, and goes on in it before the child exits. It fills its
    windows slowly, as only such windows are compressed. Colours at random make a block longer than a page."""
    records = recorded(tmp_path, r"""
    static void slowly(int count) {
      const struct timespec moment = {0, 3000000};
      for (; count > 0; count--) {
        marline_region_begin_rgb("one", (unsigned)rand());
        marline_region_end();
        if (count % 10 == 0) nanosleep(&moment, 0);
      }
    }
    int main(void) {
      int go[2];
      char one;
      if (pipe(go)) return 1;
      slowly(1100);
      pid_t child = fork();
      if (child == 0) {
        close(go[1]);
        exit(read(go[0], &one, 1) != 0);
      }
      slowly(1100);
      int status = 1;
      close(go[1]);
      waitpid(child, &status, 0);
      return status != 0;
    }
    """)
    assert_all_there(records, 2200)
