// SPDX-License-Identifier: Apache-2.0
//
// The part of Stream that runs seldom: making the file, flushing the window, closing. The window is allocated on disk
// before it is mapped, because a store into a hole of a full disk would raise SIGBUS.
#include "base/stream.hpp"

#include "base/core_waits.hpp"

#include "../common/thread_id.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

namespace marline::trace {
namespace {

// A small part of a second-level cache. Appending a window costs 10 ns per record (ext4, Linux 6.18), most of it for
// new pages. It costs half as much again if copies begin inside of a page, because the kernel then goes page by page,
// or if the kernel has to reserve the blocks one by one.
constexpr u64 kWindowBytes = u64{64} << 10;
static_assert(kWindowBytes > kAtOneTime * sizeof(Record));
constexpr u64 kMappedBytes = sizeof(FileHeader) + kWindowBytes;
constexpr u64 kCopiesAt = 2 * kWindowBytes;
constexpr u64 kBlocksAhead = u64{1} << 20;
constexpr unsigned kMostThreads = 0xffff;  // threads of a process, in all; one more ends the recording with a warning
constexpr u64 kMostIds = 0xffffffff;       // ids of a thread: half of an id's bits

constexpr u64 kExplicit = 0x4;  // ompt_task_explicit
constexpr uint32_t kImplicit = 0x2;

pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;  // taken once per thread, and to end or rename all
Stream* all_streams;                                    // under list_lock
unsigned last_number;                                   // under list_lock
pthread_once_t prepared = PTHREAD_ONCE_INIT;
pthread_key_t exit_key;

void stream_path(char (&path)[kPathBytes], unsigned number) {
  char suffix[32];
  snprintf(suffix, sizeof suffix, ".thread%04u.mtr", number);
  trace_path(path, suffix);
}

// Each thread keeps a file open. Raises the limit, so that there are descriptors left for the program's own files.
void make_room_for_files(int fd) {
  rlimit files;
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && static_cast<rlim_t>(fd) >= files.rlim_cur / 2 &&
      files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_cur < files.rlim_max / 2 ? 2 * files.rlim_cur : files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);  // if this fails, the next file that cannot be opened is reported
  }
}

bool append_window(int fd, const Record* window, u64 offset) {
  const auto* bytes = reinterpret_cast<const char*>(window);
  for (u64 done = 0; done < kWindowBytes;) {
    const ssize_t written = pwrite(fd, bytes + done, kWindowBytes - done, static_cast<off_t>(offset + done));
    if (written < 0 && errno != EINTR) {
      return false;
    }
    done += written < 0 ? 0 : static_cast<u64>(written);
  }
  return true;
}

}  // namespace

constinit thread_local Stream* Stream::mine_ = nullptr;
uint32_t Stream::names_kept;

void Stream::prepare() {
  pthread_key_create(&exit_key, close_at_thread_exit);
  pthread_atfork(nullptr, nullptr, abandon_all);
}

Stream* Stream::open_mine() {
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
  const bool open = stream->number_ <= kMostThreads && stream->create_file();
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
  return stream;
}

Stream* Stream::mine_slowly() {
  Stream* stream = mine_even_off();
  return stream != nullptr && stream->follow_switches() ? stream : nullptr;
}

// Returns true if recording is on. If recording was off and on again since the last event, no record says so, because
// nothing happened on this thread in between.
bool Stream::follow_switches() {
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

bool Stream::create_file() {
  char path[kPathBytes];
  stream_path(path, number_);
  fd_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd_ < 0) {
    stop_recording(path, strerror(errno),
                   errno == EMFILE ? "raise the limit on open files (ulimit -n): each thread needs one"
                                   : "set MARLINE_TRACE_DIR to an empty folder that every rank can write");
    return false;
  }
  make_room_for_files(fd_);
  if (!map_window()) {
    ::close(fd_);
    return false;
  }
  header_->fingerprint = kFingerprint;
  header_->record_bytes = sizeof(Record);
  header_->thread = number_;
  header_->pid = static_cast<uint32_t>(getpid());
  header_->os_tid = static_cast<uint32_t>(thread_id());
  header_->window_records = kWindowBytes / sizeof(Record);
  header_->copies_at = kCopiesAt;
  __atomic_signal_fence(__ATOMIC_RELEASE);
  memcpy(header_->magic, kMagic, sizeof kMagic);  // last: a file without it was never begun
  base_id_ = static_cast<u64>(number_) << 32;
  current_task_ = base_id_;
  return true;
}

bool Stream::map_window() {
  const int error = posix_fallocate(fd_, 0, kMappedBytes);
  if (error != 0) {
    stop_recording("cannot allocate a trace file", strerror(error), "free disk space or set MARLINE_TRACE_DIR");
    return false;
  }
  void* mapped = mmap(nullptr, kMappedBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, 0);
  if (mapped == MAP_FAILED) {
    stop_recording("cannot map a trace file", strerror(errno), "raise the limit on address space (ulimit -v)");
    return false;
  }
  header_ = static_cast<FileHeader*>(mapped);
  next_ = reinterpret_cast<Record*>(header_ + 1);
  end_ = next_ + kWindowBytes / sizeof(Record);
  return true;
}

void Stream::flush() {
  created_ = nullptr;
  if (header_ == nullptr) {
    next_ = scratch_ + 1;
    return;
  }
  const u64 before = read_cycles();
  if (last_id_ > kMostIds - kWindowBytes / sizeof(Record)) {
    stop_recording("too many tasks and regions of one thread", "4294967295", "record a part of the run");
  }
  auto* window = reinterpret_cast<Record*>(header_ + 1);
  const u64 file_end = kCopiesAt + header_->flushed * kWindowBytes;
  if (!count_bytes(kWindowBytes)) {
    give_up();
    return;
  }
  if ((header_->flushed * kWindowBytes) % kBlocksAhead == 0) {
    // On a file system that cannot do this, appending is slower, no more.
    (void)!fallocate(fd_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(file_end), kBlocksAhead);
  }
  if (!append_window(fd_, window, file_end)) {
    stop_recording("cannot append to a trace file", strerror(errno), "free disk space or set MARLINE_TRACE_DIR");
    // Half a copy is of no use to the reader, and the JSON file needs the space. The window itself is complete.
    (void)!ftruncate(fd_, static_cast<off_t>(file_end));
    give_up();
    return;
  }
  // After the copy and before the first store into the window: see the invariant in record.hpp.
  __atomic_store_n(&header_->flushed, header_->flushed + 1, __ATOMIC_RELEASE);
  __atomic_signal_fence(__ATOMIC_SEQ_CST);
  next_ = window;
  emit_at(before, current_task_, event::pause{.cycles = read_cycles() - before});
}

void Stream::give_up() {
  munmap(header_, kMappedBytes);
  header_ = nullptr;
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
  mine_ = nullptr;
  end_core_waits();
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
  if (header_ != nullptr) {
    const auto used = static_cast<u64>(reinterpret_cast<char*>(next_) - reinterpret_cast<char*>(header_));
    const u64 flushed = header_->flushed;
    munmap(header_, kMappedBytes);
    // Only gives disk space back; the reader stops at the first unused record anyway.
    (void)!ftruncate(fd_, static_cast<off_t>(flushed == 0 ? used : kCopiesAt + flushed * kWindowBytes));
  }
  ::close(fd_);
  free(this);
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

void Stream::begin_region(u64 text, u64 color) {
  const event::region_begin region = {.text = text, .color = color};
  if (current_task_ == base_id_ && regions_outside_++ < kMostRegions) {
    outside_[regions_outside_ - 1] = region;
  }
  emit(current_task_, region);
}

void Stream::end_region() {
  if (current_task_ == base_id_ && regions_outside_ > 0) {
    --regions_outside_;
  }
  emit(current_task_, event::region_end{});
}

void Stream::move_regions(u64 initial_task) {
  const int known = regions_outside_ < kMostRegions ? regions_outside_ : kMostRegions;
  for (int i = 0; i < regions_outside_; ++i) {
    emit(base_id_, event::region_end{});
  }
  for (int i = 0; i < known; ++i) {
    emit(initial_task, outside_[i]);
  }
  regions_outside_ = 0;
}

void Stream::rename_all(char (&tag)[kTagBytes], const char* new_tag) {
  char from[kPathBytes];
  char to[kPathBytes];
  pthread_mutex_lock(&list_lock);
  char old_tag[kTagBytes];
  memcpy(old_tag, tag, sizeof old_tag);
  for (Stream* stream = all_streams; stream != nullptr; stream = stream->next_stream_) {
    memcpy(tag, old_tag, sizeof old_tag);
    stream_path(from, stream->number_);
    snprintf(tag, sizeof tag, "%s", new_tag);
    stream_path(to, stream->number_);
    if (rename(from, to) != 0) {
      fprintf(stderr, "marline-trace: cannot rename %s to %s: %s\n", from, to, strerror(errno));
    }
  }
  snprintf(tag, sizeof tag, "%s", new_tag);
  pthread_mutex_unlock(&list_lock);
}

void Stream::unlink_all() {
  char path[kPathBytes];
  pthread_mutex_lock(&list_lock);
  for (Stream* stream = all_streams; stream != nullptr; stream = stream->next_stream_) {
    stream_path(path, stream->number_);
    unlink(path);
  }
  pthread_mutex_unlock(&list_lock);
}

void Stream::abandon_all() {
  if (mine_ != nullptr) {
    pthread_setspecific(exit_key, nullptr);  // otherwise the end of this thread would cut the parent's file
  }
  mine_ = nullptr;
  all_streams = nullptr;
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
