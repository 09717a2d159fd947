// SPDX-License-Identifier: Apache-2.0
//
// The data environment of one device (OpenMP 5.2, chapter 5.8): which pieces of the host's memory have storage there,
// how often they are mapped, and which of their pointers are attached. Any thread.
//
// A piece that a construct has just created is busy until its data is there, and so is one in which it attaches a
// pointer. One that a construct takes away is busy until its data is back. Other constructs that need a busy piece
// wait, suspended where a task can be. Everything else happens under one lock per device, which is never held while
// data moves.
//
// A construct adds one to the count of a piece at its begin, and takes one off at its end, however many of its items
// lie in the piece (OpenMP 5.2, 5.8.3). Target regions count apart, so that `delete` does not take a piece from under a
// region of another task: it goes when the region ends.
#pragma once

#include "base/array.hpp"
#include "items/items.hpp"
#include "base/lock.hpp"
#include "base/told.hpp"
#include "device/contract/device.hpp"
#include "device/contract/named.hpp"
#include "device/contract/own_words.hpp"
#include "data/mapped_range.hpp"

namespace marline::offload::device {
enum class Memory : int;
}

namespace marline::offload::data {

using namespace device;
using namespace items;

struct Absent;
struct AttachLater;
struct Plan;
struct Sent;

// What a kernel gets besides the pieces: its arguments, and copies of its own that go with it.
struct Arguments {
  Array<uint64_t, 16> words;            // of a kernel with memory of its own: behind the arguments
  Array<OwnPatch, 4> patches;           // of these words
  Array<uint64_t, 4> copies;            // allocations
  Array<Span, 4> spans;                 // for devices that ask for them
  Array<Span, 4> named;                 // likewise
  bool has_named = false;               // `named` is all that the kernel writes
  Array<Transfer, 4>* later = nullptr;  // where the caller makes the copies: what is to be copied
};

class Mapping {
 public:
  explicit Mapping(Device* device);

  // The construct's data is on the device at the return. use_device_ptr items get their addresses. May suspend.
  void begin(const Items& items);

  // The construct's data is back, and what nobody maps any more is gone, at the return. May suspend.
  void end(const Items& items);
  // The same without waiting, for items without mappers. False: nothing has been done, since another construct is at
  // some of the data.
  [[nodiscard]] bool try_end(const Items& items);

  // For constructs that are sent ahead (submission/queue/submitted_tasks.cpp), items without mappers; `plan` stays
  // where it is until the construct's end, and the caller makes its copies. False: there is more to do, or another
  // construct is at some of the data; nothing has been done. A region for which nothing is to be done but to count: all
  // data is there by an enter data or the like, not for other regions alone.
  [[nodiscard]] bool begin_present(const Items& items, const Sent& sent);
  // A region that brings data, plan.copies, behind which it runs, and takes data home, plan.copies_back, behind its
  // kernel and the ends of plan.sharers. `filled_by`: the operation of the first.
  [[nodiscard]] bool begin_bringing(const Items& items, Plan& plan, const Sent& sent);
  static void note_filling(Plan& plan, uint64_t filled_by);
  // The end of a region's task in two halves, with the copies between them; `plan` is that of its begin, if it had one.
  [[nodiscard]] bool begin_end(const Items& items, Plan& plan, uint64_t task);
  void finish_end(const Items& items, Plan& plan);
  // Data constructs: enter data, whose data is there when plan.copies are made, and finish_enter when it has ended;
  // exit data, with finish_end; update, which has plan.copies_back, too.
  [[nodiscard]] bool begin_enter(const Items& items, Plan& plan, const Sent& sent);
  void finish_enter(Plan& plan);
  [[nodiscard]] bool begin_exit(const Items& items, Plan& plan, const Sent& sent);
  [[nodiscard]] bool begin_update(const Items& items, Plan& plan, const Sent& sent);
  // Before one of these, for a checking mode (unordered.cpp): at most two for each item.
  void list_unordered(const Items& items, bool exits, const Sent& sent, Array<struct Unordered>& found);

  // A tool hears of what a construct maps; `begin` and `end` do it themselves.
  void tell_maps(const Items& items, bool ends);

  // target update. May suspend.
  void update(const Items& items);

  // Bytes that `end` would copy back if nobody else maps the items: what decides who does it. SIZE_MAX: not known, or
  // perhaps from variables of an image.
  [[nodiscard]] static size_t most_bytes_back(const Items& items);

  // After `begin`: the words of a kernel's parameters. Private copies are made. May suspend.
  void make_arguments(const Items& items, bool leading_null, Arguments& to);
  // What a kernel with these items may use, for Launch::spans.
  void list_spans(const Items& items, Array<Span, 4>& to);
  // What depend clauses name, likewise.
  void list_named(const Items& items, Names& names, Array<Span, 4>& to);
  void release_arguments(Arguments& arguments, Told* told);

  // The device's address of a host address; 0: it has none.
  [[nodiscard]] uint64_t translate(const void* host, size_t bytes = 0);
  [[nodiscard]] bool is_present(const void* host);
  // Where the mapped piece begins in which the item lies, or its pointer; 0: in none.
  [[nodiscard]] uintptr_t piece_of(const Items& items, int32_t i, bool of_pointer = false);

  // A `declare target` variable, or associated: it has storage there whatever is mapped.
  [[nodiscard]] bool is_permanent(const void* host);

  // A declare target variable. False: something is mapped there already.
  bool add_global(const void* host, size_t bytes, uint64_t address);
  // Its library is closed, and other data may come to lie there.
  void remove_global(const void* host);

  // Memory that has its own place on the device, which maps of it use: a variable of `declare target link`.
  void add_place(const void* host, size_t bytes, uint64_t address);
  void remove_place(const void* host);

  // False: mapped already, otherwise than that.
  [[nodiscard]] bool associate(const void* host, size_t bytes, uint64_t address);
  // False: not associated, or mapped.
  [[nodiscard]] bool disassociate(const void* host);

  // In a fork's child: the constructs that fill or empty pieces are not there. What they were to fill or empty is not
  // mapped any more; pointers that they were attaching are attached.
  void drop_busy();

  // All addresses are the host's own (requires unified_shared_memory).
  void share() { shared_ = true; }
  [[nodiscard]] bool is_shared() const { return shared_; }

 private:
  Piece* find(uintptr_t begin, size_t bytes) const;
  Piece* find_or_create(uintptr_t begin, size_t bytes, uint64_t type, bool count, Plan& plan, bool& fresh);
  Piece* create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan);
  [[nodiscard]] bool shares_storage(const Items& items) const;
  bool locate(Piece* piece, Plan& plan);
  bool locate_in_block(Piece* piece, Plan& plan);
  void release_storage(const Piece* piece);
  Piece* try_create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan);
  void add_forever(const void* host, size_t bytes, uint64_t address, bool associated);
  void remove_forever(Piece* piece);
  // The same as those above for items whose mappers have run.
  void begin_expanded(const Items& items);
  void end_expanded(const Items& items);
  void update_expanded(const Items& items);

  void add(const Items& items, Plan& plan);
  void add_item(const Items& items, int32_t i, Plan& plan);
  static void copy_item(Piece& piece, uintptr_t begin, size_t bytes, uint64_t type, Plan& plan);
  static AttachLater attachment_of(const Items& items, int32_t i);
  Piece* find_slot(const AttachLater& one, uint64_t& value) const;
  void attach(const AttachLater& one, Plan& plan);
  void want(const AttachLater& one);
  void attach_wanted(const Piece* created, Plan& plan);
  void take_off_list(Piece* piece);
  // The bytes of an item with those of its members, which follow it.
  static size_t bytes_with_members(const Items& items, int32_t i);
  void subtract(const Items& items, Plan& plan);
  void end_locked(const Items& items);
  void plan_end(const Items& items, Plan& plan);
  bool is_there(const Items& items, int32_t i, Array<Piece*>& counted) const;
  void attach_new(Plan& plan);
  bool copies_always(const Items& items, int32_t i) const;
  bool is_attached(const Items& items, int32_t i) const;
  bool may_attach(const Items& items, const Plan& plan) const;
  bool is_free(const Items& items) const;
  void wait_for_copies(const Items& items, const Sent& sent) const;
  bool may_enter(const Items& items, int32_t i, const Sent& sent, Array<Piece*>& gone, Array<Absent>& absent) const;
  bool may_enter_bytes(const Absent& bytes, bool of_region, const Sent& sent, Array<Piece*>& gone,
                       Array<Absent>& absent) const;
  bool create_absent(Array<Absent>& absent, Plan& plan);
  bool make_way(const Items& items, Plan& plan, const Sent& sent);
  void use_brought(const Items& items, int32_t i, Plan& plan, const Sent& sent);
  void count_brought(Piece* piece, Plan& plan, const Sent& sent);
  void copy_brought(const Items& items, int32_t i, Plan& plan) const;
  Piece* piece_of_slot(const Items& items, int32_t i) const;
  void leave_brought(Plan& plan, uint64_t task);
  void release_pieces(Plan& plan);
  void remove_pieces(Piece* first);
  bool may_exit(const Items& items, int32_t i, const Sent& sent) const;
  static bool may_leave(Piece* piece, uint64_t type, const Sent& sent);
  Piece* piece_at_end(const Items& items, int32_t i) const;
  void subtract_item(const Items& items, int32_t i, Plan& plan);
  void copy_item_back(const Items& items, int32_t i, Plan& plan);
  bool is_first_count(Piece* piece, uint64_t type) const;
  uint64_t& count_for(Piece* piece, uint64_t type) const;
  static uint64_t count_behind(const Piece* piece, const Sent* sent);
  void drop(Piece* piece, uint64_t type, Plan& plan);
  static void take_last(Piece* piece, Plan& plan);
  void plan_update(const Items& items, Plan& plan);
  void begin_construct(const Items& items) {
    ++construct_;
    of_region_ = items.of_region;
    source_ = items.source;
  }
  uint64_t argument_address(const Items& items, int32_t i);
  void warn_of_parts(const Items& items, int32_t i, Piece* first) const;
  // End the program with a line that names the construct.
  [[noreturn]] void refuse_overlap(uintptr_t begin, size_t bytes, const Piece& with) const;
  [[noreturn]] void refuse_absent(const char* what, uintptr_t begin, size_t bytes) const;
  [[noreturn]] void refuse_outside(uintptr_t begin, const Piece& piece) const;
  [[noreturn]] void refuse_for_memory(const Source& source, const char* what, size_t bytes) const;
  bool wait_for_busy(const Items& items);
  Busy* busy_at(const Items& items, int32_t i) const;
  Busy* busy_at_slot(const Items& items, int32_t i) const;  // busy_at tells of one piece alone
  Busy* busy_among(const Items& items) const;
  void wait(Busy* busy);
  void note_busy(Plan& plan, bool leaves);
  void remove_piece(Piece* piece);
  void release_piece(Piece* piece);
  static void wake(Busy* busy);
  void write_slots(Plan& plan, Told* told);
  void tell_pieces(Memory what, const Piece* first, Told* told);
  uint64_t copy_of(const Items& items, int32_t i, Arguments& to);
  Piece* piece_of_variable(const void* host, size_t bytes) const;
  uint64_t own_on_device(const Items& items, int32_t i);
  // Behind the arguments, which are all there (own_memory.cpp).
  void add_own_memory(const Items& items, Arguments& to);

  Device* device_;
  Lock lock_;
  RecentRanges pieces_;
  Ranges places_;
  Ranges wanted_;            // pointers that are attached whenever they get storage (wanted.hpp)
  uint64_t construct_ = 0;   // number of the begin or end that has the lock
  bool of_region_ = false;   // whether that is a target region's
  Source source_;            // of it
  uint32_t busy_count_ = 0;  // constructs whose Busy somebody can find
  bool shared_ = false;      // set before the first use
};

}  // namespace marline::offload::data
