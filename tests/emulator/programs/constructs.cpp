// SPDX-License-Identifier: Apache-2.0
//
// Constructs that reach a device in different ways: reductions over teams, mapped structures with pointers, mappers,
// addresses that the program handles itself, parts of arrays, templates and classes.
#include "emulated.h"

#include <vector>

namespace {

constexpr int kN = 1 << 12;

void reductions() {
  std::vector<double> values(kN, 0.5);
  double *data = values.data(), sum = 1;
  int largest = -1;
#pragma omp target teams distribute parallel for map(to : data[0 : kN]) reduction(+ : sum) reduction(max : largest)
  for (int i = 0; i < kN; i++) {
    sum += data[i];
    largest = i > largest ? i : largest;
  }
  CHECK_EQ(sum, 1 + kN / 2);
  CHECK_EQ(largest, kN - 1);
}

struct Buffer {
  int* data;
  int size;
};
#pragma omp declare mapper(Buffer b) map(b, b.data[0 : b.size])

// The device's structure points to the device's data; the host's pointers are as before. One variable per item: Clang
// 19 leaves the host's pointer in an array's elements.
void structures() {
  std::vector<int> first(kN, 1), second(kN, 2);
  Buffer one = {first.data(), kN}, two = {second.data(), kN};
#pragma omp target map(tofrom : one, two)
  for (int i = 0; i < kN; i++) {
    one.data[i] += i;
    two.data[i] += one.data[i];
  }
  CHECK(one.data == first.data() && two.data == second.data());
  CHECK_EQ(first[kN - 1], kN);
  CHECK_EQ(second[kN - 1], kN + 2);
}

void addresses() {
  std::vector<int> values(kN, 3);
  int* data = values.data();
#pragma omp target data map(tofrom : data[0 : kN])
  {
    int* on_device = nullptr;
#pragma omp target data use_device_ptr(data)
    on_device = data;
    CHECK(on_device != values.data());
    CHECK(omp_get_mapped_ptr(values.data(), 0) == on_device);
#pragma omp target is_device_ptr(on_device)
    for (int i = 0; i < kN; i++) on_device[i] *= 2;
  }
  CHECK_EQ(values[kN / 2], 6);
}

// A part of a matrix: a copy per row. Updates with strides are left out: Clang 19 copies wrong elements on any device.
void rectangles() {
  static int matrix[64][64];
#pragma omp target enter data map(to : matrix)
#pragma omp target teams distribute parallel for collapse(2)
  for (int i = 0; i < 64; i++)
    for (int j = 0; j < 64; j++) matrix[i][j] = 64 * i + j;
  size_t volume[2] = {4, 4}, offset[2] = {0, 0}, shape[2] = {64, 64};
  int host = omp_get_initial_device();
  int* device = static_cast<int*>(omp_get_mapped_ptr(matrix, 0));
  size_t from[2] = {1, 60};
  CHECK_EQ(omp_target_memcpy_rect(matrix, device, sizeof(int), 2, volume, offset, from, shape, shape, host, 0), 0);
  CHECK_EQ(matrix[0][0], 64 + 60);
#pragma omp target exit data map(delete : matrix)
}

template <typename T>
class Sum {
 public:
  explicit Sum(T start) : total_(start) {}
  void add(T value) { total_ += value; }
  T total() const { return total_; }

 private:
  T total_;
};

template <typename T>
T sum_on_device(int n) {
  Sum<T> sum(1);
  int counted = 0;
#pragma omp target map(tofrom : sum, counted)
  {
    for (int i = 0; i < n; i++) sum.add(static_cast<T>(i));
#pragma omp parallel for
    for (int i = 0; i < n; i++) {
#pragma omp atomic
      counted++;
    }
  }
  CHECK_EQ(counted, n);
  return sum.total();
}

// libomptarget frees its copy of a private array after the launch, while the device may still have to read it. Regions
// with nowait are left out: Clang 19 takes the array's values when the task runs.
void privates() {
  int large[256], sums[8] = {};
  for (int r = 0; r < 8; r++) {
    for (int& value : large) value = r;
#pragma omp target firstprivate(large, r) map(tofrom : sums[r : 1])
    for (int i = 0; i < 256; i++) sums[r] += large[i];
  }
  for (int r = 0; r < 8; r++) CHECK_EQ(sums[r], 256 * r);
}

}  // namespace

int main() {
  reductions();
  structures();
  addresses();
  rectangles();
  CHECK_EQ(sum_on_device<int>(100), 1 + 4950);
  CHECK_EQ(sum_on_device<double>(100), 1 + 4950);
  privates();
  CHECK_EQ(emulated(kKernels), 14);
  return 0;
}
