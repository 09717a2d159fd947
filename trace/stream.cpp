// SPDX-License-Identifier: Apache-2.0
//
// The cold half of Stream: making the file, sliding the window, closing. A window is allocated on disk before it is
// mapped (a store into a hole of a full disk would be a SIGBUS) and its pages are made present in one call, since one page
// fault each would cost more than the records.
#include "stream.hpp"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "recorder.hpp"

namespace marline::trace {
namespace {

constexpr u64 kFirstWindow = u64{64} << 10;
constexpr u64 kLargestWindow = u64{256} << 10;
constexpr unsigned kMostThreads = 0xffff;

pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
Stream *all_streams;    // list_lock
unsigned last_number;   // list_lock
pthread_once_t key_once = PTHREAD_ONCE_INIT;
pthread_key_t exit_key;

void stream_path(char (&path)[kPathBytes], unsigned number) {
  char suffix[32];
  snprintf(suffix, sizeof suffix, ".thread%04u.mtr", number);
  trace_path(path, suffix);
}

}  // namespace

constinit thread_local Stream *Stream::mine_ = nullptr;

void Stream::create_exit_key() { pthread_key_create(&exit_key, close_at_thread_exit); }

Stream *Stream::open_mine() {
  if (!start_recording()) {
    return nullptr;
  }
  auto *stream = static_cast<Stream *>(calloc(1, sizeof(Stream)));
  if (stream == nullptr) {
    stop_recording("no memory for a stream", strerror(ENOMEM), "free some, or record fewer threads");
    return nullptr;
  }
  pthread_once(&key_once, create_exit_key);
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
  return stream;
}

bool Stream::create_file() {
  char path[kPathBytes];
  stream_path(path, number_);
  fd_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    stop_recording(path, strerror(errno), "set MARLINE_TRACE_DIR to an empty folder that every rank can write");
    return false;
  }
  if (!map_window(0, kFirstWindow)) {
    ::close(fd_);
    return false;
  }
  const FileHeader header = {{kMagic[0], kMagic[1], kMagic[2], kMagic[3], kMagic[4], kMagic[5], kMagic[6], kMagic[7]},
                             kFingerprint,
                             sizeof(Record),
                             number_,
                             static_cast<uint32_t>(getpid()),
                             static_cast<uint32_t>(syscall(SYS_gettid)),
                             {}};
  memcpy(window_, &header, sizeof header);
  next_ += sizeof header / sizeof(Record);
  base_id_ = static_cast<u64>(number_) << 32;
  current_task_ = base_id_;
  return true;
}

bool Stream::map_window(u64 offset, u64 bytes) {
  const int error = posix_fallocate(fd_, static_cast<off_t>(offset), static_cast<off_t>(bytes));
  if (error != 0) {
    stop_recording("cannot make a trace file larger", strerror(error), "free disk space or set MARLINE_TRACE_DIR");
    return false;
  }
  void *window = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_, static_cast<off_t>(offset));
  if (window == MAP_FAILED) {
    stop_recording("cannot map a trace file", strerror(errno), "raise the limit on address space (ulimit -v)");
    return false;
  }
#ifdef MADV_POPULATE_WRITE
  madvise(window, bytes, MADV_POPULATE_WRITE);  // before Linux 5.14: fails, and the pages come one fault at a time
#endif
  window_ = static_cast<char *>(window);
  window_offset_ = offset;
  window_bytes_ = bytes;
  next_ = static_cast<Record *>(window);
  end_ = next_ + bytes / sizeof(Record);
  return true;
}

void Stream::slide() {
  if (window_ == nullptr) {  // already writing into scratch_
    next_ = scratch_;
    return;
  }
  const u64 before = read_cycles();
  const u64 offset = window_offset_ + window_bytes_;
  munmap(window_, window_bytes_);
  if (!map_window(offset, offset < kLargestWindow ? offset : kLargestWindow)) {
    window_ = nullptr;
    next_ = scratch_;
    end_ = scratch_ + 2;
    return;
  }
  emit_at(before, current_task_, event::pause{.cycles = read_cycles() - before});
}

void Stream::close_at_thread_exit(void *argument) {
  auto *stream = static_cast<Stream *>(argument);
  // The runtime's own destructors may still report events, in the same round or the next: close in the last one.
  if (!stream->last_round_) {
    stream->last_round_ = true;
    pthread_setspecific(exit_key, stream);
    return;
  }
  mine_ = nullptr;
  stream->close();
}

void Stream::close() {
  pthread_mutex_lock(&list_lock);
  for (Stream **link = &all_streams; *link != nullptr; link = &(*link)->next_stream_) {
    if (*link == this) {
      *link = next_stream_;
      break;
    }
  }
  pthread_mutex_unlock(&list_lock);
  if (window_ != nullptr) {
    const u64 used = window_offset_ + static_cast<u64>(reinterpret_cast<char *>(next_) - window_);
    munmap(window_, window_bytes_);
    // Only gives disk space back; the reader stops at the first unused record anyway.
    (void)!ftruncate(fd_, static_cast<off_t>(used));
  }
  ::close(fd_);
  free(this);
}

u64 Stream::intern(const char *text) {
  const u64 id = fnv1a(text) >> 16;
  u64 &cached = text_cache_[id % kTextCache];
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

void Stream::rename_all(const char *tag) {
  char directory[kPathBytes];
  trace_path(directory, "");
  char *slash = strrchr(directory, '/');
  *slash = '\0';
  pthread_mutex_lock(&list_lock);
  for (Stream *stream = all_streams; stream != nullptr; stream = stream->next_stream_) {
    char from[kPathBytes];
    char to[kPathBytes + kTagBytes];
    stream_path(from, stream->number_);
    snprintf(to, sizeof to, "%s/%s.thread%04u.mtr", directory, tag, stream->number_);
    if (rename(from, to) != 0) {
      fprintf(stderr, "marline-trace: cannot rename %s to %s: %s\n", from, to, strerror(errno));
    }
  }
  pthread_mutex_unlock(&list_lock);
}

void Stream::abandon_all() {
  mine_ = nullptr;
  all_streams = nullptr;
  pthread_mutex_init(&list_lock, nullptr);
}

}  // namespace marline::trace
