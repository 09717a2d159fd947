// SPDX-License-Identifier: Apache-2.0
//
// Model of the sleep/wake protocol of runtime/sched/idle.hpp and of runtime/sched/parker.hpp, with store buffers.
//
// WORKERS workers take tasks from one queue, and sleep when they find none; a pusher pushes TASKS tasks. (Several
// queues do not matter here: a sleeper looks at all of them, a task is in one.) Memory is TSO: a store goes into the
// writer's buffer first and becomes visible at any later time; a read-modify-write, and a seq_cst store, wait until the
// buffer is empty. That is the reordering that the protocol has to stand: each side stores, then loads what the other
// has stored.
//
//   visible      tasks in the queue that all can see;  buffered: pushed, still in the pusher's store buffer
//   mask         bit w set: worker w has announced that it sleeps
//   parker[w]    EMPTY, PARKED or NOTIFIED;  asleep[w]: in the kernel, on the futex
//
// A worker's first RESTS sleeps may end by themselves (Parker::park_for), whatever a waker is about to do.
//
// Invariant: when no process can move any more, every task has been run (no lost wake-up).
//
// Mutants, each of which must be found: 1 no second look after the announcement; 2 the pusher's store is not ordered
// before its load of the mask; 3 park sleeps although it was notified; 4 the announcement is not ordered before the
// second look.
#ifndef MUTANT
#define MUTANT 0
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef TASKS
#define TASKS 2
#endif
#ifndef RESTS
#define RESTS 1
#endif

mtype = { EMPTY, PARKED, NOTIFIED };

byte visible, buffered, executed;
bool mask[WORKERS];
bool mask_buffered[WORKERS];
mtype parker[WORKERS] = EMPTY;
bool asleep[WORKERS];

// Takes a task if there is one: the deque's own correctness is deque.pml's business.
inline find_work(found) {
  d_step {
    found = (visible > 0);
    if
    :: found -> visible--; executed++
    :: else
    fi
  }
}

inline unpark(w) {
  d_step { old = parker[w]; parker[w] = NOTIFIED }
  if
  :: old == PARKED -> asleep[w] = false  // futex_wake
  :: else
  fi
}

inline park() {
#if MUTANT == 3
  parker[me] = PARKED;
  asleep[me] = true;
end_asleep:
  !asleep[me];
#else
  d_step {
    parked = (parker[me] == EMPTY);
    if
    :: parked -> parker[me] = PARKED
    :: else
    fi
  }
  do
  :: parked ->
     // futex_wait: the kernel compares and goes to sleep in one step.
     d_step {
       parked = (parker[me] == PARKED);
       asleep[me] = parked
     }
     if
     :: parked ->
end_asleep:
        if
        :: !asleep[me]
        :: rests > 0 -> rests--; asleep[me] = false; parked = false  // the time has run out
        fi
     :: else
     fi
  :: else -> break
  od;
#endif
  parker[me] = EMPTY
}

inline announce() {
#if MUTANT == 4
  mask_buffered[me] = true
#else
  mask[me] = true
#endif
}

inline withdraw() {
  d_step { mask_buffered[me] = false; mask[me] = false }
}

proctype worker(byte me) {
  bool found, parked, work;
  byte rests = RESTS;
  do
  :: find_work(found);
     if
     :: found
     :: else ->
        announce();
#if MUTANT == 1
        work = false;
#else
        work = (visible > 0);
#endif
        if
        :: work
        :: else -> park()
        fi;
        withdraw()
     fi
  od
}

// The worker's store buffer drains at any time (mutant 4; nothing is in it otherwise).
proctype drain(byte w) {
end_drain:
  do
  :: atomic { mask_buffered[w] -> mask_buffered[w] = false; mask[w] = true }
  od
}

// So does the pusher's.
active proctype drain_pusher() {
end_drain:
  do
  :: d_step { buffered > 0 -> buffered--; visible++ }
  od
}

active proctype pusher() {
  byte pushed, w;
  bool claimed;
  mtype old;
  do
  :: pushed < TASKS ->
     pushed++;
     buffered++;
#if MUTANT != 2
     buffered == 0;  // seq_cst: the store is visible before the next load
#endif
     w = 0;
     claimed = false;
     do
     :: w < WORKERS && !claimed ->
        if
        :: mask[w] ->  // read, then clear by compare-and-swap
           d_step {
             claimed = mask[w];
             mask[w] = false
           }
           if
           :: claimed -> unpark(w)
           :: else -> w++
           fi
        :: else -> w++
        fi
     :: else -> break
     od
  :: else -> break
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. WORKERS - 1) {
      run worker(i);
      run drain(i)
    }
  }
}

active proctype judge() {
  timeout;
  assert(executed == TASKS && visible == 0 && buffered == 0)
}
