// SPDX-License-Identifier: Apache-2.0
//
// The data environment of one device (OpenMP 5.2, chapter 5.8). Its map entries (MapEntry) say which ranges of host
// memory have storage there, how often they are mapped, and which of their pointers are attached. Any thread.
//
// A map entry that a construct has just created is in flight (MapEntry::in_flight) until its data is on the device, and
// so is an entry in which the construct attaches a pointer. An entry that a construct removes is in flight until its
// data is back on the host. Other constructs that need an entry in flight wait, suspended where a task can be.
// Everything else happens under one lock per device, which is never held while data moves.
//
// A construct adds one to the reference count of a map entry at its begin, and subtracts one at its end, however many
// of its items lie in the entry (OpenMP 5.2, 5.8.3). References of target regions are counted separately, so that
// `delete` does not remove an entry that a region of another task uses: the entry goes when the region ends.
#pragma once

#include "base/list.hpp"
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
struct SubmissionOrder;

// What a kernel gets besides the map entries: its arguments, and private copies that go with it.
struct Arguments {
  List<uint64_t, 16> words;            // the arguments; after them the kernel's own memory, if it has any
  List<OwnPatch, 4> patches;           // pointers in `words` that get addresses later
  List<uint64_t, 4> copies;            // device addresses of private copies
  List<Span, 4> spans;                 // memory that the kernel may use, for devices that ask for it
  List<Span, 4> named;                 // memory that depend clauses name, for devices that ask for it
  bool has_named = false;              // `named` is all memory that the kernel writes
  List<Transfer, 4>* later = nullptr;  // if not null, the caller makes these copies
};

class Mapping {
 public:
  explicit Mapping(Device* device);

  // Begins a construct. When it returns, the construct's data is on the device, and use_device_ptr items have their
  // addresses. May suspend.
  void begin(const Items& items);

  // Ends a construct. When it returns, the construct's data is back on the host, and entries without references are
  // removed. May suspend.
  void end(const Items& items);
  // The same without waiting, for items without mappers. False: nothing has been done, since some of the data is in
  // flight for another construct.
  [[nodiscard]] bool try_end(const Items& items);

  // The functions from here on to begin_update are for early-submitted constructs
  // (submission/queue/submission.cpp), and for items without mappers. `plan` stays at its address until the
  // construct's end, and the caller makes its copies. False: nothing has been done, since the construct needs more than
  // the function does, or since some of the data is in flight for another construct.
  //
  // begin_present: a region that only has to count references. All its data is mapped by an enter data or the like, and
  // not by other regions alone.
  [[nodiscard]] bool begin_present(const Items& items, const SubmissionOrder& order);
  // A region with transient maps. It runs after plan.copies, which copy its data to the device. plan.copies_back copy
  // data back to the host, after its kernel and after the ends of the tasks in plan.sharers. `filled_by`: the operation
  // of plan.copies.
  [[nodiscard]] bool begin_transient(const Items& items, Plan& plan, const SubmissionOrder& order);
  static void note_filling(Plan& plan, uint64_t filled_by);
  // The end of a region's task in two halves. The caller makes plan.copies between them. `plan` is the plan of the
  // region's begin, if it had one.
  [[nodiscard]] bool begin_end(const Items& items, Plan& plan, uint64_t task);
  void finish_end(const Items& items, Plan& plan);
  // Data constructs. After begin_enter, the data is on the device when plan.copies are made; the caller calls
  // finish_enter when the construct has ended. After begin_exit, the caller calls finish_end when the construct has
  // ended. begin_update fills plan.copies_back, too.
  [[nodiscard]] bool begin_enter(const Items& items, Plan& plan, const SubmissionOrder& order);
  void finish_enter(Plan& plan);
  [[nodiscard]] bool begin_exit(const Items& items, Plan& plan, const SubmissionOrder& order);
  [[nodiscard]] bool begin_update(const Items& items, Plan& plan, const SubmissionOrder& order);
  // Called before one of these functions, for a checking mode (unordered.cpp). Appends at most two records for each
  // item.
  void list_unordered(const Items& items, bool exits, const SubmissionOrder& order, List<struct Unordered, 8>& found);

  // Reports to a tool what a construct maps; `begin` and `end` call it themselves.
  void report_maps(const Items& items, bool ends);

  // Carries out target update. May suspend.
  void update(const Items& items);

  // The number of bytes that `end` would copy back if no other construct maps the items; it decides which thread makes
  // the copies. SIZE_MAX: not known, or the copies may be of variables of an image.
  [[nodiscard]] static size_t most_bytes_back(const Items& items);

  // Called after `begin`. Makes the words of a kernel's arguments, and the private copies. May suspend.
  void make_arguments(const Items& items, bool leading_null, Arguments& to);
  // Lists the memory that a kernel with these items may use, for Launch::spans.
  void list_spans(const Items& items, List<Span, 4>& to);
  // Lists the memory that depend clauses name, for Launch::named.
  void list_named(const Items& items, Names& names, List<Span, 4>& to);
  void release_arguments(Arguments& arguments, ReportedConstruct* reported);

  // The device's address of a host address; 0: the address is not mapped.
  [[nodiscard]] uint64_t translate(const void* host, size_t bytes = 0);
  [[nodiscard]] bool is_present(const void* host);
  // The begin of the map entry in which the item, or its pointer, lies; 0: there is none.
  [[nodiscard]] uintptr_t map_entry_of(const Items& items, int32_t i, bool of_pointer = false);

  // Whether the address is in a permanent map entry: of a `declare target` variable, or of associated memory.
  [[nodiscard]] bool is_permanent(const void* host);

  // Adds a permanent map entry for a declare target variable. False: something is mapped there already.
  bool add_global(const void* host, size_t bytes, uint64_t address);
  // Removes the entry when the variable's library is closed, as other data may come to lie there.
  void remove_global(const void* host);

  // Gives memory a fixed address on the device, which maps of the memory use: for a variable of `declare target link`.
  void add_place(const void* host, size_t bytes, uint64_t address);
  void remove_place(const void* host);

  // False: the memory is already mapped in another way.
  [[nodiscard]] bool associate(const void* host, size_t bytes, uint64_t address);
  // False: the memory is not associated, or it is mapped.
  [[nodiscard]] bool disassociate(const void* host);

  // Called in a fork's child, in which the constructs that fill or empty map entries do not exist. Removes the entries
  // that they were filling or emptying, and attaches the pointers that they were attaching.
  void drop_in_flight();

  // From now on all addresses are the host's own (requires unified_shared_memory).
  void share() { shared_ = true; }
  [[nodiscard]] bool is_shared() const { return shared_; }

 private:
  MapEntry* find(uintptr_t begin, size_t bytes) const;
  MapEntry* find_or_create(uintptr_t begin, size_t bytes, uint64_t type, bool count, Plan& plan, bool& fresh);
  MapEntry* create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan);
  [[nodiscard]] bool shares_storage(const Items& items) const;
  bool locate(MapEntry* entry, Plan& plan);
  bool locate_in_block(MapEntry* entry, Plan& plan);
  void release_storage(const MapEntry* entry);
  MapEntry* try_create(uintptr_t begin, size_t bytes, uint64_t type, Plan& plan);
  void add_permanent(const void* host, size_t bytes, uint64_t address, bool associated);
  void remove_permanent(MapEntry* entry);
  // The same as `begin`, `end` and `update`, for items after their mappers have run.
  void begin_expanded(const Items& items);
  void end_expanded(const Items& items);
  void update_expanded(const Items& items);

  void add(const Items& items, Plan& plan);
  void add_item(const Items& items, int32_t i, Plan& plan);
  static void copy_item(MapEntry& entry, uintptr_t begin, size_t bytes, uint64_t type, Plan& plan);
  static AttachLater attachment_of(const Items& items, int32_t i);
  MapEntry* find_slot(const AttachLater& one, uint64_t& value) const;
  void attach(const AttachLater& one, Plan& plan);
  void want(const AttachLater& one);
  void attach_wanted(const MapEntry* created, Plan& plan);
  void take_off_list(MapEntry* entry);
  // The size of an item together with its members, which follow it.
  static size_t bytes_with_members(const Items& items, int32_t i);
  void subtract(const Items& items, Plan& plan);
  void end_locked(const Items& items);
  void plan_end(const Items& items, Plan& plan);
  bool is_there(const Items& items, int32_t i, List<MapEntry*, 8>& counted) const;
  void attach_new(Plan& plan);
  bool copies_always(const Items& items, int32_t i) const;
  bool is_attached(const Items& items, int32_t i) const;
  bool may_attach(const Items& items, const Plan& plan) const;
  bool is_free(const Items& items) const;
  void wait_for_copies(const Items& items, const SubmissionOrder& order) const;
  bool may_enter(const Items& items, int32_t i, const SubmissionOrder& order, List<MapEntry*, 8>& gone,
                 List<Absent, 8>& absent) const;
  bool may_enter_bytes(const Absent& bytes, bool of_region, const SubmissionOrder& order, List<MapEntry*, 8>& gone,
                       List<Absent, 8>& absent) const;
  bool create_absent(List<Absent, 8>& absent, Plan& plan);
  bool make_way(const Items& items, Plan& plan, const SubmissionOrder& order);
  void use_transient(const Items& items, int32_t i, Plan& plan, const SubmissionOrder& order);
  void count_transient(MapEntry* entry, Plan& plan, const SubmissionOrder& order);
  void copy_transient(const Items& items, int32_t i, Plan& plan) const;
  MapEntry* entry_of_slot(const Items& items, int32_t i) const;
  void leave_transient(Plan& plan, uint64_t task);
  void release_entries(Plan& plan);
  void remove_entries(MapEntry* first);
  bool may_exit(const Items& items, int32_t i, const SubmissionOrder& order) const;
  static bool may_leave(MapEntry* entry, uint64_t type, const SubmissionOrder& order);
  MapEntry* entry_at_end(const Items& items, int32_t i) const;
  void subtract_item(const Items& items, int32_t i, Plan& plan);
  void copy_item_back(const Items& items, int32_t i, Plan& plan);
  bool is_first_count(MapEntry* entry, uint64_t type) const;
  uint64_t& count_for(MapEntry* entry, uint64_t type) const;
  static uint64_t count_successors(const MapEntry* entry, const SubmissionOrder* order);
  void drop(MapEntry* entry, uint64_t type, Plan& plan);
  static void take_last(MapEntry* entry, Plan& plan);
  void plan_update(const Items& items, Plan& plan);
  void begin_construct(const Items& items) {
    ++construct_;
    of_region_ = items.of_region;
    source_ = items.source;
  }
  uint64_t argument_address(const Items& items, int32_t i);
  void warn_of_parts(const Items& items, int32_t i, MapEntry* first) const;
  // These end the program with a message that names the construct.
  [[noreturn]] void refuse_overlap(uintptr_t begin, size_t bytes, const MapEntry& with) const;
  [[noreturn]] void refuse_absent(const char* what, uintptr_t begin, size_t bytes) const;
  [[noreturn]] void refuse_outside(uintptr_t begin, const MapEntry& entry) const;
  [[noreturn]] void refuse_for_memory(const Source& source, const char* what, size_t bytes) const;
  bool wait_for_in_flight(const Items& items);
  InFlight* in_flight_at(const Items& items, int32_t i) const;
  InFlight* in_flight_at_slot(const Items& items,
                              int32_t i) const;  // in_flight_at returns the InFlight of one entry only
  InFlight* in_flight_among(const Items& items) const;
  void wait(InFlight* in_flight);
  void note_in_flight(Plan& plan, bool leaves);
  void remove_entry(MapEntry* entry);
  void release_entry(MapEntry* entry);
  static void wake(InFlight* in_flight);
  void write_slots(Plan& plan, ReportedConstruct* reported);
  void report_entries(Memory what, const MapEntry* first, ReportedConstruct* reported);
  uint64_t copy_of(const Items& items, int32_t i, Arguments& to);
  MapEntry* entry_of_variable(const void* host, size_t bytes) const;
  uint64_t own_on_device(const Items& items, int32_t i);
  // Appends the kernel's own memory to the arguments, which are complete (own_memory.cpp).
  void add_own_memory(const Items& items, Arguments& to);

  Device* device_;
  Lock lock_;
  RecentRanges entries_;
  Ranges places_;
  Ranges wanted_;                 // pointers that are attached whenever they get storage (wanted.hpp)
  uint64_t construct_ = 0;        // number of the construct that begins or ends under the lock
  bool of_region_ = false;        // whether that construct is a target region
  Source source_;                 // where that construct is in the program
  uint32_t in_flight_count_ = 0;  // number of InFlight objects that other constructs can find
  bool shared_ = false;           // set before the first use
};

}  // namespace marline::offload::data
