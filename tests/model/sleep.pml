// SPDX-License-Identifier: Apache-2.0
//
// Model of the sleep/wake protocol of runtime/sched/idle.hpp and of runtime/base/parker.hpp, with store buffers.
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
//   wakes_one    with CROWDED: a worker has been woken and has not looked for work yet, so nobody wakes another one
//
// With ENDLESS a task may run for ever, for example because it waits for another task. So a woken worker that finds more
// tasks than it takes wakes the next one. Without ENDLESS all tasks end, and the search is smaller.
//
// A worker's first RESTS sleeps may end by themselves (Parker::park_for), whatever a waker is about to do.
//
// Invariant: when no process can move any more, every task has been started (no lost wake-up); TASKS <= WORKERS.
//
// Mutants, each of which must be found: 1 no second look after the announcement; 2 the pusher's store is not ordered
// before its load of the mask; 3 park sleeps although it was notified; 4 the announcement is not ordered before the
// second look. With CROWDED: 5 a woken worker clears `wakes_one` at the very end; 6 it wakes no other one;
// 7 `wakes_one` is set after the sleeper was claimed; 8 it stays set where no sleeper was claimed; 9 the pusher
// looks for no other sleeper then.
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
#ifndef CROWDED
#define CROWDED 0
#endif
#ifndef ENDLESS
#define ENDLESS 1
#endif

mtype = { EMPTY, PARKED, NOTIFIED };

byte visible, buffered, executed;
bool mask[WORKERS];
bool mask_buffered[WORKERS];
mtype parker[WORKERS] = EMPTY;
bool asleep[WORKERS];
bool wakes_one;

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

// woken: somebody has claimed this worker's bit.
inline withdraw() {
  d_step { woken = !mask[me] && !mask_buffered[me]; mask_buffered[me] = false; mask[me] = false };
#if MUTANT != 5
  if
  :: woken -> wakes_one = false
  :: else
  fi
#endif
}

// The mask is one word: read by one load; the lowest bit is cleared by one compare-and-swap.
inline first_sleeper(claim) {
  d_step {
    w = 0;
    do
    :: w < WORKERS && !mask[w] -> w++
    :: w < WORKERS && mask[w] -> mask[w] = !claim; break
    :: w == WORKERS -> break
    od
  }
}

inline wake_one() {
  do
  :: true ->
     first_sleeper(false);
     if
     :: w == WORKERS || (CROWDED && wakes_one) -> break
     :: else
     fi;
#if CROWDED && MUTANT != 7
     wakes_one = true;
#endif
     first_sleeper(true);
#if CROWDED && MUTANT == 7
     wakes_one = true;
#endif
     if
     :: w < WORKERS ->
        unpark(w);
        break
     :: else
     fi;
     // Meanwhile another pusher may have left its wake-up to this one.
#if CROWDED && MUTANT != 8
     wakes_one = false;
#endif
#if MUTANT == 9
     break
#endif
  od;
  skip;  // spin lets no jump end at a d_step
  d_step { w = 0; old = EMPTY }
}

proctype worker(byte me) {
  bool found, parked, work, woken, slept;
  byte rests = RESTS, w;
  mtype old;
  do
  :: find_work(found);
     if
     :: found ->
#if ENDLESS
        if
        :: slept && visible > 0 && MUTANT != 6 -> wake_one()
        :: else
        fi;
        slept = false;
#if MUTANT == 5
        if
        :: woken -> wakes_one = false; woken = false
        :: else
        fi;
#endif
        if
        :: skip
        :: skip -> end_long: false  // the task does not end
        fi
#else
        skip
#endif
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
        withdraw();
        d_step { slept = ENDLESS; parked = false; work = false }
     fi
  od
}

// A store buffer drains at any time. Where the model orders a store before the next load, the store is made at once.
#if MUTANT == 4
proctype drain(byte w) {
end_drain:
  do
  :: atomic { mask_buffered[w] -> mask_buffered[w] = false; mask[w] = true }
  od
}
#endif

#if MUTANT == 2
active proctype drain_pusher() {
end_drain:
  do
  :: d_step { buffered > 0 -> buffered--; visible++ }
  od
}
#endif

active proctype pusher() {
  byte pushed, w;
  mtype old;
  do
  :: pushed < TASKS ->
     pushed++;
#if MUTANT == 2
     buffered++;
#else
     visible++;
#endif
     wake_one()
  :: else -> break
  od
}

init {
  byte i;
  atomic {
    for (i : 0 .. WORKERS - 1) {
      run worker(i)
#if MUTANT == 4
      ;
      run drain(i)
#endif
    }
  }
}

active proctype judge() {
  timeout;
  assert(executed == TASKS && visible == 0 && buffered == 0)
}
