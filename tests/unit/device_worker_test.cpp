// SPDX-License-Identifier: Apache-2.0
//
// A worker process gets frames that its program would not send. The test is process 0 of a job; the worker runs the
// same program file, on libmarline.
#include "wire_job.hpp"

#include "device/remote/job/frames.hpp"
#include "device/processor/window.hpp"

#include <chrono>
#include <cstring>
#include <random>

namespace marline::offload::wire::test {

using namespace device;

namespace {

constexpr const char* kWorker = "worker";  // its argument 0
using Random = std::mt19937_64;
constexpr uint64_t kMemory = 1 << 20, kBegin = kWindow, kEnd = kWindow + kMemory;

Frame frame_with(NodeFrame kind, uint64_t a = 0, uint64_t b = 0, uint64_t c = 0, uint16_t words = 0,
                 uint64_t bulk = 0) {
  Frame frame = frame_of(kind, a, b, c);
  frame.words = words;
  frame.bulk = bulk;
  return frame;
}

[[noreturn]] void become_worker(const TestJob& job, int errors) {
  char secret[40];
  std::snprintf(secret, sizeof secret, "%016lx%016lx", job.secret[0], job.secret[1]);
  dup2(errors, STDERR_FILENO);
  setenv("MARLINE_JOB", secret, 1);
  setenv("MARLINE_JOB_NUMBER", "1", 1);
  setenv("MARLINE_JOB_COUNT", "2", 1);
  setenv("MARLINE_JOB_ADDRESS", job.address.c_str(), 1);
  setenv("MARLINE_DEVICES", "nodes", 1);
  setenv("MARLINE_JOB_SERVE", "yes", 1);  // makes it a worker though it has no target regions
  setenv("OMP_NUM_THREADS", "1", 1);
  setenv("LD_PRELOAD", PRELOADED, 1);
  execl("/proc/self/exe", kWorker, nullptr);
  _exit(127);
}

// A job of this process and a worker.
class Session {
 public:
  Session() {
    job_.address += "-" + std::to_string(++count_);
    int errors[2];
    EXPECT_EQ(pipe(errors), 0);
    errors_ = errors[0];
    worker_ = start([&] { become_worker(job_, errors[1]); });
    close(errors[1]);
    end_.deliver = [this](int, const Frame& frame, const uint64_t*) {
      last_ = frame;
      is_answered_ = is_answered_ || frame.operation == kAsked;
    };
    end_.lost = [this](int, const char*) { is_gone_ = true; };
    end_.place = [this](int, const Frame& frame, const uint64_t*) { return read_.assign(frame.bulk, 0), read_.data(); };
    end_.join(job_.of(0, 2));
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { close(errors_); }

  void send(const Frame& frame) { end_.kind->send(end_.wire, 1, frame, words, bulk, &outgoing_); }
  // False: the worker has ended instead.
  bool ask(Frame frame) {
    is_answered_ = false;
    frame.operation = kAsked;
    send(frame);
    end_.run_until([&] { return is_gone_ || is_answered_; });
    return is_answered_;
  }
  // The device is started, with kMemory bytes.
  void begin() {
    words[1] = 0;
    ASSERT_TRUE(ask(frame_with(NodeFrame::kHello, kNodeProtocol, 0, 0, 2)));
    words[1] = kMemory;
    ASSERT_TRUE(ask(frame_with(NodeFrame::kHello, kNodeProtocol, kBegin, 0, 2)));
  }
  // Whether the worker still answers after all earlier frames: both a frame that is answered at once and a frame that
  // is a task.
  bool lives() { return ask(frame_with(NodeFrame::kFlush)) && ask(frame_with(NodeFrame::kLocate)); }
  const Frame& last() const { return last_; }

  // Ends the job if the worker still lives. Its exit status, and what it has said.
  int end(std::string& said) {
    if (!is_gone_) {
      send(frame_with(NodeFrame::kEnd));
      end_.leave();
    }
    int status = status_of(worker_);
    char text[4096];
    for (ssize_t got; (got = read(errors_, text, sizeof text)) > 0;) said.append(text, static_cast<size_t>(got));
    return status;
  }

  uint64_t words[kMostWords] = {};
  char bulk[8192] = {};

 private:
  static constexpr uint64_t kAsked = 0x5eed5eed;
  inline static int count_ = 0;
  TestJob job_;
  End end_;
  Outgoing outgoing_ = {[](Outgoing*) {}};
  pid_t worker_ = 0;
  int errors_ = -1;
  bool is_gone_ = false, is_answered_ = false;
  Frame last_ = {};
  std::string read_;
};

bool is_end_with_line(int status) { return status == EXIT_FAILURE || status == 128 + SIGABRT; }

struct Bad {
  Frame frame;
  const char* says;
  uint64_t words[5] = {};
};

Frame of_device(uint32_t device, Frame frame) {
  frame.flags = device << kDeviceShift;
  return frame;
}

TEST(WorkerTest, RefusesWhatTheProgramWouldNotSend) {
  constexpr uint64_t kHuge = UINT64_MAX;
  constexpr const char *kReads = "a copy reads where", *kWrites = "a copy writes where";
  constexpr const char* kForwards = "names a worker that is none";
  uint64_t code = reinterpret_cast<uint64_t>(&_exit);
  const Bad all[] = {
      {frame_with(NodeFrame::kHello, kNodeProtocol + 1, 0, 0, 2), "speaks version"},
      {frame_with(NodeFrame::kHello, kNodeProtocol), "is no first frame"},
      {frame_with(NodeFrame::kWrite, kEnd - 8, 0, 0, 0, 16), kWrites},
      {frame_with(NodeFrame::kWrite, kBegin - 8, 0, 0, 0, 16), kWrites},
      {frame_with(NodeFrame::kWrite, kHuge - 7, 0, 0, 0, 16), kWrites},
      {frame_with(NodeFrame::kWrite, code, 0, 0, 0, 8), kWrites},
      {frame_with(NodeFrame::kRead, kBegin, 0, 0, 0, 8), "has data"},
      {frame_with(NodeFrame::kRead, kEnd - 8, 16), kReads},
      {frame_with(NodeFrame::kRead, kBegin, kHuge), kReads},
      {frame_with(NodeFrame::kRead, code, 8), kReads},
      {frame_with(NodeFrame::kRead, 0, 8), kReads},
      {frame_with(NodeFrame::kForward, kBegin, kEnd, 8, 5), kReads},
      {frame_with(NodeFrame::kForward, kBegin, kBegin, kHuge, 5), kReads},
      {frame_with(NodeFrame::kForward, kBegin, kBegin, 8, 4), kForwards, {1}},
      {frame_with(NodeFrame::kForward, kBegin, kBegin, 8, 5), kForwards, {0}},
      {frame_with(NodeFrame::kForward, kBegin, kBegin, 8, 5), kForwards, {2}},
      {frame_with(NodeFrame::kForward, kBegin, kBegin, 8, 5), "is for a device that is none", {1, 0, 0, 0, 1}},
      {frame_with(NodeFrame::kForward, kEnd, kBegin, 8, 5), kWrites, {1}},
      {frame_with(NodeFrame::kDiscard, kBegin, kMemory + 1), "discards what is not the device's"},
      {frame_with(NodeFrame::kLaunch, code), "launches no target region"},
      {frame_with(NodeFrame::kLoad, kEnd - 8, 16), "loads what is not the device's"},
      {frame_with(NodeFrame::kLoad, kBegin, 4096), "an offload image cannot be loaded"},
      {frame_with(NodeFrame::kUnload, code), "names no image"},
      {frame_with(NodeFrame::kFind, kBegin, 0, 0, 1), "names no image"},
      {frame_with(NodeFrame::kJump, kBegin, code, 0, 2), "names no image"},
      {frame_with(NodeFrame::kInspectionPort, 1 << 16, 0, 0, 1), "tells no port"},
      {frame_with(NodeFrame::kPool), "is not understood"},
      {frame_with(NodeFrame::kDone), "is not understood"},
      {frame_with(static_cast<NodeFrame>(kFirstExtension - 1)), "is not understood"},
      {frame_with(static_cast<NodeFrame>(kFirstExtension)), "which this one does not understand"},
      {of_device(1, frame_with(NodeFrame::kFlush)), "is for a device that is none"},
      {of_device(0xffffff, frame_with(NodeFrame::kWrite, kBegin, 0, 0, 0, 8)), "is for a device that is none"},
  };
  constexpr int kMostAnswers = 1'000'000;
  for (const Bad& bad : all) {
    Session session;
    session.begin();
    std::copy(std::begin(bad.words), std::end(bad.words), session.words);
    session.send(bad.frame);
    int answers = 0;  // another of its threads may look at the frame, and answers go on meanwhile
    while (answers < kMostAnswers && session.lives()) ++answers;
    EXPECT_LT(answers, kMostAnswers) << "kind " << bad.frame.kind << ": still lives";
    std::string said;
    int status = session.end(said);
    EXPECT_TRUE(is_end_with_line(status)) << "kind " << bad.frame.kind << ": status " << status;
    EXPECT_NE(said.find(bad.says), std::string::npos) << "kind " << bad.frame.kind << ": " << said;
  }
}

TEST(WorkerTest, RefusesWhatComesBeforeTheDeviceIsStarted) {
  Session session;
  session.send(frame_with(NodeFrame::kFlush));
  EXPECT_FALSE(session.lives());
  std::string said;
  EXPECT_EQ(session.end(said), EXIT_FAILURE);
  EXPECT_NE(said.find("comes too early"), std::string::npos) << said;
}

TEST(WorkerTest, FindsNoPlaceThatIsNone) {
  Session session;
  session.begin();
  for (uint64_t offset : {uint64_t{0}, uint64_t{1} << 40, UINT64_MAX}) {
    ASSERT_TRUE(session.ask(frame_with(NodeFrame::kLocate, 0x1234, offset)));
    EXPECT_EQ(session.last().a, 0u);
    ASSERT_TRUE(session.ask(frame_with(NodeFrame::kLocate, 0x1234, offset, 8)));
    EXPECT_EQ(session.last().a, 0u);
  }
  std::string said;
  EXPECT_EQ(session.end(said), 0);
  EXPECT_EQ(said, "");
}

// Fields from places where mistakes are likely.
Frame random_frame(Random& random) {
  auto pick = [&] {
    const uint64_t from[] = {0, 1, 8, 4096, kMemory, kBegin, kBegin + 8, kEnd - 8, kEnd, UINT64_MAX, random()};
    return from[random() % std::size(from)];
  };
  auto kind = static_cast<NodeFrame>(2 + random() % 18);  // all all but kHello, by which the program places memory
  if (kind == NodeFrame::kEnd) kind = NodeFrame::kFlush;
  uint16_t words = random() % 8 == 0 ? 5 : 0;
  Frame frame = frame_with(kind, pick(), pick(), pick(), words, random() % 4 == 0 ? random() % 64 : 0);
  frame.flags = random() % 16 == 0 ? static_cast<uint32_t>(random()) : 0;
  frame.operation = random();
  return frame;
}

// A worker does what it is asked, or ends with a line; it never crashes. MARLINE_FUZZ_SECONDS makes the test longer.
TEST(WorkerTest, RandomFrames) {
  const char* text = std::getenv("MARLINE_FUZZ_SECONDS");
  double seconds = text != nullptr ? std::atof(text) : 1;
  auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  uint64_t seed = 1;
  for (; std::chrono::steady_clock::now() < end; ++seed) {
    Random random(seed);
    Session session;
    session.begin();
    for (int i = 0; i < 50; ++i) {
      session.words[0] = random() % 4;
      session.send(random_frame(random));
    }
    bool lives = session.lives();
    std::string said;
    int status = session.end(said);
    bool has_said = said.find("marline: fatal: ") != std::string::npos;
    bool is_right = lives ? status == 0 : has_said && is_end_with_line(status);
    ASSERT_TRUE(is_right) << "seed " << seed << ": status " << status << ", " << said;
  }
  std::printf("%lu workers\n", seed - 1);
}

}  // namespace
}  // namespace marline::offload::wire::test

int main(int count, char** arguments) {
  if (std::strcmp(arguments[0], marline::offload::wire::test::kWorker) == 0)
    return 98;  // the process did not become a worker
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
