// SPDX-License-Identifier: Apache-2.0
//
// Finds this process's place on its node: its number among the job's ranks there, and the NUMA domain of its CPUs. Any
// thread may call it.
#pragma once

#include "base/share.hpp"

namespace marline::offload::device {

[[nodiscard]] RankPlace read_rank_place();

}  // namespace marline::offload::device
