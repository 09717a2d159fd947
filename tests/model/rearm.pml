// SPDX-License-Identifier: Apache-2.0
//
// Model of the re-arming of nodes in runtime/graph/recorded_graph.cpp (release_guard, count_down_successors) without a
// barrier between iterations, as runtime/construct/task/persistent.cpp drives it.
//
// An iteration creates a writer W and two readers R of one address: W(k) -> R(k), and R(k) -> W(k+1), the edges that
// cross. Two instances of each node take turns. The producer comes to the nodes in order, and begins an iteration when
// the last but one has ended. Every step of a process is one access to shared memory; a d_step stands for one hardware
// read-modify-write.
//
//   waiting[n]  GraphNode::waiting of node n = 3 * instance + {W, R, R}
//   group[i]    unfinished tasks of instance i (Taskgroup::count)
//
// Invariants: a node is made ready once in each iteration, after what it waits for in that iteration and after its own
// last run; a count is never taken below zero, and at the end each is what an iteration would start with.
//
// Mutants, each of which must be found: 1 the producer does not wait for the last but one iteration; 2 a task tells its
// group before it counts its successors down, so that the graph may be gone by then; 3 one instance only, with
// overlapping iterations; 4 no guard of the producer.
#ifndef MUTANT
#define MUTANT 0
#endif

#define ITERATIONS 4
#define NODES 6
#if MUTANT == 3
#define INSTANCES 1
#else
#define INSTANCES 2
#endif
#if MUTANT == 4
#define GUARD 0
#else
#define GUARD 1
#endif

#define IS_WRITER(n) ((n) % 3 == 0)
#define REQUIRED(n) (IS_WRITER(n) -> 2 + GUARD : 1 + GUARD)
#define OTHER(n) (INSTANCES == 1 -> 0 : 1 - (n) / 3)

short waiting[NODES];
byte group[2];
bool ready[NODES];
byte created[NODES];  // iterations in which the producer has come to the node
byte ran[NODES];      // its runs that have ended
byte writers, readers; // runs in the whole
bool over;

inline make_ready(n) {
  d_step {
    assert(!ready[n]);
    assert(created[n] == ran[n] + 1);                       // the producer has come to it, and it is at rest
    assert(!IS_WRITER(n) || readers == 2 * writers);        // every reader of the iteration before has ended
    assert(IS_WRITER(n) || writers * 2 >= readers + 1);
    ready[n] = true
  }
}

inline reach(n) {
  waiting[n] = REQUIRED(n);
  make_ready(n)
}

inline count_down(n) {
  d_step {
    waiting[n]--;
    assert(waiting[n] >= 0);
    last = (waiting[n] == 0)
  }
  if
  :: last -> reach(n)
  :: else
  fi;
  last = false
}

proctype task(byte n) {
  bool last;
  byte to;
  do
  :: ready[n] ->
     d_step {  // the body
       ready[n] = false;
       if
       :: IS_WRITER(n) -> writers++
       :: else -> readers++
       fi
     }
     d_step { ran[n]++ }
#if MUTANT == 2
     d_step { group[n / 3]-- }
#endif
     if
     :: IS_WRITER(n) -> to = n + 1; count_down(to); to = n + 2; count_down(to)
     :: else -> to = 3 * OTHER(n); count_down(to)
     fi;
     to = 0;
#if MUTANT != 2
     d_step { group[n / 3]-- }
#endif
  :: over && !ready[n] -> break
  od
}

active proctype producer() {
  byte k, n, i;
  bool last;
  short seen;
  d_step {
    n = 0;
    do
    :: n < NODES -> waiting[n] = REQUIRED(n); n++
    :: else -> break
    od;
    waiting[0] = GUARD  // the recorded iterations have ended
#if MUTANT == 4
    ;
    waiting[0] = 1
#endif
  }
  atomic {
    n = 0;
    do
    :: n < 3 * INSTANCES -> run task(n); n++
    :: else -> break
    od
  }
  k = 0;
  do
  :: k < ITERATIONS ->
     i = k % INSTANCES;
#if MUTANT != 1 && MUTANT != 3
     group[i] == 0;
#endif
     d_step { group[i] = group[i] + 3 }
     n = 3 * i;
     do
     :: n < 3 * i + 3 ->
        d_step { created[n]++ }
#if MUTANT == 4
        if
        :: k == 0 && n == 0 -> waiting[0] = REQUIRED(0); make_ready(n)
        :: else
        fi;
#else
        seen = waiting[n];
        if
        :: seen == 1 -> reach(n)
        :: else -> count_down(n)
        fi;
        seen = 0;
#endif
        n++
     :: else -> break
     od;
     k++
  :: else -> break
  od;
  group[0] == 0;
  group[1] == 0;
  over = true;
  assert(writers == ITERATIONS && readers == 2 * ITERATIONS);
  assert(waiting[0] == GUARD && waiting[3] == REQUIRED(3));
  assert(waiting[1] == REQUIRED(1) && waiting[2] == REQUIRED(2) && waiting[4] == REQUIRED(4) && waiting[5] == REQUIRED(5))
}
