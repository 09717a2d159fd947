// SPDX-License-Identifier: Apache-2.0
//
// How often constructs map one map entry. A construct adds one at its begin, and subtracts one at its end, however many
// of its items lie in the entry (OpenMP 5.2, 5.8.3). References of target regions are counted separately, so that
// `delete` does not remove an entry that a region of another task uses: the entry goes when the region ends. References
// of maps with the hold modifier are counted separately, too. Guarded by the lock of the data environment.
#pragma once

#include "base/list.hpp"
#include "data/order/submission_order.hpp"
#include "items/items.hpp"

#include <algorithm>

namespace marline::offload::data {

using namespace items;

// A construct that begins or ends, under the lock.
struct PlannedConstruct {
  uint64_t number = 0;  // from 1 on; each begin and each end has its own
  bool of_region = false;
  Source source;                           // where it is in the program
  const SubmissionOrder* order = nullptr;  // set while an early-submitted exit data is planned
};

class ReferenceCounts {
 public:
  [[nodiscard]] uint64_t total() const { return references_ + regions_ + holds_; }
  // Whether a construct finds no references now. `order`: of an early-submitted construct, for which the references of
  // regions that it is ordered after do not count.
  [[nodiscard]] bool is_zero(const SubmissionOrder* order = nullptr) const {
    if (is_permanent_) return false;
    uint64_t over = 0;
    if (order != nullptr) {
      for (uint64_t user : users_) over += order->is_after(user) ? 1 : 0;
    }
    return total() == over;
  }
  // Whether the entry is permanent or has references other than from regions, such as from an enter data.
  [[nodiscard]] bool is_kept() const { return references_ + holds_ != 0 || is_permanent_; }
  // Whether the end of one map of this type removes all references that are not of regions.
  [[nodiscard]] bool ends_with(uint64_t type) const {
    return !is_permanent_ && holds_ == 0 && ((type & map_type::kDelete) != 0 || references_ <= 1);
  }
  [[nodiscard]] bool is_permanent() const { return is_permanent_; }
  // The entry of a declare target variable, or of associated memory, stays without references.
  void make_permanent() { is_permanent_ = true; }

  // Adds the construct's reference. False: an earlier item of the construct has added it.
  bool add(const PlannedConstruct& by, uint64_t type) {
    if (!is_first(by, type)) return false;
    ++count_for(by, type);
    return true;
  }
  // Subtracts the construct's reference, or, with `delete`, all references that are not of regions in progress.
  void subtract(const PlannedConstruct& by, uint64_t type) {
    if ((type & map_type::kDelete) != 0) {
      references_ = 0;
    } else if (is_first(by, type)) {
      uint64_t& count = count_for(by, type);
      count -= count != 0;
    }
  }

  // The tasks of the early-submitted regions that are counted.
  [[nodiscard]] const List<uint64_t, 1>& users() const { return users_; }
  void add_user(uint64_t task) { users_.push(task); }
  [[nodiscard]] bool has_user(uint64_t task) const {
    return std::find(users_.begin(), users_.end(), task) != users_.end();
  }
  // Subtracts the reference of a user. Returns how many references of regions are left.
  uint64_t subtract_user(uint64_t task) {
    *std::find(users_.begin(), users_.end(), task) = users_.back();
    users_.pop();
    return --regions_;
  }
  // Whether the construct is not counted yet. It counts from now on.
  bool is_first(const PlannedConstruct& by, uint64_t type) {
    uint64_t& last = (type & map_type::kHold) != 0 ? held_by_ : counted_by_;
    bool first = last != by.number;
    last = by.number;
    return first;
  }

 private:
  [[nodiscard]] uint64_t& count_for(const PlannedConstruct& by, uint64_t type) {
    if ((type & map_type::kHold) != 0) return holds_;
    return by.of_region ? regions_ : references_;
  }

  uint64_t references_ = 0;
  uint64_t regions_ = 0;     // number of references of regions in progress
  uint64_t holds_ = 0;       // number of references of maps with the hold modifier
  uint64_t counted_by_ = 0;  // number of the construct that last changed `references_` or `regions_`
  uint64_t held_by_ = 0;     // the same for `holds_`
  bool is_permanent_ = false;
  List<uint64_t, 1> users_;
};

}  // namespace marline::offload::data
