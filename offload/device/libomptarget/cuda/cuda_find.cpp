// SPDX-License-Identifier: Apache-2.0
//
// Starts the kernel on a GPU and reads its result. Functions: NVIDIA, CUDA Driver API. The kernel's code: NVIDIA, PTX
// ISA 6.0, which all drivers since 2017 compile for the GPU in use.
#include "device/libomptarget/cuda/cuda_find.hpp"

#include "base/make.hpp"
#include "base/list.hpp"
#include "base/lock.hpp"
#include "base/report.hpp"
#include "device/libomptarget/cuda/cuda_driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>

namespace marline::offload::device {

namespace {

// A thread examines every word whose number modulo the number of threads is the thread's own number. If `other` is not
// null, it searches for words that differ from the copy at `other`; otherwise for words in [begin, begin + bytes).
// `found` is a word that says whether any word is found, followed by a byte for each block.
constexpr char kCode[] = R"(.version 6.0
.target sm_50
.address_size 64

.visible .entry marline_find(
  .param .u64 first,
  .param .u64 other,
  .param .u64 words,
  .param .u64 begin,
  .param .u64 bytes,
  .param .u64 found
)
{
  .reg .pred %differs, %outside;
  .reg .b32 %group, %size, %thread, %groups, %one;
  .reg .b64 %first, %other, %words, %begin, %bytes, %found, %i, %step, %at, %word, %old;

  ld.param.u64 %first, [first];
  ld.param.u64 %other, [other];
  ld.param.u64 %words, [words];
  ld.param.u64 %begin, [begin];
  ld.param.u64 %bytes, [bytes];
  ld.param.u64 %found, [found];
  setp.ne.u64 %differs, %other, 0;
  cvta.to.global.u64 %first, %first;
  cvta.to.global.u64 %other, %other;
  cvta.to.global.u64 %found, %found;
  mov.u32 %group, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mov.u32 %thread, %tid.x;
  mov.u32 %groups, %nctaid.x;
  mov.u32 %one, 1;
  cvt.u64.u32 %at, %thread;
  mul.wide.u32 %i, %group, %size;
  add.u64 %i, %i, %at;
  mul.wide.u32 %step, %groups, %size;

NEXT:
  setp.ge.u64 %outside, %i, %words;
  @%outside bra DONE;
  shl.b64 %old, %i, 3;
  add.u64 %at, %first, %old;
  ld.global.u64 %word, [%at];
  @%differs bra COMPARE;
  sub.u64 %word, %word, %begin;
  setp.ge.u64 %outside, %word, %bytes;
  @%outside bra STEP;
  bra FOUND;
COMPARE:
  add.u64 %at, %other, %old;
  ld.global.u64 %old, [%at];
  setp.eq.u64 %outside, %word, %old;
  @%outside bra STEP;
FOUND:
  shr.u64 %at, %i, 5;
  add.u64 %at, %found, %at;
  st.global.u8 [%at+8], %one;
  st.global.u32 [%found], %one;
STEP:
  add.u64 %i, %i, %step;
  bra NEXT;

DONE:
  ret;
}
)";
static_assert(kWordsInBlock == 1 << 5);

struct Routines {
  int (*load)(void**, const void*, unsigned, void*, void*) = nullptr;
  int (*function)(void**, void*, const char*) = nullptr;
  int (*launch)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                void**) = nullptr;
  int (*allocate)(uint64_t*, size_t) = nullptr;
  int (*free)(uint64_t) = nullptr;
  int (*create)(void**, unsigned) = nullptr;
  int (*synchronize)(void*) = nullptr;
  int (*fill)(uint64_t, unsigned char, size_t, void*) = nullptr;
  int (*to_host)(void*, uint64_t, size_t, void*) = nullptr;
  int (*inside)(uint64_t, uint64_t, size_t, void*) = nullptr;
  bool are_known = false;
};

const Routines& cuda() {
  static const Routines known = [] {
    Routines to;
    to.are_known = find_cuda("cuModuleLoadDataEx", to.load) && find_cuda("cuModuleGetFunction", to.function) &&
                   find_cuda("cuLaunchKernel", to.launch) && find_cuda("cuMemAlloc_v2", to.allocate) &&
                   find_cuda("cuMemFree_v2", to.free) && find_cuda("cuStreamCreate", to.create) &&
                   find_cuda("cuStreamSynchronize", to.synchronize) && find_cuda("cuMemsetD8Async", to.fill) &&
                   find_cuda("cuMemcpyDtoHAsync_v2", to.to_host) && find_cuda("cuMemcpyDtoDAsync_v2", to.inside);
    return to;
  }();
  return known;
}

// Memory of the GPU that grows on demand.
struct Room {
  uint64_t address = 0, bytes = 0;
};

// Bytes that have been copied. The copy has the same offset within a block as the original.
struct Kept {
  uint64_t begin, end, copy;
};

// The kernel and the memory of one GPU. It stays until the process ends.
struct Finder {
  void* context = nullptr;
  void* function = nullptr;  // null: the kernel cannot be compiled
  void* stream = nullptr;
  Room found, copies;
  List<Kept, 8> kept;
};

Lock g_lock;  // protects the list; a finder itself has only one user at a time
List<Finder*, 4> g_finders;

void open(Finder& finder) {
  constexpr unsigned kNonBlocking = 1;
  void* module = nullptr;
  bool is_open = cuda().create(&finder.stream, kNonBlocking) == 0 &&
                 cuda().load(&module, kCode, 0, nullptr, nullptr) == 0 &&
                 cuda().function(&finder.function, module, "marline_find") == 0;
  if (!is_open) finder.function = nullptr;
}

// The context must be current in the calling thread.
Finder& finder_of(void* context) {
  Guard guard(g_lock);
  for (Finder* finder : g_finders) {
    if (finder->context == context) return *finder;
  }
  auto* finder = make<Finder>("what is found on a GPU");
  finder->context = context;
  open(*finder);
  g_finders.push(finder);
  return *finder;
}

// Null: this memory cannot be searched.
void* context_of(uint64_t address) { return cuda().are_known ? cuda_context_of(address) : nullptr; }

bool grow(Room& room, uint64_t bytes) {
  if (bytes <= room.bytes) return true;
  if (room.bytes != 0) (void)cuda().free(room.address);
  room.bytes = 0;
  uint64_t wider = bytes + bytes / 4;
  if (cuda().allocate(&room.address, wider) != 0) return false;
  room.bytes = wider;
  return true;
}

// The memory that a kernel examines.
struct Search {
  uint64_t first, other, words, begin, bytes;
};

bool launch(const Finder& finder, Search search) {
  constexpr unsigned kThreads = 256, kMostGroups = 1024;  // enough for the bandwidth of any GPU
  auto groups = static_cast<unsigned>(std::min<uint64_t>((search.words + kThreads - 1) / kThreads, kMostGroups));
  uint64_t found = finder.found.address;
  void* arguments[] = {&search.first, &search.other, &search.words, &search.begin, &search.bytes, &found};
  return cuda().launch(finder.function, groups, 1, 1, kThreads, 1, 1, 0, finder.stream, arguments, nullptr) == 0;
}

bool read(const Finder& finder, void* to, uint64_t offset, uint64_t bytes) {
  bool has_begun = cuda().to_host(to, finder.found.address + offset, bytes, finder.stream) == 0;
  return cuda().synchronize(finder.stream) == 0 && has_begun;
}

// Searches, with the results of cuda_find_words.
bool find(Finder& finder, const Search& search, char*& found) {
  uint64_t any = 0, blocks = (search.words + kWordsInBlock - 1) / kWordsInBlock, bytes = sizeof any + blocks;
  if (finder.function == nullptr || !grow(finder.found, bytes)) return false;
  bool has_run = cuda().fill(finder.found.address, 0, bytes, finder.stream) == 0 && launch(finder, search) &&
                 read(finder, &any, 0, sizeof any);
  if (!has_run || any == 0) return has_run;
  found = static_cast<char*>(std::malloc(blocks));
  if (found == nullptr) fatal("no memory for what is found in %lu words on a GPU", search.words);
  return read(finder, found, sizeof any, blocks);
}

}  // namespace

bool cuda_find_words(uint64_t at, uint64_t words, uint64_t begin, uint64_t end, char*& found) {
  found = nullptr;
  void* context = context_of(at);
  if (context == nullptr) return false;
  CudaContext current(context);
  return !current.failed() && find(finder_of(context), {at, 0, words, begin, end - begin}, found);
}

bool cuda_find_changes(uint64_t at, uint64_t words, char*& found) {
  found = nullptr;
  void* context = context_of(at);
  if (context == nullptr) return false;
  CudaContext current(context);
  if (current.failed()) return false;
  Finder& finder = finder_of(context);
  for (const Kept& kept : finder.kept) {
    if (at < kept.begin || at + words * sizeof(uint64_t) > kept.end) continue;
    return find(finder, {at, kept.copy + (at - kept.begin), words, 0, 0}, found);
  }
  return false;
}

namespace {

void forget_kept() {
  Guard guard(g_lock);
  for (Finder* finder : g_finders) finder->kept.shrink(0);
}

}  // namespace

void cuda_keep(const ByteRun* runs, size_t count) {
  forget_kept();
  constexpr uint64_t kBlock = kWordsInBlock * sizeof(uint64_t);
  void* context = count != 0 ? context_of(runs[0].offset) : nullptr;
  if (context == nullptr) return;
  CudaContext current(context);
  if (current.failed()) return;
  Finder& finder = finder_of(context);
  uint64_t all = 0;
  for (size_t i = 0; i < count; ++i) all += runs[i].bytes + 2 * kBlock;
  if (finder.function == nullptr || !grow(finder.copies, all)) return;
  bool has_copied = true;
  uint64_t free = finder.copies.address;  // the start of a block
  for (size_t i = 0; i < count; ++i) {
    uint64_t copy = free + runs[i].offset % kBlock;
    has_copied = has_copied && cuda().inside(copy, runs[i].offset, runs[i].bytes, finder.stream) == 0;
    finder.kept.push({runs[i].offset, runs[i].end(), copy});
    free = (copy + runs[i].bytes + kBlock - 1) / kBlock * kBlock;
  }
  if (cuda().synchronize(finder.stream) != 0 || !has_copied) finder.kept.shrink(0);
}

}  // namespace marline::offload::device
