// SPDX-License-Identifier: Apache-2.0
//
// The interop construct, as GCC 15 and later call it. The devices that GCC's code can have here are not driven by a
// foreign runtime (CUDA, HIP). So each object that a construct makes is omp_interop_none, as in GCC's own runtime for
// such a device. Any thread.
#include "abi/gomp/target/target.hpp"

namespace marline::gomp {

#pragma GCC visibility push(default)
extern "C" {

// Gets objects to make, to use and to destroy, by address if they change. The arguments that describe the new objects
// are ignored. Waits for the dependences even with nowait: the program may use the objects once this returns.
void GOMP_interop(int device, int made, void*** make, const void*, const void*, int, void**, int destroyed,
                  void*** destroy, unsigned, void** depend) {
  Worker* worker = this_worker();
  must_be_host(worker, device);
  if (depend != nullptr) {
    DependenceBuffer dependences;
    decode(dependences, depend);
    taskwait_depend(worker, dependences.list(), dependences.count(), __builtin_return_address(0));
  }
  for (int i = 0; i < made; ++i) *make[i] = nullptr;
  for (int i = 0; i < destroyed; ++i) *destroy[i] = nullptr;
}

}  // extern "C"
#pragma GCC visibility pop

}  // namespace marline::gomp
