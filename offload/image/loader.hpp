// SPDX-License-Identifier: Apache-2.0
//
// Visits the loader's list of modules. Any thread.
#pragma once

#include <link.h>

namespace marline::offload::image {

// dl_iterate_phdr, which no thread is executing when the program forks: the C library's lock around the list would stay
// taken in the child. `visit` takes no lock but kPrograms.
int visit_modules(int (*visit)(dl_phdr_info*, size_t, void*), void* data);

}  // namespace marline::offload::image
