// SPDX-License-Identifier: Apache-2.0
//
// The interface between a wire and the device that uses it: the processes of one job, and frames between any two of
// them. A kind of wire is a table of functions; `local` (shared memory within a node, TCP between nodes) is one kind,
// MPI is another. The code above a wire does not know how frames travel, and a wire does not know what frames mean.
//
// Conventions. Frames from one process to another arrive complete, unchanged, once and in the order in which they were
// sent; there is no order between different pairs of processes. Any thread may call any function unless its comment
// says otherwise; no function suspends a task. Peers are numbered from 0 on; process 0 runs `main`. A wire starts no
// threads. An error from which the wire cannot continue ends the process by WireUser::fail, with one line. A wire
// library is loaded at run time and needs no symbol of its user.
#pragma once

#include <cstddef>
#include <cstdint>

namespace marline::offload::wire {

// The user fills in the fields of the first part, the wire fills in the fields of the second part.
struct Frame {
  uint16_t kind;
  uint16_t words;  // 8-byte words that follow, at most kMostWords
  uint32_t flags;
  uint64_t operation;  // the sender's or the receiver's handle of the operation that the frame belongs to
  uint64_t a, b, c;
  uint64_t bulk;  // bytes that follow the words; any number

  uint64_t job;       // tells frames of other jobs apart
  uint64_t sequence;  // counts the frames from this sender to this receiver, from 1 on; a gap is an error
  uint64_t sent;      // the sender's CLOCK_MONOTONIC in nanoseconds, for the link model (WireUser::wants_times)
  // How many processes had the sender's number before it; always 0, as no wire replaces a process yet.
  uint32_t incarnation;
  uint32_t credits;  // frames that the sender has taken from the receiver since it last reported credits
};
static_assert(sizeof(Frame) == 80);
inline constexpr uint32_t kMostWords = 4096;

// Bits of Frame::flags that the wire reads; the user may use all other bits. kMayWait: no thread waits for this frame
// alone, because it carries, for example, data that a later frame makes use of. A wire may keep the frame, if its bulk
// is small, until the next frame to the peer, or a poll.
inline constexpr uint32_t kMayWait = 1u << 7;
// A thread does nothing but wait for this frame, or for the answer to it: a wire does not keep the frame to send it
// together with later frames.
inline constexpr uint32_t kAwaited = 1u << 6;

// A bulk in flight. This object and the data belong to the caller until the wire calls `sent`, from poll or leave like
// the functions of WireUser. `sent` must not block, poll or wait; it may send.
struct Outgoing {
  void (*sent)(Outgoing*);
};

// Where a process runs.
struct Peer {
  char node[64];     // peers of one machine with the same name share memory; may be made up (MARLINE_NODES_AS)
  char machine[64];  // a name of the system that runs the process; `pid` is valid only there
  int pid;
};

// The reason that WireUser::lost gets if the peer's system reports that the peer process has ended, in whatever way.
inline constexpr char kHasEnded[] = "has ended";

// The functions that a wire calls. It calls them from poll or leave, one at a time (`lost` also from join, if process 0
// has ended). They must not block, poll or wait; they may send.
struct WireUser {
  void* data;
  // Called before the bulk of a frame arrives: returns where its `frame.bulk` bytes go. Null: the wire reads the bulk
  // and drops it.
  void* (*place)(void* data, int peer, const Frame& frame, const uint64_t* words);
  // The frame has arrived, with its words and its bulk.
  void (*deliver)(void* data, int peer, const Frame& frame, const uint64_t* words);
  // The peer has ended without leaving the job. Nothing more arrives from it, and what is sent to it is dropped. The
  // wire for MPI never calls this: MPI's launchers end the whole job when one of its processes ends without
  // MPI_Finalize. If a launcher is told not to, Open MPI's receives from the dead process neither end nor fail, and
  // MPICH's processes cannot continue. The user learns which process has ended, and why, from that process's own line
  // if it crashes, from its `marline run` if it is killed, and from the launcher.
  void (*lost)(void* data, int peer, const char* why);
  // Ends the process with the line "marline: fatal: ...".
  void (*fail)(const char* line);
  // Whether the wire must set Frame::sent in the frames that this process sends; otherwise the field may be 0. Reading
  // the clock takes tens of nanoseconds; a small frame takes some hundreds.
  bool wants_times = false;
};

// What the launcher's variables say about the job (job.hpp).
struct Job {
  int number;                     // number of this process
  int count;                      // number of all processes; 0 for MPI: that wire finds out both numbers
  uint64_t secret[2];             // known to the processes of the job only
  const char* address;            // where peers meet, in the syntax of the kind of wire; null: no address is needed
  const char* const* nodes;       // made-up names of the peers' nodes, then a null pointer; null: the true names
  const int* listener = nullptr;  // in process 0: a socket that already listens at the address; null: there is none
  bool is_begun = false;          // in other processes: process 0 already listens, or has ended
};

struct Wire;  // each kind defines its own

struct WireKind {
  const char* name;

  // Joins the job, and returns when all peers have joined. The caller keeps `user` valid. For MPI this is a collective
  // call on MPI_COMM_WORLD: all of its processes join, and none of them is in another collective call on it meanwhile.
  Wire* (*join)(const Job& job, const WireUser* user);
  int (*number)(const Wire*);
  int (*count)(const Wire*);
  const Peer* (*peer)(const Wire*, int number);

  // Sends a frame, with `frame.words` words from `words` and `frame.bulk` bytes from `bulk`. Copies the frame and the
  // words. Returns true if there is no bulk or the wire has copied it; otherwise the wire calls `outgoing->sent` later.
  // Never blocks: frames for which there is no room yet are queued in this process. A wire may also keep frames that
  // follow one another closely for some microseconds, to send them together: the next poll after that time, or more
  // frames, send them. The wire wakes the waiting thread for kept frames; for MPI, the wait ends by itself within 200
  // µs if the frames have kMayWait. `peer` is another process.
  bool (*send)(Wire*, int peer, const Frame& frame, const uint64_t* words, const void* bulk, Outgoing* outgoing);
  // Whether few frames to the peer are queued. A sender of an unbounded number of frames waits for room. A sender of
  // answers need not wait, because the number of questions bounds the number of answers.
  bool (*has_room)(Wire*, int peer);

  // Delivers the frames that have arrived, and sends queued frames. Returns 0 if nothing has happened: no frame was
  // delivered, no bulk sent, no room made for more frames, no peer lost, no part of a bulk read, as far as the wire
  // sees that. Returns 0 at once if another thread is polling. Bounded: handles at most some dozens of frames a call.
  int (*poll)(Wire*);
  // Blocks the calling thread until there may be something to poll, `wake` is called, or the time is over. It may also
  // return for no reason. One thread at a time.
  void (*wait)(Wire*, int milliseconds);
  void (*wake)(Wire*);

  // Called after the last frame, by one thread. Sends what is queued, notifies the peers that this process leaves,
  // waits until the peers leave too if `all` is set, and frees everything.
  void (*leave)(Wire*, bool all);
};

}  // namespace marline::offload::wire
