// SPDX-License-Identifier: Apache-2.0
//
// For kmpc_atomics.cpp: the types and operations of __kmpc_atomic_*, computed by one thread, and operands for them.
#pragma once

#include "../check.h"
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

using Complex4 = __complex__ float;
using Complex8 = __complex__ double;
using Complex10 = __complex__ long double;

template <class T>
constexpr bool kInteger = std::is_integral_v<T>;
template <class T>
constexpr bool kComplex = !std::is_arithmetic_v<T>;
template <class T>
constexpr int kBits = 8 * sizeof(T);

template <class T>
const char* type_name() {
  if constexpr (std::is_same_v<T, Complex4>)
    return "cmplx4";
  else if constexpr (std::is_same_v<T, Complex8>)
    return "cmplx8";
  else if constexpr (std::is_same_v<T, Complex10>)
    return "cmplx10";
  else if constexpr (std::is_same_v<T, float>)
    return "float4";
  else if constexpr (std::is_same_v<T, double>)
    return "float8";
  else if constexpr (std::is_same_v<T, long double>)
    return "float10";
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "fixed1" : "fixed1u";
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "fixed2" : "fixed2u";
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "fixed4" : "fixed4u";
  else
    return std::is_signed_v<T> ? "fixed8" : "fixed8u";
}

template <class T>
T number(double real, double imaginary = 0) {
  T result = T(0);
  if constexpr (kComplex<T>) {
    __real__ result = real;
    __imag__ result = imaginary;
  } else {
    result = static_cast<T>(real);
  }
  return result;
}

// Equal values have equal keys, which are ordered.
using Key = std::pair<long double, long double>;
template <class T>
Key key(T value) {
  if constexpr (kComplex<T>)
    return {__real__ value, __imag__ value};
  else
    return {static_cast<long double>(value), 0};
}

// Operands with results that are exact in every type, however a complex number is divided.
template <class T>
std::vector<T> samples() {
  if constexpr (kInteger<T>) {
    using Limits = std::numeric_limits<T>;
    return {0, 1, 2, 3, 7, T(-1), T(-100), 100, Limits::min(), Limits::max()};
  } else if constexpr (kComplex<T>) {
    return {number<T>(1), number<T>(0, 1), number<T>(1, 1), number<T>(2, -2), number<T>(-4), number<T>(6, 3)};
  } else {
    return {T(0.5), T(1), T(-3), T(7), T(100.25)};
  }
}

template <class T>
bool divides(T x, T y) {
  if constexpr (kComplex<T>) {
    double norm = double(__real__ y) * double(__real__ y) + double(__imag__ y) * double(__imag__ y);
    return norm == 1 || norm == 2 || norm == 8 || norm == 16;
  } else if constexpr (kInteger<T>) {
    return y != 0 && !(std::is_signed_v<T> && x == std::numeric_limits<T>::min() && y == T(-1));
  } else {
    return y != 0;
  }
}

// An operation on a type, and what many threads do with it: x = x operation operand(i), from `start` on. The same: all
// operands are equal, so that the values that x goes through do not depend on the order in which threads come; else
// only the last value does not.
template <class T>
struct Operation {
  const char* name;
  bool same;
  T (*start)();
  T (*operand)(int i);
  bool (*defined)(T x, T y);
  T (*apply)(T x, T y);
};

struct Any {  // what operations have in common
  template <class T>
  static bool defined(T, T) {
    return true;
  }
  template <class T>
  static T start() {
    return T(1);
  }
};
struct Same : Any {
  static constexpr bool kSame = true;
};
struct Different : Any {
  static constexpr bool kSame = false;
};

struct Add : Same {
  static constexpr const char* kName = "add";
  template <class T>
  static T apply(T x, T y) {
    if constexpr (kInteger<T>)
      return T(uint64_t(x) + uint64_t(y));
    else
      return x + y;
  }
  template <class T>
  static T operand(int) {
    return number<T>(3, 1);
  }
};
struct Sub : Same {
  static constexpr const char* kName = "sub";
  template <class T>
  static T apply(T x, T y) {
    if constexpr (kInteger<T>)
      return T(uint64_t(x) - uint64_t(y));
    else
      return x - y;
  }
  template <class T>
  static T operand(int) {
    return number<T>(3, -1);
  }
};
struct Mul : Same {
  static constexpr const char* kName = "mul";
  template <class T>
  static T apply(T x, T y) {
    if constexpr (kInteger<T>)
      return T(uint64_t(x) * uint64_t(y));
    else
      return x * y;
  }
  template <class T>
  static T operand(int) {
    if constexpr (kComplex<T>)
      return number<T>(0, 1);
    else
      return kInteger<T> ? T(5) : T(-1);
  }
};
struct Div : Same {
  static constexpr const char* kName = "div";
  template <class T>
  static bool defined(T x, T y) {
    return divides(x, y);
  }
  template <class T>
  static T apply(T x, T y) {
    return T(x / y);
  }
  template <class T>
  static T start() {
    if constexpr (std::is_unsigned_v<T>)
      return std::numeric_limits<T>::max();
    else
      return T(6);
  }
  template <class T>
  static T operand(int) {
    if constexpr (kComplex<T>)
      return number<T>(0, 1);
    else
      return std::is_unsigned_v<T> ? T(2) : T(-1);
  }
};
struct Shl : Same {
  static constexpr const char* kName = "shl";
  template <class T>
  static bool defined(T, T y) {
    return y >= T(0) && uint64_t(y) < kBits<T>;
  }
  template <class T>
  static T apply(T x, T y) {
    return T(uint64_t(x) << y);
  }
  template <class T>
  static T operand(int) {
    return T(1);
  }
};
struct Shr : Same {
  static constexpr const char* kName = "shr";
  template <class T>
  static bool defined(T x, T y) {
    return Shl::defined(x, y);
  }
  template <class T>
  static T apply(T x, T y) {
    return T(x >> y);
  }
  template <class T>
  static T start() {
    return std::numeric_limits<T>::max();
  }
  template <class T>
  static T operand(int) {
    return T(1);
  }
};
struct Xor : Same {
  static constexpr const char* kName = "xor";
  template <class T>
  static T apply(T x, T y) {
    return T(x ^ y);
  }
  template <class T>
  static T operand(int) {
    return T(0x5a);
  }
};
struct Neqv : Xor {
  static constexpr const char* kName = "neqv";
};
struct Eqv : Same {
  static constexpr const char* kName = "eqv";
  template <class T>
  static T apply(T x, T y) {
    return T(~(x ^ y));
  }
  template <class T>
  static T operand(int) {
    return T(0x5a);
  }
};

struct Min : Different {
  static constexpr const char* kName = "min";
  template <class T>
  static T apply(T x, T y) {
    return y < x ? y : x;
  }
  template <class T>
  static T start() {
    return T(101);
  }
  template <class T>
  static T operand(int i) {
    return T(100 - i * 7 % 101);
  }
};
struct Max : Different {
  static constexpr const char* kName = "max";
  template <class T>
  static T apply(T x, T y) {
    return y > x ? y : x;
  }
  template <class T>
  static T operand(int i) {
    return T(i * 7 % 101);
  }
};
struct Andb : Different {
  static constexpr const char* kName = "andb";
  template <class T>
  static T apply(T x, T y) {
    return T(x & y);
  }
  template <class T>
  static T start() {
    return T(-1);
  }
  template <class T>
  static T operand(int i) {
    return T(~(uint64_t(1) << i % kBits<T>));
  }
};
struct Orb : Different {
  static constexpr const char* kName = "orb";
  template <class T>
  static T apply(T x, T y) {
    return T(x | y);
  }
  template <class T>
  static T start() {
    return T(0);
  }
  template <class T>
  static T operand(int i) {
    return T(uint64_t(1) << i % kBits<T>);
  }
};
struct Andl : Different {
  static constexpr const char* kName = "andl";
  template <class T>
  static T apply(T x, T y) {
    return x != 0 && y != 0;
  }
  template <class T>
  static T start() {
    return T(2);
  }
  template <class T>
  static T operand(int i) {
    return T(i % 2 + 1);
  }
};
struct Orl : Different {
  static constexpr const char* kName = "orl";
  template <class T>
  static T apply(T x, T y) {
    return x != 0 || y != 0;
  }
  template <class T>
  static T start() {
    return T(0);
  }
  template <class T>
  static T operand(int i) {
    return T(i % 2 * 2);
  }
};

// x = y operation x. The operands make x go back and forth between two values.
template <class Kind>
struct Reversed : Same {
  static constexpr const char* kName = Kind::kName;
  template <class T>
  static bool defined(T x, T y) {
    return Kind::defined(y, x);
  }
  template <class T>
  static T apply(T x, T y) {
    return Kind::apply(y, x);
  }
  template <class T>
  static T start() {
    return T(1);
  }
  template <class T>
  static T operand(int) {
    if constexpr (std::is_same_v<Kind, Shr>)
      return T(5);  // 1, 2, 1
    else if constexpr (std::is_same_v<Kind, Shl>)
      return T(0);  // 0
    else
      return T(8);  // sub: 1, 7, 1; div: 1, 8, 1
  }
};

template <class T, class Kind>
Operation<T> operation_of() {
  return {Kind::kName,
          Kind::kSame,
          Kind::template start<T>,
          Kind::template operand<T>,
          Kind::template defined<T>,
          Kind::template apply<T>};
}
