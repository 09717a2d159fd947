// SPDX-License-Identifier: Apache-2.0
//
// Stages the data of constructs. A staged range is a node of a tree by host address, and has a list of the constructs
// that wait for it. They all check again when the range is filled and when it is removed.
//
// No deadlock: a construct waits for ranges of others before it has any range; then for ranges that it shares, which
// existed before its own; then for pinned memory, whose holders wait only for their device.
#include "device/libomptarget/staging/staged_construct.hpp"

#include "base/make.hpp"
#include "base/ranges.hpp"
#include "base/report.hpp"
#include "base/streamed.hpp"
#include "device/contract/wait.hpp"
#include "device/libomptarget/copies.hpp"
#include "device/libomptarget/library.hpp"
#include "device/libomptarget/staging/pinned.hpp"
#include "device/libomptarget/staging/staging_pool.hpp"
#include "image/images.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::device {

using namespace image;

namespace {

// A driver stages this many bytes itself on the way to the device, and returns (NVIDIA, as in the header).
constexpr int64_t kDriverStages = 64 << 10;
// How many attached pointers are recorded; with more, all memory counts as having one.
constexpr int kMostAttached = 4096;
constexpr int kMostItems = 64;  // of a construct that is staged, because each item is compared with each

}  // namespace

struct StagedRange : Range {
  char* block;  // null: there is no pinned memory, and the range is mapped directly
  int users;
  bool filled;  // the block has the host's data once it is ready
  bool ready;   // the block exists
  bool shared;  // regions may share it; a data construct has its range alone
  IntrusiveList<Waiter> waiters;
};

namespace {

// A range that data constructs have mapped, as far as this file knows.
struct Entered : Range {
  int count;
};

struct OfDevice {
  Lock lock;
  Ranges staged;
  IntrusiveList<StagedConstruct> calls;    // constructs that are in libomptarget at the moment
  IntrusiveList<StagedConstruct> regions;  // regions in flight, latest first
  Ranges attached;                         // all pointers that constructs have ever attached
  int attached_count = 0;
  // More pointers have been attached than are recorded, or mappers have attached some.
  bool attached_unknown = false;
  Ranges entered;  // ranges that data constructs have mapped (Entered)
  // How many module changes libomptarget has seen. If two threads race, libomptarget is asked once more.
  std::atomic<uint32_t> modules{0};
};
OfDevice g_devices[kMostDevices];

OfDevice& of(const Device* device) { return g_devices[device->number]; }

// An empty section counts as one byte, because it names an address.
uintptr_t end_of(const Items& items, int item) {
  return begin_of(items, item) + static_cast<uintptr_t>(items.sizes[item] > 0 ? items.sizes[item] : 1);
}

bool has_address(const Items& items, int item) {
  return (items.types[item] & (map_type::kLiteral | map_type::kNonContiguous)) == 0 && items.begins[item] != nullptr;
}

// The address on the device; 0: it is not mapped.
uintptr_t mapped_address(Device* device, uintptr_t address) {
  using Ask = void* (*)(const void*, int);
  static std::atomic<Ask> known{nullptr};  // any thread writes the same value
  Ask ask = known.load(std::memory_order_relaxed);
  if (ask == nullptr) {
    ask = reinterpret_cast<Ask>(llvm_routine("omp_get_mapped_ptr"));
    known.store(ask, std::memory_order_relaxed);
  }
  return reinterpret_cast<uintptr_t>(ask(reinterpret_cast<const void*>(address), llvm_number(device)));
}

bool is_mapped(Device* device, uintptr_t address) { return mapped_address(device, address) != 0; }

// The address on the device; 0: not all bytes are mapped, or not contiguously.
uintptr_t mapped_whole(Device* device, uintptr_t begin, uintptr_t end) {
  uintptr_t address = mapped_address(device, begin);
  return address != 0 && mapped_address(device, end - 1) - address == end - 1 - begin ? address : 0;
}

// libomptarget maps the `declare target` variables of images at the first construct after their registration.
void let_it_map_globals(Device* device) {
  std::atomic<uint32_t>& known = of(device).modules;
  uint32_t now = module_changes();
  if (known.load(std::memory_order_relaxed) == now) return;
  using Begin = void (*)(void*, int64_t, int32_t, void**, void**, int64_t*, int64_t*, void**, void**);
  auto begin = reinterpret_cast<Begin>(llvm_routine("__tgt_target_data_begin_mapper"));
  begin(nullptr, llvm_number(device), 0, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  known.store(now, std::memory_order_relaxed);
}

bool has_same_bytes(const StagedRange* range, const Items& items, int item) {
  return range->begin == begin_of(items, item) && range->end == end_of(items, item);
}

}  // namespace

StagedConstruct::StagedConstruct(Device* device, const Items& items, Staging staging, bool may_stage)
    : device_(device), items_(items), staging_(staging) {
  if (StagingPool::limit() == 0) return;
  if (may_stage && items.count <= kMostItems) choose_candidates();
  if (candidates_.count() != 0) let_it_map_globals(device);
  enter();
  if (!is_staged()) return;
  if (staging_ != Staging::kRegion) {
    for (int i = 0; i < items_.count; ++i) types_.push(items_.types[i]);
    for (const Piece& piece : staged_) types_[static_cast<uint32_t>(piece.item)] &= ~(map_type::kTo | map_type::kFrom);
    return;
  }
  wait_for_shared();
  fill();
  substitute();
}

StagedConstruct::StagedConstruct(StagedConstruct& other, PiecesOnly)
    : device_(other.device_), items_(other.items_), staging_(other.staging_), maps_anything_(other.maps_anything_) {
  other.has_moved_ = true;
  for (const Piece& piece : other.staged_) staged_.push(piece);
  for (const Bytes& bytes : other.direct_) direct_.push(bytes);
  Guard guard(of(device_).lock);
  link();
}

// Adds a region to the list until it is finished. The caller holds the lock.
void StagedConstruct::link() {
  if (staging_ != Staging::kRegion) return;
  of(device_).regions.push_first(this);
  is_in_flight_ = true;
}

void StagedConstruct::unlink() {
  if (!is_in_flight_) return;
  Guard guard(of(device_).lock);
  of(device_).regions.remove(this);
  is_in_flight_ = false;
}

// Whether the item is copied in a direction and size for which the driver blocks the thread.
bool StagedConstruct::is_staged_by_type(int item) const {
  uint64_t type = items_.types[item];
  bool to = (type & map_type::kTo) != 0 && items_.sizes[item] > kDriverStages;
  bool from = (type & map_type::kFrom) != 0;
  if (staging_ == Staging::kEnter) return to;
  return staging_ == Staging::kExit ? from : to || from;
}

bool StagedConstruct::is_plain(int item) const {
  using namespace map_type;
  constexpr uint64_t kOthers = kAlways | kDelete | kPointerAndObject | kReturn | kPrivate | kLiteral | kClose |
                               kPresent | kHold | kAttach | kNonContiguous;
  uint64_t type = items_.types[item];
  bool mapper = items_.mappers != nullptr && items_.mappers[item] != nullptr;
  return is_staged_by_type(item) && (type & kOthers) == 0 && !is_member(type) && !mapper && items_.sizes[item] > 0 &&
         items_.begins[item] != nullptr;
}

// Whether no other item of the construct uses any byte of this one.
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
  // A region keeps its blocks until it has ended. If it needed more than half of the pool, it would have the pool for
  // itself, and the next region's copies could not overlap with its kernel. Copies by the driver take no longer, but
  // block the thread.
  size_t sum = 0, most = StagingPool::limit() / (staging_ == Staging::kRegion ? 2 : 1);
  for (int i = 0; i < items_.count; ++i) {
    if (!is_plain(i)) continue;
    bool in_pieces = staging_ == Staging::kEnter || staging_ == Staging::kUpdate;
    size_t bytes = in_pieces ? 0 : StagingPool::size_of(static_cast<size_t>(items_.sizes[i]));
    if (sum + bytes > most || !is_apart(i)) continue;
    if (is_pinned(items_.begins[i], static_cast<size_t>(items_.sizes[i]))) continue;
    sum += bytes;
    candidates_.push(i);
  }
}

// The first staged range that this construct has to wait for. The caller holds the lock.
StagedRange* StagedConstruct::conflict() {
  Ranges& staged = of(device_).staged;
  if (staged.root() == nullptr) return nullptr;
  if (maps_anything_) return static_cast<StagedRange*>(staged.root());
  for (int i = 0; i < items_.count; ++i) {
    if (!has_address(items_, i)) continue;
    auto* found = static_cast<StagedRange*>(staged.first_overlap(begin_of(items_, i), end_of(items_, i)));
    if (found == nullptr) continue;
    bool fits = false;
    if (staging_ == Staging::kRegion && found->shared) {
      for (int candidate : candidates_) fits = fits || candidate == i;
    }
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

// Decides about an item that could be staged: shares the range if it is staged already; otherwise makes a range, unless
// libomptarget maps the bytes. The caller holds the lock.
void StagedConstruct::take_up(int item) {
  OfDevice& all = of(device_);
  uintptr_t begin = begin_of(items_, item), end = end_of(items_, item);
  bool back = (items_.types[item] & map_type::kFrom) != 0;
  if (auto* shared = static_cast<StagedRange*>(all.staged.first_overlap(begin, end))) {
    ++shared->users;
    return void(staged_.push({shared, item, false, back}));
  }
  bool has_parts = all.entered.first_overlap(begin, end) != nullptr;  // parts of a variable that is mapped implicitly
  bool elsewhere = has_parts || is_mapped(device_, begin) || is_mapped(device_, end - 1);
  for (StagedConstruct* call : all.calls) {
    elsewhere = elsewhere || call->maps_directly(begin, end);
  }
  if (elsewhere) return void(direct_.push({begin, end}));
  make_range(item, (items_.types[item] & map_type::kTo) != 0);
}

void StagedConstruct::make_range(int item, bool filled) {
  auto* made = make<StagedRange>("the list of staged data");
  made->begin = begin_of(items_, item);
  made->end = end_of(items_, item);
  made->users = 1;
  made->filled = filled;
  made->shared = staging_ == Staging::kRegion;
  of(device_).staged.insert(made);
  staged_.push({made, item, true, (items_.types[item] & map_type::kFrom) != 0});
}

// Whether a region in flight uses the data, or a call of another construct may map or unmap it.
bool StagedConstruct::is_under_way(uintptr_t begin, uintptr_t end) {
  OfDevice& all = of(device_);
  for (StagedConstruct* call : all.calls) {
    if (call->maps_directly(begin, end)) return true;
  }
  if (staging_ != Staging::kExit) return false;
  for (StagedConstruct* region : all.regions) {
    if (region->maps_directly(begin, end)) return true;
  }
  return false;
}

// Decides whether an item of a data construct is staged. The caller holds the lock.
void StagedConstruct::take_up_data(int item) {
  OfDevice& all = of(device_);
  uintptr_t begin = begin_of(items_, item), end = end_of(items_, item);
  if (staging_ == Staging::kEnter) {
    bool elsewhere = is_mapped(device_, begin) || is_mapped(device_, end - 1) || is_under_way(begin, end);
    return elsewhere ? void(direct_.push({begin, end})) : make_range(item, false);
  }
  uintptr_t address = mapped_whole(device_, begin, end);
  bool attached = all.attached_unknown || all.attached.first_overlap(begin, end) != nullptr;
  if (address == 0 || attached || !is_cuda_memory(reinterpret_cast<const void*>(address))) {
    return void(direct_.push({begin, end}));
  }
  if (staging_ == Staging::kUpdate) return void(staged_.push({nullptr, item, true, false}));
  auto* entered = static_cast<Entered*>(all.entered.first_overlap(begin, end));
  bool is_last = entered != nullptr && entered->count == 1;
  return !is_last || is_under_way(begin, end) ? void(direct_.push({begin, end})) : make_range(item, false);
}

// Updates the counts for a data construct that is about to enter libomptarget. The caller holds the lock.
void StagedConstruct::note_counts() {
  OfDevice& all = of(device_);
  bool enters = staging_ == Staging::kEnter;
  constexpr uint64_t kOthers = map_type::kPointerAndObject | map_type::kAttach;
  for (int i = 0; i < items_.count && (enters || staging_ == Staging::kExit); ++i) {
    if (!has_address(items_, i) || is_member(items_.types[i]) || (items_.types[i] & kOthers) != 0) continue;
    uintptr_t begin = begin_of(items_, i), end = end_of(items_, i);
    auto* entered = static_cast<Entered*>(all.entered.first_overlap(begin, end));
    if (entered != nullptr) {
      entered->count += enters ? 1 : -1;
      if (entered->count > 0 && (items_.types[i] & map_type::kDelete) == 0) continue;
      all.entered.remove(entered);
      std::free(entered);
    } else if (enters && !is_mapped(device_, begin)) {
      void* memory = std::malloc(sizeof(Entered));
      if (memory == nullptr) return;
      auto* made = new (memory) Entered{};
      made->begin = begin;
      made->end = end;
      made->count = 1;
      all.entered.insert(made);
    }
  }
}

// The caller holds the lock.
void StagedConstruct::note_attachments() {
  OfDevice& all = of(device_);
  all.attached_unknown = all.attached_unknown || maps_anything_;
  for (int i = 0; i < items_.count && !all.attached_unknown; ++i) {
    if ((items_.types[i] & (map_type::kPointerAndObject | map_type::kAttach)) == 0) continue;
    auto pointer = reinterpret_cast<uintptr_t>(items_.bases[i]);
    if (all.attached.first_overlap(pointer, pointer + sizeof(void*)) != nullptr) continue;
    void* memory = all.attached_count < kMostAttached ? std::malloc(sizeof(Range)) : nullptr;
    all.attached_unknown = memory == nullptr;
    if (memory == nullptr) return;
    auto* range = new (memory) Range{};
    range->begin = pointer;
    range->end = pointer + sizeof(void*);
    all.attached.insert(range);
    ++all.attached_count;
  }
}

// Waits for the ranges that conflict with this construct, then decides about all items at once.
void StagedConstruct::enter() {
  OfDevice& all = of(device_);
  for (int i = 0; i < items_.count; ++i) {
    maps_anything_ = maps_anything_ || (items_.mappers != nullptr && items_.mappers[i] != nullptr);
  }
  for (;;) {
    Waiter waiter;
    {
      Guard guard(all.lock);
      StagedRange* in_the_way = conflict();
      if (in_the_way == nullptr) {
        note_attachments();
        uint32_t at = 0;
        for (int i = 0; i < items_.count; ++i) {
          bool candidate = at < candidates_.count() && candidates_[at] == i;
          if (candidate) ++at;
          if (candidate)
            staging_ == Staging::kRegion ? take_up(i) : take_up_data(i);
          else if (has_address(items_, i))
            direct_.push({begin_of(items_, i), end_of(items_, i)});
        }
        note_counts();
        all.calls.push_first(this);
        return;
      }
      in_the_way->waiters.push_first(&waiter);
    }
    wait_or_progress(&waiter.event, device_, "target (data that is being copied)");
  }
}

void StagedConstruct::wait_for_shared() {
  for (const Piece& piece : staged_) {
    while (!piece.is_new) {
      Waiter waiter;
      {
        Guard guard(of(device_).lock);
        if (piece.range->ready) break;
        piece.range->waiters.push_first(&waiter);
      }
      wait_or_progress(&waiter.event, device_, "target (data that is being copied)");
    }
  }
}

// Takes blocks for the ranges that this construct has made, and copies the host's data to them.
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
    IntrusiveList<Waiter> waiters;
    {
      Guard guard(all.lock);
      range->ready = true;
      waiters = range->waiters.take_all();
    }
    wake_all(waiters);
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
  of(device_).calls.remove(this);
  if (!has_moved_) link();
}

bool StagedConstruct::is_done() const {
  return staging_ == Staging::kUpdate && staged_.count() == static_cast<uint32_t>(items_.count);
}

// Takes blocks for the data that the construct may copy back; the copies fill them at once.
void StagedConstruct::take_blocks() {
  StagingPool& pool = staging_pool(device_);
  size_t sum = 0;
  for (const Piece& piece : staged_) sum += StagingPool::size_of(piece.range->end - piece.range->begin);
  pool.reserve(device_, sum);
  for (const Piece& piece : staged_) piece.range->block = pool.take(device_, piece.range->end - piece.range->begin);
}

bool StagedConstruct::copy_before() {
  if ((staging_ != Staging::kExit && staging_ != Staging::kUpdate) || staged_.count() == 0) return true;
  if (staging_ == Staging::kExit) take_blocks();
  bool done = true;
  for (const Piece& piece : staged_) {
    uintptr_t begin = begin_of(items_, piece.item), end = end_of(items_, piece.item);
    CopyEnd there = {device_, reinterpret_cast<char*>(mapped_address(device_, begin))};
    CopyEnd here = {nullptr, reinterpret_cast<char*>(begin)};
    uint64_t type = items_.types[piece.item];
    if (staging_ == Staging::kExit) {
      here.address = piece.range->block;
      if (here.address == nullptr) {  // there is no pinned memory, so libomptarget copies
        types_[static_cast<uint32_t>(piece.item)] = type;
      } else {
        done = llvm_copy(here, there, end - begin) == 0 && done;
      }
      continue;
    }
    if ((type & map_type::kTo) != 0) done = llvm_copy(there, here, end - begin) == 0 && done;
    if ((type & map_type::kFrom) != 0) done = llvm_copy(here, there, end - begin) == 0 && done;
  }
  return done;
}

bool StagedConstruct::copy_after() {
  bool done = true;
  for (const Piece& piece : staged_) {
    if (staging_ == Staging::kUpdate) break;
    uintptr_t begin = piece.range->begin;
    size_t bytes = piece.range->end - begin;
    auto* host = reinterpret_cast<char*>(begin);
    if (staging_ == Staging::kEnter) {
      CopyEnd there = {device_, reinterpret_cast<char*>(mapped_address(device_, begin))};
      done = llvm_copy(there, {nullptr, host}, bytes) == 0 && done;
    } else if (piece.range->block != nullptr && !is_mapped(device_, begin)) {
      copy_streamed(host, piece.range->block, bytes, bytes);
    }
  }
  return done;
}

void StagedConstruct::finish(bool ran) {
  if (has_moved_) return;
  unlink();
  for (const Piece& piece : staged_) {
    StagedRange* range = piece.range;
    if (range == nullptr || staging_ != Staging::kRegion || !ran || !piece.back || range->block == nullptr) continue;
    size_t bytes = range->end - range->begin;
    copy_streamed(reinterpret_cast<char*>(range->begin), range->block, bytes, bytes);
  }
  release();
}

void StagedConstruct::release() {
  OfDevice& all = of(device_);
  for (const Piece& piece : staged_) {
    StagedRange* range = piece.range;
    if (range == nullptr) continue;
    size_t bytes = range->end - range->begin;
    IntrusiveList<Waiter> waiters;
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
    wake_all(waiters);
    if (range->block != nullptr) staging_pool(device_).give(range->block, bytes);
    if (staging_ != Staging::kEnter) staging_pool(device_).unreserve(StagingPool::size_of(bytes));
    std::free(range);
  }
}

}  // namespace marline::offload::device
