// SPDX-License-Identifier: Apache-2.0
//
// Allocates the cluster's memory, tracks pointers in it, and finds the data that a kernel may use.
#include "device/cluster/head/memory.hpp"

#include "base/make.hpp"
#include <algorithm>
#include <cstring>
#include <new>

namespace marline::offload::device {

void ClusterMemory::open(uint64_t begin, uint64_t bytes, uint64_t limit) {
  begin_ = begin;
  bytes_ = bytes;
  limit_ = limit;
  arena_.manage(begin, bytes / 2);
  variables_arena_.manage(begin + bytes / 2, bytes / 2);
}

ClusterBuffer* ClusterMemory::allocate(uint64_t bytes) { return allocate_in(arena_, bytes); }

ClusterBuffer* ClusterMemory::add_variable(uint64_t bytes, const uint64_t* places) {
  ClusterBuffer* buffer = allocate_in(variables_arena_, bytes);
  if (buffer == nullptr) return nullptr;
  buffer->places = places;
  variables_.push(buffer->number);
  ++changes_;
  return buffer;
}

ClusterBuffer* ClusterMemory::allocate_in(Arena& arena, uint64_t bytes) {
  if (bytes > limit_ - used_) return nullptr;
  // One byte more, as a pointer to the address after the buffer's end must not point into another buffer.
  uint64_t address = arena.allocate(bytes + 1);
  if (address == 0) return nullptr;
  auto* buffer = make<ClusterBuffer>("the list of a cluster's buffers");
  buffer->begin = address;
  buffer->end = address + bytes;
  buffer->number = next_++;
  used_ += bytes;
  live_.insert(buffer);
  all_.push(buffer);
  new_.push({buffer->number, bytes});
  return buffer;
}

void ClusterMemory::release(ClusterBuffer* buffer) {
  live_.remove(buffer);
  for (size_t i = variables_.count(); buffer->places != nullptr && i-- > 0;) {
    if (variables_[i] == buffer->number) variables_.erase(i);
    ++changes_;
  }
  buffer->is_leaving = true;
  leaving_.push(buffer);
}

void ClusterMemory::take_new(List<NewBuffer>& to) { to.swap(new_); }

ClusterBuffer* ClusterMemory::at(uint64_t address) {
  return static_cast<ClusterBuffer*>(live_.first_overlap(address, address + 1));
}

void ClusterMemory::forget(ClusterBuffer* buffer) {
  (buffer->places != nullptr ? variables_arena_ : arena_).release(buffer->begin);
  used_ -= buffer->bytes();
  all_.erase(static_cast<size_t>(place_of(buffer->number) - all_.begin()));
  buffer->~ClusterBuffer();
  std::free(buffer);
}

// The first buffer with that number or a higher one.
ClusterBuffer** ClusterMemory::place_of(uint64_t number) {
  return std::lower_bound(all_.begin(), all_.end(), number,
                          [](const ClusterBuffer* one, uint64_t wanted) { return one->number < wanted; });
}

ClusterBuffer* ClusterMemory::known(uint64_t number) {
  ClusterBuffer** found = place_of(number);
  return found != all_.end() && (*found)->number == number ? *found : nullptr;
}

ClusterBuffer* ClusterMemory::numbered(uint64_t number) {
  ClusterBuffer* found = known(number);
  return found != nullptr && !found->is_leaving ? found : nullptr;
}

// An address right after the last byte of a buffer also counts as a pointer into the buffer.
ClusterBuffer* ClusterMemory::pointee_of(uint64_t word) {
  if (!is_inside(word)) return nullptr;
  ClusterBuffer* found = at(word);
  return found != nullptr ? found : at(word - 1);
}

ClusterBuffer* ClusterMemory::note_pointer(ClusterBuffer& holder, uint64_t word) {
  ClusterBuffer* pointee = pointee_of(word);
  if (pointee == nullptr) return nullptr;
  List<Pointee>& known = holder.pointees;
  Pointee* at = std::lower_bound(known.begin(), known.end(), pointee->begin,
                                 [](const Pointee& one, uint64_t begin) { return one.begin < begin; });
  const bool is_at_begin = at != known.end() && at->begin == pointee->begin;
  if (is_at_begin && at->number == pointee->number) return nullptr;
  if (is_at_begin) {
    at->number = pointee->number;  // the noted buffer has been released, and this one has its address now
  } else {
    known.insert(static_cast<size_t>(at - known.begin()), {pointee->begin, pointee->number});
  }
  ++changes_;
  return pointee;
}

void ClusterMemory::find_pointers(uint64_t to, const void* data, uint64_t bytes, List<uint64_t>& found) const {
  auto* at = static_cast<const char*>(data);
  // Only words that are aligned at the address where kernels see them count as pointers.
  uint64_t skipped = -to & 7;
  for (uint64_t i = skipped; i + sizeof(uint64_t) <= bytes; i += sizeof(uint64_t)) {
    uint64_t word;
    std::memcpy(&word, at + i, sizeof word);
    if (is_inside(word) && (found.is_empty() || found.back() != word)) [[unlikely]]
      found.push(word);
  }
}

void ClusterMemory::use_whole(ClusterBuffer& buffer, List<TaskAccess>& to) {
  if (buffer.used_whole == visit_) return;
  buffer.used_whole = visit_;
  to.push({{buffer.number, 0, buffer.bytes()}, true});
}

// Adds accesses to all buffers that have not been released. Keeps the accesses that are in the list: the task may use a
// buffer that has been released since the task was created.
void ClusterMemory::use_all(List<TaskAccess>& to) {
  for (ClusterBuffer* buffer : all_) {
    if (numbered(buffer->number) != nullptr) use_whole(*buffer, to);
  }
}

// Adds all buffers that can be reached from the buffer by pointers, each of them once. A buffer with pointers into
// itself is used as a whole: it may be a block of memory that several mapped variables share.
void ClusterMemory::follow(ClusterBuffer& first, List<TaskAccess>& to) {
  List<ClusterBuffer*> open;
  if (first.visit != visit_) open.push(&first);
  first.visit = visit_;
  while (!open.is_empty()) {
    ClusterBuffer* holder = open.back();
    open.pop();
    for (const Pointee& noted : holder->pointees) {
      ClusterBuffer* pointee = at(noted.begin);
      if (pointee == nullptr) continue;
      use_whole(*pointee, to);
      if (pointee->visit == visit_) continue;
      pointee->visit = visit_;
      open.push(pointee);
    }
  }
}

// Returns false if no buffer has the span's address. A span of 0 bytes stands for the whole buffer.
bool ClusterMemory::find_range(const Span& span, ClusterRange& range) {
  ClusterBuffer* buffer = pointee_of(span.address);
  if (buffer == nullptr) return false;
  range = {buffer->number, span.address - buffer->begin, std::min<uint64_t>(span.bytes, buffer->end - span.address)};
  if (range.bytes == 0) range = {buffer->number, 0, buffer->bytes()};
  return true;
}

void ClusterMemory::use_span(const Span& span, List<TaskAccess>& to) {
  ClusterRange range;
  if (!find_range(span, range)) return;
  to.push({range, span.is_written || may_write != MayWrite::kMapped});
  if (span.has_pointers) follow(*known(range.buffer), to);
}

// A mapper lists in turns its elements and the data to which their pointers lead, so several of the last accesses are
// tried. This keeps the list short without a sort.
void ClusterMemory::add_access(List<TaskAccess>& accesses, const TaskAccess& added, uint64_t apart) {
  constexpr size_t kTurns = 4;
  size_t count = accesses.count();
  for (size_t i = count; i > 0 && count - i < kTurns; --i) {
    TaskAccess& other = accesses[i - 1];
    bool joins = other.range.buffer == added.range.buffer && other.may_write == added.may_write &&
                 other.range.offset <= added.range.offset && added.range.offset <= other.range.end() + apart;
    if (!joins) continue;
    other.range.bytes = std::max(other.range.end(), added.range.end()) - other.range.offset;
    return;
  }
  accesses.push(added);
}

void ClusterMemory::merge_overlapping(List<TaskAccess>& accesses, uint64_t apart) {
  std::sort(accesses.begin(), accesses.end(), [](const TaskAccess& a, const TaskAccess& b) {
    return a.range.buffer != b.range.buffer ? a.range.buffer < b.range.buffer : a.range.offset < b.range.offset;
  });
  size_t kept = 0;
  for (size_t i = 0; i < accesses.count(); ++i) {
    TaskAccess& next = accesses[i];
    TaskAccess* last = kept != 0 ? &accesses[kept - 1] : nullptr;
    bool touches =
        last != nullptr && last->range.buffer == next.range.buffer && next.range.offset <= last->range.end() + apart;
    if (!touches) {
      accesses[kept++] = next;
      continue;
    }
    last->range.bytes = std::max(last->range.end(), next.range.end()) - last->range.offset;
    last->may_write = last->may_write || next.may_write;
  }
  while (accesses.count() > kept) accesses.pop();
}

void ClusterMemory::list_named(const NamedSpans& named, List<ClusterRange>& to) {
  List<TaskAccess> found;
  for (uint32_t i = 0; i < named.count; ++i) {
    TaskAccess access = {{}, true};
    if (find_range(named.spans[i], access.range)) found.push(access);
  }
  merge_overlapping(found);
  for (const TaskAccess& access : found) to.push(access.range);
}

// Turns all accesses into reads, except for the named ranges that the kernel uses: these stay writes.
void ClusterMemory::write_named(const NamedSpans& named, List<TaskAccess>& accesses) {
  List<ClusterRange> written;
  list_named(named, written);
  List<TaskAccess> cut;
  for (const TaskAccess& access : accesses) {
    uint64_t done = access.range.offset;
    auto push = [&](uint64_t end, bool is_written) {
      if (end > done) cut.push({{access.range.buffer, done, end - done}, is_written});
      done = std::max(done, end);
    };
    for (const ClusterRange& name : written) {
      if (name.buffer != access.range.buffer || name.end() <= done || name.offset >= access.range.end()) continue;
      push(name.offset, false);
      push(std::min(name.end(), access.range.end()), true);
    }
    push(access.range.end(), false);
  }
  accesses.swap(cut);
}

void ClusterMemory::add_reachable(bool all, List<TaskAccess>& to) {
  ++visit_;
  for (size_t i = 0, count = to.count(); i < count && !all; ++i) {
    ClusterBuffer* buffer = numbered(to[i].range.buffer);
    if (buffer != nullptr) follow(*buffer, to);
  }
  if (all) use_all(to);
  merge_overlapping(to);
}

void ClusterMemory::list_accesses(const Launch& launch, bool all, List<TaskAccess>& to) {
  ++visit_;
  for (uint32_t i = 0; i < launch.span_count && !all; ++i) use_span(launch.spans[i], to);
  for (uint64_t number : variables_) {
    ClusterBuffer* variable = all ? nullptr : numbered(number);
    if (variable == nullptr) continue;
    use_whole(*variable, to);
    follow(*variable, to);
  }
  if (all) use_all(to);
  merge_overlapping(to);
  if (may_write == MayWrite::kNamed && launch.named.are_known) write_named(launch.named, to);
}

}  // namespace marline::offload::device
