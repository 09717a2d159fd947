// SPDX-License-Identifier: Apache-2.0
//
// Every __kmpc_atomic_* of LLVM's runtime, called as the compilers that emit them do (icc and ifort before 2021; LLVM,
// openmp/runtime/src/kmp_atomic.h, has the argument lists): by one thread with many operands, then by all threads on
// one object. What each should do is computed here, by one thread. The program counts the entry points that it has
// called.
//
// Covers: entry points of other compilers
#include "kmpc_atomics.hpp"
#include <algorithm>
#include <functional>
#include <omp.h>
#include <set>
#include <string>

namespace {

struct Ident {
  int32_t reserved, flags, reserved_2, reserved_3;
  const char* source;
};
Ident here = {0, 2, 0, 0, ";unknown;unknown;0;0;;"};

std::set<std::string> called;

void* entry(const std::string& suffix) {
  std::string name = "__kmpc_atomic_" + suffix;
  void* address = dlsym(RTLD_DEFAULT, name.c_str());
  if (address == nullptr) check_failed(__FILE__, __LINE__, "no entry point %s", name.c_str());
  called.insert(name);
  return address;
}

template <class Function>
Function* function(const std::string& suffix) {
  return reinterpret_cast<Function*>(entry(suffix));
}

int thread_number() {  // as the runtime counts
  static auto* ask = reinterpret_cast<int (*)(Ident*)>(dlsym(RTLD_DEFAULT, "__kmpc_global_thread_num"));
  return ask(&here);
}

template <class T>
void check_same(const std::string& what, T actual, T expected) {
  if (key(actual) == key(expected)) return;
  check_failed(__FILE__, __LINE__, "%s gives %.20Lg, %.20Lg, expected %.20Lg, %.20Lg", what.c_str(), key(actual).first,
               key(actual).second, key(expected).first, key(expected).second);
}

// Enough for threads to meet. Types that are updated under a lock meet there, and slowly.
template <class T>
constexpr int kRounds = sizeof(T) > 8 || kComplex<T> ? 100 : 500;

// Calls body(i) for each i below the number of threads times `rounds`, which it returns.
int all_threads(int rounds, const std::function<void(int)>& body) {
  int threads = 0;
#pragma omp parallel
  {
#pragma omp single
    threads = omp_get_num_threads();
    for (int r = 0; r < rounds; r++) body(omp_get_thread_num() * rounds + r);
  }
  return threads * rounds;
}

template <class T>
std::vector<Key> sorted(const std::vector<T>& values) {
  std::vector<Key> keys;
  for (T value : values) keys.push_back(key(value));
  std::sort(keys.begin(), keys.end());
  return keys;
}

template <class T>
using Update = void(Ident*, int, T*, T);

// Complex numbers of eight bytes are captured through a pointer.
template <class T>
T capture(void* address, T* x, T y, int after) {
  if constexpr (std::is_same_v<T, Complex4>) {
    T captured = number<T>(-77);
    reinterpret_cast<void (*)(Ident*, int, T*, T, T*, int)>(address)(&here, thread_number(), x, y, &captured, after);
    return captured;
  } else {
    return reinterpret_cast<T (*)(Ident*, int, T*, T, int)>(address)(&here, thread_number(), x, y, after);
  }
}

template <class T>
void by_one_thread(const std::string& name, const Operation<T>& operation, Update<T>* update, void* cpt) {
  for (T before : samples<T>()) {
    for (T y : samples<T>()) {
      if (!operation.defined(before, y)) continue;
      T expected = operation.apply(before, y);
      T x = before;
      update(&here, thread_number(), &x, y);
      check_same(name, x, expected);
      for (int after = 0; after < 2; after++) {
        x = before;
        T captured = capture(cpt, &x, y, after);
        check_same(name, x, expected);
        check_same(name, captured, after ? expected : before);
      }
    }
  }
}

template <class T>
void by_all_threads(const std::string& name, const Operation<T>& operation, Update<T>* update, void* cpt) {
  T x = operation.start();
  int count = all_threads(kRounds<T>, [&](int i) { update(&here, thread_number(), &x, operation.operand(i)); });
  std::vector<T> values{operation.start()};  // that x goes through, if the operands come in this order
  for (int i = 0; i < count; i++) values.push_back(operation.apply(values.back(), operation.operand(i)));
  check_same(name, x, values.back());

  for (int after = 0; after < 2; after++) {
    std::vector<T> captured(count);
    x = values.front();
    all_threads(kRounds<T>, [&](int i) { captured[i] = capture(cpt, &x, operation.operand(i), after); });
    check_same(name, x, values.back());
    if (operation.same) {
      CHECK(sorted(captured) == sorted(std::vector<T>(values.begin() + after, values.end() - 1 + after)));
    } else if (after) {
      for (int i = 0; i < count; i++)  // once more changes nothing
        check_same(name, operation.apply(captured[i], operation.operand(i)), captured[i]);
    }
  }
}

template <class T>
void check_operation(const Operation<T>& operation, const std::string& reversed) {
  std::string name = std::string(type_name<T>()) + "_" + operation.name;
  Update<T>* update = function<Update<T>>(name + reversed);
  void* cpt = entry(name + "_cpt" + reversed);
  by_one_thread<T>(name + reversed, operation, update, cpt);
  by_all_threads<T>(name + reversed, operation, update, cpt);
}

template <class T, class... Operations>
void check_operations() {
  for (const Operation<T>& operation : {operation_of<T, Operations>()...}) check_operation(operation, "");
}

template <class T, class... Operations>
void check_reversed() {
  for (const Operation<T>& operation : {operation_of<T, Reversed<Operations>>()...}) check_operation(operation, "_rev");
}

// x = x operation y, computed in y's type.
template <class T, class Y>
void check_mixed_operation(const Operation<Y>& operation) {
  std::string name = std::string(type_name<T>()) + "_" + operation.name + "_" + type_name<Y>();
  auto* update = function<void(Ident*, int, T*, Y)>(name);
  for (double real : {1.0, 10.0, 60.0}) {
    for (Y y : {number<Y>(0.5), number<Y>(-1), number<Y>(1.0 + 1.0 / (1 << 20)), number<Y>(0, kComplex<Y> ? 1 : -1)}) {
      if (!operation.defined(Y(1), y)) continue;
      T before = number<T>(real, 3), x = before;
      update(&here, thread_number(), &x, y);
      check_same(name, x, static_cast<T>(operation.apply(static_cast<Y>(before), y)));
    }
  }
  T x = T(6), expected = x;
  int count = all_threads(kRounds<T>, [&](int i) { update(&here, thread_number(), &x, operation.operand(i)); });
  for (int i = 0; i < count; i++)
    expected = static_cast<T>(operation.apply(static_cast<Y>(expected), operation.operand(i)));
  check_same(name, x, expected);
}

template <class T, class Y, class... Operations>
void check_mixed() {
  for (const Operation<Y>& operation : {operation_of<Y, Operations>()...}) check_mixed_operation<T>(operation);
}

template <class T>
T swap(void* address, T* x, T y) {
  if constexpr (std::is_same_v<T, Complex4>) {
    T before = number<T>(-77);
    reinterpret_cast<void (*)(Ident*, int, T*, T, T*)>(address)(&here, thread_number(), x, y, &before);
    return before;
  } else {
    return reinterpret_cast<T (*)(Ident*, int, T*, T)>(address)(&here, thread_number(), x, y);
  }
}

template <class T>
void check_accesses() {
  std::string name = type_name<T>();
  auto* read = function<T(Ident*, int, T*)>(name + "_rd");
  auto* write = function<Update<T>>(name + "_wr");
  void* swp = entry(name + "_swp");

  // Differ in all bytes, so that a value made of parts of both is none of them.
  T one = T(1) / T(3), other = T(-2) / T(7);
  if constexpr (kInteger<T>) one = T(0x5555555555555555), other = T(0xaaaaaaaaaaaaaaaa);
  if constexpr (kComplex<T>) __imag__ one = __real__ one, __imag__ other = __real__ other;
  T x = other;
  check_same(name + "_rd", read(&here, thread_number(), &x), other);
  write(&here, thread_number(), &x, one);
  check_same(name + "_wr", x, one);
  check_same(name + "_swp", swap(swp, &x, other), one);
  check_same(name + "_swp", x, other);
  all_threads(kRounds<T>, [&](int i) {
    write(&here, thread_number(), &x, i % 2 ? one : other);
    T seen = read(&here, thread_number(), &x);
    CHECK(key(seen) == key(one) || key(seen) == key(other));
  });

  auto token = [](int i) { return number<T>(i % 100 + 1, -(i % 100)); };
  x = T(0);
  std::vector<T> out(omp_get_max_threads() * kRounds<T>), in{x};
  int count = all_threads(kRounds<T>, [&](int i) { out[i] = swap(swp, &x, token(i)); });
  out.resize(count);
  out.push_back(x);
  for (int i = 0; i < count; i++) in.push_back(token(i));
  CHECK(sorted(out) == sorted(in));
}

template <class T>
void compare_by_one_thread(const std::string& size) {
  auto* is = function<bool(Ident*, int, T*, T, T)>("bool_" + size + "_cas");
  auto* is_captured = function<bool(Ident*, int, T*, T, T, T*)>("bool_" + size + "_cas_cpt");
  auto* was = function<T(Ident*, int, T*, T, T)>("val_" + size + "_cas");
  auto* was_captured = function<T(Ident*, int, T*, T, T, T*)>("val_" + size + "_cas_cpt");
  const T expected = T(0x4123456789abcdef), desired = T(0x3fedcba987654321), untouched = T(55);
  for (T before : {expected, T(expected ^ T(uint64_t(1) << (kBits<T> - 1)))}) {
    bool equal = before == expected;
    T after = equal ? desired : before;
    T x = before;
    CHECK_EQ(is(&here, thread_number(), &x, expected, desired), equal);
    CHECK_EQ(x, after);
    x = before;
    T captured = untouched;
    CHECK_EQ(is_captured(&here, thread_number(), &x, expected, desired, &captured), equal);
    CHECK_EQ(x, after);
    CHECK_EQ(captured, equal ? untouched : before);
    x = before;
    CHECK_EQ(was(&here, thread_number(), &x, expected, desired), before);
    CHECK_EQ(x, after);
    x = before;
    CHECK_EQ(was_captured(&here, thread_number(), &x, expected, desired, &captured), before);
    CHECK_EQ(x, after);
    CHECK_EQ(captured, after);
  }
}

// All threads count by compare and swap.
template <class T>
void check_comparisons() {
  std::string size = std::to_string(sizeof(T));
  compare_by_one_thread<T>(size);
  auto* is = function<bool(Ident*, int, T*, T, T, T*)>("bool_" + size + "_cas_cpt");
  auto* was = function<T(Ident*, int, T*, T, T, T*)>("val_" + size + "_cas_cpt");
  T x = 0;
  int count = all_threads(kRounds<T>, [&](int i) {
    T seen = 0, captured;
    if (i % 2) {
      while (!is(&here, thread_number(), &x, seen, T(seen + 1), &seen)) {
      }
    } else {
      while (was(&here, thread_number(), &x, seen, T(seen + 1), &captured) != seen) seen = captured;
      CHECK_EQ(captured, T(seen + 1));
    }
  });
  CHECK_EQ(x, T(count));
}

struct Wide {  // 32 bytes
  int64_t parts[4];
};

template <class T>
void add_to(void* result, void* x, void* y) {
  if constexpr (std::is_same_v<T, Wide>) {
    for (int i = 0; i < 4; i++)
      static_cast<T*>(result)->parts[i] = static_cast<T*>(x)->parts[i] + static_cast<T*>(y)->parts[i];
  } else {
    *static_cast<T*>(result) = Add::apply(*static_cast<T*>(x), *static_cast<T*>(y));
  }
}

using Generic = void(Ident*, int, void*, void*, void (*)(void*, void*, void*));

// The program's own function as the operation, on an object that is also updated otherwise.
template <class T>
void check_function(const std::string& size) {
  Generic* generic = function<Generic>(size);
  auto* add = function<Update<T>>(std::string(type_name<T>()) + "_add");
  T x = T(0), y = number<T>(3, 1), expected = x;
  int count = all_threads(kRounds<T>, [&](int i) {
    if (i % 2)
      generic(&here, thread_number(), &x, &y, add_to<T>);
    else
      add(&here, thread_number(), &x, y);
  });
  for (int i = 0; i < count; i++) expected = Add::apply(expected, y);
  check_same(size, x, expected);
}

void check_wide_function() {
  Generic* generic = function<Generic>("32");
  Wide x = {{0, 0, 0, 0}}, y = {{1, 2, 3, INT64_C(1) << 40}};
  int count = all_threads(kRounds<Wide>, [&](int) { generic(&here, thread_number(), &x, &y, add_to<Wide>); });
  for (int i = 0; i < 4; i++) CHECK_EQ(x.parts[i], y.parts[i] * count);
}

// What the program does between start and end excludes the updates of types that are longer than a word or complex.
template <class T>
void check_start_end() {
  auto* start = function<void()>("start");
  auto* end = function<void()>("end");
  auto* add = function<Update<T>>(std::string(type_name<T>()) + "_add");
  T x = T(0), y = number<T>(3, 1), expected = x;
  int count = all_threads(kRounds<T>, [&](int i) {
    if (i % 2) {
      start();
      x = x + y;
      end();
    } else {
      add(&here, thread_number(), &x, y);
    }
  });
  for (int i = 0; i < count; i++) expected = Add::apply(expected, y);
  check_same("start and end", x, expected);
}

// A complex number of eight bytes is aligned to four.
void check_alignment() {
  struct alignas(8) {
    float before;
    Complex4 x;
    float behind;
  } object = {-1, 0, -2};
  auto* add = function<Update<Complex4>>("cmplx4_add");
  auto* read = function<Complex4(Ident*, int, Complex4*)>("cmplx4_rd");
  Complex4 y = number<Complex4>(1, 2);
  int count = all_threads(kRounds<Complex4>, [&](int) {
    add(&here, thread_number(), &object.x, y);
    Complex4 seen = read(&here, thread_number(), &object.x);
    CHECK(__imag__ seen == 2 * __real__ seen);
  });
  check_same("cmplx4_add", object.x, number<Complex4>(count, 2 * count));
  CHECK(object.before == -1 && object.behind == -2);
}

template <class T, class U>
void check_integers() {
  check_operations<T, Add, Sub, Mul, Div, Min, Max, Shl, Shr, Xor, Eqv, Neqv, Andb, Orb, Andl, Orl>();
  check_reversed<T, Sub, Div, Shl, Shr>();
  check_operations<U, Div, Shr>();
  check_reversed<U, Div, Shr>();
  check_mixed<T, double, Mul, Div>();
  check_accesses<T>();
  check_comparisons<T>();
}

template <class T>
void check_reals() {
  check_operations<T, Add, Sub, Mul, Div, Min, Max>();
  check_reversed<T, Sub, Div>();
  check_accesses<T>();
}

template <class T>
void check_complex() {
  check_operations<T, Add, Sub, Mul, Div>();
  check_reversed<T, Sub, Div>();
  check_accesses<T>();
}

}  // namespace

int main() {
  check_integers<int8_t, uint8_t>();
  check_integers<int16_t, uint16_t>();
  check_integers<int32_t, uint32_t>();
  check_integers<int64_t, uint64_t>();
  check_reals<float>();
  check_reals<double>();
  check_reals<long double>();
  check_complex<Complex4>();
  check_complex<Complex8>();
  check_complex<Complex10>();
  check_mixed<float, double, Add, Sub, Mul, Div>();
  check_mixed<Complex4, Complex8, Add, Sub, Mul, Div>();
  check_function<int8_t>("1");
  check_function<int16_t>("2");
  check_function<float>("4");
  check_function<double>("8");
  check_function<long double>("10");
  check_function<Complex8>("16");
  check_function<Complex10>("20");
  check_wide_function();
  check_alignment();
  check_start_end<long double>();
  check_start_end<Complex4>();
  check_start_end<Complex8>();
  check_start_end<Complex10>();
  CHECK_EQ(called.size(), 340);
  return 0;
}
