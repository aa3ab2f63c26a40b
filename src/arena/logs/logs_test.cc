#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "arena/logs/all_logs.h"
#include "arena/logs/log_lines.h"
#include "arena/testing/verb_test_base.h"
#include "base/strings.h"

namespace arena {
namespace {

std::string Stamp(int nanoseconds, const std::string& text) {
  return "2026-07-30T10:00:00." + std::to_string(1'000'000'000 + nanoseconds).substr(1) + "Z " +
         text + "\n";
}

TEST(LogLines, StripsTheTimestampsUnlessTheyAreWanted) {
  LogLines lines(false);
  lines.Begin();
  EXPECT_EQ(lines.Feed(Stamp(1, "a") + "2026-07-30T10"), "a\n");
  EXPECT_EQ(lines.Feed(":00:01Z b c\n2026-07-30T10:00:02Z rest"), "b c\n");
  EXPECT_EQ(lines.End(), "rest");
  EXPECT_EQ(lines.Since(), "2026-07-30T10:00:02Z");
  LogLines kept(true);
  kept.Begin();
  EXPECT_EQ(kept.Feed(Stamp(1, "a")), Stamp(1, "a"));
}

TEST(LogLines, DropsWhatCameBeforeWhenAStreamBeginsAgain) {
  LogLines lines(false);
  lines.Begin();
  EXPECT_EQ(
      lines.Feed(Stamp(1, "a") + Stamp(5, "b") + Stamp(5, "c") + Stamp(6, "half").substr(0, 20)),
      "a\nb\nc\n");
  lines.Begin();
  EXPECT_FALSE(lines.has_progress());
  EXPECT_EQ(lines.Feed(Stamp(1, "a") + Stamp(5, "b") + Stamp(5, "c")), "");
  EXPECT_FALSE(lines.has_progress());
  EXPECT_EQ(lines.Feed(Stamp(5, "d") + Stamp(6, "half")), "d\nhalf\n");
  EXPECT_TRUE(lines.has_progress());
  lines.Begin();
  EXPECT_EQ(lines.Feed(Stamp(5, "b") + Stamp(6, "half") + "2026-07-30T10:00:00.1Z later\n"),
            "later\n");
}

TEST(LogLines, ShowsWhatIsWrittenAfterTheClockWasSetBack) {
  LogLines lines(false);
  lines.ShowOpenLine();
  lines.Begin();
  EXPECT_EQ(lines.Feed(Stamp(7, "a") + Stamp(8, "b") + Stamp(2, "c") + Stamp(1, "d")),
            "a\nb\nc\nd\n");
  EXPECT_EQ(lines.Feed(Stamp(1, "half").substr(0, 34)), "hal");
  EXPECT_EQ(lines.Feed("f\n"), "f\n");
  lines.Begin();
  EXPECT_EQ(lines.Feed(Stamp(1, "d") + Stamp(1, "half") + Stamp(0, "e") + Stamp(3, "f")), "e\nf\n");
}

TEST(LogLines, ShowsNoLineTwiceThatIsLaterThanTheLast) {
  LogLines lines(false);
  lines.Begin();
  const std::string printed = Stamp(7, "a") + Stamp(8, "b") + Stamp(8, "c") + Stamp(2, "d");
  EXPECT_EQ(lines.Feed(printed), "a\nb\nc\nd\n");
  lines.Begin();
  EXPECT_EQ(lines.Feed(Stamp(7, "a") + Stamp(8, "b")), "") << "the stream breaks again";
  lines.Begin();
  EXPECT_EQ(lines.Feed(printed + Stamp(8, "e") + Stamp(1, "f")), "e\nf\n");
  lines.Begin();
  EXPECT_EQ(lines.Feed(Stamp(9, "of a new file")), "of a new file\n");
}

TEST(LogLines, ShowsNoLineTwiceBetweenTwoOfTheLastTimestamp) {
  LogLines lines(false);
  lines.Begin();
  const std::string printed = Stamp(2, "a") + Stamp(8, "b") + Stamp(2, "c");
  EXPECT_EQ(lines.Feed(printed), "a\nb\nc\n");
  lines.Begin();
  EXPECT_EQ(lines.Feed(printed + Stamp(2, "d")), "d\n");
}

TEST(LogLines, ShowsALineThatHasNoEndYetAndEachByteOnce) {
  LogLines lines(false);
  lines.ShowOpenLine();
  lines.Begin();
  EXPECT_EQ(lines.Feed("2026-07-30T10:00:0"), "");
  EXPECT_EQ(lines.Feed("0.1Z \r10%"), "\r10%");
  EXPECT_EQ(lines.Feed("\r20%"), "\r20%");
  EXPECT_TRUE(lines.has_progress());
  lines.Begin();  // the stream broke: the line comes again from its beginning
  EXPECT_EQ(lines.Feed("2026-07-30T10:00:00.1Z \r1"), "");
  EXPECT_FALSE(lines.has_progress());
  EXPECT_EQ(lines.Feed("0%\r20%\r30%"), "\r30%");
  EXPECT_EQ(lines.Feed("\r100%\n2026-07-30T10:00:00.1Z ne"), "\r100%\nne");
  EXPECT_EQ(lines.Feed("xt\n"), "xt\n");
  lines.Begin();
  EXPECT_EQ(lines.Feed("2026-07-30T10:00:00.1Z \r10%\r20%"), "");
  EXPECT_EQ(lines.Feed("\r30%\r100%\n2026-07-30T10:00:00.1Z next\n"), "");
  EXPECT_EQ(lines.Feed("2026-07-30T10:00:01Z last"), "last");
  EXPECT_EQ(lines.End(), "");
}

// Returns "<stamp> " and `pieces` pieces of 3 MiB, each made of its own letter.
std::string LongLine(std::string_view stamp, size_t pieces) {
  std::string line(stamp);
  line += ' ';
  for (size_t i = 0; i < pieces; ++i) line += std::string(3 << 20, static_cast<char>('a' + i));
  return line;
}

TEST(LogLines, OfALineTooLongToWaitForEachByteIsPassedOnOnce) {
  const std::string line = LongLine("2026-01-01T00:00:01Z", 4) + "\n";
  const std::string text = line.substr(line.find(' ') + 1);
  const std::string next = "2026-01-01T00:00:02Z next\n";
  for (const bool shows_open : {false, true}) {
    for (const size_t broken_at :
         {size_t{2} << 20, size_t{5} << 20, size_t{11} << 20, line.size()}) {
      LogLines lines(false);
      if (shows_open) lines.ShowOpenLine();
      std::string out = lines.Feed("2026-01-01T00:00:00Z first\n");
      for (size_t at = 0; at < broken_at; at += 1 << 20) {
        out += lines.Feed(
            std::string_view(line).substr(at, std::min(broken_at - at, size_t{1} << 20)));
      }
      lines.Begin();
      out += lines.Feed("2026-01-01T00:00:00Z first\n");
      for (size_t at = 0; at < line.size(); at += 1 << 20) {
        out += lines.Feed(std::string_view(line).substr(at, 1 << 20));
      }
      out += lines.Feed(next);
      EXPECT_TRUE(out == "first\n" + text + "next\n")
          << shows_open << broken_at << " " << out.size();
      lines.Begin();
      EXPECT_EQ(lines.Feed(line + next), "");
      EXPECT_EQ(lines.Feed("2026-01-01T00:00:02Z more\n"), "more\n");
    }
  }
}

TEST(LogLines, ALongLineHasItsTimestampOnce) {
  LogLines lines(true);
  const std::string line = LongLine("2026-01-01T00:00:01Z", 2);
  std::string out = lines.Feed(std::string_view(line).substr(0, 5 << 20));
  lines.Begin();
  out += lines.Feed(line) + lines.Feed("\n");
  EXPECT_TRUE(out == line + "\n") << out.size();
}

TEST(LogLines, PassesOnWhatHasNoTimestamp) {
  LogLines lines(false);
  lines.Begin();
  EXPECT_EQ(lines.Feed("plain text\n\n"), "plain text\n\n");
}

class LogsTest : public VerbTest {
 protected:
  void PutJob(const std::string& condition, const std::string& phase) {
    cluster_->Put(kJobs, MakeJob("pt", condition, std::chrono::seconds(60)));
    cluster_->Put(kPods, MakePod("pt", "master", 0, phase));
    cluster_->Put(kPods, MakePod("pt", "worker", 0, phase));
  }
  // Each answer is the instance and the query of its request.
  void Echo() {
    cluster_->on_log = [](const net::Target& target) {
      FakeLog log;
      log.body = target.segments[target.segments.size() - 2];
      for (const auto& [key, value] : target.query) log.body += " " + key + "=" + value;
      log.body += "\n";
      return log;
    };
  }
};

TEST_F(LogsTest, GoOnWhereTheServerWentAway) {
  PutJob("Running", "Running");
  std::atomic<int> asked = 0;
  cluster_->on_log = [&asked](const net::Target&) {
    FakeLog log;
    // It breaks within a line, and then before the first byte.
    constexpr const char* kBodies[] = {"one\ntw", "", "one\ntwo\nthree\n"};
    log.body = kBodies[asked];
    log.breaks = asked < 2;
    ++asked;
    return log;
  };
  const Ended ended = Run({"logs", "pt"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_EQ(ended.out, "one\ntwo\nthree\n");
  asked = 0;
  EXPECT_NE(Run({"logs", "pt", "-t", "3"}).exit_code, 0) << "the end has moved meanwhile";
  EXPECT_EQ(asked, 1);
}

TEST_F(LogsTest, OfAFailedJobAreThoseOfTheRankThatFailedFirst) {
  PutJob("Failed", "Running");
  text::Json job = MakeJob("pt", "Failed", std::chrono::seconds(60));
  text::Set(text::Find(job, {"status", "conditions"})->as_array()[0], {"reason"},
            "PyTorchJobFailed");
  cluster_->Put(kJobs, job);
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Failed"));
  Echo();
  // For Arena, the log of a job is that of its chief (compat/arena.md 2.5).
  EXPECT_TRUE(Run({"logs", "pt"}).out.starts_with("pt-master-0"));
  const Ended ended = Run({"logs", "pt"}, "muster");
  EXPECT_TRUE(ended.out.starts_with("pt-worker-0")) << ended.out;
  EXPECT_NE(
      ended.log.find("the log of pt-worker-0, which failed first; the chief's: -i pt-master-0"),
      std::string::npos)
      << ended.log;
  EXPECT_TRUE(Run({"logs", "pt", "-i", "pt-master-0"}).out.starts_with("pt-master-0"));
}

TEST_F(LogsTest, OfPodsThatAreGoneAreWhatTheOperatorHasKept) {
  text::Json job = MakeJob("pt", "Failed", std::chrono::seconds(60));
  text::Json& failed = text::Find(job, {"status", "conditions"})->as_array()[0];
  text::Set(failed, {"reason"}, "PyTorchJobFailed");
  text::Set(failed, {"message"},
            "PyTorchJob pt is failed because 1 Worker replica(s) failed. rank 1 (pt-worker-0) "
            "exited with code 1: ValueError: x\nIts last lines:\nTraceback:\nValueError: x");
  cluster_->Put(kJobs, job);
  for (const std::vector<std::string>& args : {std::vector<std::string>{"logs", "pt"},
                                               {"logs", "pt", "-i", "pt-worker-0"},
                                               {"logs", "pt", "--all"}}) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 0);
    EXPECT_EQ(ended.out, "Traceback:\nValueError: x\n");
    EXPECT_NE(ended.log.find("pt-worker-0 is gone"), std::string::npos) << ended.log;
  }
}

TEST_F(LogsTest, AnElasticJobsFirstWorkerSpeaksForIt) {
  text::Json job = MakeJob("pt", "Running", std::chrono::seconds(60));
  cluster_->Put(kJobs, job);
  for (const int index : {0, 1}) cluster_->Put(kPods, MakePod("pt", "worker", index, "Running"));
  const Ended asked = Run({"logs", "pt"});
  EXPECT_EQ(asked.exit_code, cli::kExitFailure);
  EXPECT_NE(asked.out.find("There is 2 instances have been found"), std::string::npos) << asked.out;

  text::Set(job, {"spec", "elasticPolicy"}, text::Object{{"minReplicas", 1}});
  cluster_->Put(kJobs, job);
  Echo();
  EXPECT_EQ(Run({"logs", "pt"}).out, "pt-worker-0\n");
}

TEST_F(LogsTest, PrintsTheMastersLogAsItStands) {
  PutJob("Succeeded", "Succeeded");
  Echo();
  EXPECT_EQ(Run({"logs", "pt"}).out, "pt-master-0\n");
  EXPECT_EQ(Run({"log", "pt", "-i", "pt-worker-0", "-t", "5"}).out, "pt-worker-0 tailLines=5\n");
  EXPECT_EQ(Run({"logs", "pt", "-t", "0"}, "muster").out, "pt-master-0 tailLines=0\n");
  EXPECT_EQ(Run({"logs", "pt", "-t", "0"}).out, "pt-master-0\n");
  EXPECT_EQ(Run({"logs", "pt", "--since=1h1m1s", "--timestamps", "-c", "x"}).out,
            "pt-master-0 container=x timestamps=true sinceSeconds=3661\n");
}

TEST_F(LogsTest, MistakesAreSaidInArenasWords) {
  PutJob("Running", "Running");
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"logs", "no"},
       "training job not found,please use 'arena list' to make sure job is existed"},
      {{"logs", "pt", "-i", "x"},
       "invalid instance name x in job pt,please use 'arena get pt' to make sure instance name"},
      {{"logs", "pt", "-f", "-i", "pt-worker-9"}, "invalid instance name pt-worker-9 in job pt"},
  };
  for (const auto& [args, message] : cases) {
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 1);
    EXPECT_NE(ended.log.find(message), std::string::npos) << ended.log;
  }
  const Ended since = Run({"logs", "pt", "--since", "1d"});
  EXPECT_EQ(since.exit_code, 2);
  EXPECT_NE(
      since.log.find("failed to validate log args: failed to parse since seconds,invalid format"),
      std::string::npos);
  EXPECT_NE(
      Run({"logs", "pt", "--since=0s"}).log.find("--since is invalid: it must be more than 0s"),
      std::string::npos);
  EXPECT_NE(Run({"logs", "pt", "--since=1h", "--since-time=2026-07-30T10:00:00Z"})
                .log.find("give either --since or --since-time"),
            std::string::npos);
  cluster_->Put(kJobs, MakeJob("new", "Created", std::chrono::seconds(1)));
  EXPECT_NE(Run({"logs", "new"}).log.find("not found instances of the job new"), std::string::npos);
}

TEST_F(LogsTest, AnInstanceThatDoesNotRunIsSaidToBe) {
  PutJob("Created", "Pending");
  EXPECT_NE(Run({"logs", "pt"}).log.find("instance pt-master-0 is not running"), std::string::npos);
}

TEST_F(LogsTest, FollowGoesOnAfterABreakWithoutLosingOrRepeatingALine) {
  PutJob("Running", "Running");
  int streams = 0;
  std::string last;
  cluster_->on_log = [&](const net::Target& target) {
    FakeLog log;
    EXPECT_EQ(target.Query("timestamps"), "true");
    last = target.Query("follow");
    switch (++streams) {
      case 1:
        log.body = Stamp(1, "one") + Stamp(2, "two");
        log.breaks = true;
        break;
      case 2:
        EXPECT_EQ(target.Query("sinceTime"), "2026-07-30T10:00:00Z");
        log.body = Stamp(1, "one") + Stamp(2, "two") + Stamp(3, "three");
        log.at_end = [this] { PutJob("Succeeded", "Succeeded"); };
        break;
      default:  // followed again, where the end of the job is not known yet
        log.body = Stamp(3, "three") + Stamp(4, "four");
    }
    return log;
  };
  const Ended ended = Run({"logs", "-f", "pt"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_EQ(last, "");
  EXPECT_EQ(ended.out, "one\ntwo\nthree\nfour\n");
}

TEST_F(LogsTest, FollowWaitsForAnInstanceThatDoesNotRunYet) {
  cluster_->Put(kJobs, MakeJob("pt", "Created", std::chrono::seconds(60)));
  cluster_->on_log = [&](const net::Target& target) {
    FakeLog log;
    if (target.Query("follow") == "true") {
      log.body = Stamp(1, "one");
      log.at_end = [this] { PutJob("Succeeded", "Succeeded"); };
    }
    return log;
  };
  std::jthread controller;
  bool has_begun = false;
  cluster_->refuse = [&](const net::HttpRequest& request) -> std::optional<FakeCluster::Refusal> {
    // The reflectors list the pods: now the controller starts to work.
    const bool is_list =
        request.method == "GET" && request.target.starts_with(std::string(kPods) + "?");
    if (is_list && !std::exchange(has_begun, true)) {
      controller = std::jthread([this] {
        PutJob("Created", "Pending");
        PutJob("Running", "Running");
      });
    }
    return std::nullopt;
  };
  const Ended ended = Run({"logs", "-f", "pt"});
  EXPECT_EQ(ended.out, "one\n");
  EXPECT_EQ(ended.exit_code, 0);
}

TEST_F(LogsTest, TheFirstErrorIsFoundBehindManyLines) {
  PutJob("Failed", "Failed");
  std::string body;
  for (int i = 0; i < 200'500; ++i) body += Stamp(i, "note " + std::to_string(i));
  body += Stamp(200'500, "Traceback (most recent call last):") +
          Stamp(200'501, "  File \"/w/a.py\", line 3, in f") + Stamp(200'502, "ValueError: late");
  cluster_->on_log = [&](const net::Target&) { return FakeLog{.body = body}; };
  const Ended ended = Run({"logs", "--errors", "pt"}, "muster");
  EXPECT_NE(ended.out.find("ValueError: late"), std::string::npos) << ended.out << ended.log;
  cluster_->on_log = [&](const net::Target&) { return FakeLog{.body = Stamp(1, "bye")}; };
  EXPECT_NE(Run({"logs", "--errors", "pt"}, "muster").log.find("explain pt"), std::string::npos);
}

TEST_F(LogsTest, WithoutAKnownErrorTheLastWordOfAFailureIsShown) {
  PutJob("Failed", "Failed");
  std::string words = "ERROR:root:Training failed: optimizer.lr is missing";
  cluster_->on_log = [&](const net::Target&) { return FakeLog{.body = Stamp(1, words)}; };
  EXPECT_NE(Run({"logs", "--errors", "pt"}, "muster").out.find(words), std::string::npos);
  words = "0 errors, 3 warnings";
  EXPECT_EQ(Run({"logs", "--errors", "pt"}, "muster").out, "");
}

TEST_F(LogsTest, TheFirstErrorIsOfTheLastAttempt) {
  PutJob("Failed", "Failed");
  const auto raised = [](int at, const std::string& text) {
    return Stamp(at, "Traceback (most recent call last):") +
           Stamp(at + 1, "  File \"/w/a.py\", line 3, in f") + Stamp(at + 2, text);
  };
  const std::string first = raised(1, "ValueError: first");
  const std::string restart =
      Stamp(5, "muster-launch: rank 0 (pid 7) failed, exit code 1: restart 1 of 1");
  std::string body = first + restart + raised(6, "ValueError: last");
  cluster_->on_log = [&](const net::Target&) { return FakeLog{.body = body}; };
  const std::string out = Run({"logs", "--errors", "pt"}, "muster").out;
  EXPECT_NE(out.find("ValueError: last"), std::string::npos) << out;
  EXPECT_EQ(out.find("ValueError: first"), std::string::npos) << out;
  body = first + restart + Stamp(6, "step 1");
  EXPECT_NE(Run({"logs", "--errors", "pt"}, "muster").out.find("ValueError: first"),
            std::string::npos);
}

TEST_F(LogsTest, FollowShowsWhyTheCodeDidNotCome) {
  PutJob("Failed", "Failed");
  text::Json pod = MakePod("pt", "master", 0, "Failed");
  pod.as_object()["status"].as_object()["containerStatuses"] =
      Json(R"([{"name": "pytorch", "state": {"waiting": {"reason": "PodInitializing"}}}])");
  pod.as_object()["status"].as_object()["initContainerStatuses"] =
      Json(R"([{"name": "init-code", "state": {"terminated": {"exitCode": 128}}}])");
  cluster_->Put(kPods, pod);
  cluster_->on_log = [](const net::Target& target) {
    FakeLog log;
    if (target.Query("container") == "init-code") {
      log.body = Stamp(1, "fatal: repository not found");
    } else {
      log.status = 400;
      log.body = "container \"pytorch\" is waiting to start";
    }
    return log;
  };
  EXPECT_EQ(Run({"logs", "-f", "pt"}).out, "fatal: repository not found\n");
}

// On Kubernetes, workers wait for their master in an init container.
TEST_F(LogsTest, WhileAnInitContainerRunsTheLogIsItsOwn) {
  PutJob("Created", "Running");
  text::Json pod = MakePod("pt", "worker", 0, "Pending");
  text::Set(pod, {"spec", "initContainers"}, Json(R"([{"name": "init-pytorch"}, {"name": "x"}])"));
  text::Set(pod, {"status", "containerStatuses"},
            Json(R"([{"name": "pytorch", "state": {"waiting": {"reason": "PodInitializing"}}}])"));
  text::Set(pod, {"status", "initContainerStatuses"},
            Json(R"([{"name": "init-pytorch", "state": {"running": {}}},
                     {"name": "x", "state": {"waiting": {"reason": "PodInitializing"}}}])"));
  cluster_->Put(kPods, pod);
  cluster_->on_log = [](const net::Target& target) {
    FakeLog log;
    log.body = fmt::format("log of {}\n", target.Query("container"));
    return log;
  };
  EXPECT_EQ(Run({"logs", "pt", "-i", "pt-worker-0"}).out, "log of init-pytorch\n");
  text::Set(
      pod, {"status", "initContainerStatuses"},
      Json(R"([{"name": "init-pytorch", "state": {"waiting": {"reason": "PodInitializing"}}}])"));
  cluster_->Put(kPods, pod);
  const Ended ended = Run({"logs", "pt", "-i", "pt-worker-0"});
  EXPECT_NE(ended.log.find("instance pt-worker-0 is not running"), std::string::npos) << ended.log;
}

TEST_F(LogsTest, TheDocumentsWayToAskForHelpWorks) {
  const Ended ended = Run({"logs", "--", "help"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("Usage:\n  arena logs JOB [flags]\n"), std::string::npos) << ended.out;
  EXPECT_EQ(Run({"logs", "help"}).exit_code, 1);
}

TEST(LogLines, ReportsTheLineWithoutAnEnd) {
  LogLines lines(true);
  lines.Begin();
  EXPECT_EQ(lines.OpenText(), "");
  lines.Feed("2026-07-30T10:00:00Z a\n2026-07-30T10:00:01Z 10%\r20");
  EXPECT_EQ(lines.OpenText(), "10%\r20");
  lines.Feed("%\n2026");
  EXPECT_EQ(lines.OpenText(), "");
}

TEST(MergedLines, BarsThatLookAlikeAreOne) {
  using Bars = std::vector<std::string>;
  TrainingJob job;
  job.job = *text::ParseJson(R"({"metadata": {"name": "a"}, "spec": {"pytorchReplicaSpecs":
      {"Master": {"replicas": 1}, "Worker": {"replicas": 1}}}})");
  const AllLogsRequest request{job};
  const MergedLines lines(request);
  EXPECT_EQ(lines.Bars({{"a-master-0", "\r10%|#"}, {"a-worker-0", "\r 9%|#\r12%|#"}}),
            Bars{"[0-1] 10..12%|#"});
  EXPECT_EQ(lines.Bars({{"a-master-0", "10%|##"}, {"a-worker-0", "5%|#"}}),
            (Bars{"[0] 10%|##", "[1] 5%|#"}));
  EXPECT_EQ(lines.Bars({{"a-master-0", ""}, {"a-worker-0", "5 of 7"}}), Bars{"[1] 5 of 7"});
  EXPECT_EQ(lines.Bars({{"a-master-0", " "}}), Bars{});
}

TEST(MergedLines, BarsThatALauncherReportsAreNoLines) {
  TrainingJob job;
  job.job = *text::ParseJson(R"({"metadata": {"name": "a"}, "spec": {"nprocPerNode": "2",
      "pytorchReplicaSpecs": {"Master": {"replicas": 1}}}})");
  AllLogsRequest request{job};
  request.is_raw = false;
  MergedLines lines(request);
  lines.Add("a-master-0", {"", "", "[rank1]> 40%|##\n"}, {});
  EXPECT_EQ(lines.Bars({}), std::vector<std::string>{"[1] 40%|##"});
  lines.Add("a-master-0", {"", "", "[rank1]:done\n"}, {});
  EXPECT_TRUE(lines.Bars({}).empty());
  EXPECT_EQ(lines.Take(std::nullopt), "[1] done\n");
}

TEST(MergedLines, PrefixesAreColouredByInstanceOnATerminalOnly) {
  const TrainingJob job;
  const auto printed = [&job](bool has_colours) {
    AllLogsRequest request{job};
    request.has_colours = has_colours;
    MergedLines lines(request);
    for (const char* instance : {"a", "b", "a"}) lines.Add(instance, {"", "", "x\n"}, {});
    return lines.Take(std::nullopt);
  };
  EXPECT_EQ(printed(false), "[a] x\n[b] x\n[a] x\n");
  EXPECT_EQ(printed(true), "\x1b[36m[a]\x1b[0m x\n\x1b[33m[b]\x1b[0m x\n\x1b[36m[a]\x1b[0m x\n");
}

TEST_F(LogsTest, AllInstancesAreOneLogInTheOrderOfTime) {
  PutJob("Running", "Running");
  cluster_->on_log = [](const net::Target& target) {
    EXPECT_EQ(target.Query("timestamps"), "true");
    const bool is_master = target.segments[target.segments.size() - 2] == "pt-master-0";
    FakeLog log;
    log.body = is_master ? Stamp(1, "m1") + Stamp(4, "m2") + "2026-07-30T10:00:00.000000009Z rest"
                         : Stamp(2, "w1") + Stamp(3, "w2") + Stamp(8, "w3");
    return log;
  };
  EXPECT_EQ(Run({"logs", "pt", "--all"}).out,
            "[pt-master-0] m1\n[pt-worker-0] w1\n[pt-worker-0] w2\n[pt-master-0] m2\n"
            "[pt-worker-0] w3\n[pt-master-0] rest\n");
  EXPECT_TRUE(Run({"logs", "pt", "--all", "--timestamps"})
                  .out.starts_with("[pt-master-0] 2026-07-30T10:00:00.000000001Z m1\n"));
}

TEST_F(LogsTest, AllLeavesOutInstancesThatDoNotRunAndSaysSo) {
  PutJob("Running", "Running");
  cluster_->Put(kPods, MakePod("pt", "worker", 0, "Pending"));
  Echo();
  const Ended some = Run({"logs", "pt", "--all"});
  EXPECT_EQ(some.exit_code, 0);
  EXPECT_TRUE(some.out.starts_with("[pt-master-0] pt-master-0 "));
  EXPECT_NE(some.log.find("instance pt-worker-0 is not running"), std::string::npos);
  PutJob("Created", "Pending");
  const Ended none = Run({"logs", "pt", "--all"});
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.out, "");
  EXPECT_NE(none.log.find("is not running"), std::string::npos);
  EXPECT_EQ(Run({"logs", "pt", "--all", "-i", "pt-master-0"}).exit_code, 2);
}

TEST_F(LogsTest, FollowingAllEndsWithTheJobAndJoinsInstancesThatComeAgain) {
  PutJob("Running", "Running");
  const auto end = [this](const char* type, const char* phase) {
    cluster_->Put(kPods, MakePod("pt", type, 0, phase));
  };
  std::atomic<int> master_streams{0};
  cluster_->on_log = [&](const net::Target& target) {
    const bool is_master = target.segments[target.segments.size() - 2] == "pt-master-0";
    FakeLog log;
    if (!is_master) {
      log.body = Stamp(2, "w");
      log.at_end = [&end] { end("worker", "Succeeded"); };
    } else if (++master_streams == 1) {
      log.body = Stamp(1, "m");
      log.at_end = [this, &end] {
        end("master", "Failed");
        // The controller creates the pod again.
        text::Json pod = MakePod("pt", "master", 0, "Running");
        text::Set(pod, {"metadata", "uid"}, text::Json("uid-again"));
        cluster_->Remove(kPods, "pt-master-0");
        cluster_->Put(kPods, pod);
      };
    } else {
      log.body = Stamp(1, "m") + Stamp(9, "again");
      log.at_end = [this] {
        text::Json pod = MakePod("pt", "master", 0, "Succeeded");
        text::Set(pod, {"metadata", "uid"}, text::Json("uid-again"));
        cluster_->Put(kPods, pod);
        cluster_->Put(kJobs, MakeJob("pt", "Succeeded", std::chrono::seconds(60)));
      };
    }
    return log;
  };
  const Ended ended = Run({"logs", "pt", "--all", "-f"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  std::vector<std::string> lines = base::Split(ended.out, '\n');
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (std::vector<std::string>{"", "[pt-master-0] again", "[pt-master-0] m",
                                             "[pt-worker-0] w"}));
}

TEST_F(LogsTest, FollowingAllDoesNotWaitForInstancesThatTheJobLeavesRunning) {
  PutJob("Running", "Running");
  cluster_->on_log = [&](const net::Target& target) {
    FakeLog log;
    if (target.segments[target.segments.size() - 2] == "pt-master-0") {
      log.body = Stamp(1, "m");
      log.at_end = [this] {
        cluster_->Put(kPods, MakePod("pt", "master", 0, "Succeeded"));
        cluster_->Put(kJobs, MakeJob("pt", "Succeeded", std::chrono::seconds(60)));
      };
    } else {
      log.body = Stamp(2, "w");
      log.stays_open = target.Query("follow") == "true";
    }
    return log;
  };
  const Ended ended = Run({"logs", "pt", "--all", "-f"});
  EXPECT_EQ(ended.exit_code, 0) << ended.log;
  EXPECT_NE(ended.out.find("[pt-worker-0] w\n"), std::string::npos) << ended.out;
}

}  // namespace
}  // namespace arena
