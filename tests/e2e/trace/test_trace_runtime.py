# SPDX-License-Identifier: Apache-2.0
"""The recorder under a made-up OMPT runtime that does what a suspending runtime does and LLVM's does not: a task leaves
its thread, goes on on another, and has a label and a colour from `marline_task_info`. What the runtime said is read.
"""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SECONDS

ROOT = Path(__file__).resolve().parents[3]
BUILD = Path(os.environ.get("MARLINE_BUILD", ROOT / "build" / "release"))
HEADERS = Path("/usr/lib/llvm-19/lib/clang/19/include")
sys.path.insert(0, str(ROOT / "python"))

from marline.trace.passes import picture  # noqa: E402
from marline.trace.read import reader  # noqa: E402
from marline.trace.read.calls import mpi_calls  # noqa: E402

RUNTIME = r"""
#include <dlfcn.h>
#include <omp-tools.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static ompt_callback_t callbacks[64];
static char label[64];

static ompt_set_result_t set_callback(ompt_callbacks_t which, ompt_callback_t function) {
  callbacks[which] = function;
  return ompt_set_always;
}
static int task_info(const char **text, uint32_t *color) {
  *text = label;
  *color = 0xabcdef;
  return label[0] != 0;
}
static ompt_interface_fn_t lookup(const char *name) {
  if (!strcmp(name, "ompt_set_callback")) return (ompt_interface_fn_t)set_callback;
  return strcmp(name, "marline_task_info") ? 0 : (ompt_interface_fn_t)task_info;
}

static void pass_time(void) { nanosleep(&(struct timespec){0, 1000000}, 0); }
static void create(ompt_data_t *parent, ompt_data_t *task, const char *text) {
  strcpy(label, text);
  const void *code = (void *)create;
  ((ompt_callback_task_create_t)callbacks[ompt_callback_task_create])(parent, 0, task, ompt_task_explicit, 0, code);
}
static void schedule(ompt_data_t *prior, ompt_task_status_t status, ompt_data_t *next) {
  ((ompt_callback_task_schedule_t)callbacks[ompt_callback_task_schedule])(prior, status, next);
  pass_time();
}
static void implicit(ompt_scope_endpoint_t end, ompt_data_t *task, unsigned index) {
  static ompt_data_t parallel = {77};
  const int flags = ompt_task_implicit;
  ((ompt_callback_implicit_task_t)callbacks[ompt_callback_implicit_task])(end, &parallel, task, 2, index, flags);
}

static ompt_data_t one, other, worker;

static void *second_thread(void *unused) {
  implicit(ompt_scope_begin, &worker, 1);
  schedule(&worker, ompt_task_switch, &one);   /* `one` goes on here */
  schedule(&one, ompt_task_complete, 0);       /* and leaves the thread to nobody */
  implicit(ompt_scope_end, &worker, 1);
  return unused;
}

int main(int argc, char **argv) {
  void *recorder = dlopen(argv[1], RTLD_NOW);
  ompt_start_tool_result_t *(*start)(unsigned, const char *) = dlsym(recorder, "ompt_start_tool");
  ompt_start_tool_result_t *tool = start(202011, "a \"quoted\"\n runtime");
  if (!tool || argc != 2) return 1;
  tool->initialize((ompt_function_lookup_t)lookup, 0, &tool->tool_data);
  ompt_data_t own = {0};
  pthread_t thread;
  implicit(ompt_scope_begin, &own, 0);
  create(&own, &one, "a label of more than sixteen bytes");
  create(&own, &other, "exactly 16 bytes");
  schedule(&own, ompt_task_switch, &one);
  schedule(&one, ompt_task_switch, &other);    /* `one` is suspended, `other` runs */
  pthread_create(&thread, 0, second_thread, 0);
  pthread_join(thread, 0);
  schedule(&other, ompt_task_detach, &own);    /* its body is over, */
  schedule(&other, ompt_task_late_fulfill, 0); /* it completes later, and that moves no thread */
  create(&own, &(ompt_data_t){0}, "");
  implicit(ompt_scope_end, &own, 0);
  tool->finalize(&tool->tool_data);
  return 0;
}
"""


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> picture.Picture:
    folder = tmp_path_factory.mktemp("runtime")
    (folder / "runtime.c").write_text(RUNTIME)
    subprocess.run(["gcc-12", "-idirafter", HEADERS, "runtime.c", "-o", "runtime", "-pthread"], cwd=folder, check=True)
    recorder = BUILD / "lib" / "marline" / "libmarline-trace.so"
    subprocess.run([folder / "runtime", recorder], env={**os.environ, "MARLINE_TRACE_DIR": "trace"}, cwd=folder,
                   check=True, timeout=SECONDS)
    return picture.interpret(reader.read_trace(folder / "trace"))


def test_task_that_changes_its_thread(drawn: picture.Picture) -> None:
    one, other, last = drawn.tasks.id.tolist()
    runs = drawn.runs
    where = [(int(task), int(thread)) for task, thread in zip(runs.task, runs.thread) if task in (one, other)]
    assert where == [(one, 1), (other, 1), (one, 2)]
    assert drawn.suspensions.task.tolist() == [one]
    # Suspended from the second task's start to the begin of its run on the second thread.
    begin, end = drawn.suspensions.start[0], drawn.suspensions.end[0]
    assert begin == runs.start[runs.task == other][0] and end == runs.start[(runs.task == one) & (runs.thread == 2)][0]
    assert end - begin >= 1_000_000
    assert drawn.tasks.start[2] == -1 and drawn.tasks.end[2] == -1 and last


def test_nobody_runs_after_a_completion_without_a_next_task(drawn: picture.Picture) -> None:
    on_second = drawn.runs.thread == 2
    assert drawn.runs.end[on_second].max() == drawn.tasks.end[0]
    implicit_end = drawn.trace.time[drawn.trace.select("implicit_end")]
    assert drawn.tasks.end[0] + 1_000_000 <= implicit_end.max()


def test_late_fulfilment_completes_and_moves_nobody(drawn: picture.Picture) -> None:
    other = drawn.tasks.id[1]
    body_end = drawn.runs.end[drawn.runs.task == other][0]
    assert drawn.tasks.end[1] >= body_end + 1_000_000
    later = (drawn.runs.thread == 1) & (drawn.runs.start >= body_end)
    assert int(later.sum()) == 1 and drawn.runs.task[later][0] not in drawn.tasks.id


def test_labels_and_colors(drawn: picture.Picture) -> None:
    names = [drawn.kind_names[kind] for kind in drawn.kind_of_task]
    assert names[:2] == ["a label of more than sixteen bytes", "exactly 16 bytes"]
    assert "label" not in names[2] and drawn.tasks.label[2] == 0
    assert drawn.kind_colors[drawn.kind_of_task[0]] == "#abcdef"


def test_description_escapes_what_the_runtime_says(drawn: picture.Picture) -> None:
    description = drawn.trace.ranks[0]
    assert description["runtime"] == 'a "quoted"\n runtime' and description["omp_version"] == 202011


def test_waits_table_is_empty(drawn: picture.Picture) -> None:
    assert not drawn.runs.waits.any() and len(mpi_calls(drawn.trace).call) == 0
