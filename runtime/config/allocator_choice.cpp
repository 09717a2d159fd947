// SPDX-License-Identifier: Apache-2.0
//
// Reads and shows the value of OMP_ALLOCATOR.
#include "config/allocator_choice.hpp"

#include <bit>

#include "../common/readers.hpp"

namespace marline {

using namespace allocators;
namespace {

// In the order of their numbers; the null allocator has no name for users.
constexpr const char* kAllocatorWords[] = {"omp_default_mem_alloc", "omp_large_cap_mem_alloc", "omp_const_mem_alloc",
                                           "omp_high_bw_mem_alloc", "omp_low_lat_mem_alloc",   "omp_cgroup_mem_alloc",
                                           "omp_pteam_mem_alloc",   "omp_thread_mem_alloc"};
constexpr int kFirstAllocator = kDefaultMemory;
constexpr const char* kSpaceWords[] = {"omp_default_mem_space", "omp_large_cap_mem_space", "omp_const_mem_space",
                                       "omp_high_bw_mem_space", "omp_low_lat_mem_space"};
constexpr const char* kKeyWords[] = {"sync_hint", "alignment", "access", "pool_size",
                                     "fallback",  "fb_data",   "pinned", "partition"};

constexpr const char* kSyncWords[] = {"contended", "uncontended", "serialized", "private"};
constexpr const char* kAccessWords[] = {"all", "thread", "pteam", "cgroup"};
constexpr const char* kFallbackWords[] = {"default_mem_fb", "null_fb", "abort_fb", "allocator_fb"};
constexpr const char* kPartitionWords[] = {"environment", "nearest", "blocked", "interleaved"};

bool read_alignment(Cursor& in, uintptr_t& value) {
  return read_number(in, 1, INT64_MAX, value) && std::has_single_bit(value);
}

bool read_truth(Cursor& in, uintptr_t& value) {
  bool truth;
  if (!read_bool(in, truth)) return false;
  value = truth ? kTrue : kFalse;
  return true;
}

bool read_value(Cursor& in, AllocatorTrait& trait) {
  switch (trait.key) {
    case kSyncHint: return read_word(in, kSyncWords, trait.value, kContended);
    case kAlignment: return read_alignment(in, trait.value);
    case kAccess: return read_word(in, kAccessWords, trait.value, kAll);
    case kPoolSize: return read_number(in, 1, INT64_MAX, trait.value);
    case kFallback: return read_word(in, kFallbackWords, trait.value, kDefaultMemoryFallback);
    case kFallbackData: return read_word(in, kAllocatorWords, trait.value, kFirstAllocator);
    case kPinned: return read_truth(in, trait.value);
    default: return read_word(in, kPartitionWords, trait.value, kEnvironment);
  }
}

const char* word_of(const AllocatorTrait& trait) {
  switch (trait.key) {
    case kSyncHint: return kSyncWords[trait.value - kContended];
    case kAccess: return kAccessWords[trait.value - kAll];
    case kFallback: return kFallbackWords[trait.value - kDefaultMemoryFallback];
    case kFallbackData: return kAllocatorWords[trait.value - kFirstAllocator];
    case kPinned: return trait.value == kTrue ? "true" : "false";
    case kPartition: return kPartitionWords[trait.value - kEnvironment];
    default: return nullptr;
  }
}

// Whether allocator_fb, if given, comes with the allocator to fall back to; other fallbacks do not use one.
bool has_fallback(const AllocatorChoice& choice) {
  bool wanted = false, given = false;
  for (int i = 0; i < choice.count; ++i) {
    wanted = wanted || (choice.traits[i].key == kFallback && choice.traits[i].value == kAllocatorFallback);
    given = given || choice.traits[i].key == kFallbackData;
  }
  return given || !wanted;
}

}  // namespace

bool read_allocator(Cursor& in, AllocatorChoice& result) {
  result = {};
  if (read_word(in, kAllocatorWords, result.handle, kFirstAllocator)) return true;
  result.handle = kNullAllocator;
  if (!read_word(in, kSpaceWords, result.space)) return false;
  if (!in.accept(':')) return true;
  do {
    if (result.count == AllocatorChoice::kMaxTraits) return false;
    AllocatorTrait& trait = result.traits[result.count++];
    if (!read_word(in, kKeyWords, trait.key, kSyncHint) || !in.accept('=') || !read_value(in, trait)) return false;
  } while (in.accept(','));
  return has_fallback(result);
}

void show_allocator(Text& out, const AllocatorChoice& choice) {
  if (choice.handle != kNullAllocator) {
    out.add("%s", kAllocatorWords[choice.handle - kFirstAllocator]);
    return;
  }
  out.add("%s", kSpaceWords[choice.space]);
  for (int i = 0; i < choice.count; ++i) {
    const AllocatorTrait& trait = choice.traits[i];
    out.add("%s%s=", i == 0 ? ":" : ",", kKeyWords[trait.key - kSyncHint]);
    if (const char* word = word_of(trait)) {
      out.add("%s", word);
    } else {
      out.add("%zu", static_cast<size_t>(trait.value));
    }
  }
}

}  // namespace marline
