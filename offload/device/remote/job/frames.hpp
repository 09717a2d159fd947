// SPDX-License-Identifier: Apache-2.0
//
// The frames between a program and its workers, and this process's part in their job. Plain data.
#pragma once

#include "wire/base/wire.hpp"

#include <cstdint>

namespace marline::offload::device {

using namespace wire;

// The version of the frames below. A worker stops if the program has another version.
inline constexpr uint32_t kNodeProtocol = 5;

// What a frame requests or answers. Requests and kAccepted have the worker's number of the device in their flags. `to`,
// `from`: addresses in the receiver; in a kForward, `to` is an address in the other worker, and `from` one in the
// receiver. An answer has the `operation` of its request.
enum class NodeFrame : uint16_t {
  // The first frame from the program: a = protocol, b = begin of the device's memory, c = device's number; words: the
  // program's identity, bytes of memory. With 0 bytes it starts no device: the program asks who the worker is
  kHello = 1,
  // The answer to kHello: a = a clock reading (base/now.hpp), b = the descriptor, in the worker, of the file of the
  // device's memory; words: the identity of the worker's program. If the program has asked who the worker is, the
  // DeviceFacts of each device follow
  kAccepted,
  kWrite,   // a = to; bulk. kAnswers: the program gets a kDone with `operation`
  kRead,    // a = from, b = bytes; answered by kData
  kData,    // an answer; bulk
  kLaunch,  // a = code_to_call, b = thread limit, c: offset of the place in the program's file; words: arguments;
            // kTimed: the answer must have times
  kLoad,    // a = address, b = bytes: an image in the device's memory
  kUnload,  // a = handle
  kFind,    // a = handle; words: a name
  kLocate,  // a = module, b = offset, c = bytes, 0 for a function (image/program.hpp)
  // a = to, b = from, c = bytes; words: kForwardWords. The other worker answers, or the receiver if it can write there
  // itself
  kForward,
  kDiscard,  // a = address, b = bytes: memory that is no longer needed
  kFlush,    // answered when all earlier frames have been handled that need no task
  kDone,     // an answer: a = result; b, c = begin and end of a kernel, with kTimed
  kEnd,      // the program ends
  // Where `marline ps` reaches the sender: a = port, b, c = the secret that the port wants; words: host. It has no
  // answer
  kInspectionPort,
  // About the block of a GPU's memory that the program allocates from. a = 0: allocates the block, at the address b (0:
  // anywhere), and answers where it begins; a = 1: answers how many bytes it has
  kPool,
  // a = handle, b = a function's address in the program, c = its offset in its module; words: the module, and the name
  // of the image's pointer to its own version of the function. The answer is a Jump (image/jumps.hpp)
  kJump,
};

[[nodiscard]] inline Frame frame_of(NodeFrame kind, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0) {
  Frame frame = {};
  frame.kind = static_cast<uint16_t>(kind);
  frame.a = a;
  frame.b = b;
  frame.c = c;
  return frame;
}

// The words of a kForward: the number of the other worker; the number of its device in the job; the descriptor, in that
// worker, of the file of the device's memory; the begin of this memory, or 0 if `to` is not in it or the two workers
// are not on one node; the device's number in its worker.
inline constexpr uint16_t kForwardWords = 5;

// Bits of Frame::flags, besides kMayWait and kAwaited. An answer copies kAwaited from its request.
inline constexpr uint32_t kAnswers = 1, kTimed = 2;
inline constexpr int kDeviceShift = 8;
[[nodiscard]] inline uint32_t flags_of_device(int number) { return static_cast<uint32_t>(number) << kDeviceShift; }
[[nodiscard]] inline int device_in(uint32_t flags) { return static_cast<int>(flags >> kDeviceShift); }

[[nodiscard]] inline Frame answer_to(const Frame& asked, NodeFrame kind, uint64_t result = 0) {
  Frame answer = frame_of(kind, result);
  answer.operation = asked.operation;
  answer.flags = asked.flags & kAwaited;
  return answer;
}

// Frames of this kind or a higher one belong to another protocol, which uses the same wire (protocol_extension.hpp).
inline constexpr uint16_t kFirstExtension = 64;

// How this process takes part in a job with workers. Constant once it is filled in.
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
