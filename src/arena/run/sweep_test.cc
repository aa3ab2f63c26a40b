#include "arena/run/sweep.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "arena/run/sweep_files.h"
#include "arena/run/sweep_pod.h"
#include "arena/run/sweep_runner.h"
#include "arena/run/sweep_table.h"
#include "base/file.h"
#include "base/strings.h"

namespace arena {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> Labels(const std::vector<std::string>& sweeps, size_t max = kMaxTrials) {
  const auto trials = ReadSweep(sweeps, max);
  if (!trials) return {trials.error().message};
  std::vector<std::string> labels;
  for (const TrialValues& values : *trials) labels.push_back(TrialLabel(values));
  return labels;
}
using Lines = std::vector<std::string>;

class SweepTest : public testing::Test {
 protected:
  SweepTest() {
    char path[] = "/tmp/muster-sweep-XXXXXX";
    folder_ = ::mkdtemp(path);
    fs::create_directories(folder_ + "/files");
    environment_.Set("PATH", "/usr/bin:/bin");
  }
  ~SweepTest() override { fs::remove_all(folder_); }
  std::string Write(const std::string& name, std::string_view content) {
    EXPECT_TRUE(base::WriteFileAtomic(folder_ + name, content, 0644, base::Durability::kNone));
    return folder_ + name;
  }
  // Returns the exit code; `out_` is what the sweep printed.
  int RunAll(const std::vector<Trial>& trials, int64_t parallel = 2) {
    Write("/sweep.jsonl", ToText(trials));
    cli::StringOutput out;
    const auto code = RunTrials(folder_, parallel, environment_, out);
    out_ = out.text();
    EXPECT_TRUE(code) << code.error().message;
    return code.value_or(-1);
  }
  std::string Read(const std::string& name) const {
    return base::ReadFile(folder_ + name).value_or("nothing");
  }

  std::string folder_, out_;
  base::Environment environment_{std::map<std::string, std::string>{}};
};

TEST_F(SweepTest, ValuesRangesAndFilesAreMultiplied) {
  EXPECT_EQ(Labels({"lr=0.1,0.01", "seed=1..2"}),
            Lines({"lr=0.1 seed=1", "lr=0.1 seed=2", "lr=0.01 seed=1", "lr=0.01 seed=2"}));
  EXPECT_EQ(Labels({"x=-1..1"}), Lines({"x=-1", "x=0", "x=1"}));
  const std::string grid =
      Write("/grid.jsonl", "{\"lr\": 0.1, \"name\": \"a b\"}\n\n{\"lr\": 1e-3}\n");
  EXPECT_EQ(Labels({"@" + grid, "k=z"}), Lines({"lr=0.1 name=a b k=z", "lr=0.001 k=z"}));
}

TEST_F(SweepTest, BadSweepsAreNamed) {
  const std::pair<std::string, const char*> cases[] = {
      {"lr", "it should be like lr=0.1,0.01"},
      {"=1", "it should be like lr=0.1,0.01"},
      {"a-b=1", "it should be like lr=0.1,0.01"},
      {"lr=", "a value is empty"},
      {"lr=1,,2", "a value is empty"},
      {"seed=3..1", "the range ends before it begins"},
      {"lr=0.1..0.5", "a range stands alone and has whole numbers"},
      {"seed=1..3,7", "a range stands alone and has whole numbers"},
      {"i=1..10001", "more than 10000 trials"},
      {"i=-9223372036854775808..9223372036854775807", "more than 10000 trials"},
      {"@" + folder_ + "/absent", "No such file"},
      {"@" + Write("/list", "[1]\n"), "line 1 is not a JSON object"},
      {"@" + Write("/deep", "{}\n{\"a\": [1]}\n"), "line 2: \"a\" should be a name"},
      {"@" + Write("/empty", "\n"), "the file has no line"}};
  for (const auto& [sweep, why] : cases) {
    EXPECT_NE(Labels({sweep}).at(0).find(why), std::string::npos) << sweep << Labels({sweep}).at(0);
  }
  EXPECT_NE(Labels({"a=1", "a=2"}).at(0).find("two sweeps"), std::string::npos);
  EXPECT_EQ(Labels({"i=1..10001"}, 0).size(), 10'001u) << "--large";
}

TEST_F(SweepTest, NamesInBracesAreReplaced) {
  const TrialValues values = {{"lr", "0.1"}, {"seed", "2"}};
  EXPECT_EQ(Substituted({"t.py", "--lr={lr}", "{seed}{seed}", "{}", "${lr}", "{a b}", "{"}, values)
                .value(),
            Lines({"t.py", "--lr=0.1", "22", "{}", "${lr}", "{a b}", "{"}));
  const auto unknown = Substituted({"{rate}"}, values);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "{rate} in the command: no --sweep has that name");
}

TEST_F(SweepTest, WhatLooksLikeAValueOfASweepIsFound) {
  EXPECT_EQ(UnsweptName({"t.py", "--lr", "{lr}"}), "lr");
  EXPECT_EQ(UnsweptName({"t.py", "--lr={lr}"}), "lr");
  EXPECT_EQ(UnsweptName({"python t.py --lr {lr} >log"}), "lr");
  for (const char* other :
       {"{}", "${lr}", "a{b}", "{\"a\":1}", "{ print $1 }", "{1}", "f={}", ""}) {
    EXPECT_EQ(UnsweptName({"t.py", other}), "") << other;
  }
}

TEST_F(SweepTest, ResultsAreReadBackAndTornLinesLeftOut) {
  TrialResult result;
  result.index = 3;
  result.exit_code = 137;
  result.last_line = "a \"b\"";
  result.metrics = {{"loss", 0.5}, {"bad", std::nan("")}, {"up", HUGE_VAL}};
  const std::string line = ToLine(result);
  const auto read = ParseResults("{\"index\": 1, \"exi\n" + line + line.substr(0, 20));
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read.at(3).exit_code, 137);
  EXPECT_EQ(read.at(3).last_line, "a \"b\"");
  EXPECT_EQ(read.at(3).metrics.at("loss"), 0.5);
  EXPECT_TRUE(std::isnan(read.at(3).metrics.at("bad")));
  EXPECT_EQ(read.at(3).metrics.at("up"), HUGE_VAL);
}

TEST_F(SweepTest, TrialsOfAFileMayHaveDifferentNames) {
  const std::vector<TrialRow> rows = {{{0, {{"lr", "0.1"}, {"name", "a"}}, ""}, {}},
                                      {{1, {{"name", "b"}, {"seed", "3"}}, ""}, {}}};
  std::vector<std::string> words;
  for (const std::string& word : base::Split(RenderTrials(rows, {}).value(), '\n')) {
    for (const std::string& cell : base::Split(word, ' ')) {
      if (!cell.empty()) words.push_back(cell);
    }
  }
  EXPECT_EQ(base::Join(words, " "),
            "TRIAL lr name seed STATUS EXIT DURATION 0 0.1 a - PENDING - - 1 - b 3 PENDING - -");
}

TEST_F(SweepTest, TheLogOfAnotherClusterHasTheResults) {
  const std::string log =
      "[lr=0.1] trial ended: {\"index\": 9, \"values\": {}}\n"
      "trial ended: {\"index\": 1, \"values\": {\"name\": \"a b\", \"lr\": \"2\"}, "
      "\"exitCode\": 7, \"metrics\": {\"loss\": \"nan\", \"acc\": 1}, \"started\": 1000, "
      "\"ended\": 2500, \"lastLine\": \"why\"}\n"
      "trial ended: {\"index\": 0, \"values\": {\"name\": \"c\", \"lr\": \"3\"}, "
      "\"exitCode\": 1}\n"
      "trial ended: {\"index\": 0, \"values\": {\"name\": \"c\", \"lr\": \"3\"}, "
      "\"exitCode\": 0}\n"
      "trial ended: {\"index\": 2, \"val\n2 of 3 trials ended, 1 of them failed\n";
  const std::vector<TrialRow> rows = TrialsOfLog(log);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].result->exit_code, 0);
  EXPECT_EQ(rows[1].trial.values, (TrialValues{{"name", "a b"}, {"lr", "2"}}));
  EXPECT_EQ(rows[1].result->ended, 2500);
  EXPECT_EQ(rows[1].result->metrics.at("acc"), 1);
  EXPECT_TRUE(std::isnan(rows[1].result->metrics.at("loss")));
  EXPECT_EQ(FailedGrid(rows).value(), "{\"name\":\"a b\",\"lr\":\"2\"}\n");
}

TEST_F(SweepTest, EachTrialHasItsOwnVariablesAndFolder) {
  environment_.Set("CUDA_VISIBLE_DEVICES", "4,5,6,7");
  const std::string command =
      "echo $SWEEP_LR $SWEEP_INDEX $CUDA_VISIBLE_DEVICES; echo loss $SWEEP_LR; "
      "touch $MUSTER_RUN_DIR/made; test -n \"$MASTER_PORT\"";
  EXPECT_EQ(RunAll({{0, {{"lr", "1"}}, command}, {1, {{"lr", "2"}}, command}}), 0);
  EXPECT_NE(out_.find("[lr=1] 1 0 4,5\n"), std::string::npos) << out_;
  EXPECT_NE(out_.find("[lr=2] 2 1 6,7\n"), std::string::npos) << out_;
  EXPECT_EQ(Read("/files/trials/1/log"), "2 1 6,7\nloss 2\n");
  EXPECT_TRUE(fs::exists(folder_ + "/files/trials/0/files/made"));
  const auto best = RenderTrials(*ReadTrials(folder_), {"loss", true});
  ASSERT_TRUE(best) << best.error().message;
  EXPECT_EQ(best->substr(best->find('\n') + 1, 1), "1") << *best;
  const auto unknown = RenderTrials(*ReadTrials(folder_), {"acc", false});
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("no trial has printed it; there are loss"),
            std::string::npos)
      << unknown.error().message;
}

TEST_F(SweepTest, AFailedTrialIsNamedAndTheOthersGoOn) {
  EXPECT_EQ(RunAll({{0, {{"a", "x"}}, "exit 0"},
                    {1, {{"a", "y"}}, "echo why; exit 7"},
                    {2, {{"a", "z"}}, "kill -9 $$"},
                    {3, {{"a", "w"}}, "exit 0"}},
                   1),
            7);
  EXPECT_NE(out_.find("4 of 4 trials ended, 2 of them failed\n  a=y exited with code 7: why\n"
                      "  a=z exited with code 137"),
            std::string::npos)
      << out_;
  EXPECT_EQ(FailedGrid(*ReadTrials(folder_)).value(), "{\"a\":\"y\"}\n{\"a\":\"z\"}\n");
}

TEST_F(SweepTest, WhatHasEndedIsNotRunAgain) {
  const std::string command = "echo run >>" + folder_ + "/count$SWEEP_INDEX";
  const std::vector<Trial> trials = {{0, {{"a", "x"}}, command}, {1, {{"a", "y"}}, command}};
  Write("/files/trials.jsonl", ToLine({0, 0, 1, 2, "", {}}));
  EXPECT_EQ(RunAll(trials), 0);
  EXPECT_EQ(RunAll(trials), 0);
  EXPECT_EQ(Read("/count0"), "nothing") << "it had ended well";
  EXPECT_EQ(Read("/count1"), "run\n");
}

TEST_F(SweepTest, ALineThatACrashCutShortHidesNoLaterResult) {
  const std::vector<Trial> trials = {{0, {{"a", "x"}}, "exit 0"}, {1, {{"a", "y"}}, "exit 0"}};
  Write("/files/trials.jsonl", ToLine({0, 0, 1, 2, "", {}}) + "{\"index\": 1, \"ex");
  EXPECT_EQ(RunAll(trials), 0);
  EXPECT_EQ(ParseResults(Read("/files/trials.jsonl")).size(), 2u);
}

// Processes that a trial leaves behind do not hold up the sweep.
TEST_F(SweepTest, ADescendantThatKeepsTheOutputOpenIsNotWaitedFor) {
  EXPECT_EQ(RunAll({{0, {{"a", "x"}}, "setsid sleep 30 & echo $! >" + folder_ + "/pid"}}), 0);
  const auto pid = base::ParseInt(base::Trim(Read("/pid")));
  if (pid) ::kill(static_cast<pid_t>(*pid), SIGKILL);
  EXPECT_TRUE(ParseResults(Read("/files/trials.jsonl")).contains(0));
}

TEST_F(SweepTest, AStoppedTrialIsRunAgainNextTime) {
  const std::string command = "touch " + folder_ + "/up; exec sleep 30";
  Write("/sweep.jsonl", ToText({{0, {{"a", "x"}}, command}, {1, {{"a", "y"}}, "exit 0"}}));
  const pid_t child = ::fork();
  if (child == 0) {
    cli::StringOutput out;
    const auto code = RunTrials(folder_, 1, environment_, out);
    ::_exit(code.value_or(99));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!fs::exists(folder_ + "/up")) {
    ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    std::this_thread::yield();
  }
  ::kill(child, SIGTERM);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(WEXITSTATUS(status), 143);
  EXPECT_EQ(Read("/files/trials.jsonl"), "");
}

}  // namespace
}  // namespace arena
