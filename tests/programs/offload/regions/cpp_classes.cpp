/* SPDX-License-Identifier: Apache-2.0
 *
 * C++ objects on a device: `this` and its members, references, members of references, templates, base classes and what
 * constructors and destructors map and give back.
 *
 * Covers: target(map), target enter data(map:to/alloc), target exit data(map:delete),
 *  target update(to, from)
 */
#include "../device.h"

#include <vector>

namespace {

/* Its memory lives on the device as long as the object does. */
template <typename T>
class Buffer {
 public:
  explicit Buffer(int n) : n_(n), data_(new T[n]) {
#pragma omp target enter data map(to : this[0 : 1]) map(alloc : data_[0 : n_])
  }
  ~Buffer() {
#pragma omp target exit data map(delete : data_[0 : n_]) map(delete : this[0 : 1])
    delete[] data_;
  }
  void fill(T first) {
#pragma omp target
    for (int i = 0; i < n_; i++) data_[i] = first + i;
  }
  void fetch() {
#pragma omp target update from(data_[0 : n_])
  }
  T sum() {
    T result = 0;
#pragma omp target map(tofrom : result)
    for (int i = 0; i < n_; i++) result += data_[i];
    return result;
  }
  T& operator[](int i) { return data_[i]; }
  const T* data() const { return data_; }

 private:
  int n_;
  T* data_;
};

void buffers() {
  const void* where = nullptr;
  {
    Buffer<int> ints(20);
    Buffer<double> reals(30);
    where = ints.data();
    ints.fill(5);
    reals.fill(0.5);
    CHECK_EQ(ints.sum(), 20 * 5 + 190);
    CHECK_NEAR(reals.sum(), 30 * 0.5 + 435, 0);
    ints.fetch();
    CHECK_EQ(ints[19], 24);
    CHECK_PRESENT(where, 1);
  }
  CHECK_PRESENT(where, 0);
}

struct Base {
  int base = 1;
};

struct Derived : Base {
  int own = 2;
  int array[10] = {};
  int untouched = 3;
  int* pointer = nullptr;

  void members() {
#pragma omp target map(tofrom : own, array[2 : 3])
    {
      own += 10;
      array[3] = own;
    }
  }
  void whole() {
#pragma omp target map(tofrom : this[0 : 1])
    {
      base += own;
      untouched++;
    }
  }
  void implicit() {
#pragma omp target
    own++;
  }
  void behind(int n) {
#pragma omp target map(tofrom : pointer[0 : n])
    for (int i = 0; i < n; i++) pointer[i] += i;
  }
};

void members() {
  Derived d;
  int data[5] = {10, 10, 10, 10, 10};
  d.pointer = data;
  d.members();
  CHECK_EQ(d.own, 12);
  CHECK_EQ(d.array[3], 12);
  CHECK_EQ(d.untouched, 3);
  d.whole();
  CHECK_EQ(d.base, 13);
  CHECK_EQ(d.untouched, 4);
  CHECK(d.pointer == data);
  d.implicit();
  CHECK_EQ(d.own, 13);
  d.behind(5);
  CHECK_EQ(data[4], 14);
  CHECK(d.pointer == data);
}

/* A reference is what it refers to; what is mapped by a reference is present by its name. */
void references() {
  int x = 1, array[10] = {}, seen = 0;
  int &rx = x, (&rarray)[10] = array;
  int *p = array, *&rp = p;
#pragma omp target map(tofrom : rx, rarray)
  {
    rx++;
    rarray[3] = rx;
  }
  CHECK_EQ(x, 2);
  CHECK_EQ(array[3], 2);
#pragma omp target enter data map(to : rx, rarray)
  CHECK_PRESENT(&x, 1);
#pragma omp target map(tofrom : x, array) map(from : seen)
  seen = x + array[3];
  CHECK_EQ(seen, 4);
#pragma omp target exit data map(delete : x, array)
  CHECK_PRESENT(&x, 0);
#pragma omp target map(tofrom : rp[2 : 3])
  rp[4] = 7;
  CHECK_EQ(array[4], 7);
  Derived d;
  Derived& rd = d;
#pragma omp target map(tofrom : rd.own, rd.array[1 : 2])
  {
    rd.own = 5;
    rd.array[2] = 6;
  }
  CHECK_EQ(d.own, 5);
  CHECK_EQ(d.array[2], 6);
#pragma omp target firstprivate(rx) map(from : seen)
  seen = rx++;
  CHECK_EQ(seen, 2);
  CHECK_EQ(x, 2);
}

struct Holder {
  int& reference;
  int value;
};

void reference_members() {
  int x = 5;
  Holder holder{x, 1};
#pragma omp target map(tofrom : holder.reference, holder.value)
  {
    holder.reference++;
    holder.value += holder.reference;
  }
  CHECK_EQ(x, 6);
  CHECK_EQ(holder.value, 7);
  CHECK(&holder.reference == &x);
}

template <typename T, int N>
T apply(const T* in, T factor) {
  T out[N] = {}, total = 0;
#pragma omp target teams distribute parallel for map(to : in[0 : N]) map(from : out)
  for (int i = 0; i < N; i++) out[i] = in[i] * factor;
  for (int i = 0; i < N; i++) total += out[i];
  return total;
}

void templates() {
  std::vector<int> ints(10, 3);
  std::vector<float> floats(7, 0.5F);
  CHECK_EQ((apply<int, 10>(ints.data(), 2)), 60);
  CHECK_NEAR((apply<float, 7>(floats.data(), 4.0F)), 14, 0);
}

}  // namespace

int main() {
  buffers();
  members();
  references();
  reference_members();
  templates();
  return 0;
}
