// SPDX-License-Identifier: Apache-2.0
//
// What a reader of the ring (ring.hpp) must know of the records that the ring has overwritten: tasks, teams and labels
// that are still in use, the task that each thread runs, what it waits for, and all definitions (texts, communicators,
// devices). The ring hands each window to fold() before it overwrites it. All functions run under the ring's lock.
//
// Both stores lie in the ring's mapped file. The table has the records themselves, found by kind and id; its places are
// filled and emptied as tasks begin and end. If the process is killed while an entry is moved, that entry may be
// missing or stand there twice. Definitions are only appended.
//
// Windows are not folded in the order of time: a thread that records seldom keeps its window for long. So the end of a
// task may be folded before its creation. The end then stands in the table until the creation comes. So it is with
// ranges (range_begin), which may end on another thread.
#ifndef MARLINE_TRACE_KEPT_HPP
#define MARLINE_TRACE_KEPT_HPP

#include "file/record.hpp"

namespace marline::trace {

class Kept {
 public:
  // `places`: a power of two, for all tables, of which the first kFirstPlaces have memory; `give_memory` gives memory
  // to the first so many, or says no. `most`: definitions that have room. `counts`: where the file keeps how many
  // definitions there are, and how many records of both kinds had no room.
  using Grow = bool (*)(u64 places);
  static constexpr u64 kFirstPlaces = 2048;
  struct Counts {
    u64 definitions;
    u64 lost;
  };
  void place(Record* tables, u64 places, Grow give_memory, Record* definitions, u64 most, Counts* counts);

  // `thread`: whose records these are. They follow the ones that were last folded for this thread.
  void fold(u64 thread, const Record* records, u64 count);

 private:
  enum Family : uint8_t {
    kNoFamily,
    kLife,
    kLabel,
    kWait,
    kLock,
    kSync,
    kWork,
    kRegion,
    kCall,
    kCurrent,
    kText,
    kGraph,
    kGroup,
    kRange
  };
  static Family family_of(const Record& entry);

  // Each changes what is known by one record.
  void fold_one(u64 thread, const Record& record);
  void begin_life(const Record& record);
  void take_up(u64 id);
  void end_life(u64 id, u64 time);
  void begin_scope(const Record& record);
  void end_scope(Family family, u64 id);
  void end_group(const Record& record);
  void begin_range(const Record& record);
  void end_range(const Record& record);
  void end_implicit(u64 id);
  void label(const Record& record);
  void begin_team(const Record& record);
  void iteration(const Record& record);
  void text(u64 thread, const Record& record);
  void define(const Record& record);

  u64 home(Family family, u64 id) const;
  // The first entry of that kind and id, or the empty place at the end of its chain.
  u64 probe(Family family, u64 id) const;
  // The place of an entry; -1: there is none.
  i64 find(Family family, u64 id) const;
  void put(const Record& entry);
  void fill(u64 place, const Record& entry);
  bool make_room();
  bool grow();
  void use_table(u64 places);
  void replace(const Record& entry);
  void erase(u64 place);
  bool erase(Family family, u64 id);
  void erase_newest(Family family, u64 id, bool grouped, u64 group);
  void sweep();
  u64 erase_all(u64 numbers);

  Record* tables_;
  Grow give_memory_;
  u64 largest_;  // places of the largest table
  Record* table_;
  u64 places_;
  u64 most_;  // entries
  int shift_;
  u64 used_ = 0;
  u64 swept_ = 0;  // folded_ at the last sweep
  u64 folded_ = 0;
  u64 newest_ = 0;  // the newest time of a folded record
  bool labels_ = false;
  u64 current_;  // while a window is folded: the task that its thread runs; 0: not known
  Record* definitions_;
  u64 room_;
  Counts* counts_;
};

}  // namespace marline::trace

#endif
