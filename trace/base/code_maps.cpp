// SPDX-License-Identifier: Apache-2.0
//
// Lists the executable mappings as the kernel lists them, with the build ids that the loaded objects carry in their
// notes (ELF: PT_NOTE, NT_GNU_BUILD_ID of the name "GNU"). They are read anew each time the JSON file is written, so
// that its last version contains libraries that the program loads later. What has been listed once stays, until other
// code lies there: MPI_Finalize unloads libraries whose functions are in call stacks. Called under process_lock.
#include "base/code_maps.hpp"

#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

namespace marline::trace {
namespace {

constexpr size_t kMostIdBytes = 32;  // SHA-1 has 20

struct CodeMap {
  uint64_t begin;
  uint64_t end;
  uint64_t offset;
  char* path;
  char id[2 * kMostIdBytes + 1];
};

constexpr int kMostMaps = 4096;  // further ones are not listed
CodeMap listed[kMostMaps];
int listed_count;

// Drops other code that overlaps the new one. Returns false if the same is there already.
bool make_place(uint64_t begin, uint64_t end, const char* path) {
  for (int i = listed_count - 1; i >= 0; --i) {
    CodeMap& old = listed[i];
    if (old.begin == begin && old.end == end && strcmp(old.path, path) == 0) return false;
    if (old.begin < end && begin < old.end) {
      free(old.path);
      old = listed[--listed_count];
    }
  }
  return listed_count < kMostMaps;
}

struct BuildId {
  uint64_t begin;  // begin and end of a mapping: the id of the object at these addresses is looked for
  uint64_t end;
  char text[2 * kMostIdBytes + 1];
};

void print_id(const unsigned char* bytes, size_t count, char* text) {
  for (size_t i = 0; i < count && i < kMostIdBytes; ++i) {
    snprintf(text + 2 * i, 3, "%02x", bytes[i]);
  }
}

constexpr size_t aligned(size_t bytes) { return (bytes + 3) & ~size_t{3}; }

void read_notes(const char* note, size_t bytes, char* text) {
  for (const char* end = note + bytes; note + sizeof(ElfW(Nhdr)) <= end;) {
    ElfW(Nhdr) header;
    memcpy(&header, note, sizeof header);
    const char* name = note + sizeof header;
    const char* content = name + aligned(header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && memcmp(name, "GNU", 4) == 0) {
      print_id(reinterpret_cast<const unsigned char*>(content), header.n_descsz, text);
      return;
    }
    note = content + aligned(header.n_descsz);
  }
}

bool lies_in(const dl_phdr_info& object, uint64_t begin, uint64_t end) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const auto& part = object.dlpi_phdr[i];
    const uint64_t part_begin = object.dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_LOAD && part_begin < end && begin < part_begin + part.p_memsz) {
      return true;
    }
  }
  return false;
}

int find_build_id(dl_phdr_info* object, size_t, void* argument) {
  auto* wanted = static_cast<BuildId*>(argument);
  if (!lies_in(*object, wanted->begin, wanted->end)) {
    return 0;
  }
  for (int i = 0; i < object->dlpi_phnum && wanted->text[0] == '\0'; ++i) {
    const auto& part = object->dlpi_phdr[i];
    if (part.p_type == PT_NOTE) {
      read_notes(reinterpret_cast<const char*>(object->dlpi_addr + part.p_vaddr), part.p_memsz, wanted->text);
    }
  }
  return 1;
}

// Adds what one line of /proc/self/maps says, if it is an executable mapping of a file.
void list_map(char* line) {
  uint64_t begin = 0;
  uint64_t end = 0;
  uint64_t offset = 0;
  char rights[5] = "";
  int path_at = 0;
  const int found =
      sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %*s %n", &begin, &end, rights, &offset, &path_at);
  if (found != 4 || rights[2] != 'x' || line[path_at] != '/') return;
  line[strcspn(line, "\n")] = '\0';
  if (!make_place(begin, end, line + path_at)) return;
  char* path = strdup(line + path_at);
  if (path == nullptr) return;
  BuildId id = {.begin = begin, .end = end, .text = {}};
  dl_iterate_phdr(find_build_id, &id);
  CodeMap& fresh = listed[listed_count++];
  fresh = {.begin = begin, .end = end, .offset = offset, .path = path, .id = {}};
  memcpy(fresh.id, id.text, sizeof fresh.id);
}

void write_map(FILE* out, const char* separator, const CodeMap& map) {
  fprintf(out,
          "%s    {\"begin\": %" PRIu64 ", \"end\": %" PRIu64 ", \"offset\": %" PRIu64
          ", \"build_id\": \"%s\", \"path\": ",
          separator, map.begin, map.end, map.offset, map.id);
  write_string(out, map.path);
  fputc('}', out);
}

}  // namespace

void write_code_maps(FILE* out) {
  FILE* in = fopen("/proc/self/maps", "re");
  char line[PATH_MAX + 128];
  while (in != nullptr && fgets(line, sizeof line, in) != nullptr) list_map(line);
  if (in != nullptr) {
    fclose(in);
  }
  fputs("  \"maps\": [", out);
  for (int i = 0; i < listed_count; ++i) write_map(out, i == 0 ? "\n" : ",\n", listed[i]);
  fputs("],\n", out);
}

}  // namespace marline::trace
