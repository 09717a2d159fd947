// SPDX-License-Identifier: Apache-2.0
//
// Model of runtime/construct/workshare/reserve.cpp: threads that take the chunks of a loop from its counter, from their
// reserves and from each other's. A reserve is one word in the code: both of its fields change in one step. All accesses
// are to single words, and no data is ordered by them, so the memory is taken to be sequentially consistent.
//
//   counter            number of the first chunk that no thread has taken from the loop
//   first[t], last[t]  the reserve of thread t: chunks first to last - 1; empty if last <= first
//   taken[c]           how often chunk c was run
//
// How many chunks a thread takes from the counter (1 to MOST), and from its reserve (1 or 2), is chosen at each step: in
// the code it follows from the time. Invariants: no chunk is run twice, and in the end each was run once.
//
// Mutants, each of which must be found: 1 a thief moves the end without looking whether the word has changed; 2 the
// owner reads its reserve and writes it back in two steps; 3 the owner does not stop at the end of its reserve; 4 a
// thread steals before its own reserve is empty.
#ifndef MUTANT
#define MUTANT 0
#endif

#define THREADS 3
#define CHUNKS 6
#define MOST 4

byte counter;
byte first[THREADS];
byte last[THREADS];
byte taken[CHUNKS + 3];
byte running = THREADS;

// Where a thread is: each step has one access to memory that others use.
mtype = { look, take, count_on, look_at, steal, fill, done };

inline run_first() {
  assert(from < CHUNKS && taken[from] == 0);
  taken[from]++;
  from++
}

// The next chunk is run; the step after puts the others into the reserve.
inline keep() {
  run_first();
  if
  :: from < end -> at = fill
  :: else -> end = 0; from = 0; at = look
  fi
}

inline next_victim() {
  victim++;
  if
  :: victim == me -> victim++
  :: else
  fi;
  at = (victim < THREADS -> look_at : done)
}

proctype thread(byte me) {
  mtype at = look;
  byte from, end, count, victim;
  do
  :: atomic { at == look ->
       if
       :: first[me] < last[me] -> at = take
       :: first[me] >= last[me] -> at = count_on
#if MUTANT == 4
       :: counter >= CHUNKS -> at = count_on
#endif
       fi
     }
  :: atomic { at == take ->
       if
       :: count = 1
       :: count = 2
       fi;
       from = first[me];
       end = last[me];
#if MUTANT == 2
     }
     atomic {
       first[me] = from + count;
#else
       first[me] = first[me] + count;
#endif
#if MUTANT == 3
       end = from + count;
#else
       if
       :: from + count < end -> end = from + count
       :: else
       fi;
#endif
       at = (from < end -> look : count_on);
       do
       :: from < end -> run_first()
       :: else -> break
       od;
       from = 0; end = 0; count = 0
     }
  :: atomic { at == count_on ->
       if
       :: counter < CHUNKS ->
          if
          :: count = 1
          :: count = 2
          :: count = MOST
          fi;
          from = counter;
          end = (from + count < CHUNKS -> from + count : CHUNKS);
          counter = end;
          count = 0;
          keep()
       :: else -> victim = (me == 0 -> 1 : 0); at = look_at
       fi
     }
  :: atomic { at == look_at ->
       from = first[victim];
       end = last[victim];
       if
       :: from < end -> at = steal
       :: else -> from = 0; end = 0; next_victim()
       fi
     }
  :: atomic { at == steal ->
       if
#if MUTANT == 1
       :: true ->
#else
       :: first[victim] == from && last[victim] == end ->
#endif
          from = from + (end - from) / 2;
          last[victim] = from;
          victim = 0;
          keep()
       :: first[victim] != from || last[victim] != end -> from = 0; end = 0; at = look_at
       fi
     }
  :: atomic { at == fill -> first[me] = from; last[me] = end; from = 0; end = 0; at = look }
  :: at == done -> break
  od;
  running--
}

init {
  byte chunk;
  atomic {
    for (chunk : 0 .. THREADS - 1) {
      run thread(chunk)
    }
  }
  running == 0;
  for (chunk : 0 .. CHUNKS - 1) {
    assert(taken[chunk] == 1)
  }
}
