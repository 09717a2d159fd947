// SPDX-License-Identifier: Apache-2.0
//
// One thread's part of the trace: windows in the node's file (record.hpp), into which only this thread stores. The
// kernel owns their pages, so the records survive the program, however it ends. A window is small and used again. When
// it is full, the packer compresses it (packer.hpp), while the thread goes on in another one; if none is unused, the
// thread compresses its window or copies it, and stays in it. With a ring (ring.hpp) it copies its window there.
// Everything here belongs to the thread; only the list of all streams is shared, under a lock.
//
// Invariant: next_ always points to room for one record, and before it is a record (or the end of the header). A full
// window is left at once. If that is not possible (disk full), the stream writes into scratch_, which is never read,
// so that the hot path has no error branch.
//
// Recording is switched off and on by a counter that all threads read (recorder.hpp). A thread notices a switch at its
// next event. Until then nothing happened on the thread, so its state is still the same as at the switch.
#ifndef MARLINE_TRACE_STREAM_HPP
#define MARLINE_TRACE_STREAM_HPP

#include <string.h>

#include "base/clock.hpp"
#include "file/record.hpp"
#include "base/recorder.hpp"
#include "base/sampler.hpp"
#include "file/window.hpp"

namespace marline::trace {

struct TaskName {
  const char* label;
  u64 color;  // 0xRRGGBB
};

// A part of the program that has a name. `group`: 0 of marline/trace.h, else of another tool's annotations.
struct Region {
  u64 text;
  u64 group;
  u64 color;  // 0xRRGGBB
};

class Stream {
 public:
  // The calling thread's stream, opened by its first event. Null while nothing is to be recorded.
  static Stream* mine() {
    Stream* stream = mine_if_on();
    return __builtin_expect(stream != nullptr, 1) ? stream : mine_slowly();
  }
  // The same, but also null if the thread has yet to open its stream or to follow a switch.
  static Stream* mine_if_on() {
    Stream* stream = mine_;
    return __builtin_expect(stream != nullptr && stream->switches_ == load_switches(), 1) ? stream : nullptr;
  }
  // The same, also while recording is off: for what must be known once it is on again (which task runs here), and for
  // events that come only once. Null if there is no trace at all.
  static Stream* mine_even_off() { return mine_ != nullptr ? mine_ : open_mine(); }

  template <class Event>
  void emit(u64 task, const Event& event) {
    emit_at(read_cycles(), task, event);
  }

  // For an event that turned out to be worth a record only after it had begun.
  template <class Event>
  void emit_at(u64 time, u64 task, const Event& event) {
    __atomic_signal_fence(__ATOMIC_SEQ_CST);  // a sample may have been written since (sampler.cpp)
    Record* record = next_;
    record->head = task << 16 | Event::kNumber;
    memcpy(record->payload, &event, sizeof event);
    // The reader of a killed program's file trusts a record once it has a time. x86-64 keeps the order of stores, and
    // so does one CPU with its own stores; only the compiler must be kept from changing it.
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *static_cast<volatile u64*>(&record->time) = time;
    next_ = record + 1;
    if (__builtin_expect(next_ == end_, 0)) {
      flush();
    }
  }

  // Writes the record of a task's completion in place of the record of its beginning, if that is the thread's newest:
  // then the task ran from there on without an interruption. Returns false, and writes nothing, if it is not.
  bool emit_run(u64 task, u64 outer) {
    constexpr u64 kBySwitch = 7;  // ompt_task_switch
    Record* record = next_ - 1;
    if (record->head != (outer << 16 | event::task_schedule::kNumber) ||
        record->payload[0] != (kBySwitch << 48 | task)) {
      return false;
    }
    const u64 end = read_cycles();
    const event::task_run run = {.start = record->time, .outer = outer};
    // If the program is killed here, it loses this record, but leaves no half of it.
    *static_cast<volatile u64*>(&record->time) = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    record->head = task << 16 | event::task_run::kNumber;
    memcpy(record->payload, &run, sizeof run);
    __atomic_signal_fence(__ATOMIC_RELEASE);
    *static_cast<volatile u64*>(&record->time) = end;
    return true;
  }

  // Begins and ends the creation of a task. How long it took is stored, of one task in eight, in the record of its
  // begin, if that is still in the window. A creation within the creation of another task, which may be held up, ends
  // the measurement of that one.
  void begin_creation(u64 task, u64 code, u64 parent, u64 flags) {
    // Fibonacci hashing (Knuth, volume 3, 6.4): a plain remainder would always hit the same task of a loop.
    created_ = task * 0x9e3779b97f4a7c15 >> 61 == 0 ? next_ : nullptr;
    emit(task,
         event::task_create{.code = code & kCodeBits, .flags = flags, .parent = parent, .mantissa = 0, .exponent = 0});
  }
  void end_creation(u64 task) {
    Record* record = created_;
    if (record == nullptr || record->head != (task << 16 | event::task_create::kNumber)) return;
    created_ = nullptr;
    // The last 16 bits of the record, which are 0. One store: whenever the program is killed, the record is complete.
    volatile u64* word = &record->payload[1];
    *word = *word | shortened(read_cycles() - record->time) << 48;
  }
  // The time of this task's creation, if that is the newest record; otherwise now.
  u64 time_of_creation(u64 task) const {
    return next_[-1].head == (task << 16 | event::task_create::kNumber) ? next_[-1].time : read_cycles();
  }

  // The record that is `back` places before this thread's newest one, so that it can be updated; null if it has left
  // the window. Valid until the next event.
  Record* young(u64 back) {
    const u64 kept = has_given_up() ? 0 : static_cast<u64>(next_ - window_->records());
    return back < kept ? next_ - 1 - back : nullptr;
  }

  // A new id, for what gets a record: flush() makes sure that there are ids for all that a window holds.
  u64 new_id() { return base_id_ | ++last_id_; }
  // The id of this thread outside of any task.
  u64 base_id() const { return base_id_; }

  u64 current_task() const { return current_task_; }
  void set_current_task(u64 task) { current_task_ = task; }

  // While recording is off: the thread now runs the task with this data word (null: no task). The task's id is found
  // out once recording is on again (task_id).
  void follow_off(u64* word) {
    current_word_ = word;
    current_task_ = word == nullptr ? base_id_ : 0;
  }
  bool runs(const u64* word) const { return current_word_ == nullptr ? *word == current_task_ : word == current_word_; }

  // The id of `text` in this stream. Writes the text itself if this thread has not done so lately.
  u64 intern(const char* text);

  // Before an MPI call or a request for a mutex: where it is made. A record is written only if the window does not say
  // so yet. `code`: a return address; null: not known.
  void note_site(u64 key, const void* code, u64 mutex) {
    const u64 place = reinterpret_cast<u64>(code) & kCodeBits;
    // Fibonacci hashing (Knuth, volume 3, 6.4). Two keys in one place cost a record each time they take turns.
    Site& known = sites_[(key ^ mutex) * 0x9e3779b97f4a7c15 >> (64 - kSiteBits)];
    if (code == nullptr || (known.key == key && known.code == (place | mutex << 63))) return;
    known = {key, place | mutex << 63};
    emit(current_task_, event::call_site{.key = key, .code = place, .mutex = mutex});
  }

  // Regions of the program. They belong to the current task, and end in the group that they began in. Regions that a
  // thread opened before its runtime gave it a task belong to the thread's initial task from the begin of that task on.
  void begin_region(const Region& region);
  void end_region(u64 group);
  void move_regions(u64 initial_task);

  // Name and colour of the next task that this thread creates, if the runtime does not keep them. The text is the
  // program's. They are used once.
  TaskName take_next_name() {
    const TaskName name = next_name_;
    next_name_ = {};
    return name;
  }
  void set_next_name(const TaskName& name) {
    next_name_ = name;
    __atomic_store_n(&names_kept, 1, __ATOMIC_RELAXED);
  }
  const TaskName& next_name() const { return next_name_; }
  static uint32_t names_kept;  // 1 once a name has been set; written by any thread

  // Gives back the disk space of windows that hold nothing. At the end of the process.
  static void trim_all();

  // The number of the thread with that number of the system; 0 if it has no open stream.
  static unsigned number_of(uint32_t os_thread);

 private:
  static constexpr int kTextCache = 64;
  static constexpr int kSiteBits = 5;
  static constexpr int kMostRegions = 16;  // how many are moved to an initial task, at most
  static constexpr u64 kOff = ~u64{0};
  static constexpr u64 kLook = kOff - 1;  // no count of switches either: the next event comes to follow_switches()
  static constexpr u64 kCodeBits = (u64{1} << 48) - 1;

  static Stream* open_mine();
  static Stream* mine_slowly();
  bool follow_switches();
  static void close_at_thread_exit(void* stream);
  // In the child of a fork: forgets the parent's streams, because the child must not write their files.
  static void abandon_all();
  static void prepare();
  bool begin();
  void write_window(bool clear);
  // For the signal handler of samples: whether the thread's stream can take one, and a sample's records.
  static SampleWriter::State sample_state();
  static void write_sample(const u64* frames, int count, u64 weight, bool met_unknown_code);
  void flush();
  void change_window();
  bool copy_window();
  void drop_reserve();
  void leave_to_ring();
  void give_up();
  bool has_given_up() const { return end_ == scratch_ + 3; }
  void close();
  void emit_begin(u64 task, const Region& region);
  void emit_end(u64 task, u64 group);
  void forget_region(u64 group);

  struct Site {
    u64 key;
    u64 code;  // the highest bit: of a mutex
  };

  static constinit thread_local Stream* mine_ __attribute__((tls_model("initial-exec")));

  Record* next_;
  Record* end_;
  Record* created_;  // of the creation that is under way, or null
  u64 base_id_;
  u64 last_id_;
  u64 current_task_;
  u64 switches_;  // load_switches() when this thread last saw that recording is on; kOff while it is off; or kLook
  TaskName next_name_;
  int regions_outside_;  // open regions of the thread outside of any task; the first kMostRegions are in the array
  Region outside_[kMostRegions];
  u64* current_word_;  // word of the task that the thread took up while recording was off; or null

  Record scratch_[3];  // the first stays empty
  Window* window_;
  u64 began_ns_;   // when the thread began to fill the window
  u64 sequence_;   // of the window
  u64 copies_at_;  // where the next copy of a window goes in the file, and where the reserved room ends
  u64 copies_end_;
  u64 units_ahead_;  // how many units were reserved last: they grow, so that a short run leaves a small file
  unsigned number_;
  uint32_t os_thread_;
  bool last_round_;
  // Of the thread and its signal handlers. In a handler, a full window is copied into the file or the ring, never
  // compressed, which would allocate memory.
  volatile bool in_handler_;
  volatile bool flushing_;
  volatile bool code_is_old_;
  Stream* next_stream_;
  u64 text_cache_[kTextCache];
  Site sites_[1 << kSiteBits];  // what the window says
};

// Called by each thread that has just appended its window; or null. Atomic: written once, any time.
extern void (*window_appended)(Stream&);

// The word that OMPT keeps for the tool in each task: the task's id, or the data of the announcement that must be
// written before a record may contain the id. A task is announced by the event that begins its life (task_create,
// implicit_begin). If that event was not recorded, because recording was off or the runtime did not send it, the first
// event that names the task announces it. So every task in a trace has been announced. The word is written by the
// thread that creates, begins or first names the task.
//
// A word is an id (48 bits, above 0); 0 for an explicit task of which nothing is known; or negative for an implicit
// task that began unrecorded, with its number in the team. Such a task has no id yet: a program may open any number of
// regions while recording is off.
constexpr u64 kUnannouncedImplicit = u64{1} << 63;

inline u64 unannounced_implicit(unsigned index) { return kUnannouncedImplicit | index; }

// Writes the task's late announcement into the stream and its id into the word. If task events are not wanted, what
// happens in an explicit task belongs to the implicit task that the thread is in: then returns that task's id.
u64 announce(Stream& stream, u64& word);

inline bool announced(u64 word) { return static_cast<i64>(word) > 0; }

// The id that events on this task carry.
inline u64 task_id(Stream& stream, u64& word) {
  return __builtin_expect(announced(word), 1) ? word : announce(stream, word);
}

}  // namespace marline::trace

#endif
