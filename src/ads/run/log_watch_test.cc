#include "ads/run/log_watch.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ads {
namespace {

const base::Time kMidnight = *base::ParseRfc3339("2026-01-01T00:00:00Z");

oci::JobRun RunOf(std::string id, std::string mode, std::string rank) {
  oci::JobRun run;
  run.id = std::move(id);
  run.name = "named";
  run.log_id = "log";
  run.accepted = kMidnight;
  run.environment = text::Object{{"OCI__MODE", mode}, {"RANK", rank}};
  return run;
}

// Runs that end at given times, and lines that arrive late.
class ModelledRuns final : public RunSource {
 public:
  explicit ModelledRuns(base::Clock& clock) : clock_(clock) {}

  base::Result<oci::JobRun> Look(const std::string& run_id) override {
    if (clock_.Now() < runs_are_back) return base::Fail(away);
    oci::JobRun run = RunOf(run_id, "WORKER", "1");
    const bool is_over = clock_.Now() >= ends;
    run.state = is_over ? last_state : "IN_PROGRESS";
    if (!is_over && !steps.empty()) {
      const auto second = std::chrono::floor<std::chrono::seconds>(clock_.Now() - kMidnight);
      run.details = steps[std::min(static_cast<size_t>(second.count() / 5), steps.size() - 1)];
    }
    if (is_over) run.finished = ends;
    return run;
  }
  base::Result<std::vector<oci::LogLine>> Read(const oci::JobRun& run, base::Time from,
                                               base::Time to) override {
    if (failures > 0) {
      --failures;
      return base::Fail(base::Code::kNotFound, "no log now");
    }
    if (clock_.Now() < logs_are_back) return base::Fail(base::Code::kUnavailable, "no network");
    std::vector<oci::LogLine> found;
    for (const oci::LogLine& line : lines) {
      const bool is_there = clock_.Now() >= line.time + lateness;
      if (line.id.starts_with(run.id) && line.time >= from && line.time <= to && is_there) {
        found.push_back(line);
      }
    }
    return found;
  }

  base::Time ends = kMidnight + std::chrono::seconds(10);
  std::string last_state = "SUCCEEDED";
  std::vector<oci::LogLine> lines;
  std::vector<std::string> steps;  // lifecycleDetails, each for five seconds
  base::Duration lateness{};
  int failures = 0;
  base::Time runs_are_back = kMidnight, logs_are_back = kMidnight;
  base::Error away{base::Code::kTimeout, "no network", 0};

 private:
  base::Clock& clock_;
};

class RunWatchTest : public testing::Test {
 protected:
  base::Result<int> FollowAll(std::vector<oci::JobRun> runs,
                              std::chrono::seconds wait = std::chrono::seconds(90)) {
    RunWatch watch(
        source_, std::move(runs),
        {std::chrono::seconds(3), wait, [this](base::Duration pause) { clock_.Advance(pause); }},
        clock_, out_, err_);
    return watch.Follow();
  }
  void Say(std::string id, int second) {
    source_.lines.push_back({id, kMidnight + std::chrono::seconds(second), "said " + id});
  }

  base::FakeClock clock_{kMidnight};
  ModelledRuns source_{clock_};
  cli::StringOutput out_, err_;
};

TEST_F(RunWatchTest, PrintsLinesThatComeLateBeforeTheLastState) {
  Say("a1", 1);
  Say("a2", 9);
  source_.lateness = std::chrono::seconds(60);
  EXPECT_EQ(*FollowAll({RunOf("a", "MAIN", "0")}), 0);
  EXPECT_EQ(out_.text(),
            "2026-01-01 00:00:00 - Job Run IN_PROGRESS\n"
            "2026-01-01 00:00:01 - said a1\n"
            "2026-01-01 00:00:09 - said a2\n"
            "2026-01-01 00:00:10 - Job Run SUCCEEDED\n");
}

TEST_F(RunWatchTest, PrintsWhatTheServiceDoesMeanwhile) {
  source_.steps = {"Infrastructure provisioning.", "Job run bootstrap starting."};
  EXPECT_EQ(*FollowAll({RunOf("a", "MAIN", "0")}), 0);
  EXPECT_EQ(out_.text().substr(0, out_.text().rfind("No logs")),
            "2026-01-01 00:00:00 - Job Run IN_PROGRESS, Infrastructure provisioning.\n"
            "2026-01-01 00:00:06 - Job Run IN_PROGRESS, Job run bootstrap starting.\n"
            "2026-01-01 00:00:10 - Job Run SUCCEEDED\n");
}

TEST_F(RunWatchTest, MergesRunsByTimeUnderTheirRoles) {
  Say("a1", 2);
  Say("b1", 1);
  source_.last_state = "FAILED";
  EXPECT_EQ(*FollowAll({RunOf("a", "MAIN", "0"), RunOf("b", "WORKER", "1")}), 1);
  EXPECT_NE(out_.text().find("[worker_0] 2026-01-01 00:00:01 - said b1\n"
                             "[main] 2026-01-01 00:00:02 - said a1\n"),
            std::string::npos)
      << out_.text();
}

TEST_F(RunWatchTest, ToleratesTwentyErrorsOfTheLog) {
  Say("a1", 1);
  source_.failures = 20;
  EXPECT_TRUE(FollowAll({RunOf("a", "MAIN", "0")}));
  EXPECT_NE(out_.text().find("said a1"), std::string::npos);
  source_.failures = 21;
  source_.ends = clock_.Now() + std::chrono::hours(1);
  EXPECT_EQ(FollowAll({RunOf("a", "MAIN", "0")}).error().message, "no log now");
}

TEST_F(RunWatchTest, OutlivesNineMinutesWithoutANetwork) {
  Say("a1", 1);
  Say("a2", 9);
  source_.runs_are_back = source_.logs_are_back = kMidnight + std::chrono::minutes(9);
  EXPECT_EQ(*FollowAll({RunOf("a", "MAIN", "0"), RunOf("b", "WORKER", "1")}), 0);
  EXPECT_NE(out_.text().find("said a1\n"), std::string::npos);
  EXPECT_EQ(err_.text(),
            "Data Science: no network; retrying for 10 minutes; the runs continue\n"
            "Data Science: available again\n");
}

TEST_F(RunWatchTest, WaitsForTheLogOfRunsThatHaveEnded) {
  Say("a1", 1);
  source_.logs_are_back = kMidnight + std::chrono::minutes(9);
  EXPECT_EQ(*FollowAll({RunOf("a", "MAIN", "0")}), 0);
  EXPECT_NE(out_.text().find("said a1\n"), std::string::npos);
  EXPECT_EQ(err_.text(),
            "Logging: no network; retrying for 10 minutes; the runs continue\n"
            "Logging: available again\n");
}

TEST_F(RunWatchTest, DoesNotWaitForTheLogOfARunThatHadEndedOrIfThatIsNotWanted) {
  source_.logs_are_back = kMidnight + std::chrono::hours(9);
  source_.ends = kMidnight - std::chrono::hours(1);
  EXPECT_EQ(*FollowAll({RunOf("a", "MAIN", "0")}), 0);
  EXPECT_EQ(clock_.Now(), kMidnight);
  EXPECT_EQ(out_.text(), "2025-12-31 23:00:00 - Job Run SUCCEEDED\n");
  EXPECT_EQ(err_.text(), "Logging: no network; lines of the log are missing\n");
  source_.ends = kMidnight + std::chrono::seconds(10);
  EXPECT_EQ(*FollowAll({RunOf("a", "MAIN", "0")}, std::chrono::seconds(0)), 0);
  EXPECT_EQ(clock_.Now(), kMidnight + std::chrono::seconds(12));
}

TEST_F(RunWatchTest, GivesUpAfterTenMinutesAndAtOnceWhereWaitingDoesNotHelp) {
  source_.runs_are_back = kMidnight + std::chrono::hours(9);
  EXPECT_EQ(FollowAll({RunOf("a", "MAIN", "0")}).error().message,
            "Data Science: nothing for 600 s: no network");
  EXPECT_EQ(clock_.Now(), kMidnight + std::chrono::minutes(10));
  source_.away = {base::Code::kNotFound, "gone", 0};
  EXPECT_EQ(FollowAll({RunOf("a", "MAIN", "0")}).error().message, "gone");
  source_.away = {base::Code::kCancelled, "interrupted", 0};
  EXPECT_EQ(FollowAll({RunOf("a", "MAIN", "0")}).error().code, base::Code::kCancelled);
}

TEST(ExitCodeOf, IsTheContainersOwn) {
  const auto code = [](std::string state, std::string details) {
    oci::JobRun run;
    run.state = std::move(state);
    run.details = std::move(details);
    return ExitCodeOf(run);
  };
  EXPECT_EQ(code("SUCCEEDED", "exit code 3"), 0);
  EXPECT_EQ(code("FAILED", "Job run artifact execution failed with Exit Code 42."), 42);
  EXPECT_EQ(code("FAILED", "exit code 0"), 1);
  EXPECT_EQ(code("FAILED", "exit code 99999"), 1);
  EXPECT_EQ(code("CANCELED", ""), 1);
}

TEST(RoleOf, IsTheRunsPlaceInItsCluster) {
  EXPECT_EQ(RoleOf(RunOf("a", "MAIN", "0")), "main");
  EXPECT_EQ(RoleOf(RunOf("a", "WORKER", "2")), "worker_1");
  EXPECT_EQ(RoleOf(RunOf("a", "PS", "")), "named");
}

}  // namespace
}  // namespace ads
