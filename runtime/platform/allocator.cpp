// SPDX-License-Identifier: Apache-2.0
//
// Allocates, frees and moves blocks. One counter per pool has the number of bytes that the pool has given out. It is
// changed by compare-and-swap, so a request that does not fit is never counted, not even for a moment, and cannot make
// another request fail. A block counts together with the header before it, as in the other runtimes.
#include "platform/allocator.hpp"

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.hpp"
#include "config/options.hpp"
#include "platform/memory_space.hpp"
#include "platform/device_pages.hpp"
#include "platform/own_pages.hpp"

namespace marline {

using namespace allocators;
namespace {

constexpr size_t kUnlimited = SIZE_MAX;
constexpr size_t kLeastAlignment = alignof(max_align_t);

struct alignas(kCacheLine) Allocator {
  size_t alignment = kLeastAlignment;
  size_t pool_size = kUnlimited;
  uintptr_t fallback = kDefaultMemoryFallback;
  AllocatorHandle fallback_allocator = kNullAllocator;
  uintptr_t partition = kEnvironment;
  // kTargetHostSpace, kTargetSharedSpace or kTargetDeviceSpace; 0: another space. Without a device, such a space has
  // the host's memory.
  uintptr_t target = 0;
  NodeSet space;        // the nodes, if `placed`
  bool placed = false;  // blocks are placed on the nodes of `space`
  bool spread = false;  // blocks are distributed by `partition`
  bool pinned = false;
  Allocator* next = nullptr;                   // link in the list of free structures
  alignas(kCacheLine) Atomic<size_t> used{0};  // bytes given out of the pool; allocating and freeing threads
};

struct alignas(kLeastAlignment) BlockHead {
  AllocatorHandle handle;
  uint64_t bytes : 56;
  uint64_t alignment_shift : 6;
  uint64_t own_pages : 1;  // from own_pages or device_pages; otherwise from malloc
  uint64_t device_pages : 1;

  // The distance from the begin of the memory of malloc or mmap to the block.
  [[nodiscard]] size_t offset() const { return size_t{1} << alignment_shift; }
  [[nodiscard]] size_t total() const { return offset() + bytes; }
};
static_assert(sizeof(BlockHead) == kLeastAlignment);
constexpr size_t kSpreadFrom = 4096;  // bytes; a smaller block is on one page anyway
constexpr size_t kLargestBlock = (size_t{1} << 55) - 1;

struct Request {
  AllocatorHandle handle;
  // A power of two, at least kLeastAlignment, so that the header fits before the block.
  size_t alignment;
  size_t bytes;
  bool zeroed;

  [[nodiscard]] size_t total() const { return alignment + bytes; }
};

struct Subspace {
  NodeSet nodes;
  Subspace* next;
};

Allocator* g_free = nullptr;      // under g_free_allocators_lock
Subspace* g_subspaces = nullptr;  // under g_allocators_lock
// Made at the first use, under g_allocators_lock; any thread reads.
Atomic<Allocator*> g_predefined[kGccPinnedMemory + 1];

BlockHead* head_of(void* memory) { return static_cast<BlockHead*>(memory) - 1; }
char* base_of(void* memory) { return static_cast<char*>(memory) - head_of(memory)->offset(); }

const NodeSet* subspace_nodes(uintptr_t handle) {
  Guard guard(g_allocators_lock);
  for (const Subspace* known = g_subspaces; known != nullptr; known = known->next) {
    if (reinterpret_cast<uintptr_t>(known) == handle) return &known->nodes;
  }
  return nullptr;
}

// Null if there is no such space.
const NodeSet* nodes_of(uintptr_t space) {
  if (space > kLastNumber) return subspace_nodes(space);
  if (space <= kLowLatencySpace) return &memory_space(static_cast<PredefinedSpace>(space));
  bool known = space == kDefaultSpace60 || (space >= kTargetHostSpace && space <= kTargetDeviceSpace);
  return known ? &memory_space(kDefaultSpace) : nullptr;
}

// Each of these functions checks a trait's value and stores it; false: the value is invalid.
bool set_alignment(Allocator& allocator, uintptr_t value) {
  if (value > allocator.alignment) allocator.alignment = value;
  return std::has_single_bit(value) && value <= kLargestBlock;
}

bool set_pool_size(Allocator& allocator, uintptr_t value) {
  allocator.pool_size = value;
  return value > 0;
}

bool set_fallback(Allocator& allocator, uintptr_t value) {
  allocator.fallback = value;
  return value >= kDefaultMemoryFallback && value <= kAllocatorFallback;
}

bool set_partition(Allocator& allocator, uintptr_t value) {
  allocator.partition = value;
  return value >= kEnvironment && value <= kInterleaved;
}

// Traits without a meaning on a host are only checked: every thread can access all memory, and malloc can serve several
// threads at once.
bool set_trait(Allocator& allocator, const AllocatorTrait& trait) {
  uintptr_t value = trait.value;
  bool known = trait.key >= kSyncHint && trait.key <= kPartSize;
  if (value == kDefaultValue) return known;
  switch (trait.key) {
    case kSyncHint: return value >= kContended && value <= kPrivate;
    case kAlignment: return set_alignment(allocator, value);
    case kAccess: return (value >= kAll && value <= kCgroup) || (value >= kAll60 && value <= kMemorySpaceAccess);
    case kPoolSize: return set_pool_size(allocator, value);
    case kFallback: return set_fallback(allocator, value);
    case kFallbackData: allocator.fallback_allocator = value; return true;
    case kPinned: allocator.pinned = value == kTrue; return value <= kTrue;
    case kPartition: return set_partition(allocator, value);
    default: return known;
  }
}

// Asks hwloc for the machine's nodes only if they matter.
bool set_space(Allocator& allocator, uintptr_t space) {
  if (space >= kTargetHostSpace && space <= kTargetDeviceSpace) allocator.target = space;
  bool anywhere = space == kDefaultSpace || space == kDefaultSpace60 || space == kConstantSpace;
  if (anywhere && allocator.partition == kEnvironment) return true;
  const NodeSet* nodes = nodes_of(space);
  if (nodes == nullptr) return false;
  if (!memory_can_be_placed()) return true;
  allocator.space = *nodes;
  allocator.placed = !(*nodes == memory_space(kDefaultSpace));
  allocator.spread = allocator.partition != kEnvironment;
  return true;
}

Allocator* new_chunk() {
  constexpr size_t kChunk = 64 * 1024;
  auto* first = reinterpret_cast<Allocator*>(own_pages_map_low(kChunk));
  for (size_t i = 1; first != nullptr && i < kChunk / sizeof(Allocator); ++i) {
    first[i].next = g_free;
    g_free = first + i;
  }
  return first;
}

// Clang 14 passes C's allocator of an allocate clause as an int, which it extends again. So handles must fit into an
// int.
Allocator* make_allocator() {
  Guard guard(g_free_allocators_lock);
  Allocator* allocator = g_free;
  if (allocator != nullptr) {
    g_free = allocator->next;
  } else {
    allocator = new_chunk();
  }
  return allocator == nullptr ? nullptr : new (allocator) Allocator;
}

void end_allocator(Allocator* allocator) {
  Guard guard(g_free_allocators_lock);
  allocator->next = g_free;
  g_free = allocator;
}

// For the numbers that need more than malloc's memory; null for the others. Each of these spaces has its own allocator.
Allocator* make_predefined(AllocatorHandle number) {
  // The traits that GCC uses.
  static constexpr AllocatorTrait kPinnedTraits[] = {{kPinned, kTrue}, {kFallback, kNullFallback}};
  uintptr_t space = number - kLargeCapacityMemory + kLargeCapacitySpace;
  bool pinned = number == kGccPinnedMemory14 || number == kGccPinnedMemory;
  return reinterpret_cast<Allocator*>(pinned ? memory_allocator_create(kDefaultSpace, 2, kPinnedTraits)
                                             : memory_allocator_create(space, 0, nullptr));
}

Allocator* predefined(AllocatorHandle number) {
  bool special = number == kLargeCapacityMemory || number == kHighBandwidthMemory || number == kLowLatencyMemory ||
                 number == kGccPinnedMemory14 || number == kGccPinnedMemory;
  if (!special) return nullptr;
  Allocator* known = g_predefined[number].load(acquire);  // pairs with the release below
  if (known != nullptr) return known;
  Guard guard(g_allocators_lock);
  known = g_predefined[number].load(relaxed);
  if (known == nullptr) g_predefined[number].store(known = make_predefined(number), release);
  return known;
}

// Null: malloc's memory, without a limit.
Allocator* allocator_of(AllocatorHandle handle) {
  if (handle == kDefaultMemory) return nullptr;
  return handle > kLastNumber ? reinterpret_cast<Allocator*>(handle) : predefined(handle);
}

bool reserve(Allocator* allocator, size_t bytes) {
  if (allocator == nullptr || allocator->pool_size == kUnlimited) return true;
  size_t used = allocator->used.load(relaxed);
  do {
    if (bytes > allocator->pool_size - used) return false;
  } while (!allocator->used.compare_exchange_weak(used, used + bytes, relaxed));
  return true;
}

void give_back(Allocator* allocator, size_t bytes) {
  if (allocator != nullptr && allocator->pool_size != kUnlimited) allocator->used.fetch_sub(bytes, relaxed);
}

void* begin_block(char* base, const Request& request, bool own_pages, bool device_pages = false) {
  char* block = base + request.alignment;
  auto shift = static_cast<uint64_t>(std::countr_zero(request.alignment));
  new (head_of(block)) BlockHead{request.handle, request.bytes, shift, own_pages, device_pages};
  return block;
}

void* block_from_heap(const Request& request) {
  if (request.alignment == kLeastAlignment) {
    void* base = request.zeroed ? std::calloc(1, request.total()) : std::malloc(request.total());
    return base == nullptr ? nullptr : begin_block(static_cast<char*>(base), request, false);
  }
  void* base = nullptr;
  if (posix_memalign(&base, request.alignment, request.total()) != 0) return nullptr;
  void* block = begin_block(static_cast<char*>(base), request, false);
  return request.zeroed ? std::memset(block, 0, request.bytes) : block;
}

// Null: no device has pinned memory.
void* block_of_device_pages(const Request& request) {
  char* base = device_pages_allocate(request.total(), request.alignment);
  if (base == nullptr) return nullptr;
  void* block = begin_block(base, request, false, true);
  return request.zeroed ? std::memset(block, 0, request.bytes) : block;
}

// Placement is only a wish: a refusal by the system is reported once. Pinning is a promise: without it there is no
// block.
void* block_of_own_pages(const Allocator& allocator, const Request& request) {
  char* base = own_pages_map(request.total(), request.alignment);
  if (base == nullptr) return nullptr;
  bool place = allocator.placed || allocator.spread;
  if (place && !memory_place(base, request.total(), allocator.space, allocator.partition)) {
    static Atomic<bool> said{false};  // set by any thread
    if (!said.exchange(true, relaxed)) {
      warn(
          "the system does not place memory on the nodes of its space (%s), it may be on any node: allow the system "
          "call mbind in the container",
          strerror(errno));
    }
  }
  if (!allocator.pinned || own_pages_pin(base, request.total())) return begin_block(base, request, true);
  own_pages_unmap(base, request.total());
  return nullptr;
}

void* allocate_block(const Allocator* allocator, const Request& request) {
  bool own_pages = allocator != nullptr &&
                   (allocator->pinned || allocator->placed || (allocator->spread && request.bytes >= kSpreadFrom));
  if (!own_pages) return block_from_heap(request);
  if (allocator->pinned && !allocator->placed && !allocator->spread) {
    if (void* block = block_of_device_pages(request)) return block;
  }
  return block_of_own_pages(*allocator, request);
}

void* fall_back(const Allocator& allocator, const Request& request) {
  switch (allocator.fallback) {
    case kDefaultMemoryFallback:
      return memory_allocate(kDefaultMemory, request.alignment, request.bytes, request.zeroed);
    case kAllocatorFallback:
      return memory_allocate(allocator.fallback_allocator, request.alignment, request.bytes, request.zeroed);
    case kAbortFallback:
      fatal("an allocator with the trait omp_atv_abort_fb has no %zu bytes left (pool size %zu)", request.bytes,
            allocator.pool_size);
    default: return nullptr;
  }
}

[[gnu::noinline]] void* allocate_from(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed) {
  Allocator* allocator = allocator_of(handle);
  size_t least = allocator == nullptr ? kLeastAlignment : allocator->alignment;
  bool valid = bytes != 0 && bytes <= kLargestBlock && (alignment & (alignment - 1)) == 0 && alignment <= kLargestBlock;
  if (!valid) return nullptr;
  const Request request{handle, alignment < least ? least : alignment, bytes, zeroed};
  if (reserve(allocator, request.total())) {
    if (void* block = allocate_block(allocator, request)) return block;
    give_back(allocator, request.total());
  }
  return allocator != nullptr ? fall_back(*allocator, request) : nullptr;
}

// For a block from malloc that stays with its allocator: realloc may not have to copy. Null: it did not work.
void* resize_in_heap(void* memory, size_t bytes, Allocator* allocator) {
  const size_t before = head_of(memory)->bytes;
  if (bytes > before && !reserve(allocator, bytes - before)) return nullptr;
  void* base = std::realloc(base_of(memory), kLeastAlignment + bytes);
  if (base == nullptr) {
    if (bytes > before) give_back(allocator, bytes - before);
    return nullptr;
  }
  if (bytes < before) give_back(allocator, before - bytes);
  void* block = static_cast<char*>(base) + kLeastAlignment;
  head_of(block)->bytes = bytes;
  return block;
}

bool can_resize_in_heap(const BlockHead& head, AllocatorHandle handle, const Allocator* allocator) {
  bool plain = allocator == nullptr || (allocator->alignment == kLeastAlignment && !allocator->spread);
  return plain && handle == head.handle && head.own_pages == 0 && head.device_pages == 0 &&
         head.offset() == kLeastAlignment;
}

}  // namespace

SpinLock g_allocators_lock, g_free_allocators_lock;

AllocatorHandle memory_allocator_create(uintptr_t space, int count, const AllocatorTrait* traits) {
  Allocator* allocator = make_allocator();
  if (allocator == nullptr) return kNullAllocator;
  bool accepted = true;
  for (int i = 0; i < count; ++i) accepted = accepted && set_trait(*allocator, traits[i]);
  bool complete = allocator->fallback != kAllocatorFallback || allocator->fallback_allocator != kNullAllocator;
  if (accepted && complete && set_space(*allocator, space)) return reinterpret_cast<AllocatorHandle>(allocator);
  end_allocator(allocator);
  return kNullAllocator;
}

void memory_allocator_destroy(AllocatorHandle handle) {
  if (handle > kLastNumber) end_allocator(reinterpret_cast<Allocator*>(handle));
}

AllocatorHandle memory_allocator_initial() {
  const AllocatorChoice& choice = options().allocator;
  if (choice.handle != kNullAllocator) return choice.handle;
  static Atomic<AllocatorHandle> made{kNullAllocator};  // made once, under the lock; any thread reads
  AllocatorHandle known = made.load(acquire);           // pairs with the release below
  if (known != kNullAllocator) return known;
  Guard guard(g_allocators_lock);
  known = made.load(relaxed);
  if (known != kNullAllocator) return known;
  known = memory_allocator_create(choice.space, choice.count, choice.traits);
  if (known == kNullAllocator) known = kDefaultMemory;
  made.store(known, release);
  return known;
}

uintptr_t memory_allocator_target(AllocatorHandle handle) {
  if (handle > kLastNumber) return reinterpret_cast<const Allocator*>(handle)->target;
  // These predefined allocators have the numbers of their spaces.
  return handle >= kTargetHostMemory && handle <= kTargetDeviceMemory ? handle : 0;
}

void* memory_allocate(AllocatorHandle handle, size_t alignment, size_t bytes, bool zeroed) {
  // The request of nearly every call. The subtraction also excludes 0 bytes.
  if (handle == kDefaultMemory && alignment == 0 && bytes - 1 < kLargestBlock) {
    return block_from_heap({kDefaultMemory, kLeastAlignment, bytes, zeroed});
  }
  return allocate_from(handle, alignment, bytes, zeroed);
}

void memory_free(void* memory) {
  if (memory == nullptr) return;
  const BlockHead head = *head_of(memory);
  if (head.handle != kDefaultMemory) give_back(allocator_of(head.handle), head.total());
  if (head.device_pages != 0) return device_pages_release(base_of(memory));
  if (head.own_pages == 0) return std::free(base_of(memory));
  own_pages_unmap(base_of(memory), head.total());
}

void* memory_reallocate(void* memory, size_t bytes, AllocatorHandle handle) {
  const BlockHead head = *head_of(memory);
  if (handle == kNullAllocator) handle = head.handle;
  Allocator* allocator = allocator_of(handle);
  if (can_resize_in_heap(head, handle, allocator) && bytes <= kLargestBlock) {
    if (void* resized = resize_in_heap(memory, bytes, allocator)) return resized;
  }
  void* moved = memory_allocate(handle, 0, bytes, false);
  if (moved == nullptr) return nullptr;
  std::memcpy(moved, memory, head.bytes < bytes ? head.bytes : bytes);
  memory_free(memory);
  return moved;
}

int memory_space_resources(uintptr_t space) {
  const NodeSet* nodes = nodes_of(space);
  return nodes == nullptr ? 0 : nodes->count();
}

uintptr_t memory_subspace(uintptr_t space, int count, const int* positions) {
  const NodeSet* nodes = nodes_of(space);
  if (nodes == nullptr || count <= 0) return 0;
  NodeSet chosen;
  for (int i = 0; i < count; ++i) {
    if (positions[i] < 0 || positions[i] >= nodes->count()) return 0;
    int node = nodes->next(0);
    for (int skipped = 0; skipped < positions[i]; ++skipped) node = nodes->next(node + 1);
    chosen.add(node);
  }
  Guard guard(g_allocators_lock);
  for (const Subspace* known = g_subspaces; known != nullptr; known = known->next) {
    if (known->nodes == chosen) return reinterpret_cast<uintptr_t>(known);
  }
  void* memory = std::malloc(sizeof(Subspace));
  if (memory == nullptr) return 0;
  g_subspaces = new (memory) Subspace{chosen, g_subspaces};
  return reinterpret_cast<uintptr_t>(g_subspaces);
}

}  // namespace marline
