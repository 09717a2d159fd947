// SPDX-License-Identifier: Apache-2.0
//
// Parses and evaluates lists of traits. The value of an expression is a set of devices.
#include "base/selection.hpp"

#include "base/device_set.hpp"

#include <strings.h>

#include <cctype>
#include <cstdlib>
#include <cstring>

namespace marline::offload {

namespace {

using Set = DeviceSet;

struct Word {
  const char* text;
  size_t length;

  [[nodiscard]] bool is(const char* other) const {
    return std::strlen(other) == length && strncasecmp(text, other, length) == 0;
  }
  [[nodiscard]] bool is_exactly(const char* other) const {
    return std::strlen(other) == length && std::strncmp(text, other, length) == 0;
  }
};

// kind(host) means the initial device, which is not in the list of devices.
bool is_of_kind(const DeviceFacts& device, const Word& value) {
  if (value.is("any") || value.is("nohost")) return true;
  return value.is("gpu") ? device.is_gpu : value.is("cpu") && !device.is_gpu;
}

class Parser {
 public:
  Parser(const char* text, const DeviceFacts* devices, int count) : at_(text), devices_(devices), count_(count) {
    for (size_t i = 0; i < static_cast<size_t>(count); ++i) all_.set(i);
  }

  [[nodiscard]] bool is_good() const { return good_; }
  [[nodiscard]] const char* at() const { return at_; }

  bool accept(const char* token) {
    skip_blanks();
    size_t length = std::strlen(token);
    if (!good_ || std::strncmp(at_, token, length) != 0) return false;
    at_ += length;
    return true;
  }

  // Accepts a whole word such as `initial`, but not the beginning of a longer word.
  bool accept_word(const char* word) {
    skip_blanks();
    size_t length = std::strlen(word);
    bool same =
        good_ && strncasecmp(at_, word, length) == 0 && std::isalnum(static_cast<unsigned char>(at_[length])) == 0;
    if (same) at_ += length;
    return same;
  }

  bool accept_number(int& number) {
    skip_blanks();
    if (!good_ || std::isdigit(static_cast<unsigned char>(*at_)) == 0) return false;
    char* end;
    long value = std::strtol(at_, &end, 10);
    if (value > kMostNumber) return stop();
    at_ = end;
    number = static_cast<int>(value);
    return true;
  }

  bool at_end() {
    skip_blanks();
    return *at_ == '\0';
  }

  Set item() {
    Set set = accept("*") ? all_ : expression();
    return accept("[") ? subscript(set) : set;
  }

  bool stop() {
    good_ = false;
    return false;
  }

 private:
  static constexpr int kMostNumber = 1 << 20;
  static constexpr int kDeepest = 64;  // nesting of terms

  void skip_blanks() { at_ += std::strspn(at_, " \t"); }

  Set expression() {
    Set set = term();
    if (accept("&&")) {
      do set &= term();
      while (accept("&&"));
    } else {
      while (accept("||")) set |= term();
    }
    return set;
  }

  Set term() {
    Set set;
    if (++depth_ > kDeepest) stop();
    if (!good_) return {};
    if (accept("!")) {
      set = all_ & ~term();
    } else if (accept("(")) {
      set = expression();
      if (!accept(")")) stop();
    } else {
      set = trait();
    }
    --depth_;
    return set;
  }

  Set trait() {
    skip_blanks();
    const char* begin = at_;
    Word name = {at_, std::strspn(at_, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")};
    at_ += name.length;
    bool known = name.is("kind") || name.is("isa") || name.is("arch") || name.is("vendor") || name.is("uid");
    if (!known || !accept("(")) {
      at_ = begin;
      stop();
      return {};
    }
    skip_blanks();
    Word value = {at_, std::strcspn(at_, ")")};
    at_ += value.length;
    while (value.length > 0 && std::strchr(" \t", value.text[value.length - 1]) != nullptr) --value.length;
    static constexpr const char* kKinds[] = {"any", "nohost", "host", "cpu", "gpu"};
    bool usable = value.length > 0 && !name.is("kind");
    for (const char* kind : kKinds) usable = usable || (name.is("kind") && value.is(kind));
    if (!usable) at_ = value.text;
    if (!usable || !accept(")")) stop();
    return having(name, value);
  }

  [[nodiscard]] Set having(const Word& name, const Word& value) const {
    Set set;
    for (int i = 0; i < count_ && good_; ++i) {
      const DeviceFacts& device = devices_[i];
      bool has = name.is("kind")     ? is_of_kind(device, value)
                 : name.is("isa")    ? value.is(device.isa)
                 : name.is("arch")   ? value.is(device.arch)
                 : name.is("vendor") ? value.is(device.vendor)
                                     : value.is_exactly(device.uid);
      if (has) set.set(static_cast<size_t>(i));
    }
    return set;
  }

  // Parses a subscript after its bracket. Keeps `length` devices of the set, from the one with number `first` in the
  // set on.
  Set subscript(Set set) {
    int first = 0, length = 1;
    bool has_first = accept_number(first);
    if (accept(":")) {
      if (!accept_number(length)) length = kMostNumber;
    } else if (!has_first) {
      stop();
    }
    if (!accept("]")) stop();
    Set kept;
    for (int i = 0, nth = 0; i < count_ && good_; ++i) {
      if (!set.test(static_cast<size_t>(i))) continue;
      if (nth >= first && nth - first < length) kept.set(static_cast<size_t>(i));
      ++nth;
    }
    return kept;
  }

  const char* at_;
  const DeviceFacts* devices_;
  int count_;
  Set all_;
  int depth_ = 0;
  bool good_ = true;
};

// The lowest number in a set that is not empty.
int lowest(const Set& set) {
  size_t i = 0;
  while (!set.test(i)) ++i;
  return static_cast<int>(i);
}

}  // namespace

const char* select_devices(const char* text, const DeviceFacts* devices, int count, int* chosen, int& chosen_count) {
  Parser in(text, devices, count);
  Set taken;
  chosen_count = 0;
  do {
    Set left = in.item() & ~taken;
    taken |= left;
    for (int i = 0; i < count; ++i) {
      if (left.test(static_cast<size_t>(i))) chosen[chosen_count++] = i;
    }
  } while (in.accept(","));
  return in.is_good() && in.at_end() ? nullptr : in.at();
}

const char* choose_device(const char* text, const DeviceFacts* devices, int count, int& chosen) {
  Parser in(text, devices, count);
  bool found = false, alone = true;
  chosen = kChosenNone;
  do {
    int number = kChosenNone;
    bool fits = true;
    if (in.accept_number(number)) {
      fits = number < count || (alone && in.at_end());
    } else if (in.accept_word("initial")) {
      number = kChosenHost;
    } else if (!in.accept_word("invalid")) {
      Set set = in.item();
      fits = set.any();
      if (fits) number = lowest(set);
    }
    if (fits && !found) chosen = number;
    found = found || fits;
    alone = false;
  } while (in.accept(","));
  return in.is_good() && in.at_end() ? nullptr : in.at();
}

}  // namespace marline::offload
