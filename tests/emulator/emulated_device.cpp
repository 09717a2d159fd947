// SPDX-License-Identifier: Apache-2.0
// The process of one emulated device. It has the device's memory at the device's addresses and runs kernels: functions
// of the x86-64 image that the driver sends. A kernel that touches an address which is not the device's ends the
// process, after a message with the address.
//
// The first thread answers the control socket and ends the process when the driver's process is gone; KERNELS more
// threads run kernels. The process detaches itself from its parent, so that a program which waits for its children
// never meets it. It stays in the program's session: Linux schedules each session as a group (sched_autogroup), and a
// session of two or three short-running threads starved for seconds beside a session with threads that spin with
// sched_yield (seen on Linux 6.18).
//
//     emulated_device INDEX DEVICES MEMORY SHARED_MEMORY KERNELS LIBOMP
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "memory.hpp"
#include "protocol.hpp"

using namespace emulator;

namespace {

struct Arguments {
  std::uint32_t index, devices;
  std::size_t memory, shared_memory;
  std::uint32_t kernels;
  const char* libomp;
};
Arguments arguments;  // written by main before any other thread starts

constexpr std::uint32_t kNoSlot = ~std::uint32_t{0};
thread_local std::uint32_t current_slot = kNoSlot;  // the kernel that this thread runs; read by its signal handler

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "marline emulator: device %u: %s: %s\n", arguments.index, what, std::strerror(errno));
  _exit(1);
}

void map_memory(DevicePointer base, std::size_t size, int file) {
  void* wanted = reinterpret_cast<void*>(base);
  if (mmap(wanted, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED_NOREPLACE | MAP_NORESERVE, file, 0) != wanted &&
      errno != EEXIST) {
    stop("cannot map its memory");
  }
}

// A kernel's end by a signal: the driver learns of it, then the device is gone. Only async-signal-safe calls.
void on_fault(int signal, siginfo_t* info, void*) {
  LaunchAnswer answer{};
  answer.end = signal == SIGSEGV || signal == SIGBUS ? LaunchAnswer::End::kIllegalAddress : LaunchAnswer::End::kFailed;
  answer.slot = current_slot;
  answer.address = reinterpret_cast<std::uint64_t>(info->si_addr);
  (void)!write(kLaunchSocket, &answer, sizeof answer);
  _exit(1);
}

void catch_faults() {
  struct sigaction action = {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigaction(signal, &action, nullptr);
  }
}

// The x86-64 calling convention puts words from the seventh on the stack in order, and that is also how a large
// structure is passed by value: one structure for all further words stands for any number of them.
template <std::size_t N>
struct Words {
  std::uint64_t word[N];
};

template <std::size_t N>
void call_with(std::uint64_t function, const std::uint64_t* w) {
  Words<N> rest;
  std::memcpy(&rest, w + 6, sizeof rest);
  using Kernel =
      void (*)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t, Words<N>);
  reinterpret_cast<Kernel>(function)(w[0], w[1], w[2], w[3], w[4], w[5], rest);
}

void call(std::uint64_t function, const std::uint64_t* words, std::size_t count) {
  constexpr std::size_t kFew = 10;
  if (count <= 6 + kFew) {
    call_with<kFew>(function, words);
  } else {
    call_with<kMaxWords - 6>(function, words);
  }
}

void run_kernels() {
  std::vector<std::byte> signal_stack(std::size_t{64} << 10);
  const stack_t stack = {signal_stack.data(), 0, signal_stack.size()};
  sigaltstack(&stack, nullptr);
  struct {
    LaunchHeader header;
    std::uint64_t words[kMaxWords];
  } message;
  for (;;) {
    const ssize_t got = recv(kLaunchSocket, &message, sizeof message, 0);
    if (got <= 0) {
      if (got < 0 && errno == EINTR) {
        continue;
      }
      _exit(0);  // the driver's process has ended
    }
    current_slot = message.header.slot;
    std::fill(message.words + message.header.word_count, message.words + kMaxWords, 0);
    const auto start = std::chrono::steady_clock::now();
    call(message.header.function, message.words, message.header.word_count);
    LaunchAnswer answer{};
    answer.slot = current_slot;
    answer.nanoseconds = (std::chrono::steady_clock::now() - start).count();
    current_slot = kNoSlot;
    if (send(kLaunchSocket, &answer, sizeof answer, MSG_NOSIGNAL) < 0) {
      _exit(0);
    }
  }
}

// Puts device memory in the place of the image's data, with the same content: a global then has one value at two
// addresses, the image's own and the device's.
void move_segment(std::byte* image, const ImageSegment& segment) {
  std::byte* place = image + segment.image_offset;
  std::memcpy(reinterpret_cast<void*>(segment.address), place, segment.size);
  const auto offset = static_cast<off_t>(segment.address - kDeviceBase - arguments.index * kDeviceStride);
  if (mmap(place, segment.size, segment.protection, MAP_SHARED | MAP_FIXED,
           kMemoryFiles + 1 + static_cast<int>(arguments.index), offset) != place) {
    stop("cannot move the program's global variables to its memory");
  }
}

// The file stays open: the loader tells files by their name, and a second image must not get the name of the first.
// Lazy: the program's own libraries, which the image may need, name functions of libomptarget that nothing calls here.
ControlAnswer load(const ControlRequest& request, int file) {
  ControlAnswer answer{};
  const std::string path = "/proc/self/fd/" + std::to_string(file);
  void* image = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
  link_map* map = nullptr;
  if (image == nullptr || dlinfo(image, RTLD_DI_LINKMAP, &map) != 0) {
    std::snprintf(answer.error, sizeof answer.error, "%s", dlerror());
    return answer;
  }
  answer.load_address = map->l_addr;
  for (std::uint32_t i = 0; i < request.segment_count; i++) {
    move_segment(reinterpret_cast<std::byte*>(map->l_addr), request.segments[i]);
  }
  return answer;
}

ControlAnswer answer_to(const ControlRequest& request, int file) {
  if (request.kind == ControlRequest::Kind::kLoad) {
    return load(request, file);
  }
  if (request.kind == ControlRequest::Kind::kMap) {
    map_memory(request.address, request.size, file);
    close(file);
  } else {
    map_memory(kDeviceBase + request.peer * kDeviceStride, arguments.memory,
               kMemoryFiles + 1 + static_cast<int>(request.peer));
  }
  ControlAnswer answer{};
  answer.load_address = 1;
  return answer;
}

// Takes a request and the file that may come with it. False: the driver's process has ended.
bool receive(ControlRequest& request, int& file) {
  iovec part = {&request, sizeof request};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (recvmsg(kControlSocket, &message, MSG_CMSG_CLOEXEC) != sizeof request) {
    return false;
  }
  file = -1;
  if (const cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&file, CMSG_DATA(header), sizeof file);
  }
  return true;
}

void serve() {
  ControlRequest request;
  int file = -1;
  while (receive(request, file)) {
    const ControlAnswer answer = answer_to(request, file);
    if (send(kControlSocket, &answer, sizeof answer, MSG_NOSIGNAL) < 0) {
      return;
    }
  }
}

}  // namespace

// Kernels ask the runtime for their device: LLVM's would answer as on the host.
extern "C" __attribute__((visibility("default"))) int omp_get_device_num() { return static_cast<int>(arguments.index); }

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr, "emulated_device: %d arguments instead of 6: the emulated CUDA driver starts this program\n",
                 argc - 1);
    return 2;
  }
  if (fork() != 0) {
    _exit(0);
  }
  setpgid(0, 0);  // the terminal's interrupts are for the program; not setsid (see above)
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  arguments = {static_cast<std::uint32_t>(number(1)),
               static_cast<std::uint32_t>(number(2)),
               number(3),
               number(4),
               static_cast<std::uint32_t>(number(5)),
               argv[6]};
  map_memory(kSharedBase, arguments.shared_memory, kMemoryFiles);
  map_memory(kDeviceBase + arguments.index * kDeviceStride, arguments.memory,
             kMemoryFiles + 1 + static_cast<int>(arguments.index));
  if (dlopen(arguments.libomp, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    std::fprintf(stderr, "marline emulator: cannot load the device's OpenMP runtime '%s': %s\n", arguments.libomp,
                 dlerror());
    _exit(1);
  }
  catch_faults();
  for (std::uint32_t i = 0; i < arguments.kernels; i++) {
    std::thread(run_kernels).detach();
  }
  serve();
  _exit(0);
}
