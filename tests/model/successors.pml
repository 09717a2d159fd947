// SPDX-License-Identifier: Apache-2.0
//
// Model of runtime/graph/successors.hpp and of its use in runtime/graph/dependences.cpp (begin_linking, end_linking, notify).
//
// A creator makes two successors, each of which depends on both of two predecessors, while the predecessors complete at
// any time on threads of their own. Every step of a process is one access to shared memory; a d_step stands for one
// hardware read-modify-write.
//
//   head[p]   Task::successors of predecessor p: EMPTY, an edge's number, or CLOSED
//   next[e]   Edge::next of edge e; written by the creator before the edge is published
//   count[s]  Task::predecessors of successor s: GUARD while the creator makes edges, then their number in its place
//
// Invariants, asserted where they could break and at the end: each successor is made ready exactly once, and only after
// both predecessors have completed (no edge lost); an edge is released at most once; no count is left over.
//
// Mutants, each of which must be found: 1 no guard, each edge is counted when it is made; 2 the list is closed by a
// load and a store instead of an exchange; 3 a refused edge is counted all the same.
#ifndef MUTANT
#define MUTANT 0
#endif

#define PREDECESSORS 2
#define SUCCESSORS 2
#define EMPTY 0
#define CLOSED 255
#define GUARD 100

byte head[PREDECESSORS];
byte next[5];      // edges 1..4: edge 1 + 2 * s + p leads from predecessor p to successor s
short count[SUCCESSORS];
byte ready[SUCCESSORS];
bool completed[PREDECESSORS];
bool released[5];
byte running = 3;

inline make_ready(s) {
  d_step {
    assert(completed[0] && completed[1]);
    assert(ready[s] == 0);
    ready[s]++
  }
}

active proctype creator() {
  byte s, p, edge, seen, edges;
  bool done;
  s = 0;
  do
  :: s < SUCCESSORS ->
#if MUTANT != 1
     count[s] = GUARD;
#endif
     edges = 0;
     p = 0;
     do
     :: p < PREDECESSORS ->
        edge = 1 + 2 * s + p;
        seen = head[p];
        done = false;
        do
        :: done -> break
        :: !done && seen == CLOSED ->
#if MUTANT == 3
           edges++;
#endif
           break
        :: !done && seen != CLOSED ->
           next[edge] = seen;
#if MUTANT == 1
           count[s]++;
#endif
           d_step {
             if
             :: head[p] == seen -> head[p] = edge; done = true; edges++
             :: else ->
#if MUTANT == 1
                count[s]--;
#endif
                seen = head[p]
             fi
           }
        od;
        p++
     :: else -> break
     od;
     if
     :: edges == 0 -> make_ready(s)
     :: else ->
#if MUTANT == 1
        done = false;
#else
        d_step {
          count[s] = count[s] + edges - GUARD;
          done = (count[s] == 0)
        }
#endif
        if
        :: done -> make_ready(s)
        :: else
        fi
     fi;
     s++
  :: else -> break
  od;
  running--
}

proctype completion(byte p) {
  byte edge, following, s;
  bool last;
  completed[p] = true;  // the task's body has ended
#if MUTANT == 2
  edge = head[p];
  head[p] = CLOSED;
#else
  d_step { edge = head[p]; head[p] = CLOSED }
#endif
  do
  :: edge == EMPTY -> break
  :: else ->
     following = next[edge];
     s = (edge - 1) / 2;
     d_step {
       assert(!released[edge]);
       released[edge] = true
     }
     d_step { count[s]--; last = (count[s] == 0) }
     if
     :: last -> make_ready(s)
     :: else
     fi;
     edge = following
  od;
  running--
}

init {
  atomic { run completion(0); run completion(1) }
  running == 0;
  assert(ready[0] == 1 && ready[1] == 1);
  assert(count[0] == 0 || count[0] == GUARD);
  assert(count[1] == 0 || count[1] == GUARD)
}
