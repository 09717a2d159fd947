// SPDX-License-Identifier: Apache-2.0
//
// Model of runtime/task/event.hpp and of its users wait_event (runtime/exec/worker/suspend.cpp) and fulfil
// (runtime/sched/queue.cpp).
//
// A task waits for an event that lies on its own stack, a foreign thread fulfils it, and another worker resumes what it
// finds in the queue. Once the task goes on, its frame returns and the event's storage is gone.
//
//   state   Event::state_: PENDING, WAITER (the tagged task) or FULFILLED
//   saved   the task's context has been saved by the switch to the worker's other fiber
//   queued  how often the task has been pushed to a queue of ready tasks
//
// Invariants: the task is enqueued at most once, never before its context is saved, and goes on exactly once; no
// process touches the event's word after the task has gone on; nothing is left waiting in the end (no lost fulfilment).
//
// Mutants, each of which must be found: 1 the waiter is published before the context is saved; 2 the fulfilment is a
// load and a store instead of an exchange; 3 a refused publication is ignored; 4 the fulfiller looks at the word again.
#ifndef MUTANT
#define MUTANT 0
#endif

mtype = { PENDING, WAITER, FULFILLED };

mtype state = PENDING;
bool saved, gone, effects;
byte queued, resumed;

inline touch_event() { assert(!gone) }

inline enqueue_task() {
  d_step {
    assert(queued == 0);
    assert(saved);
    queued++
  }
}

// The task goes on: it sees what was written before the fulfilment, and its frame returns.
inline go_on() {
  d_step {
    assert(effects);
    assert(resumed == 0);
    resumed++;
    gone = true
  }
}

active proctype waiter() {
  mtype seen;
  bool published;
  d_step { touch_event(); seen = state }  // is_fulfilled: the short way
  if
  :: seen == FULFILLED -> go_on()
  :: else ->
#if MUTANT != 1
     saved = true;  // fiber_switch; what follows runs on another fiber
#endif
     d_step {
       touch_event();
       published = (state == PENDING);
       if
       :: published -> state = WAITER
       :: else
       fi
     }
#if MUTANT == 1
     saved = true;
#endif
     if
     :: published
     :: else ->
#if MUTANT != 3
        enqueue_task()
#else
        skip
#endif
     fi
  fi
}

active proctype fulfiller() {
  mtype old;
  effects = true;
#if MUTANT == 2
  d_step { touch_event(); old = state }
  d_step { touch_event(); state = FULFILLED }
#else
  d_step { touch_event(); old = state; state = FULFILLED }
#endif
  if
  :: old == WAITER -> enqueue_task()
  :: else
  fi;
#if MUTANT == 4
  d_step { touch_event(); old = state }
#endif
}

active proctype other_worker() {
end_idle:
  queued == 1;
  assert(saved);
  go_on()
}

// When no process can move any more, the task has gone on.
active proctype judge() {
  timeout;
  assert(resumed == 1)
}
