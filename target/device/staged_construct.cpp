// SPDX-License-Identifier: Apache-2.0
//
// See the header. A staged range is a node of a tree by the host's addresses. Those who wait for it are in a list of its
// own; all of them look again when it is filled and when it goes.
//
// No deadlock: a construct waits for ranges of others before it has any; then for ranges that it shares, which were there
// before its own; then for pinned memory, whose holders wait for their device only.
#include "device/staged_construct.hpp"

#include "base/ranges.hpp"
#include "base/report.hpp"
#include "device/llvm_library.hpp"
#include "device/pinned.hpp"
#include "device/staging_pool.hpp"
#include "device/wait.hpp"
#include "image/images.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::target {

namespace {

// Drivers copy that much themselves on the way to the device, and return (NVIDIA, as above).
constexpr int64_t kDriverStages = 64 << 10;
constexpr int kMostItems = 64;  // of a construct that is staged: each is compared with each

struct Waiter {
  marline_event_t event;
  Waiter* next;
};

}  // namespace

struct StagedRange : Range {
  char* block;  // null: there is no pinned memory, and the range is mapped as it is
  int users;
  bool filled;  // with what the host has
  bool ready;   // the block is there
  Waiter* waiters;
};

namespace {

struct OfDevice {
  Lock lock;
  Ranges staged;
  StagedConstruct* calls = nullptr;  // in libomptarget just now
  std::atomic<uint32_t> modules{0};  // whose variables libomptarget knows; whoever races asks it once more
};
OfDevice g_devices[kMaxImageDevices];

OfDevice& of(const Device* device) { return g_devices[device->number]; }

uintptr_t begin_of(const Items& items, int item) { return reinterpret_cast<uintptr_t>(items.begins[item]); }

// An empty section names a place, too.
uintptr_t end_of(const Items& items, int item) {
  return begin_of(items, item) + static_cast<uintptr_t>(items.sizes[item] > 0 ? items.sizes[item] : 1);
}

bool has_address(const Items& items, int item) {
  return (items.types[item] & (map_type::kLiteral | map_type::kNonContiguous)) == 0 && items.begins[item] != nullptr;
}

bool is_mapped(Device* device, uintptr_t address) {
  using Ask = int (*)(const void*, int);
  static std::atomic<Ask> known{nullptr};  // any thread writes the same value
  Ask ask = known.load(std::memory_order_relaxed);
  if (ask == nullptr) {
    ask = reinterpret_cast<Ask>(llvm_routine("omp_target_is_present"));
    known.store(ask, std::memory_order_relaxed);
  }
  return ask(reinterpret_cast<const void*>(address), llvm_number(device)) != 0;
}

// It maps the `declare target` variables of images at the first construct behind their registration.
void let_it_map_globals(Device* device) {
  std::atomic<uint32_t>& known = of(device).modules;
  uint32_t now = module_changes();
  if (known.load(std::memory_order_relaxed) == now) return;
  using Begin = void (*)(void*, int64_t, int32_t, void**, void**, int64_t*, int64_t*, void**, void**);
  auto begin = reinterpret_cast<Begin>(llvm_routine("__tgt_target_data_begin_mapper"));
  begin(nullptr, llvm_number(device), 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  known.store(now, std::memory_order_relaxed);
}

void wake(Waiter* waiter) {
  while (waiter != nullptr) {
    Waiter* next = waiter->next;  // it may be gone behind the fulfilment
    marline_event_fulfill(&waiter->event);
    waiter = next;
  }
}

void add_waiter(StagedRange* range, Waiter& waiter) {
  waiter.next = range->waiters;
  range->waiters = &waiter;
}

bool has_same_bytes(const StagedRange* range, const Items& items, int item) {
  return range->begin == begin_of(items, item) && range->end == end_of(items, item);
}

}  // namespace

StagedConstruct::StagedConstruct(Device* device, const Items& items, bool may_stage) : device_(device), items_(items) {
  if (StagingPool::limit() == 0) return;
  if (may_stage && items.count <= kMostItems) choose_candidates();
  if (candidates_.count() != 0) let_it_map_globals(device);
  enter();
  if (!is_staged()) return;
  wait_for_shared();
  fill();
  substitute();
}

StagedConstruct::StagedConstruct(StagedConstruct& other, PiecesOnly) : device_(other.device_), items_(other.items_) {
  for (const Piece& piece : other.staged_) staged_.push(piece);
}

bool StagedConstruct::is_plain(int item) const {
  using namespace map_type;
  constexpr uint64_t kOthers = kAlways | kDelete | kPointerAndObject | kReturn | kPrivate | kLiteral | kClose | kPresent |
                               kHold | kAttach | kNonContiguous;
  uint64_t type = items_.types[item];
  int64_t bytes = items_.sizes[item];
  bool moves = (type & kFrom) != 0 || ((type & kTo) != 0 && bytes > kDriverStages);
  bool mapper = items_.mappers != nullptr && items_.mappers[item] != nullptr;
  return moves && (type & kOthers) == 0 && !is_member(type) && !mapper && bytes > 0 && items_.begins[item] != nullptr;
}

// No other item of the construct is about one of its bytes.
bool StagedConstruct::is_apart(int item) const {
  uintptr_t begin = begin_of(items_, item), end = end_of(items_, item);
  for (int other = 0; other < items_.count; ++other) {
    if (other == item || !has_address(items_, other)) continue;
    auto base = reinterpret_cast<uintptr_t>(items_.bases[other]);
    bool overlaps = begin_of(items_, other) < end && end_of(items_, other) > begin;
    if (overlaps || (base >= begin && base < end)) return false;
  }
  return true;
}

void StagedConstruct::choose_candidates() {
  size_t sum = 0;
  for (int i = 0; i < items_.count; ++i) {
    if (!is_plain(i)) continue;
    size_t bytes = StagingPool::size_of(static_cast<size_t>(items_.sizes[i]));
    if (sum + bytes > StagingPool::limit() || !is_apart(i)) continue;
    if (is_pinned(items_.begins[i], static_cast<size_t>(items_.sizes[i]))) continue;
    sum += bytes;
    candidates_.push(i);
  }
}

// The first staged range that this construct has to wait for. Under the lock.
StagedRange* StagedConstruct::conflict() {
  Ranges& staged = of(device_).staged;
  if (staged.root() == nullptr) return nullptr;
  if (maps_anything_) return static_cast<StagedRange*>(staged.root());
  for (int i = 0; i < items_.count; ++i) {
    if (!has_address(items_, i)) continue;
    auto* found = static_cast<StagedRange*>(staged.first_overlap(begin_of(items_, i), end_of(items_, i)));
    if (found == nullptr) continue;
    bool fits = false;
    for (int candidate : candidates_) fits = fits || candidate == i;
    bool needs_filled = (items_.types[i] & map_type::kTo) != 0;
    if (!fits || !has_same_bytes(found, items_, i) || (needs_filled && !found->filled)) return found;
  }
  return nullptr;
}

bool StagedConstruct::maps_directly(uintptr_t begin, uintptr_t end) {
  if (maps_anything_) return true;
  for (const Bytes& bytes : direct_) {
    if (bytes.begin < end && bytes.end > begin) return true;
  }
  return false;
}

// Decides about a candidate: a range that is there is shared, else one is made, unless libomptarget maps the bytes. Under
// the lock.
void StagedConstruct::take_up(int item) {
  OfDevice& all = of(device_);
  uintptr_t begin = begin_of(items_, item), end = end_of(items_, item);
  bool back = (items_.types[item] & map_type::kFrom) != 0;
  if (auto* shared = static_cast<StagedRange*>(all.staged.first_overlap(begin, end))) {
    ++shared->users;
    return staged_.push({shared, item, false, back});
  }
  bool elsewhere = is_mapped(device_, begin) || is_mapped(device_, end - 1);
  for (StagedConstruct* call = all.calls; call != nullptr; call = call->next_) {
    elsewhere = elsewhere || call->maps_directly(begin, end);
  }
  if (elsewhere) return direct_.push({begin, end});
  void* memory = std::malloc(sizeof(StagedRange));
  if (memory == nullptr) fatal("no memory for the list of staged data");
  auto* made = new (memory) StagedRange{};
  made->begin = begin;
  made->end = end;
  made->users = 1;
  made->filled = (items_.types[item] & map_type::kTo) != 0;
  all.staged.insert(made);
  staged_.push({made, item, true, back});
}

// Waits for what is in the way, and then decides all at once.
void StagedConstruct::enter() {
  OfDevice& all = of(device_);
  for (int i = 0; i < items_.count; ++i) {
    maps_anything_ = maps_anything_ || (items_.mappers != nullptr && items_.mappers[i] != nullptr);
  }
  for (;;) {
    Waiter waiter = {MARLINE_EVENT_INIT, nullptr};
    {
      Guard guard(all.lock);
      StagedRange* in_the_way = conflict();
      if (in_the_way == nullptr) {
        uint32_t at = 0;
        for (int i = 0; i < items_.count; ++i) {
          bool candidate = at < candidates_.count() && candidates_[at] == i;
          if (candidate) ++at;
          if (candidate) take_up(i);
          else if (has_address(items_, i)) direct_.push({begin_of(items_, i), end_of(items_, i)});
        }
        next_ = all.calls;
        all.calls = this;
        return;
      }
      add_waiter(in_the_way, waiter);
    }
    wait_or_progress(&waiter.event, device_, "target (data that is being copied)");
  }
}

void StagedConstruct::wait_for_shared() {
  for (const Piece& piece : staged_) {
    while (!piece.is_new) {
      Waiter waiter = {MARLINE_EVENT_INIT, nullptr};
      {
        Guard guard(of(device_).lock);
        if (piece.range->ready) break;
        add_waiter(piece.range, waiter);
      }
      wait_or_progress(&waiter.event, device_, "target (data that is being copied)");
    }
  }
}

// Blocks for the ranges that this construct has made, with what the host has.
void StagedConstruct::fill() {
  OfDevice& all = of(device_);
  size_t sum = 0;
  for (const Piece& piece : staged_) {
    if (piece.back) bytes_back_ += piece.range->end - piece.range->begin;
    if (piece.is_new) sum += StagingPool::size_of(piece.range->end - piece.range->begin);
  }
  if (sum != 0) staging_pool(device_).reserve(device_, sum);
  for (const Piece& piece : staged_) {
    if (!piece.is_new) continue;
    StagedRange* range = piece.range;
    size_t bytes = range->end - range->begin;
    range->block = staging_pool(device_).take(device_, bytes);
    if (range->block != nullptr && range->filled) {
      std::memcpy(range->block, reinterpret_cast<const void*>(range->begin), bytes);
    }
    Waiter* waiters;
    {
      Guard guard(all.lock);
      range->ready = true;
      waiters = range->waiters;
      range->waiters = nullptr;
    }
    wake(waiters);
  }
}

void StagedConstruct::substitute() {
  for (int i = 0; i < items_.count; ++i) {
    bases_.push(items_.bases[i]);
    begins_.push(items_.begins[i]);
  }
  for (const Piece& piece : staged_) {
    if (piece.range->block == nullptr) continue;
    auto item = static_cast<uint32_t>(piece.item);
    auto shift = reinterpret_cast<uintptr_t>(piece.range->block) - piece.range->begin;
    begins_[item] = piece.range->block;
    bases_[item] = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(bases_[item]) + shift);
  }
}

void StagedConstruct::begun() {
  if (StagingPool::limit() == 0) return;
  Guard guard(of(device_).lock);
  StagedConstruct** at = &of(device_).calls;
  while (*at != this) at = &(*at)->next_;
  *at = next_;
}

void StagedConstruct::finish(bool ran) {
  OfDevice& all = of(device_);
  for (const Piece& piece : staged_) {
    StagedRange* range = piece.range;
    size_t bytes = range->end - range->begin;
    if (ran && piece.back && range->block != nullptr) {
      std::memcpy(reinterpret_cast<void*>(range->begin), range->block, bytes);
    }
    Waiter* waiters = nullptr;
    bool last;
    {
      Guard guard(all.lock);
      last = --range->users == 0;
      if (last) {
        all.staged.remove(range);
        waiters = range->waiters;
      }
    }
    if (!last) continue;
    wake(waiters);
    if (range->block != nullptr) staging_pool(device_).give(range->block, bytes);
    staging_pool(device_).unreserve(StagingPool::size_of(bytes));
    std::free(range);
  }
}

}  // namespace marline::target
