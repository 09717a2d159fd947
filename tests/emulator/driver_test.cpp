// SPDX-License-Identifier: Apache-2.0
// The emulated driver, called as a program would: order within and between streams, the model of time, fills, calls of
// host functions, limits, a hundred thousand operations in flight. Needs no compiler for GPUs, so it runs no kernels.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <thread>
#include <vector>

#include "cuda.hpp"

using namespace emulator;

extern "C" {
Result cuInit(unsigned);
Result cuDevicePrimaryCtxRetain(Device**, int);
Result cuCtxSetCurrent(Device*);
Result cuCtxSynchronize();
Result cuMemAlloc_v2(DevicePointer*, std::size_t);
Result cuMemFree_v2(DevicePointer);
Result cuMemAllocAsync(DevicePointer*, std::size_t, Stream*);
Result cuMemFreeAsync(DevicePointer, Stream*);
Result cuMemAddressReserve(DevicePointer*, std::size_t, std::size_t, DevicePointer, unsigned long long);
Result cuMemCreate(std::uint64_t*, std::size_t, const void*, unsigned long long);
Result cuMemMap(DevicePointer, std::size_t, std::size_t, std::uint64_t, unsigned long long);
Result cuMemUnmap(DevicePointer, std::size_t);
Result cuMemRelease(std::uint64_t);
Result cuMemAllocManaged(DevicePointer*, std::size_t, unsigned);
Result cuMemPrefetchAsync(DevicePointer, std::size_t, int, Stream*);
Result cuMemcpyAsync(DevicePointer, DevicePointer, std::size_t, Stream*);
Result cuPointerGetAttributes(unsigned, const int*, void**, DevicePointer);
Result cuMemGetInfo_v2(std::size_t*, std::size_t*);
Result cuMemcpyHtoD_v2(DevicePointer, const void*, std::size_t);
Result cuMemcpyDtoH_v2(void*, DevicePointer, std::size_t);
Result cuMemcpyHtoDAsync_v2(DevicePointer, const void*, std::size_t, Stream*);
Result cuMemcpyDtoHAsync_v2(void*, DevicePointer, std::size_t, Stream*);
Result cuMemcpyDtoDAsync_v2(DevicePointer, DevicePointer, std::size_t, Stream*);
Result cuMemsetD8Async(DevicePointer, unsigned char, std::size_t, Stream*);
Result cuMemsetD16Async(DevicePointer, unsigned short, std::size_t, Stream*);
Result cuMemsetD2D32Async(DevicePointer, std::size_t, unsigned, std::size_t, std::size_t, Stream*);
Result cuStreamCreate(Stream**, unsigned);
Result cuStreamDestroy_v2(Stream*);
Result cuStreamQuery(Stream*);
Result cuStreamSynchronize(Stream*);
Result cuStreamWaitEvent(Stream*, Event*, unsigned);
Result cuStreamAddCallback(Stream*, StreamCallback, void*, unsigned);
Result cuLaunchHostFunc(Stream*, HostFunction, void*);
Result cuEventCreate(Event**, unsigned);
Result cuEventDestroy_v2(Event*);
Result cuEventRecord(Event*, Stream*);
Result cuEventQuery(Event*);
Result cuEventSynchronize(Event*);
Result cuEventElapsedTime(float*, Event*, Event*);
unsigned long long marline_emulator_count(int);
}

namespace {

// The settings of this whole process: copies take 100 microseconds and 1 ms per 100 kB.
constexpr double kBandwidth = 100e6;
constexpr double kLatency = 100e-6;

class Driver : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("MARLINE_EMULATOR_DEVICES", "2", 1);
    setenv("MARLINE_EMULATOR_MEMORY", "64M", 1);
    setenv("MARLINE_EMULATOR_BANDWIDTH", "100000000", 1);
    setenv("MARLINE_EMULATOR_LATENCY", "100", 1);
  }
  void SetUp() override {
    ASSERT_EQ(cuInit(0), kSuccess);
    ASSERT_EQ(cuDevicePrimaryCtxRetain(&device_, 0), kSuccess);
    ASSERT_EQ(cuCtxSetCurrent(device_), kSuccess);
    for (Stream*& stream : streams_) {
      ASSERT_EQ(cuStreamCreate(&stream, 1), kSuccess);
    }
  }
  void TearDown() override {
    for (Stream* stream : streams_) {
      EXPECT_EQ(cuStreamDestroy_v2(stream), kSuccess);
    }
  }
  static DevicePointer allocate(std::size_t size) {
    DevicePointer address = 0;
    EXPECT_EQ(cuMemAlloc_v2(&address, size), kSuccess);
    return address;
  }

  Device* device_ = nullptr;
  Stream* streams_[4] = {};
};

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double processor_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

TEST_F(Driver, CopiesThereAndBack) {
  std::vector<int> there(5000), back(5000);
  std::iota(there.begin(), there.end(), 1);
  const std::size_t bytes = there.size() * sizeof(int);
  const DevicePointer first = allocate(bytes), second = allocate(bytes);
  EXPECT_EQ(cuMemcpyHtoDAsync_v2(first, there.data(), bytes, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemcpyDtoDAsync_v2(second, first, bytes, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(back.data(), second, bytes, streams_[0]), kSuccess);
  EXPECT_EQ(cuStreamQuery(streams_[0]), kNotReady);
  EXPECT_EQ(cuStreamSynchronize(streams_[0]), kSuccess);
  EXPECT_EQ(cuStreamQuery(streams_[0]), kSuccess);
  EXPECT_EQ(there, back);
  EXPECT_EQ(cuMemFree_v2(first), kSuccess);
  EXPECT_EQ(cuMemFree_v2(second), kSuccess);
  EXPECT_EQ(cuMemFree_v2(second), kInvalidValue);
}

TEST_F(Driver, SourceMayChangeAfterTheCall) {
  std::vector<int> source(1000, 1), back(1000);
  const std::size_t bytes = source.size() * sizeof(int);
  const DevicePointer memory = allocate(bytes);
  for (int i = 0; i < 5; i++) {
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(memory, source.data(), bytes, streams_[0]), kSuccess);
  }
  std::fill(source.begin(), source.end(), 2);
  EXPECT_EQ(cuMemcpyDtoHAsync_v2(back.data(), memory, bytes, streams_[0]), kSuccess);
  EXPECT_EQ(cuStreamSynchronize(streams_[0]), kSuccess);
  EXPECT_EQ(back, std::vector<int>(1000, 1));
  EXPECT_EQ(cuMemFree_v2(memory), kSuccess);
}

TEST_F(Driver, MemoryAtAnAddressOfTheProgramsChoice) {
  constexpr DevicePointer kWish = 0x2100'0000'0000;
  constexpr std::size_t kBytes = std::size_t{4} << 20;
  const struct {
    int type, handles, location, device;
    void* windows;
    unsigned char flags[8];
  } on_second = {1, 0, 1, 1, nullptr, {}};
  DevicePointer address = 0, other = 0;
  std::uint64_t block = 0;
  ASSERT_EQ(cuMemAddressReserve(&address, kBytes, 0, kWish, 0), kSuccess);
  EXPECT_EQ(address, kWish);
  ASSERT_EQ(cuMemAddressReserve(&other, kBytes, 0, kWish, 0), kSuccess);
  EXPECT_NE(other, kWish);
  EXPECT_EQ(cuMemCreate(&block, std::size_t{128} << 20, &on_second, 0), kOutOfMemory);
  ASSERT_EQ(cuMemCreate(&block, kBytes, &on_second, 0), kSuccess);
  ASSERT_EQ(cuMemMap(address, kBytes, 0, block, 0), kSuccess);
  int value = 42, back = 0;
  EXPECT_EQ(cuMemcpyHtoD_v2(address + kBytes - sizeof value, &value, sizeof value), kSuccess);
  EXPECT_EQ(cuMemcpyDtoH_v2(&back, address + kBytes - sizeof value, sizeof value), kSuccess);
  EXPECT_EQ(back, 42);
  EXPECT_EQ(cuMemcpyHtoD_v2(address + kBytes, &value, sizeof value), kInvalidValue);
  EXPECT_EQ(cuMemUnmap(address, kBytes), kNotSupported);
  EXPECT_EQ(cuMemRelease(block), kSuccess);  // the memory stays while it is mapped
  EXPECT_EQ(cuMemcpyDtoH_v2(&back, address + kBytes - sizeof value, sizeof value), kSuccess);
  EXPECT_EQ(cuMemRelease(12345), kInvalidValue);
}

TEST_F(Driver, BlocksThatAreNotMappedCanBeReleased) {
  constexpr std::size_t kBytes = std::size_t{48} << 20;  // of 64 MiB
  const struct {
    int type, handles, location, device;
    void* windows;
    unsigned char flags[8];
  } on_first = {1, 0, 1, 0, nullptr, {}};
  std::uint64_t block = 0, other = 0;
  ASSERT_EQ(cuMemCreate(&block, kBytes, &on_first, 0), kSuccess);
  EXPECT_EQ(cuMemCreate(&other, kBytes, &on_first, 0), kOutOfMemory);
  EXPECT_EQ(cuMemRelease(block), kSuccess);
  EXPECT_EQ(cuMemRelease(block), kInvalidValue);
  EXPECT_EQ(cuMemCreate(&other, kBytes, &on_first, 0), kSuccess);
  EXPECT_EQ(cuMemRelease(other), kSuccess);
}

TEST_F(Driver, CopiesByAddressesAlone) {
  std::vector<int> there(5000), back(5000);
  std::iota(there.begin(), there.end(), 1);
  const std::size_t bytes = there.size() * sizeof(int);
  const DevicePointer first = allocate(bytes), second = allocate(bytes);
  const auto host = [](std::vector<int>& data) { return reinterpret_cast<DevicePointer>(data.data()); };
  EXPECT_EQ(cuMemcpyAsync(first, host(there), bytes, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemcpyAsync(second, first, bytes, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemcpyAsync(host(back), second, bytes, streams_[0]), kSuccess);
  EXPECT_EQ(cuStreamSynchronize(streams_[0]), kSuccess);
  EXPECT_EQ(there, back);
  EXPECT_EQ(cuMemcpyAsync(host(back), host(there), bytes, streams_[0]), kInvalidValue);
  EXPECT_EQ(cuMemFree_v2(first), kSuccess);
  EXPECT_EQ(cuMemFree_v2(second), kSuccess);
}

TEST_F(Driver, TellsWhoseMemoryItIs) {
  constexpr int kAttributes[] = {2, 9, 8, 1};  // type, device, whether it is managed, context
  unsigned type = 7, managed = 7;
  int ordinal = 7;
  Device* context = nullptr;
  void* data[] = {&type, &ordinal, &managed, &context};
  const DevicePointer memory = allocate(512);
  EXPECT_EQ(cuPointerGetAttributes(4, kAttributes, data, memory), kSuccess);
  EXPECT_EQ(type, 2U);
  EXPECT_EQ(ordinal, 0);
  EXPECT_EQ(managed, 0U);
  EXPECT_EQ(context, device_);
  EXPECT_EQ(cuPointerGetAttributes(4, kAttributes, data, reinterpret_cast<DevicePointer>(&type)), kSuccess);
  EXPECT_EQ(type, 0U);
  EXPECT_EQ(context, nullptr);
  constexpr int kRange[] = {11, 12};  // the beginning and the bytes of the allocation
  DevicePointer begin = 7;
  std::size_t bytes = 7;
  void* range[] = {&begin, &bytes};
  EXPECT_EQ(cuPointerGetAttributes(2, kRange, range, memory + 500), kSuccess);
  EXPECT_EQ(begin, memory);
  EXPECT_EQ(bytes, 512U);
  EXPECT_EQ(cuPointerGetAttributes(2, kRange, range, reinterpret_cast<DevicePointer>(&type)), kSuccess);
  EXPECT_EQ(begin, 0U);
  EXPECT_EQ(bytes, 0U);
  EXPECT_EQ(cuMemPrefetchAsync(memory, 512, 0, streams_[0]), kInvalidValue);
  EXPECT_EQ(cuMemFree_v2(memory), kSuccess);
  DevicePointer shared = 0;
  ASSERT_EQ(cuMemAllocManaged(&shared, 512, 1), kSuccess);
  EXPECT_EQ(cuMemPrefetchAsync(shared, 512, 0, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemFree_v2(shared), kSuccess);
}

TEST_F(Driver, RefusesAddressesOutsideOfAllocations) {
  const DevicePointer memory = allocate(512);
  char data[1024] = {};
  EXPECT_EQ(cuMemcpyHtoD_v2(memory, data, 512), kSuccess);
  EXPECT_EQ(cuMemcpyHtoD_v2(memory, data, 513), kInvalidValue);
  EXPECT_EQ(cuMemcpyHtoD_v2(memory - 1, data, 1), kInvalidValue);
  EXPECT_EQ(cuMemcpyHtoD_v2(reinterpret_cast<DevicePointer>(data), data, 1), kInvalidValue);
  EXPECT_EQ(cuMemcpyDtoH_v2(reinterpret_cast<void*>(memory), memory, 1), kInvalidValue);
  EXPECT_EQ(cuMemFree_v2(memory), kSuccess);
}

TEST_F(Driver, FillsElementsAndRows) {
  const DevicePointer memory = allocate(64);
  EXPECT_EQ(cuMemsetD8Async(memory, 0, 64, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemsetD16Async(memory, 0x0102, 2, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemsetD2D32Async(memory + 16, 16, 7, 2, 3, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemsetD2D32Async(memory + 16, 16, 7, 2, 4, streams_[0]), kInvalidValue);
  EXPECT_EQ(cuStreamSynchronize(streams_[0]), kSuccess);
  std::uint32_t back[16];
  EXPECT_EQ(cuMemcpyDtoH_v2(back, memory, 64), kSuccess);
  const std::uint32_t expected[16] = {0x01020102, 0, 0, 0, 7, 7, 0, 0, 7, 7, 0, 0, 7, 7, 0, 0};
  EXPECT_TRUE(std::equal(back, back + 16, expected));
  EXPECT_EQ(cuMemFree_v2(memory), kSuccess);
}

// Holds all streams back until everything is submitted, so that the device's times do not depend on the host's.
class Gate {
 public:
  Gate(Stream* keeper, std::initializer_list<Stream*> held) : keeper_(keeper) {
    cuEventCreate(&first_, 0);
    cuEventCreate(&last_, 0);
    cuLaunchHostFunc(keeper_, [](void* go) { static_cast<std::atomic<bool>*>(go)->wait(false); }, &go_);
    cuEventRecord(first_, keeper_);
    for (Stream* stream : held) {
      cuStreamWaitEvent(stream, first_, 0);
    }
  }
  // Opens, waits for `streams`, and returns how many milliseconds they took on the device's clock.
  double open_and_wait(std::initializer_list<Stream*> streams) {
    for (Stream* stream : streams) {
      Event* end;
      cuEventCreate(&end, 0);
      cuEventRecord(end, stream);
      cuStreamWaitEvent(keeper_, end, 0);
      cuEventDestroy_v2(end);
    }
    cuEventRecord(last_, keeper_);
    EXPECT_EQ(cuEventQuery(last_), kNotReady);
    go_ = true;
    go_.notify_all();
    EXPECT_EQ(cuEventSynchronize(last_), kSuccess);
    float milliseconds = -1;
    EXPECT_EQ(cuEventElapsedTime(&milliseconds, first_, last_), kSuccess);
    cuEventDestroy_v2(first_);
    cuEventDestroy_v2(last_);
    return milliseconds;
  }

 private:
  Stream* keeper_;
  Event* first_ = nullptr;
  Event* last_ = nullptr;
  std::atomic<bool> go_{false};
};

// 1 ms per copy: one engine per direction, so both directions overlap and one direction does not.
TEST_F(Driver, CopyEnginesTakeTheirTime) {
  std::vector<char> host(100'000);
  const double copy = 1e3 * static_cast<double>(host.size()) / kBandwidth;
  const DevicePointer memory = allocate(host.size());
  Gate one_way(streams_[3], {streams_[0], streams_[1]});
  for (int i = 0; i < 20; i++) {
    cuMemcpyHtoDAsync_v2(memory, host.data(), host.size(), streams_[i % 2]);
  }
  EXPECT_NEAR(one_way.open_and_wait({streams_[0], streams_[1]}), 20 * copy + kLatency * 1e3, 0.01);
  Gate both_ways(streams_[3], {streams_[0], streams_[1]});
  for (int i = 0; i < 10; i++) {
    cuMemcpyHtoDAsync_v2(memory, host.data(), host.size(), streams_[0]);
    cuMemcpyDtoHAsync_v2(host.data(), memory, host.size(), streams_[1]);
  }
  EXPECT_NEAR(both_ways.open_and_wait({streams_[0], streams_[1]}), 10 * (copy + kLatency * 1e3), 0.01);
  EXPECT_EQ(cuMemFree_v2(memory), kSuccess);
}

// Late wake-ups of the engine do not add up, and it sleeps while it waits.
TEST_F(Driver, ClockDoesNotDriftAndEngineSleeps) {
  char byte = 0;
  const DevicePointer memory = allocate(1);
  const double start = seconds(), processor = processor_seconds();
  Gate gate(streams_[3], {streams_[0]});
  for (int i = 0; i < 2000; i++) {
    cuMemcpyHtoDAsync_v2(memory, &byte, 1, streams_[0]);
  }
  EXPECT_NEAR(gate.open_and_wait({streams_[0]}), 2000 * kLatency * 1e3, 0.1);
  EXPECT_GE(seconds() - start, 2000 * kLatency);
  const double used = processor_seconds() - processor;
  RecordProperty("processor_milliseconds", static_cast<int>(used * 1e3));
  EXPECT_LT(used, 0.75 * 2000 * kLatency);
  EXPECT_EQ(cuMemFree_v2(memory), kSuccess);
}

TEST_F(Driver, EventsOrderStreams) {
  static std::atomic<int> step;
  step = 0;
  Event* event;
  cuEventCreate(&event, 0);
  EXPECT_EQ(cuStreamWaitEvent(streams_[1], event, 0), kSuccess);  // never recorded: no wait
  EXPECT_EQ(cuStreamSynchronize(streams_[1]), kSuccess);
  char byte = 0;
  const DevicePointer memory = allocate(1);
  for (int i = 0; i < 10; i++) {
    cuMemcpyHtoDAsync_v2(memory, &byte, 1, streams_[0]);
  }
  cuLaunchHostFunc(streams_[0], [](void*) { step.store(1); }, nullptr);
  cuEventRecord(event, streams_[0]);
  cuStreamWaitEvent(streams_[1], event, 0);
  cuStreamWaitEvent(streams_[2], event, 0);
  const auto callback = [](Stream*, Result status, void* seen) {
    *static_cast<int*>(seen) = status == kSuccess ? step.load() : -1;
  };
  int seen[2] = {-1, -1};
  cuStreamAddCallback(streams_[1], callback, &seen[0], 0);
  cuStreamAddCallback(streams_[2], callback, &seen[1], 0);
  cuEventDestroy_v2(event);  // the streams keep what they need of it
  cuCtxSynchronize();
  EXPECT_EQ(seen[0], 1);
  EXPECT_EQ(seen[1], 1);
  EXPECT_EQ(cuMemFree_v2(memory), kSuccess);
}

TEST_F(Driver, MemoryIsLimitedAndComesBack) {
  std::size_t before = 0, total = 0, after = 0;
  EXPECT_EQ(cuMemGetInfo_v2(&before, &total), kSuccess);
  EXPECT_EQ(total, std::size_t{64} << 20);
  DevicePointer large = 0, more = 0;
  EXPECT_EQ(cuMemAllocAsync(&large, std::size_t{40} << 20, streams_[0]), kSuccess);
  EXPECT_EQ(cuMemAlloc_v2(&more, std::size_t{40} << 20), kOutOfMemory);
  EXPECT_EQ(cuMemFreeAsync(large, streams_[0]), kSuccess);
  EXPECT_EQ(cuStreamSynchronize(streams_[0]), kSuccess);
  EXPECT_EQ(cuMemAlloc_v2(&more, std::size_t{40} << 20), kSuccess);
  EXPECT_EQ(cuMemFree_v2(more), kSuccess);
  EXPECT_EQ(cuMemGetInfo_v2(&after, &total), kSuccess);
  EXPECT_EQ(before, after);
}

std::size_t resident_bytes() {
  std::size_t size = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  EXPECT_EQ(std::fscanf(file, "%zu %zu", &size, &resident), 2);
  std::fclose(file);
  return resident * 4096;
}

// The first operation waits until all are submitted.
// Benchmarks take the engine's CPU time off the program's: so it is a part of it, and grows with what the engine does.
TEST_F(Driver, TheEnginesTimeIsAPartOfTheProgramsTime) {
  constexpr int kEngineTime = 8;  // of the emulator's enumeration Count
  timespec program = {};
  const unsigned long long before = marline_emulator_count(kEngineTime);
  for (int i = 0; i < 1000; i++) {
    cuLaunchHostFunc(streams_[0], [](void*) {}, nullptr);
    EXPECT_EQ(cuStreamSynchronize(streams_[0]), kSuccess);
  }
  const unsigned long long after = marline_emulator_count(kEngineTime);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &program);
  EXPECT_GT(after, before + 100'000);  // a hundred nanoseconds for each is far too little
  EXPECT_LT(after, static_cast<unsigned long long>(program.tv_sec) * 1'000'000'000 +
                       static_cast<unsigned long long>(program.tv_nsec));
}

TEST_F(Driver, HundredThousandOperationsInFlight) {
  constexpr int kStreams = 100, kOperations = 100'000;
  constexpr int kMostOperations = 6;  // of the emulator's enumeration Count
  static std::atomic<bool> go;
  go = false;
  std::vector<Stream*> streams(kStreams);
  for (Stream*& stream : streams) {
    cuStreamCreate(&stream, 1);
  }
  std::vector<int> counts(kOperations, 0);
  Event* event;
  cuEventCreate(&event, 0);
  cuLaunchHostFunc(streams_[0], [](void*) { go.wait(false); }, nullptr);
  cuEventRecord(event, streams_[0]);
  for (Stream* stream : streams) {
    cuStreamWaitEvent(stream, event, 0);
  }
  const std::size_t before = resident_bytes();
  for (int i = 0; i < kOperations; i++) {
    const auto count = [](void* one) { ++*static_cast<int*>(one); };
    cuLaunchHostFunc(streams[static_cast<std::size_t>(i % kStreams)], count, &counts[static_cast<std::size_t>(i)]);
  }
  EXPECT_GT(marline_emulator_count(kMostOperations), static_cast<unsigned long long>(kOperations));
  const std::size_t bytes = (resident_bytes() - before) / kOperations;
  RecordProperty("bytes_per_operation", static_cast<int>(bytes));
  EXPECT_LT(bytes, 250U);
  go = true;
  go.notify_all();
  EXPECT_EQ(cuCtxSynchronize(), kSuccess);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), kOperations);
  for (Stream* stream : streams) {
    EXPECT_EQ(cuStreamDestroy_v2(stream), kSuccess);
  }
  cuEventDestroy_v2(event);
}

TEST_F(Driver, ForkHasNoDevices) {
  EXPECT_EXIT(
      { std::_Exit(cuInit(0) == kNotInitialized && cuCtxSynchronize() == kNotInitialized ? 0 : 1); },
      testing::ExitedWithCode(0), "");
}

TEST_F(Driver, ManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; t++) {
    threads.emplace_back([this] {
      cuCtxSetCurrent(device_);
      Stream* stream;
      cuStreamCreate(&stream, 1);
      for (int i = 0; i < 50; i++) {
        int value = i, back = -1;
        DevicePointer memory = allocate(sizeof value);
        cuMemcpyHtoDAsync_v2(memory, &value, sizeof value, stream);
        cuMemcpyDtoHAsync_v2(&back, memory, sizeof back, stream);
        EXPECT_EQ(cuStreamSynchronize(stream), kSuccess);
        EXPECT_EQ(back, i);
        cuMemFreeAsync(memory, stream);
      }
      EXPECT_EQ(cuStreamDestroy_v2(stream), kSuccess);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
