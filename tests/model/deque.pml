// SPDX-License-Identifier: Apache-2.0
//
// Model of runtime/sched/deque.hpp: one owner that pushes and pops, two thieves, sequentially consistent memory (every
// access that matters there is seq_cst, or ordered by one).
//
//   top, bottom   as in the code, counting from 0; slot[] is both rings, capacity 2 and then 4
//   ring          the ring that thieves read: 0 or 1; the owner's copy is `mine`
//   taken[t]      how often task t (1, 2, ...) was returned by pop or steal
//
// The owner makes TASKS pushes, with pops between them where it likes, and pops at the end until pop returns nothing.
// Invariants: no task is taken twice, none is lost (in the end each was taken once), top never decreases.
//
// Mutants, each of which must be found: 1 the owner takes the last task without the compare-and-swap; 2 pop reads top
// before its store of bottom is visible (no seq_cst); 3 a grown ring is published before it is filled; 4 steal reads
// the slot after moving top.
#ifndef MUTANT
#define MUTANT 0
#endif

#define TASKS 3
#define STEALS 2
#define SLOT(r, i) slot[(r) * 4 + ((r) == 0 -> (i) % 2 : (i) % 4)]
#define CAPACITY(r) ((r) == 0 -> 2 : 4)

short top, bottom;
byte ring;
byte slot[8];
byte taken[TASKS + 1];
byte running = 3;

inline take(task) {
  d_step {
    assert(task >= 1 && task <= TASKS);
    assert(taken[task] == 0);
    taken[task]++
  }
}

inline compare_and_move_top(expected, moved) {
  d_step {
    moved = (top == expected);
    if
    :: moved -> top = expected + 1
    :: else
    fi
  }
}

inline make_room() {
  cached = top;
  if
  :: b - cached >= CAPACITY(mine) ->
     assert(mine == 0);
#if MUTANT == 3
     ring = 1;
#endif
     i = cached;
     do
     :: i < b -> SLOT(1, i) = SLOT(0, i); i++
     :: else -> break
     od;
     mine = 1;
     ring = 1
  :: else
  fi
}

inline push(t) {
  b = bottom;
  if
  :: b - cached >= CAPACITY(mine) -> make_room()
  :: else
  fi;
  SLOT(mine, b) = t;
  bottom = b + 1
}

inline pop() {
  found = 0;
  b = bottom - 1;
  if
  :: b < cached
  :: else ->
#if MUTANT == 2
     seen = top;
     bottom = b;
#else
     bottom = b;
     seen = top;
#endif
     cached = seen;
     if
     :: seen < b -> found = SLOT(mine, b)
     :: seen == b ->
        found = SLOT(mine, b);
#if MUTANT == 1
        moved = true; top = seen + 1;
#else
        compare_and_move_top(seen, moved);
#endif
        if
        :: moved
        :: else -> found = 0
        fi;
        cached = b + 1;
        bottom = b + 1
     :: else -> bottom = b + 1
     fi
  fi;
  if
  :: found != 0 -> take(found)
  :: else
  fi
}

active proctype owner() {
  short b, cached, seen, i;
  byte mine, found, pushed;
  bool moved;
  do
  :: pushed < TASKS -> pushed++; push(pushed)
  :: pushed > 0 && pushed < TASKS -> pop()
  :: pushed == TASKS -> break
  od;
  found = 1;
  do
  :: found != 0 -> pop()
  :: else -> break
  od;
  running--
}

active [2] proctype thief() {
  short t, b;
  byte r, task, tries;
  bool moved;
  do
  :: tries < STEALS ->
     tries++;
     t = top;
     b = bottom;
     if
     :: t >= b
     :: else ->
        r = ring;
#if MUTANT == 4
        compare_and_move_top(t, moved);
        task = SLOT(r, t);
#else
        task = SLOT(r, t);
        compare_and_move_top(t, moved);
#endif
        if
        :: moved -> take(task)
        :: else
        fi
     fi
  :: else -> break
  od;
  running--
}

active proctype judge() {
  byte t;
  running == 0;
  for (t : 1 .. TASKS) {
    assert(taken[t] == 1)
  }
}
