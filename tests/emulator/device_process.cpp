// SPDX-License-Identifier: Apache-2.0
// Starts a device's process and talks to it. The process is started as a program of its own, not as a fork, so that
// nothing of the program's memory is in it; its environment has no OpenMP settings of the program. The lock guards the
// control socket.
#include "device_process.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "settings.hpp"

extern char** environ;

namespace emulator {

std::string own_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<void*>(&own_folder), &info) == 0) {
    return ".";
  }
  const std::string path = info.dli_fname;
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

namespace {

bool belongs_to_the_host(const char* variable) {
  for (const char* prefix :
       {"OMP_", "KMP_", "GOMP_", "LIBOMP", "OMPTARGET_", "MARLINE_", "LD_PRELOAD=", "LD_LIBRARY_PATH="}) {
    if (std::strncmp(variable, prefix, std::strlen(prefix)) == 0) {
      return true;
    }
  }
  return false;
}

// The folder `device` holds what stands in for libomptarget there: images name it as needed, but have no use for it.
std::vector<std::string> device_environment(const std::string& folder) {
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; variable++) {
    if (!belongs_to_the_host(*variable)) {
      result.emplace_back(*variable);
    }
  }
  result.push_back("OMP_NUM_THREADS=" + std::to_string(settings().threads));
  std::string libomp = EMULATOR_LIBOMP;
  libomp.resize(libomp.rfind('/'));
  const char* search = getenv("LD_LIBRARY_PATH");
  result.push_back("LD_LIBRARY_PATH=" + folder + "/device:" + libomp + (search != nullptr ? ":" : "") +
                   (search != nullptr ? search : ""));
  return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& string : strings) {
    result.push_back(string.data());
  }
  result.push_back(nullptr);
  return result;
}

// Descriptors take their fixed numbers in two steps, so that no step overwrites one that is still needed.
class FixedFiles {
 public:
  FixedFiles() { posix_spawn_file_actions_init(&actions_); }
  ~FixedFiles() {
    posix_spawn_file_actions_destroy(&actions_);
    for (const int file : high_) {
      close(file);
    }
  }
  void add(int file, int number) {
    high_.push_back(fcntl(file, F_DUPFD_CLOEXEC, 256));
    posix_spawn_file_actions_adddup2(&actions_, high_.back(), number);
  }
  const posix_spawn_file_actions_t* actions() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
  std::vector<int> high_;
};

int spawn(const std::string& folder, std::vector<std::string> arguments, const FixedFiles& files) {
  std::vector<std::string> environment = device_environment(folder);
  pid_t child = 0;
  const int error = posix_spawn(&child, arguments[0].c_str(), files.actions(), nullptr, pointers(arguments).data(),
                                pointers(environment).data());
  if (error == 0) {
    // The child leaves the device to a process of its own and ends at once.
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  return error;
}

}  // namespace

bool DeviceProcess::start(std::uint32_t index, const std::vector<int>& memory_files, std::size_t shared_memory) {
  const std::lock_guard lock(mutex_);
  if (started()) {
    return true;
  }
  index_ = index;
  int control[2], launches[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, control) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, launches) != 0) {
    warn("cannot make the sockets of device %u (%s): raise `ulimit -n`", index, std::strerror(errno));
    return false;
  }
  int error = 0;
  const std::string folder = own_folder();
  {
    FixedFiles files;
    files.add(control[1], kControlSocket);
    files.add(launches[1], kLaunchSocket);
    for (std::size_t i = 0; i < memory_files.size(); i++) {
      files.add(memory_files[i], kMemoryFiles + static_cast<int>(i));
    }
    error = spawn(folder,
                  {folder + "/emulated_device", std::to_string(index), std::to_string(settings().devices),
                   std::to_string(settings().memory), std::to_string(shared_memory), std::to_string(settings().kernels),
                   EMULATOR_LIBOMP},
                  files);
  }
  close(control[1]);
  close(launches[1]);
  if (error != 0) {
    warn("cannot start %s/emulated_device (%s): it must lie beside libcuda.so", folder.c_str(), std::strerror(error));
    return false;
  }
  control_ = control[0];
  launches_ = launches[0];
  return true;
}

ControlAnswer DeviceProcess::ask(const ControlRequest& request, int file) {
  const std::lock_guard lock(mutex_);
  ControlRequest copy = request;
  iovec part = {&copy, sizeof copy};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (file >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    std::memcpy(CMSG_DATA(header), &file, sizeof file);
  }
  ControlAnswer answer{};
  ssize_t got = sendmsg(control_, &message, MSG_NOSIGNAL);
  while (got > 0 && (got = recv(control_, &answer, sizeof answer, 0)) < 0 && errno == EINTR) {
    got = 1;
  }
  if (got != sizeof answer) {
    answer.load_address = 0;
    std::strcpy(answer.error, "its process has ended");
  }
  return answer;
}

std::uint64_t DeviceProcess::load(std::span<const std::byte> image, const std::vector<ImageSegment>& segments) {
  const int file = memfd_create("marline-emulator-image", MFD_CLOEXEC);
  const std::uint16_t machine = EM_X86_64;  // undoes hide_x86_64.py
  if (file < 0 || write(file, image.data(), image.size()) != static_cast<ssize_t>(image.size()) ||
      pwrite(file, &machine, sizeof machine, offsetof(Elf64_Ehdr, e_machine)) != sizeof machine) {
    warn("cannot copy an image of %zu bytes for device %u: %s", image.size(), index_, std::strerror(errno));
    return 0;
  }
  ControlRequest request{};
  request.kind = ControlRequest::Kind::kLoad;
  for (const ImageSegment& segment : segments) {
    request.segments[request.segment_count++] = segment;
  }
  const ControlAnswer answer = ask(request, file);
  close(file);
  if (answer.load_address == 0) {
    warn("device %u cannot load the program's x86-64 image: %s", index_, answer.error);
  }
  return answer.load_address;
}

bool DeviceProcess::open_peer(std::uint32_t peer) {
  ControlRequest request{};
  request.kind = ControlRequest::Kind::kOpenPeer;
  request.peer = peer;
  return ask(request, -1).load_address != 0;
}

bool DeviceProcess::map(std::uint64_t address, std::uint64_t size, int file) {
  ControlRequest request{};
  request.kind = ControlRequest::Kind::kMap;
  request.address = address;
  request.size = size;
  return ask(request, file).load_address != 0;
}

void DeviceProcess::close_sockets() {
  if (started()) {
    close(control_);
    close(launches_);
  }
}

bool DeviceProcess::send_launch(std::uint32_t slot, std::uint64_t function,
                                std::span<const std::uint64_t> words) const {
  LaunchHeader header = {slot, static_cast<std::uint32_t>(words.size()), function};
  iovec parts[2] = {{&header, sizeof header}, {const_cast<std::uint64_t*>(words.data()), words.size_bytes()}};
  msghdr message = {};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  return sendmsg(launches_, &message, MSG_NOSIGNAL) > 0;
}

}  // namespace emulator
