// SPDX-License-Identifier: Apache-2.0
//
// The part of Stream that runs seldom: opening, changing windows, closing.
#include "base/stream.hpp"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../common/thread_id.h"
#include "base/core_waits.hpp"
#include "base/packer.hpp"
#include "base/ring.hpp"
#include "file/container.hpp"
#include "file/error_text.hpp"
#include "file/no_cancel.hpp"
#include "kernel/threads.hpp"
#include "unwind/loaded_code.hpp"

namespace marline::trace {
namespace {

// A window is a small part of a second-level cache. Copying it costs 10 ns per record (ext4, Linux 6.18), most of it
// for new pages; half as much again if the kernel has to reserve the blocks on the disk one by one.
constexpr u64 kMostUnitsAhead = 16;
constexpr char kNeedsSpace[] = "free disk space or set MARLINE_TRACE_DIR";
constexpr unsigned kMostThreads = 0xffff;  // threads of a process, in all; one more ends the recording with a warning
constexpr u64 kMostIds = 0xffffffff;       // ids of a thread: half of an id's bits

// A ring may record for months: ids are given again once all are used, except the first ones, which belong to what
// lives long (initial tasks).
constexpr u64 kLongLived = u64{1} << 20;

constexpr u64 kExplicit = 0x4;  // ompt_task_explicit
constexpr uint32_t kImplicit = 0x2;

pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;  // taken once per thread, and to end
Stream* all_streams;                                    // under list_lock
unsigned last_number;                                   // under list_lock
pthread_once_t prepared = PTHREAD_ONCE_INIT;
pthread_key_t exit_key;

}  // namespace

constinit thread_local Stream* Stream::mine_ = nullptr;
uint32_t Stream::names_kept;
void (*window_appended)(Stream&);

void Stream::prepare() {
  pthread_key_create(&exit_key, close_at_thread_exit);
  pthread_atfork(nullptr, nullptr, abandon_all);
}

Stream* Stream::open_mine() {
  const NoCancel no_cancel;
  if (!start_recording()) {
    return nullptr;
  }
  auto* stream = static_cast<Stream*>(calloc(1, sizeof(Stream)));
  if (stream == nullptr) {
    stop_recording("no memory for a stream", strerror(ENOMEM), "free some, or record fewer threads");
    return nullptr;
  }
  pthread_once(&prepared, prepare);
  pthread_mutex_lock(&list_lock);
  stream->number_ = ++last_number;
  stream->os_thread_ = static_cast<uint32_t>(thread_id());
  const bool open = stream->number_ <= kMostThreads && stream->begin();
  if (open) {
    stream->next_stream_ = all_streams;
    all_streams = stream;
  }
  pthread_mutex_unlock(&list_lock);
  if (!open) {
    if (stream->number_ > kMostThreads) {
      stop_recording("too many threads in one process", "65535", "record a shorter run");
    }
    free(stream);
    return nullptr;
  }
  mine_ = stream;
  pthread_setspecific(exit_key, stream);
  begin_core_waits();
  begin_thread(stream->number_);
  begin_sampling({.state = sample_state, .write = write_sample});
  return stream;
}

Stream* Stream::mine_slowly() {
  Stream* stream = mine_even_off();
  return stream != nullptr && stream->follow_switches() ? stream : nullptr;
}

// Returns true if recording is on. If recording was off and on again since the last event, no record says so, because
// nothing happened on this thread in between.
bool Stream::follow_switches() {
  if (code_is_old_) {
    code_is_old_ = false;
    refresh_loaded_code();
  }
  const u64 now = load_switches();
  if (is_off(now)) {
    if (switches_ != kOff) {
      switches_ = kOff;
      const u64 last = next_[-1].time;
      const u64 time = switched_at(now);
      emit_at(time > last ? time : last, current_task_, event::recording_off{});
    }
    return false;
  }
  const bool was_off = switches_ == kOff;
  switches_ = now;
  if (was_off) {
    emit_at(switched_at(now), current_task_ == 0 ? base_id_ : current_task_, event::recording_on{});
    if (current_word_ != nullptr) {
      current_task_ = task_id(*this, *current_word_);
      current_word_ = nullptr;
    }
  }
  return true;
}

SampleWriter::State Stream::sample_state() {
  const Stream* stream = mine_;
  if (stream == nullptr) return SampleWriter::State::kOff;
  // kLook: an earlier sample has met unknown code. The thread looks at its next event, which may be far away.
  const u64 now = load_switches();
  if (stream->switches_ == kLook ? is_off(now) : stream->switches_ != now) return SampleWriter::State::kOff;
  return stream->flushing_ ? SampleWriter::State::kBusy : SampleWriter::State::kOpen;
}

void Stream::write_sample(const u64* frames, int count, u64 weight, bool met_unknown_code) {
  constexpr int kWeightBits = 48;
  Stream* stream = mine_;
  stream->in_handler_ = true;
  const u64 time = read_cycles();
  const u64 task = stream->current_task_;
  for (int i = 0; i < count; ++i) {
    stream->emit_at(time, task,
                    event::sample{.code = frames[i],
                                  .outward = static_cast<u64>(count - 1 - i),
                                  .weight = i == 0 ? saturated(weight, kWeightBits) : 0});
  }
  stream->in_handler_ = false;
  if (met_unknown_code) {
    stream->code_is_old_ = true;
    stream->switches_ = kLook;
  }
}

// Under list_lock.
bool Stream::begin() {
  Window* window = take_recycled();
  const bool used = window != nullptr;
  if (!used) window = Window::make();
  if (window == nullptr) {
    stop_recording("cannot make room for a thread in the trace", strerror(errno),
                   errno == ENOMEM ? "raise the limit on address space (ulimit -v)" : kNeedsSpace);
    return false;
  }
  window_ = window;
  write_window(used);
  base_id_ = static_cast<u64>(number_) << 32;
  current_task_ = base_id_;
  return true;
}

void Stream::write_window(bool clear) {
  window_->begin(number_, sequence_, clear);
  began_ns_ = now_ns(CLOCK_MONOTONIC);
  next_ = window_->records();
  end_ = next_ + kWindowRecords;
  memset(sites_, 0, sizeof sites_);
}

void Stream::flush() {
  const NoCancel no_cancel;
  created_ = nullptr;
  flushing_ = true;
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  change_window();
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  flushing_ = false;
}

void Stream::change_window() {
  if (has_given_up()) {
    next_ = scratch_ + 1;
    return;
  }
  const u64 before = read_cycles();
  if (last_id_ > kMostIds - kWindowRecords && has_ring()) {
    last_id_ = kLongLived;
  } else if (last_id_ > kMostIds - kWindowRecords) {
    stop_recording("too many tasks and regions of one thread", "4294967295", "record a part of the run");
  }
  ++sequence_;
  if (has_ring()) {
    append_to_ring(number_, window_->records(), kWindowRecords, sequence_);
  } else if ((in_handler_ || !pack_here(*window_, now_ns(CLOCK_MONOTONIC) - began_ns_)) && !copy_window()) {
    give_up();
    return;
  }
  write_window(true);
  emit_at(before, current_task_, event::pause{.cycles = read_cycles() - before});
  const auto appended = __atomic_load_n(&window_appended, __ATOMIC_RELAXED);
  if (appended != nullptr) appended(*this);
}

// Copies the full window to the end of the file.
bool Stream::copy_window() {
  if (!count_bytes(kUnitBytes)) return false;
  if (copies_at_ == copies_end_) {
    units_ahead_ = units_ahead_ == 0 ? 1 : units_ahead_ < kMostUnitsAhead ? 2 * units_ahead_ : kMostUnitsAhead;
    copies_at_ = reserve_units(units_ahead_);
    copies_end_ = copies_at_ + units_ahead_ * kUnitBytes;
    prepare_part(copies_at_, units_ahead_ * kUnitBytes);
  }
  if (!write_part(copies_at_, window_->unit, kUnitBytes)) {
    stop_recording("cannot append to the trace", error_text(errno).text(), kNeedsSpace);
    // Half a copy is of no use to the reader, and the JSON file needs the space. The window itself is complete.
    drop_part(copies_at_, kUnitBytes);
    return false;
  }
  copies_at_ += kUnitBytes;
  return true;
}

void Stream::give_up() {
  next_ = scratch_ + 1;
  end_ = scratch_ + 3;
}

void Stream::close_at_thread_exit(void* argument) {
  auto* stream = static_cast<Stream*>(argument);
  // The runtime's own destructors may still report events, in the same round or the next: close in the last one.
  if (!stream->last_round_) {
    stream->last_round_ = true;
    pthread_setspecific(exit_key, stream);
    return;
  }
  const NoCancel no_cancel;  // a thread that has returned may still be cancelled here
  end_sampling();
  mine_ = nullptr;
  end_core_waits();
  end_thread();
  stream->close();
}

void Stream::close() {
  pthread_mutex_lock(&list_lock);
  for (Stream** link = &all_streams; *link != nullptr; link = &(*link)->next_stream_) {
    if (*link == this) {
      *link = next_stream_;
      break;
    }
  }
  pthread_mutex_unlock(&list_lock);
  if (has_ring()) {
    leave_to_ring();
    free(this);
    return;
  }
  if (!hand_over(*window_)) window_->forget();
  drop_reserve();
  free(this);
}

// The thread ends: the ring gets what is in the window, which then is another thread's.
void Stream::leave_to_ring() {
  const auto used = static_cast<u64>(next_ - window_->records());
  if (used > 0) append_to_ring(number_, window_->records(), used, sequence_ + 1);
  memset(window_->unit->magic, 0, sizeof window_->unit->magic);  // else it would outlive its copy in the ring
  recycle(*window_);
}

void Stream::drop_reserve() {
  if (copies_at_ != copies_end_) drop_part(copies_at_, copies_end_ - copies_at_);
  copies_end_ = copies_at_;
}

void Stream::trim_all() {
  if (mine_ != nullptr) {
    mine_->flushing_ = true;  // so no sample copies a window now
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mine_->drop_reserve();  // others may be copying
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mine_->flushing_ = false;
  }
  pthread_mutex_lock(&list_lock);
  for (Window* window = take_recycled(); window != nullptr; window = take_recycled()) {
    drop_part(window->offset, kUnitBytes);
    window->forget();
  }
  pthread_mutex_unlock(&list_lock);
}

unsigned Stream::number_of(uint32_t os_thread) {
  unsigned number = 0;
  pthread_mutex_lock(&list_lock);
  for (const Stream* stream = all_streams; stream != nullptr; stream = stream->next_stream_) {
    if (stream->os_thread_ == os_thread) number = stream->number_;
  }
  pthread_mutex_unlock(&list_lock);
  return number;
}

u64 Stream::intern(const char* text) {
  const u64 id = fnv1a(text) >> 16;
  u64& cached = text_cache_[id % kTextCache];
  if (cached == id) {
    return id;
  }
  cached = id;
  const u64 length = strlen(text) + 1;  // with the NUL, which ends the text for the reader
  for (u64 done = 0; done < length; done += sizeof(event::text)) {
    char part[sizeof(event::text)] = {};
    const u64 rest = length - done;
    memcpy(part, text + done, rest < sizeof part ? rest : sizeof part);
    event::text piece;
    memcpy(&piece, part, sizeof piece);
    emit(id, piece);
  }
  return id;
}

void Stream::emit_begin(u64 task, const Region& region) {
  if (region.group == 0) {
    emit(task, event::region_begin{.text = region.text, .color = region.color});
  } else {
    emit(task, event::group_begin{.text = region.text, .group = region.group, .color = region.color});
  }
}

void Stream::emit_end(u64 task, u64 group) {
  if (group == 0) {
    emit(task, event::region_end{});
  } else {
    emit(task, event::group_end{.group = group});
  }
}

void Stream::begin_region(const Region& region) {
  if (current_task_ == base_id_ && regions_outside_++ < kMostRegions) {
    outside_[regions_outside_ - 1] = region;
  }
  emit_begin(current_task_, region);
}

void Stream::end_region(u64 group) {
  if (current_task_ == base_id_) forget_region(group);
  emit_end(current_task_, group);
}

// The youngest region of the group is over. Those above it move down.
void Stream::forget_region(u64 group) {
  int ended = regions_outside_ - 1;
  while (ended >= 0 && ended < kMostRegions && outside_[ended].group != group) --ended;
  if (ended < 0) return;
  --regions_outside_;
  for (; ended < regions_outside_ && ended + 1 < kMostRegions; ++ended) outside_[ended] = outside_[ended + 1];
}

void Stream::move_regions(u64 initial_task) {
  const int known = regions_outside_ < kMostRegions ? regions_outside_ : kMostRegions;
  for (int i = regions_outside_ - 1; i >= 0; --i) {
    emit_end(base_id_, i < known ? outside_[i].group : 0);
  }
  for (int i = 0; i < known; ++i) {
    emit_begin(initial_task, outside_[i]);
  }
  regions_outside_ = 0;
}

void Stream::abandon_all() {
  if (mine_ != nullptr) {
    pthread_setspecific(exit_key, nullptr);  // otherwise the end of this thread would cut the parent's file
  }
  mine_ = nullptr;
  all_streams = nullptr;
  forget_packer();
  pthread_mutex_init(&list_lock, nullptr);
}

u64 announce(Stream& stream, u64& word) {
  if (word == 0 && !wanted(kTaskEvents)) {
    return stream.current_task();
  }
  if (word == 0) {
    word = stream.new_id();
    stream.emit(word, event::task_create{.code = 0, .flags = kExplicit, .parent = 0, .mantissa = 0, .exponent = 0});
    return word;
  }
  const u64 index = saturated(word & ~kUnannouncedImplicit, 16);
  word = stream.new_id();
  stream.emit(word, event::implicit_begin{.parallel = 0, .size = 0, .index = index, .flags = kImplicit});
  return word;
}

}  // namespace marline::trace
