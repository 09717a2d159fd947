// SPDX-License-Identifier: Apache-2.0
//
// Model of the jobs that the opener of a league takes back (runtime/exec/team/team.cpp, team_start and team_withdraw;
// runtime/exec/worker/schedule_loop.cpp, wait_for_job; runtime/exec/worker/worker.cpp, run_job; runtime/exec/team/barrier.cpp).
//
// The opener runs leagues one after the other with the same team. For each it writes the team's fields, posts a job to
// each member, takes its part of the league, takes back the jobs that no member has begun and arrives for their
// members, and arrives itself. Every step of a process is one access to shared memory; a d_step stands for one hardware
// read-modify-write. Sleep is not modelled: sleep.pml has it, and a job that is taken back is a wake-up for nothing.
//
//   job[m]       Worker::job of member m
//   in_region[m] Worker::in_region, of which the next use of the team waits for zero where it changes its members
//   arrived      Team::arrived, and `epoch` Team::epoch
//   league       what the team's members read: its number, 0 where no member may read it
//
// Invariants: a member runs in the league that it was called for, and not after the opener has left it; the barrier is
// complete once per league; all members are out when the opener dismisses them.
//
// Mutants, each of which must be found: 1 the opener does not arrive for the member; 2 it takes the job back without
// looking whether it still is there; 3 a member reads its job and clears it in two steps; 4 so does the opener.
#ifndef MUTANT
#define MUTANT 0
#endif

#define MEMBERS 2
#define LEAGUES 3
#define NONE 0

byte job[MEMBERS];
short in_region[MEMBERS];
byte arrived;
byte epoch;
byte league;
bool over;

inline arrive() {
  d_step {
    arrived++;
    assert(arrived <= MEMBERS + 1);
    last = (arrived == MEMBERS + 1);
    if
    :: last -> arrived = 0
    :: else
    fi
  }
  if
  :: last -> d_step { epoch++ }
  :: else
  fi;
  last = false
}

inline take_job() {
#if MUTANT == 3
  taken = job[m];
  if
  :: taken != NONE -> job[m] = NONE
  :: else
  fi
#else
  d_step {
    taken = job[m];
    job[m] = NONE
  }
#endif
}

proctype member(byte m) {
  byte taken, seen;
  bool last;
  do
  :: job[m] != NONE ->
     take_job();
     if
     :: taken == NONE
     :: else ->
        seen = epoch;
        assert(league == taken);  // its part of the league
        assert(seen == taken - 1);
        arrive();
        epoch != seen;
        d_step { in_region[m]--; assert(in_region[m] >= 0) }
     fi;
     taken = NONE;
     seen = 0
  :: over && job[m] == NONE -> break
  od
}

inline withdraw_all() {
  m = 0;
  do
  :: m < MEMBERS ->
#if MUTANT == 2
     d_step { taken_back = true; job[m] = NONE }
#elif MUTANT == 4
     taken_back = (job[m] == number);
     if
     :: taken_back -> job[m] = NONE
     :: else
     fi;
#else
     d_step {
       taken_back = (job[m] == number);
       if
       :: taken_back -> job[m] = NONE
       :: else
       fi
     }
#endif
     if
     :: taken_back ->
        d_step { in_region[m]--; assert(in_region[m] >= 0) }
#if MUTANT != 1
        arrive()
#endif
     :: else
     fi;
     taken_back = false;
     m++
  :: else -> break
  od;
  m = 0
}

active proctype opener() {
  byte number, m;
  bool last, taken_back;
  atomic {
    run member(0);
    run member(1)
  }
  number = 1;
  do
  :: number <= LEAGUES ->
     league = number;
     m = 0;
     do
     :: m < MEMBERS ->
        d_step { in_region[m]++ }
        job[m] = number;
        m++
     :: else -> break
     od;
     // Its own teams. It may find all done, and take the jobs back, at any time.
     withdraw_all();
     arrive();
     epoch == number;
     league = 0;
     number++
  :: else -> break
  od;
  in_region[0] == 0;
  in_region[1] == 0;
  assert(arrived == 0 && epoch == LEAGUES);
  over = true
}
