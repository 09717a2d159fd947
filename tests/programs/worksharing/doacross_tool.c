/* SPDX-License-Identifier: Apache-2.0
 *
 * What an OMPT tool, here in the program itself, hears of the dependences between iterations: each source, each sink
 * that is in the nest, the sink after its source; one record per loop of the nest, with the iteration's number in it.
 *
 * Covers: ordered(depend:source/sink)
 */
#include "../tool.h"
#include <omp.h>
#include <stdatomic.h>
#include <stdint.h>

enum { kRows = 6, kColumns = 9 };

static _Atomic int sources, sinks, posted[kRows][kColumns];

static void on_dependences(ompt_data_t* task, const ompt_dependence_t* list, int count) {
  CHECK(task != NULL);
  CHECK_EQ(count, 2);
  CHECK_EQ(list[0].dependence_type, list[1].dependence_type);
  uint64_t i = list[0].variable.value, j = list[1].variable.value;
  CHECK(i < kRows && j < kColumns);
  if (list[0].dependence_type == ompt_dependence_type_source) {
    sources++;
    CHECK_EQ(posted[i][j]++, 0);
  } else {
    CHECK_EQ(list[0].dependence_type, ompt_dependence_type_sink);
    sinks++;
    CHECK_EQ(posted[i][j], 1);
  }
}

static void tool_callbacks(ompt_set_callback_t set_callback) {
  CHECK_EQ(set_callback(ompt_callback_dependences, (ompt_callback_t)on_dependences), ompt_set_always);
}

int main(void) {
#pragma omp parallel for ordered(2) schedule(static, 1)
  for (int i = 0; i < kRows; i++)
    for (int j = 0; j < kColumns; j++) {
#pragma omp ordered depend(sink : i - 1, j) depend(sink : i, j - 1)
#pragma omp ordered depend(source)
    }
  CHECK_EQ(sources, kRows * kColumns);
  CHECK_EQ(sinks, (kRows - 1) * kColumns + kRows * (kColumns - 1));
  return 0;
}
