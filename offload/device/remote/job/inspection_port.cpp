// SPDX-License-Identifier: Apache-2.0
//
// Opens this process's port, exchanges ports with the peers, and writes the part "nodes" of the report. What the report
// says of the peers is copied when this process joins the job: the thread that answers `marline ps` may run after the
// wire is gone.
#include "device/remote/job/inspection_port.hpp"

#include "device/contract/json.hpp"
#include "base/report.hpp"
#include "device/processor/name_in_words.hpp"
#include "wire/base/peers.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>

namespace marline::offload::device {

namespace {

constexpr size_t kHostBytes = 64;  // the longest host name that `marline ps` takes; a longer one is cut

struct InspectionPort {
  int port;            // 0: none
  uint64_t secret[2];  // that the port wants
  char host[kHostBytes];
};

// A process that is named in the report.
struct Known {
  Peer peer;
  bool is_here;                                  // on this machine
  InspectionPort inspection;                     // written by the thread that polls
  std::atomic<bool> has_inspection_port{false};  // stored after `inspection`
};

Known* g_known = nullptr;  // by peer; this and the next two are constant once the report's part is registered
int g_number = 0, g_count = 0;
InspectionPort g_own = {};
uint16_t g_frame_kind = 0;

bool draw_secret(uint64_t (&secret)[2]) { return getrandom(secret, sizeof secret, 0) == sizeof secret; }

void open_port() {
  char text[33];
  if (!draw_secret(g_own.secret)) return;
  std::snprintf(text, sizeof text, "%016lx%016lx", g_own.secret[0], g_own.secret[1]);
  g_own.port = marline_describe_relay(text);
  if (gethostname(g_own.host, sizeof g_own.host) != 0) g_own.port = 0;
  g_own.host[sizeof g_own.host - 1] = '\0';
}

void describe_peer(const JsonSink& out, int number, const Known& known) {
  char node[sizeof known.peer.node], host[kHostBytes] = "";
  std::memcpy(node, known.peer.node, sizeof node);
  make_plain(node);
  out.print("%s{\"number\": %d, \"node\": \"%s\", \"pid\": %d, \"here\": %s", number > 1 ? ", " : "", number, node,
            known.peer.pid, known.is_here ? "true" : "false");
  if (known.has_inspection_port.load(std::memory_order_acquire)) {  // pairs with take_inspection_port
    std::memcpy(host, known.inspection.host, sizeof host);
    make_plain(host);
    out.print(", \"host\": \"%s\", \"port\": %d, \"secret\": \"%016lx%016lx\"", host, known.inspection.port,
              known.inspection.secret[0], known.inspection.secret[1]);
  }
  out.print("}");
}

// {"number": 0, "node": "head", "processes": [{"number": 1, "node": "far", "pid": 123, "here": true}]}
void describe(void*, marline_describe_write_fn write, void* sink) {
  JsonSink out(write, sink);
  char node[sizeof(Peer::node)];
  std::memcpy(node, g_known[g_number].peer.node, sizeof node);
  make_plain(node);
  out.print("{\"number\": %d, \"node\": \"%s\", \"processes\": [", g_number, node);
  if (g_number != 0) describe_peer(out, 0, g_known[0]);
  for (int peer = 1; g_number == 0 && peer < g_count; ++peer) describe_peer(out, peer, g_known[peer]);
  out.print("]}");
}

}  // namespace

void open_inspection_port(const WireKind* kind, Wire* wire, uint16_t frame_kind) {
  g_frame_kind = frame_kind;
  g_number = kind->number(wire);
  g_count = kind->count(wire);
  g_known = static_cast<Known*>(std::calloc(static_cast<size_t>(g_count), sizeof(Known)));
  if (g_known == nullptr) fatal("no memory for the places of %d processes", g_count);
  const Peer* own = kind->peer(wire, g_number);
  bool is_spread = false;
  for (int peer = 0; peer < g_count; ++peer) {
    auto* known = new (&g_known[peer]) Known{};
    known->peer = *kind->peer(wire, peer);
    known->is_here = are_on_one_machine(known->peer, *own);
    is_spread = is_spread || !known->is_here;
  }
  if (is_spread) open_port();
  (void)marline_describe_register("nodes", describe, nullptr);
}

void send_inspection_port(const WireKind* kind, Wire* wire, int peer) {
  if (g_own.port == 0) return;
  NameInWords host(g_own.host);
  Frame frame = {};
  frame.kind = g_frame_kind;
  frame.words = static_cast<uint16_t>(host.count());
  frame.a = static_cast<uint64_t>(g_own.port);
  frame.b = g_own.secret[0];
  frame.c = g_own.secret[1];
  kind->send(wire, peer, frame, host.begin(), nullptr, nullptr);
}

bool take_inspection_port(int peer, const Frame& frame, const uint64_t* words) {
  size_t bytes = frame.words * sizeof *words;
  bool ends = bytes != 0 && bytes <= kHostBytes && std::memchr(words, 0, bytes) != nullptr;
  if (!ends || frame.a == 0 || frame.a > UINT16_MAX || g_known == nullptr) return false;
  Known& known = g_known[peer];
  if (known.has_inspection_port.load(std::memory_order_relaxed))
    return true;  // a worker sends it with each answer to kHello
  known.inspection.port = static_cast<int>(frame.a);
  known.inspection.secret[0] = frame.b;
  known.inspection.secret[1] = frame.c;
  std::memcpy(known.inspection.host, words, bytes);
  known.has_inspection_port.store(true, std::memory_order_release);  // pairs with describe_peer
  return true;
}

}  // namespace marline::offload::device
