#include "launch/flags/flags.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace launch {
namespace {

base::Result<CommandLine> ParseFlags(const std::vector<std::string>& args,
                                     std::map<std::string, std::string> variables = {}) {
  return ParseCommandLine(args, base::Environment(std::move(variables)));
}

std::string FlagRefusal(const std::vector<std::string>& args,
                        std::map<std::string, std::string> variables = {}) {
  const auto line = ParseFlags(args, std::move(variables));
  if (line) return "";
  EXPECT_EQ(line.error().code, base::Code::kInvalidArgument);
  return line.error().message;
}

TEST(ParseCommandLine, BothSpellingsAndBothForms) {
  for (const std::vector<std::string>& args :
       {std::vector<std::string>{"--nproc-per-node=4", "x.py"},
        {"--nproc_per_node=4", "x.py"},
        {"--nproc-per-node", "4", "x.py"},
        {"--nproc_per_node", "4", "x.py"},
        {"--nproc-per", "4", "x.py"}}) {
    const auto line = ParseFlags(args);
    ASSERT_TRUE(line) << line.error().message;
    EXPECT_EQ(line->Text("nproc-per-node"), "4");
    EXPECT_EQ(line->script, "x.py");
  }
}

TEST(ParseCommandLine, EveryFlagHasItsVariableAndLosesToTheCommandLine) {
  for (const FlagSpec& flag : AllFlags()) {
    if (!flag.has_variable) continue;
    std::string text = "1";
    if (!flag.choices.empty()) text = flag.choices[0];
    const auto line = ParseFlags({"x.py"}, {{VariableOf(flag), text}});
    ASSERT_TRUE(line) << flag.name << ": " << line.error().message;
    EXPECT_EQ(line->Text(flag.name), text) << flag.name;
    EXPECT_TRUE(line->IsGiven(flag.name)) << flag.name;
    if (flag.kind != FlagKind::kInteger) continue;
    const auto both =
        ParseFlags({"--" + std::string(flag.name), "7", "x.py"}, {{VariableOf(flag), text}});
    ASSERT_TRUE(both);
    EXPECT_EQ(both->Text(flag.name), "7");
  }
}

TEST(ParseCommandLine, SomeOfTorchrunsFlagsHaveNoVariable) {
  const auto line = ParseFlags({"x.py"}, {{"PET_NUMA_BINDING", "y"},
                                          {"PET_LOGS_SPECS", "y"},
                                          {"PET_USE_ENV", "y"},
                                          {"PET_PRINT_COMPLETION", "y"}});
  ASSERT_TRUE(line) << line.error().message;
  EXPECT_EQ(line->Text("numa-binding"), "");
}

TEST(ParseCommandLine, AVariableIsNotComparedWithTheChoices) {
  EXPECT_TRUE(ParseFlags({"x.py"}, {{"PET_START_METHOD", ""}}));
  EXPECT_NE(FlagRefusal({"--start-method=", "x.py"}), "");
}

TEST(ParseCommandLine, AVariableThatTheCommandLineOverridesIsNotRead) {
  EXPECT_EQ(ParseFlags({"--node-rank=1", "x.py"}, {{"PET_NODE_RANK", "x"}})->Text("node-rank"),
            "1");
  EXPECT_EQ(FlagRefusal({"x.py"}, {{"PET_NODE_RANK", "x"}}),
            "argument --node-rank (environment variable PET_NODE_RANK): invalid int value: 'x'");
  EXPECT_TRUE(ParseFlags({"--help"}, {{"PET_NODE_RANK", "x"}})->wants_help);
}

TEST(ParseCommandLine, SwitchesOfTheEnvironmentAreNumbers) {
  EXPECT_TRUE(ParseFlags({"x.py"}, {{"PET_STANDALONE", "1"}})->IsOn("standalone"));
  EXPECT_TRUE(ParseFlags({"x.py"}, {{"PET_STANDALONE", "2"}})->IsOn("standalone"));
  EXPECT_FALSE(ParseFlags({"x.py"}, {{"PET_STANDALONE", "0"}})->IsOn("standalone"));
  EXPECT_NE(FlagRefusal({"x.py"}, {{"PET_STANDALONE", "yes"}}), "");
}

TEST(ParseCommandLine, SecondVariablesComeAfterPet) {
  EXPECT_EQ(
      ParseFlags({"x.py"}, {{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "7"}})->Text("shutdown-timeout"),
      "7");
  EXPECT_EQ(
      ParseFlags({"x.py"}, {{"TORCH_ELASTIC_SHUTDOWN_TIMEOUT", "7"}, {"PET_SHUTDOWN_TIMEOUT", "8"}})
          ->Text("shutdown-timeout"),
      "8");
  EXPECT_EQ(ParseFlags({"x.py"}, {{"TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE", "[${rank}]"}})
                ->Text("log-line-prefix-template"),
            "[${rank}]");
}

TEST(ParseCommandLine, PrefixesAndShortForms) {
  EXPECT_TRUE(ParseFlags({"--stand", "x.py"})->IsOn("standalone"));
  EXPECT_EQ(ParseFlags({"--max-r", "2", "x.py"})->Text("max-restarts"), "2");
  EXPECT_EQ(ParseFlags({"--redirect=3", "x.py"})->Text("redirects"), "3");
  EXPECT_EQ(ParseFlags({"-t3", "x.py"})->Text("tee"), "3");
  EXPECT_EQ(ParseFlags({"-r", "0:1,1:2", "x.py"})->Text("redirects"), "0:1,1:2");
  EXPECT_EQ(ParseFlags({"-r=2", "x.py"})->Text("redirects"), "2");
  const auto both = ParseFlags({"-mt3", "package.module"});
  EXPECT_TRUE(both->IsOn("module"));
  EXPECT_EQ(both->Text("tee"), "3");
}

// For every long flag of torch 2.15.0, in both spellings: the shortest abbreviation that its
// argparse (Python 3.11) accepts. Each shorter one is ambiguous.
constexpr std::pair<std::string_view, std::string_view> kShortest[] = {
    {"nnodes", "nn"},
    {"nproc-per-node", "nproc-"},
    {"nproc_per_node", "nproc_"},
    {"rdzv-backend", "rdzv-b"},
    {"rdzv_backend", "rdzv_b"},
    {"rdzv-endpoint", "rdzv-e"},
    {"rdzv_endpoint", "rdzv_e"},
    {"rdzv-id", "rdzv-i"},
    {"rdzv_id", "rdzv_i"},
    {"rdzv-conf", "rdzv-c"},
    {"rdzv_conf", "rdzv_c"},
    {"standalone", "stan"},
    {"max-restarts", "max-"},
    {"max_restarts", "max_"},
    {"monitor-interval", "monitor-"},
    {"monitor_interval", "monitor_"},
    {"start-method", "start-"},
    {"start_method", "start_"},
    {"event-log-handler", "event-"},
    {"event_log_handler", "event_"},
    {"role", "ro"},
    {"module", "mod"},
    {"no-python", "no-"},
    {"no_python", "no_"},
    {"run-path", "run-"},
    {"run_path", "run_"},
    {"log-dir", "log-d"},
    {"log_dir", "log_d"},
    {"redirects", "re"},
    {"tee", "t"},
    {"log-line-prefix-template", "log-l"},
    {"log_line_prefix_template", "log_l"},
    {"local-ranks-filter", "local-r"},
    {"local_ranks_filter", "local_r"},
    {"duplicate-stdout-filters", "duplicate-stdo"},
    {"duplicate_stdout_filters", "duplicate_stdo"},
    {"duplicate-stderr-filters", "duplicate-stde"},
    {"duplicate_stderr_filters", "duplicate_stde"},
    {"node-rank", "node-"},
    {"node_rank", "node_"},
    {"master-addr", "master-a"},
    {"master_addr", "master_a"},
    {"master-port", "master-p"},
    {"master_port", "master_p"},
    {"local-addr", "local-a"},
    {"local_addr", "local_a"},
    {"logs-specs", "logs-"},
    {"logs_specs", "logs_"},
    {"numa-binding", "numa-"},
    {"numa_binding", "numa_"},
    {"signals-to-handle", "signals-"},
    {"signals_to_handle", "signals_"},
    {"shutdown-timeout", "shutdown-"},
    {"shutdown_timeout", "shutdown_"},
    {"virtual-local-rank", "virtual-"},
    {"virtual_local_rank", "virtual_"},
    {"print-completion", "print-"},
    {"print_completion", "print_"},
};

TEST(ParseCommandLine, AbbreviationsAreArgparses) {
  for (const auto& [spelling, shortest] : kShortest) {
    for (size_t size = 1; size <= spelling.size(); ++size) {
      const std::string word = "--" + std::string(spelling.substr(0, size));
      // An int, a word that every list of choices lacks, and what no switch takes.
      const std::string refusal = FlagRefusal({word + "=1", "x.py"});
      const bool is_ambiguous =
          refusal.starts_with("ambiguous option: " + word + "=1 could match ");
      EXPECT_EQ(is_ambiguous, size < shortest.size()) << word << ": " << refusal;
      EXPECT_EQ(refusal.find("unrecognized"), std::string::npos) << word << ": " << refusal;
      if (is_ambiguous) {
        EXPECT_NE((refusal + ",").find("--" + std::string(spelling) + ","), std::string::npos)
            << refusal;
      }
    }
  }
}

TEST(ParseCommandLine, PrefixesNeverStandForOurOwnFlags) {
  // --print- is --print-completion; --pr would be --preload too.
  EXPECT_TRUE(ParseFlags({"--print-", "bash"})->IsGiven("print-completion"));
  EXPECT_EQ(FlagRefusal({"--pr", "bash"}),
            "ambiguous option: --pr could match --print-completion, --print_completion");
  EXPECT_NE(FlagRefusal({"--expl", "off", "x.py"}), "");
  EXPECT_EQ(ParseFlags({"--explain", "off", "x.py"})->Text("explain"), "off");
}

TEST(ParseCommandLine, WhatFollowsTheScriptIsTheScripts) {
  const auto line = ParseFlags({"--nnodes", "1", "x.py", "--nnodes", "5", "--", "-h", "--help"});
  ASSERT_TRUE(line);
  EXPECT_EQ(line->Text("nnodes"), "1");
  EXPECT_FALSE(line->wants_help);
  EXPECT_EQ(line->script_args, (std::vector<std::string>{"--nnodes", "5", "--", "-h", "--help"}));
}

TEST(ParseCommandLine, OneDashDashAfterTheScriptIsSwallowed) {
  EXPECT_EQ(ParseFlags({"x.py", "--", "--", "a"})->script_args,
            (std::vector<std::string>{"--", "a"}));
  EXPECT_EQ(ParseFlags({"--", "x.py", "a"})->script, "x.py");
  EXPECT_EQ(ParseFlags({"--", "x.py", "--", "a"})->script_args,
            (std::vector<std::string>{"--", "a"}));
}

TEST(ParseCommandLine, Refusals) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "the following arguments are required: training_script, training_script_args"},
      {{"--nproc-per-node", "2"},
       "the following arguments are required: training_script, training_script_args"},
      {{"--nodes", "2", "x.py"}, "unrecognized arguments: --nodes (did you mean --nnodes?)"},
      {{"--no-such-flag-at-all", "x.py"}, "unrecognized arguments: --no-such-flag-at-all"},
      {{"-z", "x.py"}, "unrecognized arguments: -z"},
      {{"--rdzv", "1", "x.py"},
       "ambiguous option: --rdzv could match --rdzv-backend, --rdzv_backend, --rdzv-endpoint, "
       "--rdzv_endpoint, --rdzv-id, --rdzv_id, --rdzv-conf, --rdzv_conf"},
      {{"--nproc=2", "x.py"},
       "ambiguous option: --nproc=2 could match --nproc-per-node, --nproc_per_node"},
      {{"--nproc-per_node=2", "x.py"},
       "unrecognized arguments: --nproc-per_node=2 (did you mean --nproc-per-node?)"},
      {{"--max-restarts", "two", "x.py"}, "argument --max-restarts: invalid int value: 'two'"},
      {{"--monitor-interval", "often", "x.py"},
       "argument --monitor-interval: invalid float value: 'often'"},
      {{"--start-method", "thread", "x.py"},
       "argument --start-method: invalid choice: 'thread' (choose from 'spawn', 'fork', "
       "'forkserver')"},
      {{"--standalone=1", "x.py"}, "argument --standalone: ignored explicit argument '1'"},
      {{"--nnodes"}, "argument --nnodes: expected one argument"},
      {{"--nnodes", "--standalone", "x.py"}, "argument --nnodes: expected one argument"},
      {{"-t"}, "argument -t/--tee: expected one argument"},
  };
  for (const auto& [args, message] : cases) EXPECT_EQ(FlagRefusal(args), message);
}

TEST(ParseCommandLine, NegativeNumbersAreValues) {
  EXPECT_EQ(ParseFlags({"--shutdown-timeout", "-1", "x.py"})->Text("shutdown-timeout"), "-1");
}

TEST(ParseCommandLine, ListsHaveAWayToWriteACommma) {
  const auto line = ParseFlags({"--duplicate-stdout-filters", "loss,a,,b,", "x.py"});
  EXPECT_EQ(line->lists.find("duplicate-stdout-filters")->second,
            (std::vector<std::string>{"loss", "a,b"}));
}

TEST(HelpText, ShowsEveryFlag) {
  const std::string help = HelpText("torchrun");
  for (const FlagSpec& flag : AllFlags()) {
    EXPECT_NE(help.find("--" + std::string(flag.name)), std::string::npos) << flag.name;
  }
  size_t begin = 0;
  for (size_t end = help.find('\n'); end != std::string::npos; end = help.find('\n', begin)) {
    EXPECT_LE(end - begin, 100U) << help.substr(begin, end - begin);
    begin = end + 1;
  }
}

// Any command line is parsed or refused, and a script's arguments are unchanged.
TEST(ParseCommandLine, SurvivesAnyWords) {
  const std::vector<std::string> words = {
      "--", "-",    "--nnodes", "--tee=", "-t",       "=",   "--=",      "-m",
      "x",  "",     "--r",      "-r3",    "--module", "-hx", "--stand",  "3",
      "-3", "--no", "-mr",      "--rd=",  "--role",   "- -", "--log_dir"};
  uint32_t state = 12345;
  const auto next = [&state](size_t below) {
    state = state * 1664525 + 1013904223;
    return state / 65536 % below;
  };
  size_t parsed = 0;
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::string> args;
    for (size_t i = next(7); i > 0; --i) args.push_back(words[next(words.size())]);
    const auto line = ParseFlags(args);
    if (!line || !line->has_script) continue;
    ++parsed;
    ASSERT_LE(line->script_args.size(), args.size());
    ASSERT_TRUE(std::equal(line->script_args.rbegin(), line->script_args.rend(), args.rbegin()));
  }
  EXPECT_GT(parsed, 1000U);
}

}  // namespace
}  // namespace launch
