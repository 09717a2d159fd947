// SPDX-License-Identifier: Apache-2.0
//
// Writes a process's JSON file. By hand, as the recorder links nothing but libc; each value is written by one small
// function, and what comes from outside (paths, arguments, host name) goes through write_string.
#include "metadata.hpp"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record.hpp"

namespace marline::trace {
namespace {

// A JSON string. Bytes from 0x80 on are passed through: file names are UTF-8, or the reader replaces them.
void write_string(FILE *out, const char *text) {
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

void write_member(FILE *out, const char *name, const char *text) {
  fprintf(out, "  \"%s\": ", name);
  write_string(out, text);
  fputs(",\n", out);
}

void write_arguments(FILE *out) {
  fputs("  \"argv\": [", out);
  FILE *in = fopen("/proc/self/cmdline", "re");
  char argument[PATH_MAX];
  size_t length = 0;
  const char *separator = "";
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

// The executable mappings, so that code addresses can be turned into file offsets after the run.
void write_code_maps(FILE *out) {
  fputs("  \"maps\": [", out);
  FILE *in = fopen("/proc/self/maps", "re");
  char line[PATH_MAX + 128];
  const char *separator = "\n";
  while (in != nullptr && fgets(line, sizeof line, in) != nullptr) {
    uint64_t begin = 0;
    uint64_t end = 0;
    uint64_t offset = 0;
    char rights[5] = "";
    int path_at = 0;
    const int found = sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &begin, &end, rights, &offset,
                             &path_at);
    if (found != 4 || rights[2] != 'x' || line[path_at] != '/') {
      continue;
    }
    line[strcspn(line, "\n")] = '\0';
    fprintf(out, "%s    {\"begin\": %" PRIu64 ", \"end\": %" PRIu64 ", \"offset\": %" PRIu64 ", \"path\": ", separator,
            begin, end, offset);
    write_string(out, line + path_at);
    fputc('}', out);
    separator = ",\n";
  }
  if (in != nullptr) {
    fclose(in);
  }
  fputs("],\n", out);
}

void write_clock(FILE *out, const char *name, const ClockPair &pair) {
  fprintf(out, "  \"%s\": {\"cycles\": %" PRIu64 ", \"monotonic_ns\": %" PRIu64 "},\n", name, pair.cycles,
          pair.monotonic_ns);
}

void write_clocks(FILE *out, const Metadata &process) {
  write_clock(out, "clock_begin", process.clock_begin);
  write_clock(out, "clock_end", process.clock_end);
  fputs("  \"clock_samples\": [", out);
  for (int i = 0; i < process.sample_count; ++i) {
    const ClockSample &sample = process.samples[i];
    fprintf(out, "%s\n    {\"local\": %" PRIu64 ", \"sent\": %" PRIu64 ", \"received\": %" PRIu64 "}",
            i == 0 ? "" : ",", sample.local, sample.sent, sample.received);
  }
  fputs("],\n", out);
}

void read_line(const char *path, char *text, int bytes) {
  text[0] = '\0';
  FILE *in = fopen(path, "re");
  if (in != nullptr) {
    if (fgets(text, bytes, in) != nullptr) {
      text[strcspn(text, "\n")] = '\0';
    }
    fclose(in);
  }
}

void write_machine(FILE *out) {
  char text[PATH_MAX] = "";
  gethostname(text, sizeof text - 1);
  write_member(out, "host", text);
  read_line("/proc/sys/kernel/random/boot_id", text, sizeof text);  // ranks on one machine share a counter
  write_member(out, "boot_id", text);
  const ssize_t length = readlink("/proc/self/exe", text, sizeof text - 1);
  text[length < 0 ? 0 : length] = '\0';
  write_member(out, "exe", text);
}

}  // namespace

bool Metadata::write(const char *path) const {
  char temporary[kPathBytes + 8];
  snprintf(temporary, sizeof temporary, "%s.tmp", path);
  FILE *out = fopen(temporary, "we");
  if (out == nullptr) {
    return false;
  }
  fprintf(out, "{\n  \"format\": \"marline-trace 1\",\n  \"fingerprint\": \"%016" PRIx64 "\",\n", kFingerprint);
  fprintf(out, "  \"rank\": %d,\n  \"size\": %d,\n  \"pid\": %d,\n", rank, size, getpid());
  write_machine(out);
  write_arguments(out);
  write_member(out, "runtime", runtime);
  fprintf(out, "  \"omp_version\": %u,\n", omp_version);
  write_member(out, "mpi", mpi);
  write_clocks(out, *this);
  write_code_maps(out);
  fprintf(out, "  \"files\": \"%s.thread*.mtr\"\n}\n", tag);
  const bool written = ferror(out) == 0;
  return (fclose(out) == 0) & written && rename(temporary, path) == 0;
}

}  // namespace marline::trace
