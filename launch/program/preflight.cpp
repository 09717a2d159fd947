// SPDX-License-Identifier: Apache-2.0
//
// The order of the checks is the order in which a start would fail: no such file, no interpreter, another machine,
// privileges, static linking, missing libraries, a second runtime.
#include "program/preflight.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.hpp"
#include "base/report.hpp"
#include "program/elf.hpp"

namespace marline::launch {
namespace {

constexpr int kShebangDepth = 4;       // a script's interpreter may be a script; the kernel follows as many
constexpr size_t kShebangBytes = 256;  // what the kernel reads of a script's first line
constexpr const char* kRelink = "link it with -fopenmp against the shared runtime (no -static, libgomp.a or libomp.a)";
constexpr std::string_view kRuntimeNames[] = {"libgomp", "libomp", "libiomp5", "libmarline"};
// The SONAMEs that an MPI program names, by the ABIs of pmpi/abi. (Debian gives MPICH's library another name.)
constexpr std::pair<std::string_view, const char*> kMpiSonames[] = {{"libmpi.so.40", "openmpi"},
                                                                    {"libmpi.so.12", "mpich"},
                                                                    {"libmpich.so.12", "mpich"},
                                                                    {"libmpi_abi.so.1", "standard"}};

std::string first_line_of(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.descriptor() < 0) {
    struct stat status;
    if (errno != EACCES || stat(path.c_str(), &status) != 0) throw Refusal{path + ": " + reason(errno)};
    char mode[8];
    snprintf(mode, sizeof mode, "%04o", status.st_mode & 07777u);
    throw Refusal{path + " may be executed but not read (its mode is " + mode +
                  "): Marline reads a program before it starts it; make it readable (chmod +r), or run a copy that is"};
  }
  char bytes[kShebangBytes];
  const ssize_t count = read(file.descriptor(), bytes, sizeof bytes);
  if (count < 0) throw Refusal{path + ": " + reason(errno)};
  const std::string_view text(bytes, static_cast<size_t>(count));
  return std::string(text.substr(0, text.find('\n')));
}

std::string find_interpreter(const std::string& script, const std::string& name, const Environment& environment) {
  try {
    return find_program(name, environment);
  } catch (const Refusal& refusal) {
    throw Refusal{script + ": its first line asks for " + name + ", which is not here or cannot be executed; " +
                      "install it, or correct the line",
                  refusal.status};
  }
}

bool is_no_program_of_env(const std::string& word) { return word.starts_with('-') || word.find('=') != word.npos; }

// The executable at the end of a chain of "#!" lines.
std::string executable_of(const std::string& path, const Environment& environment) {
  std::string current = path;
  for (int depth = 0; depth < kShebangDepth; ++depth) {
    const std::string line = first_line_of(current);
    if (!line.starts_with("#!")) return current;
    Words words = words_of(std::string_view(line).substr(2));
    if (!words.empty() && file_name(words[0]) == "env") {
      words.erase(words.begin());
      words.erase(std::remove_if(words.begin(), words.end(), is_no_program_of_env), words.end());
    }
    if (words.empty()) throw Refusal{current + ": its first line names no interpreter", kNotExecutable};
    current = find_interpreter(current, words[0], environment);
  }
  throw Refusal{path + ": its interpreters are scripts, more than " + std::to_string(kShebangDepth) + " deep",
                kNotExecutable};
}

Elf read_executable(const std::string& executable) {
  Elf elf;
  try {
    elf = read_elf(executable);
  } catch (const NotElf& error) {
    const char* hint =
        ": Marline runs 64-bit Linux programs, and scripts whose first line names their interpreter, as "
        "#!/bin/sh does";
    throw Refusal{error.text + (error.is_damaged ? "" : hint), kNotExecutable};
  }
  utsname system;
  uname(&system);
  if (elf.machine != system.machine) {
    throw Refusal{executable + " is built for " + elf.machine + ", this machine is " + system.machine +
                      "; build it for this machine",
                  kNotExecutable};
  }
  return elf;
}

// The loader ignores LD_PRELOAD for programs that gain rights (ld.so(8), secure-execution mode).
void refuse_privileged(const std::string& executable) {
  struct stat status;
  if (stat(executable.c_str(), &status) != 0) throw Refusal{executable + ": " + reason(errno)};
  const bool gains_user = (status.st_mode & S_ISUID) != 0 && status.st_uid != getuid();
  const bool gains_group = (status.st_mode & S_ISGID) != 0 && status.st_gid != getgid();
  const bool is_capable = getuid() != 0 && getxattr(executable.c_str(), "security.capability", nullptr, 0) > 0;
  if (!gains_user && !gains_group && !is_capable) return;
  const char* kind = gains_user ? "setuid" : gains_group ? "setgid" : "has file capabilities";
  throw Refusal{executable + " is " + kind + ": the loader preloads no library into it; run a plain copy of it"};
}

void require_interpreter(const Elf& elf) {
  if (elf.interpreter.empty()) {
    throw Refusal{elf.path + " is statically linked: no library can be put under it; link it without -static"};
  }
}

// Without this check the start would fail with the loader's message, which does not say that Marline needs hwloc.
void refuse_missing_hwloc(const Words& missing) {
  for (const std::string& name : missing) {
    if (!name.starts_with("libhwloc.so.")) continue;
    throw Refusal{name +
                  ", which Marline needs, is not found by the loader; install hwloc (Debian: libhwloc15; Fedora, RHEL: "
                  "hwloc-libs), or add its folder to LD_LIBRARY_PATH"};
  }
}

// Any library of an MPI: those for Fortran and C++ among them.
bool is_of_mpi(std::string_view name) {
  const std::string_view stem = name.substr(0, name.find(".so"));
  if (stem.size() == name.size()) return false;
  for (std::string_view one : {"libmpi", "libmpich", "libmpifort", "libmpicxx"}) {
    if (!stem.starts_with(one)) continue;
    const std::string_view rest = stem.substr(one.size());
    if (rest.empty() || rest == "fort" || rest == "cxx" || rest.starts_with('_')) return true;
  }
  return false;
}

// The commonest mistake on a cluster, which would otherwise look like a program without MPI.
void refuse_missing_mpi(const std::string& executable, const Words& missing) {
  const auto library = std::find_if(missing.begin(), missing.end(), is_of_mpi);
  if (library == missing.end()) return;
  throw Refusal{executable + " needs " + *library +
                    ", which the loader does not find: load the module of the MPI that it is built with (module load "
                    "...), or name the library's folder in LD_LIBRARY_PATH",
                kNotFound};
}

// The loader ends such a program before it loads Marline. Without this check the program would seem to have cleared
// LD_PRELOAD.
void refuse_newer_program(const std::optional<TooOld>& too_old) {
  if (!too_old) return;
  throw Refusal{too_old->needed_by + " needs version " + too_old->version + " of " + too_old->file +
                    ", which has no such version: it was built on a newer system; build it on this one, or name the "
                    "folder of a newer library in LD_LIBRARY_PATH",
                kNotFound};
}

bool is_named_as_runtime(const std::string& name) {
  for (std::string_view runtime : kRuntimeNames) {
    if (!name.starts_with(runtime)) continue;
    const char next = name.size() > runtime.size() ? name[runtime.size()] : '.';
    if (!isalnum(static_cast<unsigned char>(next)) && next != '_') return true;
  }
  return false;
}

// A file that has an OpenMP runtime inside, though it is not called one, is refused. Libraries with a runtime's name
// may be loaded: the check inside the process proves that no call is bound to them.
void refuse_static_runtime(const Elf& elf) {
  const std::string name = elf.soname.empty() ? file_name(elf.path) : elf.soname;
  if (elf.runtime_entry.empty() || is_named_as_runtime(name)) return;
  throw Refusal{elf.path + " contains a statically linked OpenMP runtime (it defines " + elf.runtime_entry + "); " +
                kRelink};
}

void refuse_stripped_runtime(const Elf& executable) {
  if (executable.has_entry_points || !has_texts_of_runtime(executable.path)) return;
  throw Refusal{executable.path + " contains a statically linked, stripped OpenMP runtime; " + kRelink};
}

Elf read_library(const std::string& library) {
  try {
    return read_elf(library);
  } catch (const NotElf& error) {
    throw Refusal{error.text + ", and the program needs it; install it again"};
  }
}

// The argument itself, which may be a path with blanks, and the words of it as a shell would part them, about.
Words words_of_command(const std::string& argument) {
  Words words = {argument};
  std::string text = argument;
  for (char& one : text) {
    if (std::string_view(";&|()'\"`").find(one) != std::string_view::npos) one = ' ';
  }
  for (const std::string& word : words_of(text)) {
    if (!contains(words, word)) words.push_back(word);
  }
  return words;
}

// Nothing if the file cannot be read, or is no program that has a loader (a script, a library).
std::optional<Elf> read_program(const std::string& path) {
  try {
    const Elf elf = read_elf(path);
    return elf.interpreter.empty() ? std::nullopt : std::optional(elf);
  } catch (const NotElf&) {
    return std::nullopt;
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

void note_calls(Program& program, const Elf& elf) {
  if (!elf.runtime_entry.empty()) return;
  program.uses_openmp |= elf.uses_openmp;
  program.uses_devices |= elf.uses_devices;
}

// Those that use OpenMP. A shell's command is one argument: `sh -c "cd build; ./app"`.
std::vector<Elf> programs_in(const Words& arguments, const Environment& environment) {
  std::vector<Elf> found;
  for (const std::string& argument : arguments) {
    for (const std::string& word : words_of_command(argument)) {
      const auto path = find_in_path(word, environment.search_path());
      const auto elf = path ? read_program(absolute(*path)) : std::nullopt;
      if (elf && (elf->uses_openmp || !elf->runtime_entry.empty())) found.push_back(*elf);
    }
  }
  return found;
}

}  // namespace

std::string find_program(const std::string& command, const Environment& environment) {
  const auto found = find_in_path(command, environment.search_path());
  if (found) return absolute(*found);  // the loader takes a name without a slash for a library
  const bool has_folder = command.find('/') != command.npos;
  if (has_folder && is_folder(command)) throw Refusal{command + " is a directory, not a program", kNotExecutable};
  if (has_folder && exists(command)) {
    throw Refusal{command + " is not an executable file; check its mode (chmod +x)", kNotExecutable};
  }
  throw Refusal{(command.empty() ? quoted(command) : command) + ": no such program in " +
                    (has_folder ? "this place" : "PATH") + "; " +
                    (is_file(command) ? "give its path, as in ./" + command : "check the name"),
                kNotFound};
}

std::string Program::file_of(const std::string& prefix) const {
  for (const auto& [name, file] : libraries.loaded) {
    if (name.starts_with(prefix)) return file;
  }
  return "";
}

Program examine(const std::string& command, const Words& arguments, Environment environment) {
  Program program;
  program.path = find_program(command, environment);
  const std::string executable = executable_of(program.path, environment);
  program.is_script = executable != program.path;
  const Elf elf = read_executable(executable);
  refuse_privileged(executable);
  require_interpreter(elf);
  program.libraries = ask_loader(elf.interpreter, executable, environment);
  refuse_missing_hwloc(program.libraries.missing);
  refuse_missing_mpi(executable, program.libraries.missing);
  refuse_newer_program(program.libraries.too_old);
  refuse_static_runtime(elf);
  note_calls(program, elf);
  for (const auto& [name, path] : program.libraries.loaded) {
    const Elf library = read_library(path);
    refuse_static_runtime(library);
    note_calls(program, library);
    for (const auto& [soname, mpi] : kMpiSonames) {
      if (name == soname && program.mpi.empty()) program.mpi = mpi;
    }
  }
  refuse_stripped_runtime(elf);
  if (!program.uses_openmp) program.started = programs_in(arguments, environment);
  return program;
}

Listing list_libraries(const std::string& command, Environment environment) {
  const std::string executable = executable_of(find_program(command, environment), environment);
  const Elf elf = read_executable(executable);
  require_interpreter(elf);
  return ask_loader(elf.interpreter, executable, environment);
}

}  // namespace marline::launch
