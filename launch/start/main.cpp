// SPDX-License-Identifier: Apache-2.0
//
// The `marline` command. What every start of a program needs is done here: `marline run`. All other commands, and what
// is not written in full, are those of the Python half, which takes this process's place.
#include <cerrno>
#include <fcntl.h>
#include <new>
#include <unistd.h>

#include "base/layout.hpp"
#include "base/report.hpp"
#include "process/scratch.hpp"
#include "process/stopping.hpp"
#include "start/facts.hpp"
#include "start/job.hpp"
#include "start/mpi.hpp"
#include "start/options.hpp"
#include "start/run.hpp"

namespace marline::launch {
namespace {

// The caller may have closed standard input, output or errors. Then the next file or socket that is opened, here or in
// the program, would get that number, and output would be written into it.
void open_what_is_closed() {
  for (int descriptor = 0; descriptor < 3; ++descriptor) {
    if (fcntl(descriptor, F_GETFD) < 0 && open("/dev/null", O_RDWR) != descriptor) _exit(kRefused);
  }
}

[[noreturn]] void become_python(const Layout& layout, const Words& words) {
  const std::string command = layout.python();
  Words all = {command};
  append(all, words);
  const std::vector<char*> arguments = pointers_to(all);
  restore_signals();
  execv(command.c_str(), arguments.data());
  throw Refusal{command + ": " + reason(errno) +
                "; it is the half of the command that is written in Python: install "
                "Python 3.6 or newer, or Marline again"};
}

// Whether the folder of a recording must be new or empty. Ranks and processes of a job share a folder: another of them
// may have written to it already.
bool must_claim(const Options& options) {
  const Environment environment = Environment::of_process();
  return !options.trace.empty() && !options.is_claimed && !options.print && !rank_in(environment) &&
         !is_member_of_job(environment);
}

int run_here(const Options& options, const Layout& layout) {
  if (!options.removes_check) {
    if (!options.then.empty()) end_with(options.then, -1);
    return run(options, layout);
  }
  Scratch folder(options.check);
  folder.leave_to_remover();
  if (!options.then.empty()) end_with(options.then, folder.descriptor());
  return run(options, layout);
}

// Returns a wait status.
int dispatch(const Layout& layout, Words words) {
  const std::string name = words.empty() ? "" : words[0];
  if (name == "facts" || name == "run" || name == "job") {
    const Words rest(words.begin() + 1, words.end());
    if (name == "facts") return answer(rest);
    // marline job COUNT WORDS...: of the Python half, for `marline devices`.
    if (name == "job" && rest.size() > 1 && decimal(rest[0])) {
      return run_job(Words(rest.begin() + 1, rest.end()), *decimal(rest[0]), Environment::of_process());
    }
    const auto options = parse(rest);
    if (name == "run" && options && !must_claim(*options)) return run_here(*options, layout);
    if (name == "run" && options) words[0] = "claim";
  }
  become_python(layout, words);
}

int main(int count, char** arguments) {
  open_what_is_closed();
  heed_signals();
  try {
    return dispatch(Layout::of_this_program(arguments[0]), Words(arguments + 1, arguments + count));
  } catch (const Refusal& refusal) {
    say(refusal.text);
    return wait_status_of_exit(refusal.status) | kUnstarted;
  } catch (const std::bad_alloc&) {
    say("no memory");
    return wait_status_of_exit(kRefused);
  }
}

}  // namespace
}  // namespace marline::launch

int main(int count, char** arguments) { marline::launch::end_as(marline::launch::main(count, arguments)); }
