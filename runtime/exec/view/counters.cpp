// SPDX-License-Identifier: Apache-2.0
//
// Summing up and printing the counters. Any thread.
#include "exec/view/counters.hpp"

#include "exec/worker/worker.hpp"

#include <cstdio>

#include <unistd.h>

namespace marline {

namespace {

using Sum = uint64_t CounterSums::*;
using Own = DiscoveryCounters::Count DiscoveryCounters::*;

struct Counter {
  Sum sum;
  Own own;
  const char* text;
};

constexpr Counter kCounters[] = {
    {&CounterSums::tasks, &DiscoveryCounters::tasks, "tasks with dependences"},
    {&CounterSums::dependences, &DiscoveryCounters::dependences, "dependences"},
    {&CounterSums::edges, &DiscoveryCounters::edges, "edges created"},
    {&CounterSums::pruned, &DiscoveryCounters::pruned, "edges pruned: the predecessor had completed"},
    {&CounterSums::duplicate, &DiscoveryCounters::duplicate, "edges duplicate"},
    {&CounterSums::transitive, &DiscoveryCounters::transitive, "edges transitive: implied by others"},
    {&CounterSums::nodes, &DiscoveryCounters::nodes, "empty nodes between sets"},
    {&CounterSums::lookups, &DiscoveryCounters::lookups, "table lookups"},
    {&CounterSums::probes, &DiscoveryCounters::probes, "table probes beyond the first"},
    {&CounterSums::rebuilds, &DiscoveryCounters::rebuilds, "table rebuilds"},
};

static_assert(sizeof(kCounters) / sizeof(Counter) * sizeof(uint64_t) == sizeof(CounterSums));

}  // namespace

CounterSums counters_read() {
  CounterSums sums{};
  for (const Worker* worker = newest_worker(); worker != nullptr; worker = worker->created_before) {
    for (const Counter& counter : kCounters) sums.*counter.sum += (worker->discovery.*counter.own).read();
  }
  return sums;
}

TiedWaitSums tied_waits_read() {
  g_measures_tied_waits.store(true, relaxed);
  TiedWaitSums sums{};
  uint64_t now = nanoseconds_now();
  for (const Worker* worker = newest_worker(); worker != nullptr; worker = worker->created_before) {
    const TiedWaits& waits = worker->tied_waits;
    uint64_t resumed = waits.resumed.load(relaxed);
    uint64_t waiting = waits.ready.load(relaxed) - resumed;
    sums.resumptions += resumed;
    sums.nanoseconds += waits.resumed_sum.load(relaxed) + waiting * now - waits.ready_sum.load(relaxed);
  }
  return sums;
}

void counters_print() {
  CounterSums sums = counters_read();
  char text[1024];
  int length = std::snprintf(text, sizeof text, "marline: discovery of dependences, process %d\n", getpid());
  for (const Counter& counter : kCounters) {
    length += std::snprintf(text + length, sizeof text - static_cast<size_t>(length), "%18llu %s\n",
                            static_cast<unsigned long long>(sums.*counter.sum), counter.text);
  }
  fputs(text, stderr);
}

}  // namespace marline
