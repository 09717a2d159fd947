/* SPDX-License-Identifier: Apache-2.0
 *
 * Regions with names of thousands of characters, as in templates.
 *
 * Covers: target
 */
#include "../device.h"

template <class First, class Second>
struct Pair {};
template <int kDepth>
struct Nested {
  using Type = Pair<typename Nested<kDepth - 1>::Type, Pair<int, Nested<kDepth>>>;
};
template <>
struct Nested<0> {
  using Type = int;
};

/* The compiler writes the argument out in the name. */
template <class Type>
static int add_one(int number) {
#pragma omp target map(tofrom : number)
  number += 1;
  return number;
}

int main() {
  CHECK_EQ(add_one<Nested<20>::Type>(1), 2);
  CHECK_EQ(add_one<Nested<90>::Type>(2), 3);
  return 0;
}
