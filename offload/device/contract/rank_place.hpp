// SPDX-License-Identifier: Apache-2.0
//
// Where on its node this process is: its number among the job's ranks there, and the NUMA domain of its CPUs. Any
// thread.
#pragma once

#include "base/share.hpp"

namespace marline::offload::device {

[[nodiscard]] RankPlace read_rank_place();

}  // namespace marline::offload::device
