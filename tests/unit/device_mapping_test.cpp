// SPDX-License-Identifier: Apache-2.0
//
// The data environment that programs use (offload/data) against the one that the cluster's simulator uses
// (offload/cluster/mapping): for the same sequence of constructs, both copy the same bytes and keep the same data. So
// the simulator's results about maps hold for programs.
#include "data/spans.hpp"

#include "cluster/data_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <random>
#include <tuple>
#include <vector>

extern "C" void __tgt_push_mapper_component(void*, void*, void*, int64_t, int64_t, void*);

namespace marline::offload::data {

using namespace cluster;
using namespace device;
using namespace items;

namespace {

struct Copy {
  uint64_t host, bytes;
  bool out;
  bool operator==(const Copy&) const = default;
  bool operator<(const Copy& other) const {
    return std::tie(out, host, bytes) < std::tie(other.out, other.host, other.bytes);
  }
};

// A device that is memory of this process, and records the copies.
std::vector<Copy> g_copies;
long g_allocated = 0;

uint64_t allocate(Device*, size_t bytes) {
  ++g_allocated;
  return reinterpret_cast<uint64_t>(std::calloc(1, bytes));
}
void release(Device*, uint64_t address) {
  --g_allocated;
  std::free(reinterpret_cast<void*>(address));
}
void write(Device*, uint64_t to, const void* from, size_t bytes) {
  std::memcpy(reinterpret_cast<void*>(to), from, bytes);
  g_copies.push_back({reinterpret_cast<uint64_t>(from), bytes, false});
}
void read(Device*, void* to, uint64_t from, size_t bytes) {
  std::memcpy(to, reinterpret_cast<void*>(from), bytes);
  g_copies.push_back({reinterpret_cast<uint64_t>(to), bytes, true});
}

enum class What { kEnter, kExit, kDelete, kRegion, kUpdateTo, kUpdateFrom, kKinds };

// Items of one construct do not overlap, as OpenMP wants it.
struct Construct {
  What what;
  std::vector<MapItem> items;
};

constexpr uint64_t kBytes = 64, kVariables = 6;
alignas(64) char g_variables[kVariables][kBytes];

Construct draw(std::mt19937& random) {
  auto below = [&](uint64_t end) { return random() % end; };
  Construct construct = {static_cast<What>(below(static_cast<uint64_t>(What::kKinds))), {}};
  for (uint64_t variable = below(kVariables); variable < kVariables; variable += 1 + below(kVariables)) {
    MapItem item;
    bool is_whole = below(3) != 0;
    uint64_t offset = is_whole ? 0 : below(kBytes / 8) * 8;
    item.address = reinterpret_cast<uint64_t>(g_variables[variable]) + offset;
    item.bytes = is_whole ? kBytes : 8 + below((kBytes - offset) / 8) * 8;
    item.to = below(2) != 0;
    item.from = below(2) != 0;
    item.always = below(6) == 0;
    construct.items.push_back(item);
  }
  return construct;
}

uint64_t type_of(What what, const MapItem& item) {
  using namespace map_type;
  if (what == What::kUpdateTo || what == What::kUpdateFrom) return what == What::kUpdateTo ? kTo : kFrom;
  bool enters = what == What::kEnter || what == What::kRegion, exits = what == What::kExit || what == What::kRegion;
  return (enters && item.to ? kTo : 0) | (exits && item.from ? kFrom : 0) | (item.always ? kAlways : 0) |
         (what == What::kDelete ? kDelete : 0);
}

// The simulator's side. False: the program is wrong, and nothing must be done. Otherwise it copies to `to`.
class Reference {
 public:
  bool is_right(const Construct& construct) const {
    for (const MapItem& item : construct.items) {
      MapChange change;
      if (map_.find(item, change) == MapError::kPartlyMapped) return false;
    }
    return true;
  }

  void run(const Construct& construct, std::vector<Copy>& to) {
    bool enters = construct.what == What::kEnter || construct.what == What::kRegion;
    bool exits = construct.what == What::kExit || construct.what == What::kDelete || construct.what == What::kRegion;
    for (const MapItem& item : construct.items) {
      MapChange change;
      if (enters) check(map_.enter(item, change));
      note(change, false, to);
    }
    for (const MapItem& item : construct.items) {
      MapChange change;
      MapItem given = item;
      given.from = item.from && construct.what != What::kDelete;
      if (exits) check(map_.exit(given, construct.what == What::kDelete, change));
      note(change, true, to);
    }
    if (enters || exits) return;
    for (const MapItem& item : construct.items) {
      MapChange change;
      if (map_.find(item, change) != MapError::kNone) continue;
      to.push_back({change.address, change.range.bytes, construct.what == What::kUpdateFrom});
    }
  }

  bool has(uint64_t address) const {
    MapChange change;
    return map_.find({address, 1}, change) == MapError::kNone;
  }
  size_t count() const { return map_.count(); }

 private:
  static void check(MapError error) { EXPECT_EQ(error, MapError::kNone); }
  static void note(const MapChange& change, bool out, std::vector<Copy>& to) {
    if (change.is_copied) to.push_back({change.address, change.range.bytes, out});
  }

  DataMap map_;
};

void run(DataEnvironment& mapping, const Construct& construct) {
  std::vector<void*> begins;
  std::vector<int64_t> sizes;
  std::vector<uint64_t> types;
  for (const MapItem& item : construct.items) {
    begins.push_back(reinterpret_cast<void*>(item.address));
    sizes.push_back(static_cast<int64_t>(item.bytes));
    types.push_back(type_of(construct.what, item));
  }
  std::vector<void*> bases = begins;
  Items items = {static_cast<int32_t>(begins.size()), bases.data(), begins.data(), sizes.data(), types.data(), nullptr};
  items.of_region = construct.what == What::kRegion;
  bool is_update = construct.what == What::kUpdateTo || construct.what == What::kUpdateFrom;
  if (is_update) return mapping.update(items);
  if (construct.what == What::kEnter || items.of_region) mapping.begin(items);
  if (construct.what != What::kEnter) mapping.end(items);
}

TEST(DeviceMapping, DoesWhatTheSimulatedOneDoes) {
  DeviceKind kind = {};
  kind.name = "test";
  kind.allocate = allocate;
  kind.release = release;
  kind.write = write;
  kind.read = read;
  Device device = {};
  device.kind = &kind;
  // Data environments live as long as their devices, to the end: one for all seeds, and each leaves nothing mapped.
  static DataEnvironment mapping(&device);
  device.mapping = &mapping;
  int done = 0;
  for (uint32_t seed = 0; seed < 10'000; ++seed) {
    std::mt19937 random(seed);
    Reference reference;
    auto both = [&](const Construct& construct) {
      std::vector<Copy> expected;
      g_copies.clear();
      reference.run(construct, expected);
      run(mapping, construct);
      std::sort(expected.begin(), expected.end());
      std::sort(g_copies.begin(), g_copies.end());
      ASSERT_EQ(g_copies.size(), expected.size()) << "seed " << seed;
      ASSERT_TRUE(g_copies == expected) << "seed " << seed;
      ASSERT_EQ(static_cast<size_t>(g_allocated), reference.count()) << "seed " << seed;
    };
    for (int i = 0; i < 60; ++i) {
      Construct construct = draw(random);
      if (!reference.is_right(construct)) continue;
      ASSERT_NO_FATAL_FAILURE(both(construct));
      ++done;
    }
    for (uint64_t i = 0; i < kVariables * kBytes; i += 8) {
      char* at = &g_variables[0][0] + i;
      ASSERT_EQ(mapping.is_present(at), reference.has(reinterpret_cast<uint64_t>(at))) << "seed " << seed;
      Construct clear = {What::kDelete, {{reinterpret_cast<uint64_t>(at), 1}}};
      ASSERT_NO_FATAL_FAILURE(both(clear));
    }
  }
  EXPECT_GT(done, 250'000);
}

// An array of elements with a mapper, as Clang's code maps it: the array without copies, then each element's members.
struct Element {
  int first[3], number;
  double last[4], skipped;
};
constexpr int kElements = 10'000;
Element g_elements[kElements];

template <bool kHasGaps>
void map_elements(void* handle, void*, void* begin, int64_t, int64_t type, void*) {
  auto* elements = static_cast<Element*>(begin);
  auto push = [&](void* at, size_t bytes, int64_t of) {
    __tgt_push_mapper_component(handle, begin, at, static_cast<int64_t>(bytes), of, nullptr);
  };
  push(begin, sizeof g_elements, type & ~int64_t{map_type::kTo | map_type::kFrom});
  for (int i = 0; i < kElements; ++i) {
    push(elements[i].first, kHasGaps ? sizeof elements->first : sizeof elements->first + sizeof elements->number, type);
    push(elements[i].last, sizeof elements->last, type);
    if (!kHasGaps) push(&elements[i].skipped, sizeof elements->skipped, type);
  }
}

int g_calls = 0;
void copy_all(Device* device, const DeviceCopy* copies, uint32_t count) {
  ++g_calls;
  for (uint32_t i = 0; i < count; ++i) {
    if (copies[i].is_to_device) {
      write(device, copies[i].device, copies[i].host, copies[i].bytes);
    } else {
      read(device, copies[i].host, copies[i].device, copies[i].bytes);
    }
  }
}

size_t spans_of(DataEnvironment& mapping, void (*mapper)(void*, void*, void*, int64_t, int64_t, void*)) {
  void* at = g_elements;
  auto* code = reinterpret_cast<void*>(mapper);
  int64_t bytes = kElements;
  uint64_t type = map_type::kTo | map_type::kFrom | map_type::kParameter;
  Items items = {.count = 1, .bases = &at, .begins = &at, .sizes = &bytes, .types = &type, .mappers = &code};
  items.of_region = true;
  List<Span, 4> spans;
  g_copies.clear();
  mapping.begin(items);
  list_spans(mapping, items, spans);
  mapping.end(items);
  return spans.count();
}

TEST(DeviceMapping, CopiesAMappersElementsTogether) {
  DeviceKind together = {};
  together.allocate = allocate;
  together.release = release;
  together.write = write;
  together.read = read;
  together.copy_all = copy_all;
  Device device = {};
  device.kind = &together;
  static DataEnvironment mapping(&device);
  device.mapping = &mapping;
  EXPECT_EQ(spans_of(mapping, map_elements<false>), 1u);  // the array, in which the elements lie
  EXPECT_EQ(g_copies.size(), 2u);                         // there and back
  EXPECT_EQ(g_calls, 0);
  (void)spans_of(mapping, map_elements<true>);
  EXPECT_EQ(g_copies.size(), 4u * kElements);
  EXPECT_EQ(g_calls, 2);
}

// Arrays of many lengths, each of which is mapped by itself.
struct Arrays {
  static constexpr int kCount = 3000;
  std::vector<std::vector<char>> data;
  std::vector<void*> begins;
  std::vector<int64_t> sizes;
  std::vector<uint64_t> types;

  explicit Arrays(uint64_t type) : data(kCount), types(kCount, type) {
    std::mt19937 random(1);
    for (std::vector<char>& one : data) {
      one.resize(1 + random() % (random() % 50 == 0 ? 9000 : 200));
      for (char& byte : one) byte = static_cast<char>(random());
      begins.push_back(one.data());
      sizes.push_back(static_cast<int64_t>(one.size()));
    }
  }
  Items items(int first, int count) {
    return {.count = count,
            .bases = &begins[first],
            .begins = &begins[first],
            .sizes = &sizes[first],
            .types = &types[first]};
  }
};

class SharedStorage : public testing::Test {
 protected:
  SharedStorage() {
    kind_.allocate = allocate_aligned;
    kind_.release = release;
    kind_.write = write;
    kind_.read = read;
    device_.kind = &kind_;
    device_.shares_storage = true;
    device_.mapping = new DataEnvironment(&device_);  // never freed: the fork handlers use its lock
    g_allocated = 0;
  }
  static uint64_t allocate_aligned(Device*, size_t bytes) {
    ++g_allocated;
    return reinterpret_cast<uint64_t>(std::aligned_alloc(64, (bytes + 63) / 64 * 64));
  }
  DataEnvironment& mapping() { return *device_.mapping; }

  DeviceKind kind_ = {};
  Device device_ = {};
};

TEST_F(SharedStorage, HoldsEachPieceByItself) {
  Arrays arrays(map_type::kTo);
  mapping().begin(arrays.items(0, Arrays::kCount));
  EXPECT_LT(g_allocated, Arrays::kCount / 10);
  std::vector<std::pair<uint64_t, uint64_t>> ranges;
  for (const std::vector<char>& one : arrays.data) {
    uint64_t address = mapping().translate(one.data(), one.size());
    ASSERT_NE(address, 0u);
    EXPECT_EQ(address % 64, reinterpret_cast<uint64_t>(one.data()) % 64);
    EXPECT_EQ(std::memcmp(reinterpret_cast<void*>(address), one.data(), one.size()), 0);
    ranges.push_back({address, address + one.size()});
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i) EXPECT_LE(ranges[i - 1].second, ranges[i].first);
  mapping().end(arrays.items(0, Arrays::kCount));
  EXPECT_EQ(g_allocated, 0);
}

TEST_F(SharedStorage, StaysUntilItsLastPieceLeaves) {
  Arrays arrays(map_type::kTo | map_type::kFrom);
  std::vector<std::vector<char>> before = arrays.data;
  mapping().begin(arrays.items(0, Arrays::kCount));
  std::vector<int> order(Arrays::kCount);
  for (int i = 0; i < Arrays::kCount; ++i) order[static_cast<size_t>(i)] = i;
  std::shuffle(order.begin(), order.end(), std::mt19937(2));
  for (int i : order) {
    std::vector<char>& one = arrays.data[static_cast<size_t>(i)];
    auto* there = reinterpret_cast<char*>(mapping().translate(one.data(), one.size()));
    ++*there;
    mapping().end(arrays.items(i, 1));
    ++before[static_cast<size_t>(i)][0];
    EXPECT_FALSE(mapping().is_present(one.data()));
    EXPECT_EQ(one, before[static_cast<size_t>(i)]);
  }
  EXPECT_EQ(g_allocated, 0);
}

TEST_F(SharedStorage, IsOneSpanWhereItsPiecesLieSideBySide) {
  Arrays arrays(map_type::kTo | map_type::kFrom | map_type::kParameter);
  Items items = arrays.items(0, Arrays::kCount);
  items.of_region = true;
  mapping().begin(items);
  List<Span, 4> spans;
  list_spans(mapping(), items, spans);
  EXPECT_LT(spans.count(), Arrays::kCount / 10u);
  for (const std::vector<char>& one : arrays.data) {
    uint64_t address = mapping().translate(one.data(), one.size());
    bool is_in = std::any_of(spans.begin(), spans.end(), [&](const Span& span) {
      return span.address <= address && address + one.size() <= span.address + span.bytes && span.is_written;
    });
    EXPECT_TRUE(is_in);
  }
  mapping().end(items);
  EXPECT_EQ(g_allocated, 0);
}

}  // namespace
}  // namespace marline::offload::data
