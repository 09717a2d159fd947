// SPDX-License-Identifier: Apache-2.0
//
// config/foreign_table.hpp: what each of the other runtimes' variables means, that OpenMP's and Marline's variables
// have precedence, and that each bad value gives one line and leaves the default.
#include "config/foreign_table.hpp"

#include "config/show_options.hpp"
#include "parsed_options.hpp"

namespace marline {
namespace {

Options good(std::map<std::string, std::string> variables) {
  const Parsed parsed = parse(std::move(variables));
  EXPECT_EQ(parsed.warnings, "");
  return parsed.options;
}

std::string shown(const Options& options) {
  char buffer[8192];
  return {buffer, options_format(options, true, buffer, sizeof buffer)};
}

TEST(ForeignOptions, Stacks) {
  EXPECT_EQ(good({{"KMP_STACKSIZE", "100000"}}).stacksize, 100000u);
  EXPECT_EQ(good({{"KMP_STACKSIZE", "8m"}}).stacksize, size_t{8} << 20);
  EXPECT_EQ(good({{"GOMP_STACKSIZE", "100000"}}).stacksize, size_t{100000} << 10);
  EXPECT_EQ(good({{"GOMP_STACKSIZE", "64K"}, {"KMP_STACKSIZE", "1G"}}).stacksize, size_t{1} << 30);
  EXPECT_EQ(good({{"KMP_STACKSIZE", "8M"}, {"GOMP_STACKSIZE", "9M"}, {"OMP_STACKSIZE", "2M"}}).stacksize, 2u << 20);
  EXPECT_EQ(good({{"KMP_STACKSIZE", "8M"}}).fiber_stacksize, size_t{8} << 20);
}

TEST(ForeignOptions, IdleTimes) {
  EXPECT_EQ(good({{"KMP_BLOCKTIME", "200"}}).spin_us, 200000);
  EXPECT_EQ(good({{"KMP_BLOCKTIME", "7ms"}}).spin_us, 7000);
  EXPECT_EQ(good({{"KMP_BLOCKTIME", "30 us"}}).spin_us, 30);
  EXPECT_EQ(good({{"KMP_BLOCKTIME", "0"}}).spin_us, 0);
  EXPECT_EQ(good({{"KMP_BLOCKTIME", "INFINITE"}}).spin_us, Options::kInfinite);
  EXPECT_EQ(good({{"GOMP_SPINCOUNT", "300000"}}).spin_us, 3000);
  EXPECT_EQ(good({{"GOMP_SPINCOUNT", "2k"}}).spin_us, 20);
  EXPECT_EQ(good({{"GOMP_SPINCOUNT", "30G"}}).spin_us, 300000000);
  EXPECT_EQ(good({{"GOMP_SPINCOUNT", "infinity"}}).spin_us, Options::kInfinite);
  EXPECT_EQ(good({{"GOMP_SPINCOUNT", "9000000T"}}).spin_us, Options::kInfinite);
  EXPECT_EQ(good({{"KMP_BLOCKTIME", "5"}, {"GOMP_SPINCOUNT", "0"}}).spin_us, 5000);
  EXPECT_EQ(good({{"KMP_BLOCKTIME", "5"}, {"MARLINE_SPIN", "3"}}).spin_us, 3);
  const Options passive = good({{"KMP_BLOCKTIME", "infinite"}, {"OMP_WAIT_POLICY", "passive"}});
  EXPECT_EQ(passive.wait_policy, WaitPolicy::kPassive);
  EXPECT_EQ(passive.spin_us, -1);
}

TEST(ForeignOptions, Throttling) {
  const Options off = good({{"KMP_ENABLE_TASK_THROTTLING", "0"}});
  EXPECT_EQ(off.max_ready, 0);
  EXPECT_EQ(off.max_tasks, 0);
  EXPECT_EQ(off.max_bytes, 0u);
  EXPECT_EQ(good({{"KMP_ENABLE_TASK_THROTTLING", "1"}}).max_ready, good({}).max_ready);
}

TEST(ForeignOptions, LibraryModes) {
  EXPECT_EQ(good({{"KMP_LIBRARY", "turnaround"}}).wait_policy, WaitPolicy::kActive);
  EXPECT_EQ(good({{"KMP_LIBRARY", "throughput"}}).wait_policy, WaitPolicy::kAuto);
  EXPECT_EQ(good({{"KMP_LIBRARY", "turnaround"}, {"OMP_WAIT_POLICY", "passive"}}).wait_policy, WaitPolicy::kPassive);
  const Options serial = good({{"KMP_LIBRARY", "serial"}});
  EXPECT_EQ(serial.library, 1);
  EXPECT_EQ(serial.num_threads_count, 1);
  EXPECT_EQ(serial.num_threads[0], 1);
  EXPECT_EQ(good({{"KMP_LIBRARY", "serial"}, {"OMP_NUM_THREADS", "4"}}).num_threads[0], 4);
}

TEST(ForeignOptions, Display) {
  EXPECT_TRUE(good({{"KMP_SETTINGS", "1"}}).settings);
  EXPECT_FALSE(good({{"KMP_SETTINGS", "false"}}).settings);
  EXPECT_EQ(good({{"KMP_SETTINGS", "true"}}).display_env, DisplayEnv::kOff);
}

TEST(ForeignOptions, SettingsShowWhatIsSetAndWhatHolds) {
  const char* const set[] = {"HOME=/", "OMP_NUM_THREADS=3", "KMP_SETTINGS=1", "OMPI_X=1", nullptr};
  char buffer[16384];
  const std::string text{buffer, options_format_settings(good({{"OMP_NUM_THREADS", "3"}, {"KMP_SETTINGS", "1"}}), set,
                                                         buffer, sizeof buffer)};
  EXPECT_NE(text.find("User settings:\n\n   OMP_NUM_THREADS=3\n   KMP_SETTINGS=1\n\nEffective settings:\n"), text.npos);
  EXPECT_NE(text.find("   OMP_NUM_THREADS='3'\n"), text.npos);
  EXPECT_EQ(text.find("HOME"), text.npos);
  EXPECT_LT(text.size(), sizeof buffer - 1);
}

TEST(ForeignOptions, ThreadLimits) {
  EXPECT_EQ(good({{"KMP_DEVICE_THREAD_LIMIT", "6"}}).process_threads, 6);
  EXPECT_EQ(good({{"KMP_ALL_THREADS", "7"}}).process_threads, 7);
  EXPECT_EQ(good({{"KMP_ALL_THREADS", "all"}}).process_threads, 0);
  EXPECT_EQ(good({{"KMP_DEVICE_THREAD_LIMIT", "6"}, {"KMP_ALL_THREADS", "7"}}).process_threads, 6);
  EXPECT_EQ(good({{"KMP_ALL_THREADS", "7"}, {"OMP_THREAD_LIMIT", "3"}}).process_threads, 7);
  EXPECT_EQ(good({{"KMP_ALL_THREADS", "7"}, {"OMP_THREAD_LIMIT", "3"}}).thread_limit, 3);
}

TEST(ForeignOptions, WarningsCanBeSwitchedOff) {
  EXPECT_EQ(parse({{"KMP_WARNINGS", "off"}, {"OMP_NUM_THREADS", "many"}, {"KMP_BLOCKTIME", "soon"}}).warnings, "");
  EXPECT_NE(parse({{"KMP_WARNINGS", "on"}, {"OMP_NUM_THREADS", "many"}}).warnings, "");
}

TEST(ForeignOptions, Affinity) {
  const Options plain = good({{"KMP_AFFINITY", "compact"}});
  EXPECT_EQ(plain.affinity.kind, AffinityKind::kCompact);
  EXPECT_EQ(plain.affinity.granularity, Granularity::kCore);
  EXPECT_EQ(plain.proc_bind[0], ProcBind::kInOrder);
  EXPECT_FALSE(plain.display_affinity);
  const Options full = good({{"KMP_AFFINITY", "verbose, granularity=fine ,Scatter,1,3"}});
  EXPECT_EQ(full.affinity.kind, AffinityKind::kScatter);
  EXPECT_EQ(full.affinity.granularity, Granularity::kThread);
  EXPECT_EQ(full.affinity.permute, 1);
  EXPECT_EQ(full.affinity.offset, 3);
  EXPECT_TRUE(full.display_affinity);
  EXPECT_EQ(good({{"KMP_AFFINITY", "norespect,balanced"}}).proc_bind[0], ProcBind::kClose);
  EXPECT_EQ(good({{"KMP_AFFINITY", "none"}}).proc_bind[0], ProcBind::kUnbound);
  EXPECT_EQ(good({{"KMP_AFFINITY", "disabled"}}).affinity.kind, AffinityKind::kPlaces);
  const Options list = good({{"KMP_AFFINITY", "granularity=fine,proclist=[0,{1,2},4-6],explicit"}});
  EXPECT_EQ(list.affinity.kind, AffinityKind::kList);
  const Options logical = good({{"KMP_AFFINITY", "logical,2"}});
  EXPECT_EQ(logical.affinity.offset, 2);
  EXPECT_EQ(logical.affinity.permute, 0);
}

// One line reports which setting is not obeyed, and why.
Options passed_over(std::map<std::string, std::string> variables, const std::string& name, const char* instead) {
  const Parsed parsed = parse(std::move(variables));
  EXPECT_EQ(parsed.warnings.find("marline: warning: " + name + "="), 0u) << parsed.warnings;
  EXPECT_NE(parsed.warnings.find(instead), std::string::npos) << parsed.warnings;
  EXPECT_EQ(parsed.warnings.find('\n'), parsed.warnings.size() - 1);
  return parsed.options;
}

TEST(ForeignOptions, AffinityComesBehindPlacesAndBindingAndSaysSo) {
  const std::string kmp = "KMP_AFFINITY", gomp = "GOMP_CPU_AFFINITY";
  EXPECT_EQ(passed_over({{kmp, "compact"}, {"OMP_PLACES", "cores"}}, kmp, "OMP_PLACES").affinity.kind,
            AffinityKind::kPlaces);
  EXPECT_EQ(passed_over({{gomp, "0"}, {"OMP_PROC_BIND", "false"}}, gomp, "OMP_PROC_BIND").proc_bind[0],
            ProcBind::kUnbound);
  EXPECT_EQ(passed_over({{gomp, "0 3"}, {kmp, "compact"}}, gomp, "KMP_AFFINITY holds").affinity.kind,
            AffinityKind::kCompact);
  EXPECT_TRUE(passed_over({{kmp, "verbose,scatter"}, {"OMP_PROC_BIND", "close"}}, kmp, "ignored").display_affinity);
  EXPECT_TRUE(good({{kmp, "verbose"}, {"OMP_PLACES", "cores"}}).display_affinity);
  EXPECT_EQ(good({{kmp, "disabled"}, {"OMP_PROC_BIND", "false"}}).proc_bind[0], ProcBind::kUnbound);
  EXPECT_EQ(good({{"GOMP_CPU_AFFINITY", "0 3"}}).proc_bind[0], ProcBind::kInOrder);
}

TEST(ForeignOptions, NumbersThatMeanNothingAreNamed) {
  for (const char* value : {"balanced,1,0", "none,1", "disabled,2", "proclist=[0],explicit,3", "logical,2,1"}) {
    const Parsed parsed = parse({{"KMP_AFFINITY", value}});
    EXPECT_NE(parsed.warnings.find("KMP_AFFINITY: of the numbers behind"), std::string::npos) << value;
    EXPECT_EQ(parsed.options.affinity.permute, 0);
  }
  EXPECT_EQ(parse({{"KMP_AFFINITY", "balanced,1,0"}}).options.affinity.kind, AffinityKind::kBalanced);
}

TEST(ForeignOptions, BlankCountsAsNotGivenAndOthersAreNotLookedAt) {
  EXPECT_EQ(shown(good({{"KMP_AFFINITY", ""}, {"KMP_BLOCKTIME", " "}, {"KMP_LOCK_KIND", "?"}})), shown(good({})));
}

TEST(ForeignOptions, BadValuesAreNamedAndReplacedByTheDefault) {
  const std::pair<const char*, const char*> cases[] = {{"KMP_BLOCKTIME", "soon"},
                                                       {"KMP_BLOCKTIME", "-1"},
                                                       {"KMP_BLOCKTIME", "1 hour"},
                                                       {"GOMP_SPINCOUNT", "-5"},
                                                       {"GOMP_SPINCOUNT", "1x"},
                                                       {"GOMP_SPINCOUNT", "99999999999T"},
                                                       {"KMP_LIBRARY", "parallel"},
                                                       {"KMP_STACKSIZE", "100"},
                                                       {"KMP_STACKSIZE", "1T"},
                                                       {"GOMP_STACKSIZE", "big"},
                                                       {"KMP_SETTINGS", "maybe"},
                                                       {"KMP_WARNINGS", "7"},
                                                       {"KMP_AFFINITY", "tight"},
                                                       {"KMP_AFFINITY", "compact,"},
                                                       {"KMP_AFFINITY", "compact,scatter"},
                                                       {"KMP_AFFINITY", "compact,1,2,3"},
                                                       {"KMP_AFFINITY", "1,compact"},
                                                       {"KMP_AFFINITY", "granularity=atom,compact"},
                                                       {"KMP_AFFINITY", "explicit"},
                                                       {"KMP_AFFINITY", "proclist=[0,1"},
                                                       {"KMP_AFFINITY", "proclist=[]"},
                                                       {"KMP_AFFINITY", "none,proclist=[3]"},
                                                       {"KMP_AFFINITY", "proclist=[3],compact"},
                                                       {"KMP_ALL_THREADS", "0"},
                                                       {"KMP_DEVICE_THREAD_LIMIT", "few"},
                                                       {"KMP_AFFINITY", "proclist=[3-1]"},
                                                       {"GOMP_CPU_AFFINITY", "0-"},
                                                       {"GOMP_CPU_AFFINITY", "a"},
                                                       {"GOMP_CPU_AFFINITY", "0-3:0"},
                                                       {"GOMP_CPU_AFFINITY", "5000"},
                                                       {"GOMP_CPU_AFFINITY", "{0,1"}};
  const std::string by_default = shown(good({}));
  for (const auto& [name, value] : cases) {
    const Parsed parsed = parse({{name, value}});
    SCOPED_TRACE(std::string(name) + "=" + value);
    EXPECT_EQ(parsed.warnings.find("marline: warning: " + std::string(name) + "=\"" + value + "\""), 0u);
    EXPECT_NE(parsed.warnings.find("expected "), std::string::npos);
    EXPECT_NE(parsed.warnings.find("; using "), std::string::npos);
    EXPECT_EQ(parsed.warnings.find('\n'), parsed.warnings.size() - 1);
    EXPECT_EQ(shown(parsed.options), by_default);
    EXPECT_EQ(parsed.options.affinity.kind, AffinityKind::kPlaces);
  }
}

TEST(ForeignOptions, TheMessageNamesWhatHoldsInstead) {
  EXPECT_NE(parse({{"KMP_BLOCKTIME", "soon"}}).warnings.find("OMP_WAIT_POLICY=\"auto\", MARLINE_SPIN=\"auto\""),
            std::string::npos);
  EXPECT_NE(parse({{"GOMP_STACKSIZE", "big"}}).warnings.find("using OMP_STACKSIZE=\"auto\""), std::string::npos);
}

}  // namespace
}  // namespace marline
