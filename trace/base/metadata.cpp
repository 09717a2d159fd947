// SPDX-License-Identifier: Apache-2.0
//
// Writes a process's JSON file, without a JSON library, because the recorder links only libc. Each value is written by
// one small function; text from outside (paths, arguments, host name) goes through write_string.
#include "base/metadata.hpp"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/code_maps.hpp"
#include "file/container.hpp"
#include "base/core_waits.hpp"
#include "base/machine.hpp"
#include "file/record.hpp"
#include "kernel/threads.hpp"

namespace marline::trace {

void (*write_more)(FILE*);

// Writes a JSON string. Bytes from 0x80 on are passed through: file names are UTF-8, or the reader replaces them.
void write_string(FILE* out, const char* text) {
  fputc('"', out);
  for (; *text != '\0'; ++text) {
    const auto byte = static_cast<unsigned char>(*text);
    if (byte == '"' || byte == '\\') {
      fprintf(out, "\\%c", byte);
    } else if (byte < 0x20) {
      fprintf(out, "\\u%04x", byte);
    } else {
      fputc(byte, out);
    }
  }
  fputc('"', out);
}

namespace {

void write_member(FILE* out, const char* name, const char* text) {
  fprintf(out, "  \"%s\": ", name);
  write_string(out, text);
  fputs(",\n", out);
}

void write_arguments(FILE* out) {
  fputs("  \"argv\": [", out);
  FILE* in = fopen("/proc/self/cmdline", "re");
  char argument[PATH_MAX];
  size_t length = 0;
  const char* separator = "";
  for (int c; in != nullptr && (c = fgetc(in)) != EOF;) {
    if (c != '\0') {
      if (length < sizeof argument - 1) {
        argument[length++] = static_cast<char>(c);
      }
      continue;
    }
    argument[length] = '\0';
    fputs(separator, out);
    write_string(out, argument);
    separator = ", ";
    length = 0;
  }
  if (in != nullptr) {
    fclose(in);
  }
  fputs("],\n", out);
}

void write_clock(FILE* out, const char* name, const ClockPair& pair) {
  fprintf(out, "  \"%s\": {\"cycles\": %" PRIu64 ", \"monotonic_ns\": %" PRIu64 "},\n", name, pair.cycles,
          pair.monotonic_ns);
}

void write_clocks(FILE* out, const Metadata& process) {
  write_clock(out, "clock_begin", process.clock_begin);
  write_clock(out, "clock_end", process.clock_end);
  fputs("  \"clock_samples\": [", out);
  for (int i = 0; i < process.sample_count; ++i) {
    const ClockSample& sample = process.samples[i];
    fprintf(out, "%s\n    {\"local\": %" PRIu64 ", \"sent\": %" PRIu64 ", \"received\": %" PRIu64 "}",
            i == 0 ? "" : ",", sample.local, sample.sent, sample.received);
  }
  fputs("],\n", out);
}

void write_counters(FILE* out, const marline_counters_t& counters) {
  const struct {
    const char* name;
    uint64_t value;
  } members[] = {{"tasks", counters.tasks},         {"dependences", counters.dependences},
                 {"edges", counters.edges},         {"pruned", counters.pruned},
                 {"duplicate", counters.duplicate}, {"transitive", counters.transitive},
                 {"nodes", counters.nodes},         {"lookups", counters.lookups},
                 {"probes", counters.probes},       {"rebuilds", counters.rebuilds}};
  const char* separator = "";
  fputs("  \"counters\": {", out);
  for (const auto& member : members) {
    fprintf(out, "%s\"%s\": %" PRIu64, separator, member.name, member.value);
    separator = ", ";
  }
  fputs("},\n", out);
}

void write_options(FILE* out, const Metadata& process) {
  fputs("  \"events\": [", out);
  write_event_words(out, process.options.events);
  fprintf(out, "],\n  \"start\": \"%s\",\n  \"limit\": %" PRIu64 ",\n  \"sample_hz\": %u,\n",
          process.options.begin_off ? "off" : "on", process.options.limit, process.options.sample_hz);
  fprintf(out, "  \"aggregate\": %s,\n", process.options.aggregate ? "true" : "false");
  const char* stopped = __atomic_load_n(&process.stopped, __ATOMIC_ACQUIRE);
  write_member(out, "stopped", stopped == nullptr ? "" : stopped);
}

void read_line(const char* path, char* text, int bytes) {
  text[0] = '\0';
  FILE* in = fopen(path, "re");
  if (in != nullptr) {
    if (fgets(text, bytes, in) != nullptr) {
      text[strcspn(text, "\n")] = '\0';
    }
    fclose(in);
  }
}

void write_machine(FILE* out) {
  char text[PATH_MAX] = "";
  gethostname(text, sizeof text - 1);
  write_member(out, "host", text);
  read_line("/proc/sys/kernel/random/boot_id", text, sizeof text);  // ranks on one machine share a counter
  write_member(out, "boot_id", text);
  const ssize_t length = readlink("/proc/self/exe", text, sizeof text - 1);
  text[length < 0 ? 0 : length] = '\0';
  write_member(out, "exe", text);
  // Of the node: shows whether it is oversubscribed.
  fprintf(out, "  \"cpus\": %ld,\n", sysconf(_SC_NPROCESSORS_ONLN));
  fprintf(out, "  \"waited_for_core_ns\": %" PRIu64 ",\n", core_waits());
  write_machine_samples(out);
  write_threads(out);
}

// Makes a new file that only its owner can read: a trace contains the program's arguments and paths.
FILE* create(const char* path) {
  if (unlink(path) != 0 && errno != ENOENT) {
    return nullptr;
  }
  const int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  FILE* out = file >= 0 ? fdopen(file, "w") : nullptr;
  if (file >= 0 && out == nullptr) {
    close(file);
  }
  return out;
}

// Gives the file its name once all of it is written. Otherwise removes it, and leaves the reason in errno.
bool finish(FILE* out, const char* temporary, const char* path) {
  const bool written = ferror(out) == 0;
  if ((fclose(out) == 0) & written && rename(temporary, path) == 0) {
    return true;
  }
  const int error = errno;
  unlink(temporary);
  errno = error;
  return false;
}

}  // namespace

// Many processes may write the same table into one folder: each writes a file of its own and renames it.
bool Metadata::write_table(const char* path) const {
  if (access(path, F_OK) == 0) return true;
  char temporary[kPathBytes + kTagBytes + 8];
  snprintf(temporary, sizeof temporary, "%s.%s.tmp", path, tag);
  FILE* out = create(temporary);
  if (out == nullptr) return false;
  fputs(kTable, out);
  return finish(out, temporary, path);
}

bool Metadata::write(const char* path, bool with_more) const {
  char temporary[kPathBytes + 8];
  snprintf(temporary, sizeof temporary, "%s.tmp", path);
  FILE* out = create(temporary);
  if (out == nullptr) {
    return false;
  }
  char ring[kTagBytes + 8];
  snprintf(ring, sizeof ring, "%s.ring", tag);
  fprintf(out, "{\n  \"format\": \"marline-trace 3\",\n  \"fingerprint\": \"%016" PRIx64 "\",\n", kFingerprint);
  fprintf(out, "  \"rank\": %d,\n  \"size\": %d,\n  \"pid\": %d,\n", rank, size, getpid());
  fprintf(out, "  \"recorded\": %s,\n", left_out ? "false" : "true");
  write_machine(out);
  write_arguments(out);
  write_member(out, "runtime", runtime);
  fprintf(out, "  \"omp_version\": %u,\n", omp_version);
  write_member(out, "mpi", mpi);
  write_options(out, *this);
  write_counters(out, counters);
  write_clocks(out, *this);
  write_code_maps(out);
  auto write_them = with_more && !left_out ? __atomic_load_n(&write_more, __ATOMIC_ACQUIRE) : nullptr;
  if (write_them != nullptr) write_them(out);
  write_member(out, "ring", options.ring != 0 && !left_out ? ring : "");
  fprintf(out, "  \"file\": \"%s\",\n  \"process\": %u\n}\n", file, process_number());
  return finish(out, temporary, path);
}

}  // namespace marline::trace
