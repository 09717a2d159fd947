// SPDX-License-Identifier: Apache-2.0
//
// A program with annotations for Caliper, one of each kind. Two attributes overlap.
#include "caliper.hpp"

static void solve() {
  const cali::Function function("solve");
  const cali::ScopeAnnotation scope("inner");
  cali::Loop loop("sweep");
  {
    cali::Loop inner("step");
    inner.end();
  }
  {
    const cali::ScopeAnnotation after("after the step");
  }
  loop.end();
}

int main() {
  cali_begin_region("assembly");
  cali_end_region("assembly");
  cali_begin_phase("timestep");
  cali_begin_comm_region("halo");
  cali_end_phase("timestep");
  cali_end_comm_region("halo");
  cali_begin_byname("io");
  cali_end_byname("io");
  cali_begin_string_byname("method", "gmres");
  cali_end_byname("method");
  cali_begin_int_byname("level", 7);
  cali_end_byname("level");
  cali_begin_double_byname("tolerance", 0.5);
  cali_end_byname("tolerance");
  cali_begin_string(0, "main loop");
  cali_begin_int(1, 3);
  cali_end(1);
  cali_begin_double(2, 0.25);
  cali_end(2);
  cali_begin(2);
  cali_end(2);
  cali_safe_end_string(0, "main loop");
  solve();
  return 0;  // a plug-in is built of this, too, where main has another name
}
