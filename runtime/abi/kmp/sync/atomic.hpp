// SPDX-License-Identifier: Apache-2.0
//
// The parts of the entry points of atomic.def: operations, and the forms in which Intel's compilers before 2021 call
// them. generate_atomic.py writes the entry points. Any thread. Arguments and results are facts of the interface: LLVM,
// openmp/runtime/src/kmp_atomic.h.
#pragma once

#include "abi/kmp/types.hpp"
#include "construct/sync/atomic.hpp"

namespace marline::kmp {

// A name holds the size of a part: cmplx4 has eight bytes.
using Complex4 = __complex__ float;
using Complex8 = __complex__ double;
using Complex10 = __complex__ long double;

// Integers wrap around: only the compiler of the program may treat an overflow as undefined.
template <class T>
constexpr uint64_t modular(T value) {
  return static_cast<uint64_t>(value);
}

struct Add {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(modular(x) + modular(y));
    else
      return x + y;
  }
};
struct Sub {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(modular(x) - modular(y));
    else
      return x - y;
  }
};
struct Mul {
  template <class T>
  static T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(modular(x) * modular(y));
    else
      return x * y;
  }
};
struct Div {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x / y);
  }
};
struct Min {
  template <class T>
  static T apply(T x, T y) {
    return y < x ? y : x;
  }
};
struct Max {
  template <class T>
  static T apply(T x, T y) {
    return x < y ? y : x;
  }
};
struct Shl {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x << y);
  }
};
struct Shr {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x >> y);
  }
};
struct Andb {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x & y);
  }
};
struct Orb {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x | y);
  }
};
struct Xor {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};
struct Andl {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x && y);
  }
};
struct Orl {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(x || y);
  }
};
// Fortran's .EQV. and .NEQV., applied to each bit.
struct Eqv {
  template <class T>
  static T apply(T x, T y) {
    return static_cast<T>(~(x ^ y));
  }
};
struct Neqv : Xor {};

// _rev: x = y operation x.
template <class Operation>
struct Reversed {
  template <class T>
  static T apply(T x, T y) {
    return Operation::apply(y, x);
  }
};

// x = x operation y, in y's type if that is the wider one. Returns x before.
template <class Operation, class T, class Y>
[[gnu::always_inline]] inline T update(T* x, Y y) {
  constexpr bool kWraps = std::is_integral_v<T> && std::is_same_v<T, Y>;
  if constexpr (kWraps && std::is_same_v<Operation, Add>) {
    return atomic_add(x, y);
  } else if constexpr (kWraps && std::is_same_v<Operation, Sub>) {
    return atomic_add(x, Sub::apply(T{0}, y));
  } else {
    return atomic_update(x, [y](T before) { return static_cast<T>(Operation::apply(static_cast<Y>(before), y)); });
  }
}

// _cpt: returns x, as it is after the update or before it.
template <class Operation, class T>
[[gnu::always_inline]] inline T capture(T* x, T y, int32_t after) {
  T before = update<Operation>(x, y);
  return after != 0 ? Operation::apply(before, y) : before;
}

// _cas: whether x was `expected`, and is `desired` now. Captures x if it was not.
template <class T>
[[gnu::always_inline]] inline bool compare_bool(T* x, T expected, T desired, T* captured = nullptr) {
  T before = atomic_compare_exchange(x, expected, desired);
  if (before != expected && captured != nullptr) *captured = before;
  return before == expected;
}

// Returns x as it was, captures x as it is.
template <class T>
[[gnu::always_inline]] inline T compare_value(T* x, T expected, T desired, T* captured = nullptr) {
  T before = atomic_compare_exchange(x, expected, desired);
  if (captured != nullptr) *captured = before == expected ? desired : before;
  return before;
}

// *result = *x operation *y, for operations without an entry point of their own.
using Combine = void(void* result, void* x, void* y);

template <class Word>
[[gnu::always_inline]] inline void combine_word(void* x, void* y, Combine* combine) {
  atomic_update(static_cast<Word*>(x), [y, combine](Word before) {
    Word after;
    combine(&after, &before, y);
    return after;
  });
}

[[gnu::always_inline]] inline void combine_locked(void* x, void* y, Combine* combine) {
  AtomicSection section(true, __builtin_return_address(0));
  combine(x, x, y);
}

}  // namespace marline::kmp
