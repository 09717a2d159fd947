// SPDX-License-Identifier: Apache-2.0
//
// The frames between a program and its workers, and this process's part in their job. Plain data.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

inline constexpr uint32_t kNodeProtocol = 4;  // of the frames below; both sides are of the same version, or stop

// What a frame asks for or answers. Questions and kWelcome have the worker's number of the device in their flags. `to`,
// `from`: addresses of the receiver; kForward: of the other worker and the receiver. An answer has the `operation` of
// what it answers.
enum class NodeFrame : uint16_t {
  // From the program, first: a = protocol, b = begin of the device's memory, c = device's number; words: the program's
  // identity, bytes of memory. 0 bytes: no device is started, the program asks who the worker is
  kHello = 1,
  // To the program: a = a clock reading (tell.hpp, now), b = the descriptor of the memory's file in the worker; words:
  // the identity of its program. If it has asked who the worker is, then the DeviceFacts of each device
  kWelcome,
  kWrite,   // a = to; bulk. kAnswers: the program is told, by `operation`
  kRead,    // a = from, b = bytes; answered by kData
  kData,    // bulk
  kLaunch,  // a = code_to_call, b = thread limit, c: offset of the place in the program's file; words: arguments;
            // kTimed
  kLoad,    // a, b: an image in the device's memory
  kUnload,  // a = handle
  kFind,    // a = handle; words: a name
  kLocate,  // a = module, b = offset, c = bytes, 0 for a function (image/program.hpp)
  // a = to, b = from, c = bytes; words: kForwardWords. The other worker answers, or this one if it can write there
  kForward,
  kDiscard,  // a, b: memory that nobody needs any more
  kFlush,    // answered when everything before has been done that needs no task
  kDone,     // a = result; b, c: begin and end of a kernel
  kEnd,      // the program ends
  kDoor,  // where `marline ps` reaches the sender: a = port, b, c = the secret that it wants; words: host. Unanswered
  kPool,  // a GPU's memory, which the program gives out: a = 0: where it begins, 1: how many bytes;
          // b, with a = 0: where it is to begin; 0: anywhere
  // a = handle, b, c: a function of the program's, its address there and its offset in its module; words: the module,
  // and the name of the image's pointer to its own such function. Answered with a Jump (image/jumps.hpp)
  kJump,
};

// The other worker's number; its device's number in the job; the descriptor of that one's memory's file there; the
// begin of this memory, or 0: `to` is not in that, or not on one node; the device's number in its worker.
inline constexpr uint16_t kForwardWords = 5;

// Of Frame::flags, beside kMayWait and kAwaited, which an answer takes over.
inline constexpr uint32_t kAnswers = 1, kTimed = 2;
inline constexpr int kDeviceShift = 8;
[[nodiscard]] inline uint32_t flags_of_device(int number) { return static_cast<uint32_t>(number) << kDeviceShift; }
[[nodiscard]] inline int device_in(uint32_t flags) { return static_cast<int>(flags >> kDeviceShift); }

// Kinds of frames from this one on are of another protocol, which uses the same wire (protocol_extension.hpp).
inline constexpr uint16_t kFirstGuest = 64;

// How this process takes part in a job with workers. Constant once it is made.
struct NodeJob {
  const WireKind* kind;
  Wire* wire;
  int number;  // 0: it runs the program
  int count;

  void send(int peer, const Frame& frame, const uint64_t* words = nullptr) const {
    kind->send(wire, peer, frame, words, nullptr, nullptr);
  }
};

}  // namespace marline::offload::device
