// SPDX-License-Identifier: Apache-2.0
//
// What a wire is to the device that uses it: the processes of one job, and frames between any two of them. A kind of
// wire is a table of functions; `local` (shared memory within a node, TCP between nodes) is one, MPI is another.
// Nothing above knows how frames travel, and no wire knows what they mean.
//
// Conventions. Frames from one process to another arrive complete, unchanged, once and in the order in which they were
// sent; there is no order between different pairs. All functions may be called from any thread unless it says
// otherwise, none suspends. Peers are numbered from 0 on; 0 is the process that runs `main`. A wire starts no threads.
// What cannot go on ends the process by WireUser::fail, with one line. A wire library is loaded at run time and needs
// no symbol of its user.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::wire {

// The user fills in the fields of the first part, the wire those of the second.
struct Frame {
  uint16_t kind;
  uint16_t words;  // 8-byte words that follow, at most kMostWords
  uint32_t flags;
  uint64_t operation;  // the sender's or the receiver's handle of what this is about
  uint64_t a, b, c;
  uint64_t bulk;  // bytes that follow the words; any number

  uint64_t job;          // tells frames of other jobs apart
  uint64_t sequence;     // of this pair, from 1 on; a gap is an error
  uint64_t sent;         // nanoseconds of the sender's CLOCK_MONOTONIC, for the link model (WireUser::wants_times)
  uint32_t incarnation;  // of the sender: how many processes have had its number before; 0, as no wire replaces one yet
  uint32_t credits;      // frames that the sender has taken from the receiver since it last told
};
static_assert(sizeof(Frame) == 80);
inline constexpr uint32_t kMostWords = 4096;

// Of Frame::flags, the others are the user's: nothing is waited for that this frame does by itself, as data does that a
// later frame makes use of. A wire may keep it, if its bulk is small, until the next frame to the peer, or a poll.
inline constexpr uint32_t kMayWait = 1u << 7;
// A thread does nothing but wait for this frame, or for the answer to it: a wire does not keep it for others to follow.
inline constexpr uint32_t kAwaited = 1u << 6;

// Bulk data that is on its way. The storage and the data are the caller's until `sent` is called, from poll or leave as
// the calls of WireUser are: it must not block, poll or wait, and may send.
struct Outgoing {
  void (*sent)(Outgoing*);
};

// Where a process is.
struct Peer {
  char node[64];     // peers with the same name share memory; may be made up (MARLINE_NODES_AS)
  char machine[64];  // a name of the system that runs it: only there its `pid` means something
  int pid;
};

// Of WireUser::lost: the peer's system has said that its process has ended, in whatever way.
inline constexpr char kHasEnded[] = "has ended";

// What a wire calls. Calls come from poll, one at a time; they must not block, poll or wait, and may send.
struct WireUser {
  void* data;
  // Before the bulk of a frame arrives: where it goes, `frame.bulk` bytes. Null: it is read and dropped.
  void* (*place)(void* data, int peer, const Frame& frame, const uint64_t* words);
  // The frame is here, with its words and its bulk.
  void (*deliver)(void* data, int peer, const Frame& frame, const uint64_t* words);
  // The peer has gone without leave; nothing more comes from it, and what is sent to it is dropped. MPI never calls
  // this: its launchers end the whole job when a process of it ends without MPI_Finalize. Where they are told not to,
  // Open MPI's receives from the dead one neither end nor fail, and MPICH's processes cannot go on. Which process it
  // was, and why, is said by its own line if it crashes, by its `marline run` if it is killed, and by the launcher.
  void (*lost)(void* data, int peer, const char* why);
  // Ends the process with the line "marline: fatal: ...".
  void (*fail)(const char* line);
  // Whether Frame::sent is to be set in what this process sends; else it may be 0. To read the clock takes tens of
  // nanoseconds, of some hundreds that a small frame takes.
  bool wants_times = false;
};

// What the launcher's variables say of the job (job.hpp).
struct Job {
  int number;                     // of this process
  int count;                      // of all; for MPI 0: the wire finds both out
  uint64_t secret[2];             // known to the processes of the job only
  const char* address;            // where peers meet, in the kind's own words; null: none is needed
  const char* const* nodes;       // made-up names of the peers' nodes, a null pointer behind; null: the true ones
  const int* listener = nullptr;  // of process 0: a socket that listens at the address already; null: none does
  bool is_begun = false;          // of others: process 0 listens already, or has ended
};

struct Wire;  // the kind's own

struct WireKind {
  const char* name;

  // Joins the job, and returns when all peers have. `user` stays. By MPI it is a collective call on MPI_COMM_WORLD: all
  // of its processes join, and none is in another collective call there meanwhile.
  Wire* (*join)(const Job& job, const WireUser* user);
  int (*number)(const Wire*);
  int (*count)(const Wire*);
  const Peer* (*peer)(const Wire*, int number);

  // Sends a frame, with `frame.words` words from `words` and `frame.bulk` bytes from `bulk`. The frame and the words
  // are copied. Returns true if the bulk has been copied, too, or there is none; otherwise `outgoing->sent` is called
  // later. Never blocks: frames for which there is no room yet are queued here. A wire may also keep frames that follow
  // one another closely for some microseconds, to send them together: the next poll behind that, or more frames, take
  // them along. The waiting thread is woken for them; by MPI, for those with kMayWait its wait ends by itself within
  // 200 µs. `peer` is another process.
  bool (*send)(Wire*, int peer, const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing);
  // Whether few frames to the peer are queued. Those who send without an end wait for it; answers need not, as their
  // number is bounded by that of the questions.
  bool (*has_room)(Wire*, int peer);

  // Delivers what has arrived, sends what is queued; returns 0 if nothing has happened: no frame was delivered, no bulk
  // sent, no room made for more, no peer lost, no part of a bulk read, as far as the wire sees that. 0 at once if
  // another thread is polling. Bounded: at most some dozens of frames a call.
  int (*poll)(Wire*);
  // Blocks the calling thread until there may be something to poll, or `wake` is called, or the time is over, or for no
  // reason. One thread at a time.
  void (*wait)(Wire*, int milliseconds);
  void (*wake)(Wire*);

  // After the last frame, by one thread: sends what is queued, tells the peers that this one leaves, waits for theirs
  // to do so if `all` is set, and frees everything.
  void (*leave)(Wire*, bool all);
};

}  // namespace marline::offload::wire
