// SPDX-License-Identifier: Apache-2.0
//
// The regions of a persistent graph's iteration, as they were submitted to the device one by one. The regions of a
// later iteration are compared with them: if only values that are passed as arguments have changed, the device needs
// only these values. Used by the producer's thread.
#pragma once

#include "submission/observe/region_comparison.hpp"

namespace marline::offload::submission {

using namespace cluster;
using namespace data;
using namespace device;

class KnownRegions {
 public:
  void clear() {
    regions_.clear();
    items_.clear();
    descriptors_.clear();
    own_bytes_.clear();
  }

  // Adds the next region. False: each run of the region needs new private copies on the device.
  [[nodiscard]] bool add(const CapturedTask& task);

  // Whether the task is the known region with number `step`, except for the arguments that are added to `changed`.
  [[nodiscard]] bool is_same(uint64_t step, const marline_target_task_t& reported, List<ChangedWord>& changed);
  [[nodiscard]] bool has_leading_null(uint64_t step) const { return regions_[step].invocation.leading_null; }

 private:
  List<KnownRegion> regions_;
  List<KnownItem> items_;
  Descriptors descriptors_;
  List<char> own_bytes_;
};

}  // namespace marline::offload::submission
