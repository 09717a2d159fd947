// SPDX-License-Identifier: Apache-2.0
//
// Calls dl_iterate_phdr under a lock that a forking thread takes, too.
#include "image/loader.hpp"

#include "base/forks.hpp"

namespace marline::offload::image {

namespace {

Lock g_lock;
const HeldAcrossForks g_held(g_lock, ForkOrder::kLoader);

}  // namespace

int visit_modules(int (*visit)(dl_phdr_info*, size_t, void*), void* data) {
  Guard guard(g_lock);
  return dl_iterate_phdr(visit, data);
}

}  // namespace marline::offload::image
