// SPDX-License-Identifier: Apache-2.0
//
// Reads OMP_PLACES, applies the binding policies, and keeps this process's places.
//
// The grammar of an explicit list (OpenMP 5.1, 6.5):
//   list      = interval { "," interval }
//   interval  = place [ ":" len [ ":" stride ] ]  |  "!" place
//   place     = "{" resources "}"  |  number
//   resources = range { "," range }
//   range     = number [ ":" len [ ":" stride ] ]  |  "!" number
// `len` is positive, `stride` any number; both are 1 if absent. A number with "!" is excluded wherever it is in its
// place. A place with "!" removes the last place before it that has the same CPUs, as in GCC's runtime; if there is
// none, it removes all such places after it.
#include "platform/topology/places.hpp"

#include <pthread.h>

#include <algorithm>

#include "base/atomic.hpp"
#include "base/check.hpp"
#include "platform/topology/hw_subset.hpp"
#include "platform/memory_domain.hpp"
#include "platform/thread.hpp"
#include "platform/topology/topology_read.hpp"

namespace marline {
namespace {

constexpr const char* kLevelNames[kLevels] = {"threads", "cores", "ll_caches", "numa_domains", "sockets"};

struct Repetition {
  int64_t length = 1;
  int64_t stride = 1;
};

class PlaceReader {
 public:
  PlaceReader(const char* text, const Topology& topology, Places& result, Text& reason)
      : in_(text), topology_(topology), result_(result), reason_(reason) {}

  bool read() {
    if (in_.at_end()) return read_level(static_cast<int>(Level::kCores));
    const int level = in_.accept_one_of(kLevelNames);
    if (level >= 0) return read_level(level);
    Places excluded;
    const bool good = read_list(excluded) && drop_excluded(excluded) && drop_unusable();
    excluded.free_all();
    return good;
  }

 private:
  bool fail(const char* what) {
    reason_.add("%s", what);
    if (!in_.at_end()) reason_.add(" at \"%s\"", in_.rest());
    return false;
  }

  bool append(Places& list, const CpuMask& mask) { return list.append(mask) || fail("out of memory"); }

  bool read_level(int level) {
    const MaskList& objects = topology_.level[level];
    int64_t wanted = objects.count, step = 1;
    if (in_.accept('(')) {
      if (!in_.accept_number(1, INT32_MAX, wanted)) return fail("expected a positive number of places");
      if (in_.accept(':') && !in_.accept_number(1, INT32_MAX, step)) return fail("expected a positive increment");
      if (!in_.accept(')')) return fail("expected )");
    }
    if (!in_.at_end()) return fail("unexpected text");
    for (int64_t i = 0; i < wanted && i * step < objects.count; ++i) {
      if (!append(result_, objects.masks[i * step])) return false;
    }
    return true;
  }

  bool read_list(Places& excluded) {
    do {
      const bool exclude = in_.accept('!');
      CpuMask place;
      Repetition repetition;
      if (!read_place(place)) return false;
      if (exclude) {
        if (!remove_last(place) && !append(excluded, place)) return false;
      } else if (!read_repetition(repetition) || !append_shifted(place, repetition)) {
        return false;
      }
    } while (in_.accept(','));
    return in_.at_end() || fail("unexpected text");
  }

  bool remove_last(const CpuMask& place) {
    for (int i = result_.count - 1; i >= 0; --i) {
      if (result_.masks[i] != place) continue;
      result_.remove(i);
      return true;
    }
    return false;
  }

  bool read_place(CpuMask& place) {
    if (int64_t cpu; in_.accept_number(0, CpuMask::kCpus - 1, cpu)) {
      place.set(static_cast<int>(cpu));
      return true;
    }
    if (!in_.accept('{')) return fail("expected threads, cores, ll_caches, numa_domains, sockets, { or a CPU number");
    CpuMask excluded;
    do {
      CpuMask& target = in_.accept('!') ? excluded : place;
      int64_t cpu;
      Repetition repetition;
      if (!in_.accept_number(0, CpuMask::kCpus - 1, cpu)) return fail("expected a CPU number");
      if (&target == &place && !read_repetition(repetition)) return false;
      for (int64_t i = 0; i < repetition.length; ++i, cpu += repetition.stride) {
        if (cpu < 0 || cpu >= CpuMask::kCpus) return fail("an interval leaves the range of CPU numbers");
        target.set(static_cast<int>(cpu));
      }
    } while (in_.accept(','));
    if (!in_.accept('}')) return fail("expected }");
    for (int cpu = excluded.first(); cpu >= 0; cpu = excluded.next(cpu + 1)) place.clear(cpu);
    return true;
  }

  bool read_repetition(Repetition& result) {
    if (!in_.accept(':')) return true;
    if (!in_.accept_number(1, CpuMask::kCpus, result.length)) return fail("expected a positive length");
    if (!in_.accept(':')) return true;
    return in_.accept_number(-CpuMask::kCpus, CpuMask::kCpus, result.stride) || fail("expected a stride");
  }

  bool append_shifted(const CpuMask& place, const Repetition& repetition) {
    for (int64_t i = 0; i < repetition.length; ++i) {
      CpuMask shifted;
      for (int cpu = place.first(); cpu >= 0; cpu = place.next(cpu + 1)) {
        const int64_t target = cpu + i * repetition.stride;
        if (target < 0 || target >= CpuMask::kCpus) return fail("an interval leaves the range of CPU numbers");
        shifted.set(static_cast<int>(target));
      }
      if (!append(result_, shifted)) return false;
    }
    return true;
  }

  bool drop_excluded(const Places& excluded) {
    for (int i = result_.count - 1; i >= 0; --i) {
      for (int k = 0; k < excluded.count; ++k) {
        if (result_.masks[i] != excluded.masks[k]) continue;
        result_.remove(i);
        break;
      }
    }
    return true;
  }

  bool drop_unusable() {
    for (int i = result_.count - 1; i >= 0; --i) {
      result_.masks[i] &= topology_.allowed;
      if (result_.masks[i].empty()) result_.remove(i);
    }
    return result_.count > 0 || fail("no place has a CPU that this process may use");
  }

  Cursor in_;
  const Topology& topology_;
  Places& result_;
  Text& reason_;
};

// Place p of the partition, counted from the parent's, gets the threads [p*T/P, (p+1)*T/P): consecutive numbers, and
// the same number of threads for each place, or one more.
void assign_packed(int first, int count, int start, int threads, bool narrow, PlaceAssignment* result) {
  for (int p = 0; p < count; ++p) {
    const int place = first + (start + p) % count;
    const auto begin = static_cast<int>(int64_t{p} * threads / count);
    const auto end = static_cast<int>(int64_t{p + 1} * threads / count);
    for (int thread = begin; thread < end; ++thread) {
      result[thread] = narrow ? PlaceAssignment{place, place, 1} : PlaceAssignment{place, first, count};
    }
  }
}

// For at least as many places as threads: the partition is divided into one part per thread; if it does not divide
// evenly, the first parts have one place more. The part with the parent's place is the primary thread's, and the
// primary thread stays at its place.
void assign_spread(int first, int count, int start, int threads, PlaceAssignment* result) {
  const auto part_begin = [&](int part) { return part * (count / threads) + std::min(part, count % threads); };
  int own = 0;
  while (part_begin(own + 1) <= start) ++own;
  for (int thread = 0; thread < threads; ++thread) {
    const int part = (own + thread) % threads;
    const int begin = part_begin(part);
    const int place = thread == 0 ? start : begin;
    result[thread] = PlaceAssignment{first + place, first + begin, part_begin(part + 1) - begin};
  }
}

// Guards the variables below until places_known is set.
pthread_mutex_t places_mutex = PTHREAD_MUTEX_INITIALIZER;
Atomic<bool> places_known{false};  // set once, under the mutex; any thread reads
Places the_places;
PlaceMap the_map;
bool bindable = true;

void read_process_places(const Topology& topology) {
  char reason_text[256];
  Text reason(reason_text, sizeof reason_text);
  const Options& o = options();
  if (o.affinity.kind == AffinityKind::kPlaces) {
    if (places_parse(o.places, topology, the_places, reason)) return;
    warn("OMP_PLACES=\"%s\" is not usable: %s; using cores", o.places, reason.c_str());
  } else {
    if (places_for_affinity(o.affinity, topology, the_places, reason)) return;
    warn("KMP_AFFINITY or GOMP_CPU_AFFINITY is not usable: %s; using cores", reason.c_str());
  }
  the_places.free_all();
  if (!places_parse("", topology, the_places, reason)) fatal("out of memory while computing places");
}

void compute_process_places() {
  Topology topology;
  const char* failure = nullptr;
  if (!topology_read(topology, failure)) {
    warn("%s; all threads share one place", failure);
    topology_free(topology);
    if (!the_places.append(thread_affinity()) || !locate_places({}, the_places, the_map)) {
      fatal("out of memory while computing places");
    }
    return;
  }
  cut_to_hw_subset(topology);
  read_process_places(topology);
  if (!locate_places(topology, the_places, the_map)) fatal("out of memory while computing places");
  bindable = topology.this_system;
  memory_domains_init(topology);
  topology_free(topology);
}

void know_places() {
  if (places_known.load(acquire)) return;  // pairs with the store below
  pthread_mutex_lock(&places_mutex);
  if (!places_known.load(relaxed)) {
    compute_process_places();
    places_known.store(true, release);  // pairs with the load above
  }
  pthread_mutex_unlock(&places_mutex);
}

}  // namespace

bool places_parse(const char* text, const Topology& topology, Places& result, Text& reason) {
  return PlaceReader(text, topology, result, reason).read();
}

void places_assign(ProcBind policy, int first, int count, int parent_place, int threads, PlaceAssignment* result) {
  const int start = parent_place < first || parent_place >= first + count ? 0 : parent_place - first;
  if (policy == ProcBind::kUnbound || policy == ProcBind::kPrimary) {
    for (int i = 0; i < threads; ++i) result[i] = PlaceAssignment{first + start, first, count};
  } else if (threads > count && policy != ProcBind::kInOrder) {
    assign_packed(first, count, start, threads, policy != ProcBind::kClose, result);
  } else if (policy == ProcBind::kClose || policy == ProcBind::kInOrder) {
    for (int i = 0; i < threads; ++i) result[i] = PlaceAssignment{first + (start + i) % count, first, count};
  } else {
    assign_spread(first, count, start, threads, result);
  }
}

const Places& process_places() {
  know_places();
  return the_places;
}

const PlaceMap& process_place_map() {
  know_places();
  return the_map;
}

bool places_can_be_bound() {
  know_places();
  return bindable;
}

void show_cpus(Text& out, const CpuMask& mask) {
  const char* separator = "";
  for (int cpu = mask.first(); cpu >= 0;) {
    int last = cpu;
    while (last + 1 < CpuMask::kCpus && mask.test(last + 1)) ++last;
    out.add(last == cpu ? "%s%d" : "%s%d-%d", separator, cpu, last);
    separator = ",";
    cpu = last + 1 < CpuMask::kCpus ? mask.next(last + 1) : -1;
  }
}

}  // namespace marline
