// SPDX-License-Identifier: Apache-2.0
//
// Expands affinity format strings. Stateless.
#include "exec/view/affinity_format.hpp"

#include <cstdio>
#include <cstring>

namespace marline {

namespace {

struct Out {
  char* buffer;
  size_t size;
  size_t length = 0;

  void put(char c) {
    if (length + 1 < size) buffer[length] = c;
    ++length;
  }
  void put(const char* text, size_t count) {
    for (size_t i = 0; i < count; ++i) put(text[i]);
  }
  void end() {
    if (size > 0) buffer[length < size ? length : size - 1] = '\0';
  }
};

constexpr char kPlaceNum = 1;  // not among the short names that a format can give
constexpr char kProcBind = 2;

struct Field {
  bool zeros = false;
  bool right = false;
  size_t width = 0;
  char type = '\0';  // the short name, or kPlaceNum, kProcBind; 0: unknown
};

struct Name {
  char type;
  const char* name;
};
constexpr Name kNames[] = {
    {'t', "team_num"},
    {'T', "num_teams"},
    {'L', "nesting_level"},
    {'n', "thread_num"},
    {'N', "num_threads"},
    {'a', "ancestor_tnum"},
    {'H', "host"},
    {'P', "process_id"},
    {'i', "native_thread_id"},
    {'A', "thread_affinity"},
    {kPlaceNum, "place_num"},
    {kProcBind, "proc_bind"},
};

char type_of(const char* name, size_t length) {
  for (const Name& known : kNames) {
    if (std::strlen(known.name) == length && std::memcmp(known.name, name, length) == 0) return known.type;
  }
  return '\0';
}

// Reads the field after a `%`; returns where the text goes on.
const char* read_field(const char* at, Field& field) {
  constexpr size_t kWidest = 1024;
  if (at[0] == '0' && at[1] == '.') {
    field.zeros = true;
    ++at;
  }
  if (*at == '.') {
    field.right = true;
    ++at;
  }
  for (; *at >= '0' && *at <= '9'; ++at) {
    if (field.width < kWidest) field.width = field.width * 10 + static_cast<size_t>(*at - '0');
  }
  if (*at == '{') {
    const char* close = std::strchr(at, '}');
    if (close == nullptr) return at + std::strlen(at);
    field.type = type_of(at + 1, static_cast<size_t>(close - at - 1));
    return close + 1;
  }
  field.type = *at > kProcBind ? *at : '\0';
  return *at == '\0' ? at : at + 1;
}

void put_padded(Out& out, const Field& field, const char* text, size_t length) {
  size_t padding = field.width > length ? field.width - length : 0;
  if (field.right) {
    if (field.zeros && length > 0 && *text == '-') {  // the sign goes in front of the zeros
      out.put(*text++);
      --length;
    }
    for (; padding > 0; --padding) out.put(field.zeros ? '0' : ' ');
  }
  out.put(text, length);
  for (; padding > 0; --padding) out.put(' ');
}

void put_text(Out& out, Field field, const char* text) {
  field.zeros = false;
  put_padded(out, field, text, std::strlen(text));
}

void put_number(Out& out, const Field& field, int value) {
  char digits[16];
  int length = std::snprintf(digits, sizeof digits, "%d", value);
  put_padded(out, field, digits, static_cast<size_t>(length));
}

void put_field(Out& out, const Field& field, const AffinityFacts& facts) {
  switch (field.type) {
    case 't': return put_number(out, field, facts.team_num);
    case 'T': return put_number(out, field, facts.num_teams);
    case 'L': return put_number(out, field, facts.nesting_level);
    case 'n': return put_number(out, field, facts.thread_num);
    case 'N': return put_number(out, field, facts.num_threads);
    case 'a': return put_number(out, field, facts.ancestor_tnum);
    case 'H': return put_text(out, field, facts.host);
    case 'P': return put_number(out, field, facts.process_id);
    case 'i': return put_number(out, field, facts.native_thread_id);
    case 'A': return put_text(out, field, facts.thread_affinity);
    case kPlaceNum: return put_number(out, field, facts.place_num);
    case kProcBind: return put_text(out, field, facts.proc_bind);
    default: return put_text(out, field, "undefined");
  }
}

}  // namespace

size_t format_affinity(char* buffer, size_t size, const char* format, const AffinityFacts& facts) {
  Out out{buffer, size};
  for (const char* at = format; *at != '\0';) {
    if (*at != '%') {
      out.put(*at++);
    } else if (at[1] == '%') {
      out.put('%');
      at += 2;
    } else {
      Field field;
      at = read_field(at + 1, field);
      put_field(out, field, facts);
    }
  }
  out.end();
  return out.length;
}

}  // namespace marline
