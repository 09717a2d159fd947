// SPDX-License-Identifier: Apache-2.0
//
// config/: every option's default, good values, and bad values: each gives one line and leaves the default.
#include <cstring>
#include <initializer_list>
#include <vector>

#include "config/names.hpp"
#include "parsed_options.hpp"

#include <climits>

#include "config/option_table.hpp"
#include "config/show_options.hpp"

namespace marline {
namespace {

Options parse_good(std::map<std::string, std::string> variables) {
  const Parsed parsed = parse(std::move(variables));
  EXPECT_EQ(parsed.warnings, "");
  return parsed.options;
}

std::string shown(const Options& options, bool verbose) {
  char buffer[8192];
  return {buffer, options_format(options, verbose, buffer, sizeof buffer)};
}

TEST(Options, Defaults) {
  const Options options = parse_good({});
  EXPECT_EQ(options.num_threads_count, 0);
  EXPECT_EQ(options.schedule_kind, LoopSchedule::kStatic);
  EXPECT_EQ(options.schedule_modifier, ScheduleModifier::kNone);
  EXPECT_EQ(options.max_active_levels, 1);
  EXPECT_EQ(options.thread_limit, INT_MAX);
  EXPECT_GE(options.stacksize, size_t{4} << 20);  // as `ulimit -s` says
  EXPECT_LE(options.stacksize, size_t{64} << 20);
  EXPECT_EQ(options.fiber_stacksize, options.stacksize);
  EXPECT_EQ(options.proc_bind_count, 1);
  EXPECT_EQ(options.proc_bind[0], ProcBind::kUnbound);
  EXPECT_EQ(options.display_env, DisplayEnv::kOff);
  EXPECT_TRUE(options.tool);
  EXPECT_EQ(options.allocator.handle, allocators::kDefaultMemory);
  EXPECT_EQ(options.target_offload, TargetOffload::kDefault);
  EXPECT_EQ(options.schedule.policy, SchedulePolicy::kLifo);
  EXPECT_EQ(options.spin_us, -1);
  EXPECT_EQ(options.max_ready, 256);
  EXPECT_EQ(options.max_tasks, 1000000);
  EXPECT_EQ(options.max_bytes, size_t{1} << 30);
  EXPECT_FALSE(options.strict_constraint);
  EXPECT_EQ(options.watchdog, 1000u);
  EXPECT_EQ(options.max_fibers, 1000000);
  EXPECT_TRUE(options.progress_points && options.progress_idle && options.progress_strong);
  EXPECT_EQ(options.barrier, BarrierKind::kAuto);
}

using Priority = Options::Priority;

Priority priority_of(const char* value, const char* highest = "") {
  return parse_good({{"MARLINE_PRIORITY", value}, {"OMP_MAX_TASK_PRIORITY", highest}}).priority;
}

void expect_priority(const Priority& actual, PriorityValue value, Propagation propagation, bool asynchronous) {
  EXPECT_TRUE(actual.on);
  EXPECT_EQ(actual.value, value);
  EXPECT_EQ(actual.propagation, propagation);
  EXPECT_EQ(actual.asynchronous, asynchronous);
}

TEST(Options, ZeroIsNoLimitOfMemory) {
  EXPECT_EQ(parse_good({{"MARLINE_MAX_BYTES", "0"}}).max_bytes, 0u);
  EXPECT_EQ(parse_good({{"MARLINE_MAX_BYTES", "1"}}).max_bytes, 1024u);
}

TEST(Options, PriorityPresets) {
  expect_priority(priority_of("MA-1"), PriorityValue::kCopy, Propagation::kNone, false);
  expect_priority(priority_of("ma-2"), PriorityValue::kCopy, Propagation::kEqual, false);
  expect_priority(priority_of("SA"), PriorityValue::kInf, Propagation::kDecrement, false);
  expect_priority(priority_of("FA"), PriorityValue::kZero, Propagation::kDecrement, true);
  EXPECT_TRUE(priority_of("FA").profiles);
  EXPECT_FALSE(priority_of("SA").profiles);
}

TEST(Options, PriorityParameters) {
  expect_priority(priority_of("copy,none"), PriorityValue::kCopy, Propagation::kNone, false);
  expect_priority(priority_of("INF , equal , asynchronous"), PriorityValue::kInf, Propagation::kEqual, true);
  expect_priority(priority_of("zero,decrement,synchronous"), PriorityValue::kZero, Propagation::kDecrement, false);
  EXPECT_FALSE(priority_of("zero,none").on);  // the clause is ignored, and nothing else gives a task a priority
}

TEST(Options, PrioritySwitch) {
  EXPECT_FALSE(parse_good({}).priority.on);
  EXPECT_TRUE(priority_of("", "3").on);
  EXPECT_FALSE(priority_of("", "0").on);
  EXPECT_EQ(parse_good({{"MARLINE_PRIORITY", "SA"}}).max_task_priority, INT_MAX);
  EXPECT_EQ(parse_good({{"MARLINE_PRIORITY", "SA"}, {"OMP_MAX_TASK_PRIORITY", "7"}}).max_task_priority, 7);
  EXPECT_TRUE(priority_of("", "4095").exact);
  EXPECT_FALSE(priority_of("", "4096").exact);
  EXPECT_FALSE(priority_of("SA", "10").exact);
}

TEST(Options, PriorityShown) {
  EXPECT_NE(
      shown(parse_good({{"MARLINE_PRIORITY", "FA"}}), true).find("MARLINE_PRIORITY = 'zero,decrement,asynchronous'"),
      std::string::npos);
  EXPECT_NE(shown(parse_good({}), true).find("MARLINE_PRIORITY = 'auto'"), std::string::npos);
}

TEST(Options, SimpleCreation) {
  EXPECT_TRUE(parse_good({}).simple_creation);
  EXPECT_FALSE(parse_good({{"MARLINE_QUEUES", "new=cache"}}).simple_creation);
  EXPECT_FALSE(parse_good({{"MARLINE_DISCOVERY", "first"}}).simple_creation);
  EXPECT_FALSE(parse_good({{"MARLINE_TASK_CONSTRAINT", "strict"}}).simple_creation);
  EXPECT_TRUE(parse_good({{"OMP_MAX_TASK_PRIORITY", "9"}}).simple_creation);
  EXPECT_FALSE(parse_good({{"MARLINE_PRIORITY", "SA"}}).simple_creation);
}

TEST(Options, Queues) {
  const Options given = parse_good({{"MARLINE_QUEUES", " NEW = numa , untied=socket"}});
  EXPECT_TRUE(given.shared_queues);
  EXPECT_EQ(given.queues[0], QueueLevel::kNuma);
  EXPECT_EQ(given.queues[1], QueueLevel::kCore);
  EXPECT_EQ(given.queues[2], QueueLevel::kSocket);
  EXPECT_NE(shown(given, true).find("MARLINE_QUEUES = 'new=numa,successor=core,untied=socket'"), std::string::npos);
  EXPECT_FALSE(parse_good({{"MARLINE_QUEUES", "new=core"}}).shared_queues);
  EXPECT_FALSE(parse_good({}).shared_queues);
}

TEST(Options, Lists) {
  const Options options = parse_good({{"OMP_NUM_THREADS", " 4 , 3,2 "}, {"OMP_PROC_BIND", "SPREAD,close, master"}});
  ASSERT_EQ(options.num_threads_count, 3);
  EXPECT_EQ(options.num_threads[0], 4);
  EXPECT_EQ(options.num_threads[2], 2);
  ASSERT_EQ(options.proc_bind_count, 3);
  EXPECT_EQ(options.proc_bind[0], ProcBind::kSpread);
  EXPECT_EQ(options.proc_bind[2], ProcBind::kPrimary);
  EXPECT_EQ(options.max_active_levels, INT_MAX);  // OpenMP 5.1, 2.4.3: a list means nesting is wanted
}

TEST(Options, ListsLongerThanWeKeepAreCut) {
  std::string list = "1";
  for (int i = 2; i < 40; ++i) list += "," + std::to_string(i);
  const Options options = parse_good({{"OMP_NUM_THREADS", list}});
  EXPECT_EQ(options.num_threads_count, Options::kMaxLevels);
  EXPECT_EQ(options.num_threads[Options::kMaxLevels - 1], Options::kMaxLevels);
}

TEST(Options, DefaultsThatDependOnOthers) {
  EXPECT_EQ(parse_good({{"OMP_NESTED", "true"}}).max_active_levels, INT_MAX);
  EXPECT_EQ(parse_good({{"OMP_NESTED", "true"}, {"OMP_MAX_ACTIVE_LEVELS", "3"}}).max_active_levels, 3);
  EXPECT_EQ(parse_good({{"OMP_MAX_ACTIVE_LEVELS", "0"}}).max_active_levels, 0);
  EXPECT_EQ(parse_good({{"OMP_PLACES", "cores"}}).proc_bind[0], ProcBind::kBound);
  EXPECT_EQ(parse_good({{"OMP_PLACES", "cores"}, {"OMP_PROC_BIND", "false"}}).proc_bind[0], ProcBind::kUnbound);
  EXPECT_EQ(parse_good({{"OMP_STACKSIZE", "64M"}}).fiber_stacksize, size_t{64} << 20);
  EXPECT_EQ(parse_good({{"OMP_STACKSIZE", "64M"}, {"MARLINE_STACKSIZE", "32"}}).fiber_stacksize, size_t{32} << 10);
}

TEST(Options, StacksAreAsTheFirstThreads) {
  const Options options = parse_good({{"OMP_STACKSIZE", "auto"}});
  EXPECT_EQ(options.stacksize, parse_good({}).stacksize);
  EXPECT_EQ(options.fiber_stacksize, options.stacksize);
}

TEST(Options, Sizes) {
  const std::pair<const char*, size_t> cases[] = {
      {"20000B", 20000}, {"100", 102400}, {" 100 k ", 102400}, {"2m", 2u << 20}, {"3G", size_t{3} << 30}};
  for (const auto& [text, bytes] : cases) EXPECT_EQ(parse_good({{"OMP_STACKSIZE", text}}).stacksize, bytes) << text;
}

TEST(Options, LoopSchedules) {
  struct {
    const char* text;
    LoopSchedule kind;
    ScheduleModifier modifier;
    int chunk;
  } const cases[] = {{"static", LoopSchedule::kStatic, ScheduleModifier::kNone, 0},
                     {"dynamic,4", LoopSchedule::kDynamic, ScheduleModifier::kNone, 4},
                     {" GUIDED , 7 ", LoopSchedule::kGuided, ScheduleModifier::kNone, 7},
                     {"auto", LoopSchedule::kAuto, ScheduleModifier::kNone, 0},
                     {"static_steal,3", LoopSchedule::kDynamic, ScheduleModifier::kNone, 3},
                     {"trapezoidal", LoopSchedule::kTrapezoidal, ScheduleModifier::kNone, 0},
                     {"monotonic:dynamic", LoopSchedule::kDynamic, ScheduleModifier::kMonotonic, 0},
                     {"monotonic:static,52", LoopSchedule::kStatic, ScheduleModifier::kMonotonic, 52},
                     {"nonmonotonic: static,2", LoopSchedule::kStatic, ScheduleModifier::kNonmonotonic, 2}};
  for (const auto& expected : cases) {
    const Options options = parse_good({{"OMP_SCHEDULE", expected.text}});
    EXPECT_EQ(options.schedule_kind, expected.kind) << expected.text;
    EXPECT_EQ(options.schedule_modifier, expected.modifier) << expected.text;
    EXPECT_EQ(options.schedule_chunk, expected.chunk) << expected.text;
  }
}

TEST(Options, TaskSchedules) {
  EXPECT_EQ(parse_good({{"MARLINE_SCHEDULE", "default"}}).schedule.policy, SchedulePolicy::kLifo);
  EXPECT_EQ(parse_good({{"MARLINE_SCHEDULE", "fifo"}}).schedule.policy, SchedulePolicy::kFifo);
  const Options random = parse_good({{"MARLINE_SCHEDULE", "random:0xff"}});
  EXPECT_EQ(random.schedule.policy, SchedulePolicy::kRandom);
  EXPECT_EQ(random.schedule.seed, 255u);
}

TEST(Options, Progress) {
  const std::tuple<const char*, bool, bool, bool> cases[] = {{"weak", true, true, false},
                                                             {"strong", false, false, true},
                                                             {"both", true, true, true},
                                                             {"idle", false, true, false},
                                                             {"none", false, false, false}};
  for (const auto& [text, points, idle, strong] : cases) {
    const Options options = parse_good({{"MARLINE_PROGRESS", text}});
    EXPECT_EQ(options.progress_points, points) << text;
    EXPECT_EQ(options.progress_idle, idle) << text;
    EXPECT_EQ(options.progress_strong, strong) << text;
  }
}

TEST(Options, RemainingWords) {
  const Options options = parse_good({{"OMP_DYNAMIC", "YES"},
                                      {"OMP_WAIT_POLICY", "Active"},
                                      {"OMP_DISPLAY_ENV", "verbose"},
                                      {"OMP_CANCELLATION", "1"},
                                      {"OMP_TARGET_OFFLOAD", "mandatory"},
                                      {"OMP_ALLOCATOR", "omp_thread_mem_alloc"},
                                      {"OMP_TOOL", "disabled"},
                                      {"OMP_TOOL_LIBRARIES", "/a/b.so:/c d.so"},
                                      {"MARLINE_SPIN", "50"},
                                      {"MARLINE_TASK_CONSTRAINT", "strict"},
                                      {"MARLINE_WATCHDOG", "0"},
                                      {"MARLINE_BARRIER", "tree"}});
  EXPECT_TRUE(options.dynamic);
  EXPECT_EQ(options.wait_policy, WaitPolicy::kActive);
  EXPECT_EQ(options.display_env, DisplayEnv::kVerbose);
  EXPECT_TRUE(options.cancellation);
  EXPECT_EQ(options.target_offload, TargetOffload::kMandatory);
  EXPECT_EQ(options.allocator.handle, allocators::kThreadMemory);
  EXPECT_FALSE(options.tool);
  EXPECT_STREQ(options.tool_libraries, "/a/b.so:/c d.so");
  EXPECT_EQ(options.spin_us, 50);
  EXPECT_TRUE(options.strict_constraint);
  EXPECT_EQ(options.watchdog, 0u);
  EXPECT_EQ(options.barrier, BarrierKind::kTree);
}

TEST(Options, AllocatorsOfASpaceWithTraits) {
  const Options options =
      parse_good({{"OMP_ALLOCATOR",
                   "omp_high_bw_mem_space: alignment = 64, pool_size=1048576, FALLBACK=allocator_fb, "
                   "fb_data=omp_low_lat_mem_alloc, pinned=true, partition=blocked, access=cgroup"}});
  const AllocatorChoice& choice = options.allocator;
  EXPECT_EQ(choice.handle, allocators::kNullAllocator);
  EXPECT_EQ(choice.space, allocators::kHighBandwidthSpace);
  ASSERT_EQ(choice.count, 7);
  EXPECT_EQ(choice.traits[1].key, allocators::kPoolSize);
  EXPECT_EQ(choice.traits[1].value, 1048576u);
  EXPECT_EQ(choice.traits[3].value, allocators::kLowLatencyMemory);
  EXPECT_NE(shown(options, false)
                .find("'omp_high_bw_mem_space:alignment=64,pool_size=1048576,fallback=allocator_fb,"
                      "fb_data=omp_low_lat_mem_alloc,pinned=true,partition=blocked,access=cgroup'"),
            std::string::npos);
}

TEST(Options, BlankCountsAsNotGiven) {
  const Options options = parse_good({{"OMP_NUM_THREADS", ""}, {"OMP_DYNAMIC", "  "}, {"MARLINE_MAX_READY", "\t"}});
  EXPECT_EQ(options.num_threads_count, 0);
  EXPECT_EQ(options.max_ready, 256);
}

TEST(Options, TextIsCopied) {
  environment = {{"OMP_PLACES", "sockets"}};
  Options options{};
  options_parse(options, lookup);
  environment["OMP_PLACES"][0] = 'X';
  EXPECT_STREQ(options.places, "sockets");
}

const std::pair<const char*, const char*> kBadValues[] = {
    {"OMP_NUM_THREADS", "0"},
    {"OMP_NUM_THREADS", "-1"},
    {"OMP_NUM_THREADS", "4,"},
    {"OMP_NUM_THREADS", "2,x"},
    {"OMP_NUM_THREADS", "3000000000"},
    {"OMP_DYNAMIC", "maybe"},
    {"OMP_SCHEDULE", "dynamic,0"},
    {"OMP_SCHEDULE", "statics"},
    {"OMP_SCHEDULE", "monotonic dynamic"},
    {"OMP_STACKSIZE", "8K"},
    {"OMP_STACKSIZE", "1T"},
    {"OMP_STACKSIZE", "9000000000000G"},
    {"OMP_WAIT_POLICY", "lazy"},
    {"OMP_PROC_BIND", "close,true"},
    {"OMP_PROC_BIND", "close,"},
    {"OMP_DISPLAY_ENV", "loud"},
    {"OMP_MAX_ACTIVE_LEVELS", "-1"},
    {"OMP_THREAD_LIMIT", "0"},
    {"OMP_MAX_TASK_PRIORITY", "high"},
    {"MARLINE_PRIORITY", "MA-3"},
    {"MARLINE_PRIORITY", "copy"},
    {"MARLINE_PRIORITY", "inf,up"},
    {"MARLINE_PRIORITY", "SA,none"},
    {"MARLINE_PRIORITY", "copy,none,now"},
    {"OMP_TARGET_OFFLOAD", "yes"},
    {"OMP_ALLOCATOR", "my_alloc"},
    {"OMP_ALLOCATOR", "omp_default_mem_space:alignment=12"},
    {"OMP_ALLOCATOR", "omp_low_lat_mem_space:fallback=allocator_fb"},
    {"OMP_ALLOCATOR", "omp_default_mem_space:pinned"},
    {"OMP_ALLOCATOR", "omp_default_mem_space:"},
    {"OMP_TOOL", "on"},
    {"MARLINE_SCHEDULE", "random"},
    {"MARLINE_SCHEDULE", "random:"},
    {"MARLINE_SCHEDULE", "lifo:1"},
    {"MARLINE_SPIN", "-2"},
    {"MARLINE_MAX_READY", "many"},
    {"MARLINE_MAX_TASKS", "-1"},
    {"MARLINE_MAX_BYTES", "1T"},
    {"MARLINE_WATCHDOG", "1ms"},
    {"MARLINE_STACKSIZE", "1600B"},
    {"MARLINE_MAX_FIBERS", "0"},
    {"MARLINE_QUEUES", "new"},
    {"MARLINE_QUEUES", "new=planet"},
    {"MARLINE_QUEUES", "tied=machine"},
    {"MARLINE_QUEUES", "new=numa,"},
    {"MARLINE_PROGRESS", "weak,strong"},
    {"MARLINE_BARRIER", "round"},
    {"MARLINE_TASK_CONSTRAINT", "loose"}};

// Each bad value: one line with the variable, the value, what is accepted and the default; and the default in force.
TEST(Options, BadValuesAreNamedAndReplacedByTheDefault) {
  const std::string by_default = shown(parse_good({}), true);
  for (const auto& [name, value] : kBadValues) {
    const Parsed parsed = parse({{name, value}});
    SCOPED_TRACE(std::string(name) + "=" + value);
    EXPECT_EQ(parsed.warnings.find("marline: warning: " + std::string(name) + "=\"" + value + "\""), 0u);
    EXPECT_NE(parsed.warnings.find("expected "), std::string::npos);
    EXPECT_NE(parsed.warnings.find("using the default, \""), std::string::npos);
    EXPECT_EQ(parsed.warnings.find('\n'), parsed.warnings.size() - 1);
    EXPECT_EQ(shown(parsed.options, true), by_default);
  }
}

TEST(Options, EveryDefaultIsAGoodValue) {
  for (const Option& option : option_table()) {
    const Parsed parsed = parse({{option.name, option.default_value}});
    EXPECT_EQ(parsed.warnings, "") << option.name;
  }
}

TEST(Options, DisplayHasTheStandardsForm) {
  const Options options = parse_good({{"OMP_NUM_THREADS", "4,2"}, {"MARLINE_SCHEDULE", "random:7"}});
  const std::string brief = shown(options, false);
  EXPECT_EQ(brief.find("\nOPENMP DISPLAY ENVIRONMENT BEGIN\n  MARLINE_VERSION = '"), 0u);
  EXPECT_NE(brief.find("\n  _OPENMP = '202011'\n"), std::string::npos);
  EXPECT_NE(brief.find("\n  [host] OMP_NUM_THREADS = '4,2'\n"), std::string::npos);
  EXPECT_EQ(brief.find("MARLINE_SCHEDULE"), std::string::npos);
  EXPECT_EQ(brief.substr(brief.size() - 31), "OPENMP DISPLAY ENVIRONMENT END\n");
  const std::string verbose = shown(options, true);
  EXPECT_NE(verbose.find("\n  [host] MARLINE_SCHEDULE = 'random:7'\n"), std::string::npos);
}

// What is shown can be given back: the shown value of every option parses to the same.
TEST(Options, ShownValuesParseToThemselves) {
  const Options options = parse_good({{"OMP_SCHEDULE", "monotonic:guided,3"},
                                      {"OMP_PROC_BIND", "close,spread"},
                                      {"OMP_STACKSIZE", "20000B"},
                                      {"MARLINE_PROGRESS", "idle"},
                                      {"MARLINE_SPIN", "9"}});
  std::map<std::string, std::string> again;
  for (const Option& option : option_table()) {
    char buffer[256];
    Text text(buffer, sizeof buffer);
    option.show(text, options);
    again[option.name] = text.c_str();
  }
  EXPECT_EQ(shown(parse_good(again), true), shown(options, true));
}

std::string names_warnings(std::initializer_list<const char*> variables) {
  std::vector<const char*> all(variables);
  all.push_back(nullptr);
  testing::internal::CaptureStderr();
  check_names(all.data());
  return testing::internal::GetCapturedStderr();
}

TEST(Names, KnownOnesAndOthersProgramsAreSilent) {
  EXPECT_EQ(names_warnings({"OMP_NUM_THREADS=4", "OMP_DEBUG=enabled", "OMPI_COMM_WORLD_SIZE=2", "PATH=/bin",
                            "OMP_X=", "KMP_HW_SUBSET=1s", "KMP_SETTINGS=1", "GOMP_SPINCOUNT=3", "KMPFILE=x", "HOME"}),
            "");
}

TEST(Names, FormsForDevicesAreKnown) {
  EXPECT_EQ(names_warnings({"OMP_NUM_THREADS_ALL=4", "OMP_NUM_THREADS_DEV=8", "OMP_NUM_TEAMS_DEV_12=2"}), "");
  EXPECT_NE(names_warnings({"OMP_NUM_THREADS_ALL_1=4"}), "");
  EXPECT_NE(names_warnings({"OMP_NUM_TREADS_DEV=4"}), "");
}

TEST(Names, MisspeltOnesAreNamedWithTheNearest) {
  const std::pair<const char*, const char*> cases[] = {{"OMP_NUM_THREAD=4", "OMP_NUM_THREADS?"},
                                                       {"OMP_PROCBIND=close", "OMP_PROC_BIND?"},
                                                       {"OMP_PLACE=cores", "OMP_PLACES?"},
                                                       {"OMP_SCHEDULER=guided", "OMP_SCHEDULE?"},
                                                       {"OMP_WHATEVER_ELSE=1", "docs/options.md"}};
  for (const auto& [variable, expected] : cases) {
    const std::string warnings = names_warnings({variable});
    EXPECT_NE(warnings.find(std::string(variable, strcspn(variable, "="))), std::string::npos) << warnings;
    EXPECT_NE(warnings.find(expected), std::string::npos) << warnings;
    EXPECT_EQ(warnings.find('\n'), warnings.size() - 1);
  }
}

TEST(Names, WhatIsNotObeyedIsSaid) {
  EXPECT_NE(names_warnings({"KMP_TEAMS_THREAD_LIMIT=4"}).find("KMP_TEAMS_THREAD_LIMIT is not obeyed"),
            std::string::npos);
  for (const char* variable : {"KMP_HOT_TEAMS_MAX_LEVEL=2", "KMP_HOT_TEAMS_MODE=1", "KMP_LOCK_KIND=tas", "GOMP_DEBUG=1",
                               "KMP_DETERMINISTIC_REDUCTION=true", "LIBOMP_NUM_HIDDEN_HELPER_THREADS=8",
                               "KMP_DISP_NUM_BUFFERS=9", "GOMP_RTEMS_THREAD_POOLS=1", "KMP_INHERIT_FP_CONTROL=off"}) {
    const std::string warnings = names_warnings({variable});
    EXPECT_EQ(warnings.find(std::string("marline: warning: ") + std::string(variable, strcspn(variable, "=")) +
                            " is not obeyed: "),
              0u)
        << variable << ": " << warnings;
    EXPECT_EQ(warnings.find('\n'), warnings.size() - 1);
  }
}

TEST(Names, ValuesThatHoldAnywayAreSilent) {
  EXPECT_EQ(names_warnings({"KMP_HOT_TEAMS_MAX_LEVEL=1", "KMP_DETERMINISTIC_REDUCTION=FALSE",
                            "KMP_DETERMINISTIC_REDUCTION=0", "KMP_TOPOLOGY_METHOD=hwloc", "KMP_DUPLICATE_LIB_OK=TRUE",
                            "KMP_SCHEDULE=static,balanced", "KMP_INIT_AT_FORK=anything", "KMP_INHERIT_FP_CONTROL=Yes"}),
            "");
  for (const char* variable : {"KMP_HOT_TEAMS_MAX_LEVEL=11", "KMP_DETERMINISTIC_REDUCTION=fals", "KMP_SCHEDULE=static",
                               "KMP_TOPOLOGY_METHOD=all, hwloc"}) {
    EXPECT_NE(names_warnings({variable}), "") << variable;
  }
}

TEST(Options, ForAllDevicesHoldsIfTheHostsOwnIsNotGiven) {
  EXPECT_EQ(parse({{"OMP_NUM_THREADS_ALL", "5"}}).options.num_threads[0], 5);
  EXPECT_EQ(parse({{"OMP_NUM_THREADS_ALL", "5"}, {"OMP_NUM_THREADS", "3"}}).options.num_threads[0], 3);
  EXPECT_NE(parse({{"OMP_DYNAMIC_ALL", "perhaps"}}).warnings.find("OMP_DYNAMIC_ALL=\"perhaps\""), std::string::npos);
}

TEST(Options, AbstractPlacesHoldWithoutWhatIsMalformed) {
  const std::pair<const char*, const char*> cases[] = {
      {"sockets(", "sockets"}, {"threads()", "threads"}, {"cores(0)", "cores"}, {"planets", "cores"}};
  for (const auto& [value, expected] : cases) {
    const Parsed parsed = parse({{"OMP_PLACES", value}});
    EXPECT_STREQ(parsed.options.places, expected);
    EXPECT_NE(parsed.warnings.find(std::string("OMP_PLACES=\"") + value + "\" is not usable"), std::string::npos);
    EXPECT_EQ(parsed.warnings.find('\n'), parsed.warnings.size() - 1);
    EXPECT_EQ(parsed.options.proc_bind[0], ProcBind::kBound);
  }
  EXPECT_EQ(parse({{"OMP_PLACES", "{0:4},!2,3"}}).warnings, "");
}

}  // namespace
}  // namespace marline
