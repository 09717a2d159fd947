// SPDX-License-Identifier: Apache-2.0
//
// Counts and prints the findings of MARLINE_CLUSTER_WRITES=check.
#include "device/cluster/head/check.hpp"

#include "base/make.hpp"
#include "base/report.hpp"
#include "device/contract/place.hpp"
#include "image/images.hpp"

#include <unistd.h>

#include <cstdio>

namespace marline::offload::device {

using namespace cluster;
using namespace image;

struct CheckedKernel {
  const Entry* entry;
  const char* place;
  // Whether the task's depend clauses are known. Then `named` has all ranges that they name.
  bool names_all = false;
  List<ClusterRange> named = {};
  // The host addresses from which the buffers of the construct are mapped.
  struct Origin {
    uint64_t buffer, host;
  };
  List<Origin> origins = {};
};

namespace {

constexpr int kFoundSomething = 123;  // exit status if anything was found; `marline check` ends with the same

// A finding that has been printed. If several tasks of one construct write to the same buffer, only the first finding
// is printed, as the lines would be equal. The list is searched from the begin, as it is short: a program with many
// findings should be corrected first.
struct Reported {
  const Entry* entry;
  const char* place;
  uint64_t buffer;
  Found what;
};
List<Reported> g_reported;  // one for each printed finding; a new finding is compared with all
// How many findings of each kind there were, how many tasks were checked, and how many could not be checked, because
// their depend clauses are not known.
uint64_t g_unnamed = 0, g_written_twice = 0, g_checked = 0, g_unknown = 0;
// One entry for each pair of constructs in the source. Used only by the thread that submits.
List<UnorderedPair> g_unordered;

bool is_first(const CheckedKernel& kernel, const CheckFinding& finding) {
  for (const Reported& one : g_reported) {
    bool is_same = one.entry == kernel.entry && one.place == kernel.place && one.what == finding.what;
    if (is_same && one.buffer == finding.buffer) return false;
  }
  g_reported.push({kernel.entry, kernel.place, finding.buffer, finding.what});
  return true;
}

// The host address from which the buffer is mapped; 0: it is not known.
uint64_t origin_of(const CheckedKernel& kernel, uint64_t buffer) {
  for (const CheckedKernel::Origin& one : kernel.origins) {
    if (one.buffer == buffer) return one.host;
  }
  return 0;
}

void describe_construct(const UnorderedPair::Construct& one, char* to, size_t bytes) {
  const char* what = one.kind == ConstructKind::kEnterData  ? "the enter data"
                     : one.kind == ConstructKind::kExitData ? "the exit data"
                                                            : "the target update";
  describe_source({one.kernel != nullptr ? one.kernel->name : nullptr, one.place}, what, to, bytes);
}

bool is_same(const UnorderedPair::Construct& one, const UnorderedPair::Construct& other) {
  return one.kind == other.kind && one.kernel == other.kernel && one.place == other.place;
}

}  // namespace

CheckedKernel* make_checked(const Launch& launch, ClusterMemory& memory) {
  auto* kernel = make<CheckedKernel>("a task of the cluster", launch.kernel, launch.place, launch.named.are_known);
  ++(launch.named.are_known ? g_checked : g_unknown);
  memory.list_named(launch.named, kernel->named);
  for (uint32_t i = 0; i < launch.span_count; ++i) {
    const Span& span = launch.spans[i];
    const ClusterBuffer* buffer = span.host != nullptr ? memory.at(span.address) : nullptr;
    if (buffer == nullptr) continue;
    kernel->origins.push({buffer->number, reinterpret_cast<uint64_t>(span.host) - (span.address - buffer->begin)});
  }
  return kernel;
}

void free_checked(CheckedKernel* kernel) { destroy(kernel); }

void write_checked(const CheckedKernel& kernel, BlobWriter& to) {
  to.put(uint64_t{kernel.names_all});
  to.list(kernel.named, [&](auto& range) { pass_range(to, range); });
}

void report_finding(const CheckedKernel& kernel, const ClusterBuffer& buffer, const CheckFinding& finding, int node) {
  bool is_unnamed = finding.what == Found::kUnnamed;
  ++(is_unnamed ? g_unnamed : g_written_twice);
  if (!is_first(kernel, finding)) return;
  char region[600], piece[100] = "that are reached by a pointer";
  describe_place(kernel.entry->name, kernel.place, region, sizeof region);
  if (uint64_t host = origin_of(kernel, buffer.number)) {
    std::snprintf(piece, sizeof piece, "that are mapped from %#lx on", host);
  } else if (buffer.places != nullptr) {
    std::snprintf(piece, sizeof piece, "of the `declare target` variable at %#lx", buffer.places[0]);
  }
  const char* is_wrong =
      is_unnamed ? "its depend clauses do not name"
                 : "a construct that has no order to it has written as well: atomic, critical and locks do not "
                   "reach other nodes; order them by depend(mutexinoutset), or reduce by in_reduction";
  std::fprintf(stderr,
               "marline: check: %s, on node %d, has written bytes %lu to %lu (%lu of them) of the %lu bytes %s, "
               "which %s\n",
               region, node, finding.first, finding.end - 1, finding.count, buffer.bytes(), piece, is_wrong);
}

void report_unordered(const UnorderedPair& pair) {
  for (const UnorderedPair& known : g_unordered) {
    if (known.use == pair.use && is_same(known.first, pair.first) && is_same(known.other, pair.other)) return;
  }
  g_unordered.push(pair);
  char first[600], other[600];
  describe_construct(pair.first, first, sizeof first);
  describe_construct(pair.other, other, sizeof other);
  const char* does = pair.use == UnorderedUse::kEnds ? "takes away" : "uses";
  const char* what = pair.use == UnorderedUse::kEnds     ? "uses"
                     : pair.use == UnorderedUse::kOfGone ? "takes away"
                                                         : "maps";
  std::fprintf(stderr,
               "marline: check: %s %s %zu bytes that are mapped from %#lx on, which %s %s, and comes neither before "
               "nor behind it: order them by depend or taskwait\n",
               first, does, pair.bytes, pair.begin, other, what);
}

void end_check() {
  if (g_checked + g_unknown == 0 && g_unordered.is_empty()) return;
  note("check: %lu target regions were checked, %lu that do not say what they write were not", g_checked, g_unknown);
  if (g_unnamed + g_written_twice == 0 && g_unordered.is_empty()) return;
  if (g_unnamed != 0) {
    std::fprintf(stderr, "marline: check: %lu write%s that no depend clause names\n", g_unnamed,
                 g_unnamed == 1 ? "" : "s");
  }
  if (g_written_twice != 0) {
    std::fprintf(stderr, "marline: check: %lu write%s to what another region without an order writes\n",
                 g_written_twice, g_written_twice == 1 ? "" : "s");
  }
  if (!g_unordered.is_empty()) {
    std::fprintf(stderr, "marline: check: %zu pair%s of constructs without an order\n", g_unordered.count(),
                 g_unordered.count() == 1 ? "" : "s");
  }
  std::fflush(nullptr);
  _exit(kFoundSomething);
}

}  // namespace marline::offload::device
