// SPDX-License-Identifier: Apache-2.0
//
// Doacross loops (OpenMP 5.2, section 15.9.6): nests with an ordered(n) clause, in which an iteration waits for other
// iterations (`depend(sink: ...)`, `doacross(sink: ...)`) until they have posted (`source`). Each thread of the team
// enters the nest, and posts and waits for iterations, which it names by the values of the loop variables. A face
// describes the nest when it is entered. docs/design/doacross.md explains the two ways in which posts are stored.
#pragma once

#include "sched/team.hpp"

namespace marline {

// Loops of a nest; a nest with more ends the program with a message.
inline constexpr unsigned kDoacrossDimensions = 128;

// One loop of the nest: iteration k, from 0 to count - 1, has the value lower + k * stride, modulo 2^64. stride is not
// 0.
struct DoacrossDimension {
  uint64_t count;
  uint64_t lower;
  int64_t stride;
};

struct DoacrossNest {
  unsigned dimensions;
  DoacrossDimension (*dimension)(const void* table, unsigned number);  // reads the face's table
  const void* table;
  // Whether the worksharing loop distributes the first dimension, and only it, to the threads. Otherwise any thread may
  // run an iteration of the nest: a face does not know how many of the loops are collapsed.
  bool in_rows;
};

// For a nest that is not part of a Workshare of its loop. Each thread calls both functions, once per nest, in the same
// order.
void doacross_begin(Worker* worker, const DoacrossNest& nest);
void doacross_end(Worker* worker);

// For a nest that belongs to a loop: called in its LoopRequest::prepare; the nest ends with the loop. Returns `extra`
// bytes of zeroed memory that the team shares during the loop.
void* doacross_attach(Worker* worker, Workshare* loop, bool first, const DoacrossNest& nest, size_t extra);

// Dimensions and iteration counts of the nest that the thread is in.
unsigned doacross_dimensions(const Worker* worker);
uint64_t doacross_count(const Worker* worker, unsigned dimension);

// The current iteration has done what other iterations wait for.
void doacross_post(Worker* worker, const uint64_t* iteration);

// Waits until the iteration is posted; returns at once if there is no such iteration.
void doacross_wait(Worker* worker, const uint64_t* iteration);

}  // namespace marline
