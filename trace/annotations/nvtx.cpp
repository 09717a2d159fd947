// SPDX-License-Identifier: Apache-2.0
//
// NVTX 3. Its headers hold the whole interface: at its first call each copy of them in the process loads the library
// that NVTX_INJECTION64_PATH names and calls InitializeInjectionNvtx2 there, which puts the tool's functions into the
// headers' tables (nvtx3/nvtxDetail/nvtxTypes.h, whose binary layout is repeated here). `marline trace` sets the
// variable to the recorder. Where the variable is not set, all calls of NVTX do nothing.
//
// Pushed ranges nest within a domain; started ones have a number. A range of a domain with a name is called "DOMAIN:
// NAME". Categories, payloads and names of resources of CUDA and OpenCL are not recorded.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "annotations/annotations.hpp"

namespace marline::trace {
namespace {

// What a program hands over -------------------------------------------------------------------------------------------

enum MessageKind : int32_t { kPlain = 1, kWide = 2, kRegistered = 3 };
constexpr int32_t kArgb = 1;  // kind of a colour

struct Attributes {  // nvtxEventAttributes_t
  uint16_t version;
  uint16_t bytes;
  uint32_t category;
  int32_t color_kind;
  uint32_t color;
  int32_t payload_kind;
  int32_t reserved;
  uint64_t payload;
  int32_t message_kind;
  const void* message;
};
static_assert(sizeof(Attributes) == 48);

// Program and recorder know it by its address: a domain, and a name that is registered in a domain. It is never freed,
// because other threads may still use it.
struct Known {
  u64 group;
  char name[];
};

using Wide = const wchar_t*;
using Plain = const char*;

constexpr int kNotTracked = -2;  // NVTX_NO_PUSH_POP_TRACKING: the recorder counts no levels
constexpr u64 kDefaultGroup = group_of("NVTX");
uint32_t last_range;  // written by any thread

// Names ---------------------------------------------------------------------------------------------------------------

struct Name {
  char text[kNameBytes];
};

// A longer name is cut, perhaps within a letter.
void append(Name& name, Plain more) {
  const size_t used = strlen(name.text);
  snprintf(name.text + used, sizeof name.text - used, "%s", more);
}

// As UTF-8 (RFC 3629).
void append(Name& name, Wide more) {
  for (; *more != L'\0'; ++more) {
    const auto code = static_cast<uint32_t>(*more);
    const int rest = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    char letter[5] = {};
    for (int i = rest; i > 0; --i) letter[i] = static_cast<char>(0x80 | (code >> 6 * (rest - i) & 0x3f));
    static constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    letter[0] = static_cast<char>(kFirst[rest] | code >> 6 * rest);
    append(name, static_cast<Plain>(letter));
  }
}

template <class Letters>
Name name_of(const Known* domain, const Letters* message) {
  Name name{};
  if (domain != nullptr) {
    append(name, domain->name);
    append(name, ": ");
  }
  if (message == nullptr) {
    append(name, "NVTX");
  } else {
    append(name, message);
  }
  return name;
}

Known* make_known(Plain name, u64 group) {
  auto* made = static_cast<Known*>(malloc(sizeof(Known) + strlen(name) + 1));
  if (made != nullptr) {  // else it is the default domain, or a name that is not known
    made->group = group;
    strcpy(made->name, name);
  }
  return made;
}

u64 group_in(const Known* domain) { return domain == nullptr ? kDefaultGroup : domain->group; }

// Calls `use` with the message of an event, and its colour.
template <class Use>
auto with_message(const Known* domain, const Attributes* event, Use use) {
  if (event == nullptr) return use(name_of<char>(domain, nullptr).text, u64{0});
  const u64 color = event->color_kind == kArgb ? event->color & 0xffffff : 0;
  switch (event->message_kind) {
    case kRegistered:
      if (event->message != nullptr) return use(static_cast<const Known*>(event->message)->name, color);
      break;
    case kWide: return use(name_of(domain, static_cast<Wide>(event->message)).text, color);
    case kPlain:
      if (domain == nullptr && event->message != nullptr) return use(static_cast<Plain>(event->message), color);
      return use(name_of(domain, static_cast<Plain>(event->message)).text, color);
    default: break;
  }
  return use(name_of<char>(domain, nullptr).text, color);
}

// Records -------------------------------------------------------------------------------------------------------------

void mark(Plain name, u64 color) {
  if (Stream* stream = annotated_stream()) {
    const u64 text = stream->intern(name);
    stream->emit(stream->current_task(), event::mark{.text = text, .color = color});
  }
}

u64 start(Plain name, u64 color) {
  const uint32_t range = __atomic_add_fetch(&last_range, 1, __ATOMIC_RELAXED);
  if (Stream* stream = annotated_stream()) {
    const u64 text = stream->intern(name);
    stream->emit(stream->current_task(), event::range_begin{.text = text, .range = range, .color = color});
  }
  return range;
}

// A thread that has recorded nothing yet has no number, and gets no name.
void name_thread(uint32_t os_thread, Plain name) {
  Stream* stream = annotated_stream();
  const unsigned number = stream == nullptr ? 0 : Stream::number_of(os_thread);
  if (number != 0) {
    const u64 text = stream->intern(name);
    stream->emit(stream->current_task(), event::thread_name{.text = text, .thread = number});
  }
}

// The functions of NVTX -----------------------------------------------------------------------------------------------

void on_domain_mark(Known* domain, const Attributes* event) { with_message(domain, event, mark); }
void on_mark(const Attributes* event) { on_domain_mark(nullptr, event); }
void on_mark_plain(Plain name) { mark(name_of(nullptr, name).text, 0); }
void on_mark_wide(Wide name) { mark(name_of(nullptr, name).text, 0); }

u64 on_domain_start(Known* domain, const Attributes* event) { return with_message(domain, event, start); }
u64 on_start(const Attributes* event) { return on_domain_start(nullptr, event); }
u64 on_start_plain(Plain name) { return start(name_of(nullptr, name).text, 0); }
u64 on_start_wide(Wide name) { return start(name_of(nullptr, name).text, 0); }

void on_end(u64 range) {
  if (Stream* stream = annotated_stream()) {
    stream->emit(stream->current_task(), event::range_end{.range = range & 0xffffffff});
  }
}
void on_domain_end(Known*, u64 range) { on_end(range); }

int on_domain_push(Known* domain, const Attributes* event) {
  with_message(domain, event, [&](Plain name, u64 color) { begin_annotation(group_in(domain), name, color); });
  return kNotTracked;
}
int on_push(const Attributes* event) { return on_domain_push(nullptr, event); }
int on_push_plain(Plain name) {
  begin_annotation(kDefaultGroup, name == nullptr ? "NVTX" : name);
  return kNotTracked;
}
int on_push_wide(Wide name) { return on_push_plain(name_of(nullptr, name).text); }

int on_domain_pop(Known* domain) {
  end_annotation(group_in(domain));
  return kNotTracked;
}
int on_pop() { return on_domain_pop(nullptr); }

void on_name_thread(uint32_t os_thread, Plain name) { name_thread(os_thread, name_of(nullptr, name).text); }
void on_name_thread_wide(uint32_t os_thread, Wide name) { name_thread(os_thread, name_of(nullptr, name).text); }

Known* on_create_domain(Plain name) {
  const Name text = name_of(nullptr, name);
  return make_known(text.text, group_of(text.text));
}
Known* on_create_domain_wide(Wide name) { return on_create_domain(name_of(nullptr, name).text); }
Known* on_register(Known* domain, Plain name) { return make_known(name_of(domain, name).text, group_in(domain)); }
Known* on_register_wide(Known* domain, Wide name) { return make_known(name_of(domain, name).text, group_in(domain)); }

// Attaching -----------------------------------------------------------------------------------------------------------

using Function = void (*)();
struct Callbacks {  // NvtxExportTableCallbacks
  size_t bytes;
  int (*table_of)(int module, Function*** table, unsigned* count);
};
using ExportTable = const void* (*)(uint32_t number);

constexpr uint32_t kCallbacks = 1;  // NVTX_ETID_CALLBACKS

class Table {
 public:
  Table(const Callbacks& callbacks, int module) {
    if (callbacks.table_of(module, &table_, &count_) == 0) count_ = 0;
  }
  template <class Replacement>
  void set(unsigned number, Replacement function) {
    if (number < count_ && table_[number] != nullptr) *table_[number] = reinterpret_cast<Function>(function);
  }

 private:
  Function** table_ = nullptr;
  unsigned count_ = 0;
};

// Numbers of NvtxCallbackIdCore.
void set_core(Table table) {
  table.set(1, on_mark);
  table.set(2, on_mark_plain);
  table.set(3, on_mark_wide);
  table.set(4, on_start);
  table.set(5, on_start_plain);
  table.set(6, on_start_wide);
  table.set(7, on_end);
  table.set(8, on_push);
  table.set(9, on_push_plain);
  table.set(10, on_push_wide);
  table.set(11, on_pop);
  table.set(14, on_name_thread);
  table.set(15, on_name_thread_wide);
}

// Numbers of NvtxCallbackIdCore2.
void set_domains(Table table) {
  table.set(1, on_domain_mark);
  table.set(2, on_domain_start);
  table.set(3, on_domain_end);
  table.set(4, on_domain_push);
  table.set(5, on_domain_pop);
  table.set(10, on_register);
  table.set(11, on_register_wide);
  table.set(12, on_create_domain);
  table.set(13, on_create_domain_wide);
}

}  // namespace
}  // namespace marline::trace

// Returns 0 if nothing is to be recorded: then NVTX's functions do nothing.
MARLINE_ENTRY int InitializeInjectionNvtx2(marline::trace::ExportTable get) {
  using namespace marline::trace;
  constexpr int kCore = 1, kCore2 = 5;  // NVTX_CB_MODULE_CORE, NVTX_CB_MODULE_CORE2
  const auto* callbacks = static_cast<const Callbacks*>(get(kCallbacks));
  if (callbacks == nullptr || callbacks->bytes < sizeof(Callbacks)) return 0;
  if (!start_recording() || !wanted(kRegionEvents)) return 0;
  set_core({*callbacks, kCore});
  set_domains({*callbacks, kCore2});
  return 1;
}
