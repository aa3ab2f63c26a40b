#include "local/daemon/progress/progress_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/strings.h"
#include "local/daemon/progress/progress_keeper.h"
#include "local/daemon/progress/progress_page.h"

namespace local::daemon {
namespace {

class ProgressFilesTest : public testing::Test {
 protected:
  ProgressFilesTest() {
    char folder[] = "/tmp/muster-progress-XXXXXX";
    state_ = ::mkdtemp(folder);
  }
  ~ProgressFilesTest() override { static_cast<void>(base::RemoveTree(state_)); }

  static runs::LineProgress Step(int64_t step) {
    runs::LineProgress progress;
    progress.step = step;
    progress.scalars = {{"loss", 0.5}};
    return progress;
  }

  std::string state_;
};

TEST_F(ProgressFilesTest, WhatWasReportedIsThereForTheNextDaemon) {
  {
    ProgressFiles files(state_);
    files.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  }
  ProgressFiles files(state_);
  EXPECT_EQ(files.LastOf("job-1", "log of a"), 5000);
  EXPECT_FALSE(files.LastOf("job-1", "log of b"));
  const text::Json json = files.Of("job-1", 10);
  EXPECT_EQ(text::GetInt(json.at("sources").as_array().at(0), {"step"}), 7);
  EXPECT_EQ(json.at("series").as_array().size(), 1u);
  EXPECT_FALSE(json.as_object().contains("steps"));
  EXPECT_EQ(text::ToJson(files.Of("job-1", 10, true).at("steps").at("points")), "[[5000,7,0]]");
  files.Close("job-1");
  EXPECT_EQ(files.Of("job-1", 10), json);
  EXPECT_TRUE(files.OfRunning().at("items").as_array().empty());
}

TEST_F(ProgressFilesTest, ItGoesWithTheRun) {
  ProgressFiles files(state_);
  files.Note("gone", "a", 5000, Step(7), std::nullopt);
  files.Note("there", "a", 5000, Step(7), std::nullopt);
  files.Write();
  files.ForgetUnless([](const std::string& uid) { return uid == "there"; });
  EXPECT_TRUE(files.Of("gone", 10).at("sources").as_array().empty());
  EXPECT_EQ(files.Of("there", 10).at("sources").as_array().size(), 1u);
  EXPECT_NE(::access((state_ + "/progress/gone").c_str(), F_OK), 0);
}

TEST_F(ProgressFilesTest, AUidIsNoPath) {
  ProgressFiles files(state_);
  for (const char* uid : {"", "../x", "a/b", "."}) {
    files.Note(uid, "a", 5000, Step(7), std::nullopt);
    EXPECT_TRUE(files.Of(uid, 10).at("sources").as_array().empty());
  }
  files.Write();
  EXPECT_TRUE(base::EntriesOf(state_ + "/progress").empty());
}

TEST_F(ProgressFilesTest, ThePageAnswersForOneAndForThoseThatRun) {
  ProgressFiles files(state_);
  RankFiles ranks(state_);
  files.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  ranks.Note("job-1", {runs::RankSample()});
  net::HttpRequest request;
  request.method = "GET";
  request.target = "/muster/progress";
  EXPECT_EQ(
      text::ParseJson(AnswerProgress(files, ranks, request)->body)->at("items").as_array().size(),
      1u);
  request.target = "/muster/progress?uid=job-1&points=0";
  EXPECT_TRUE(text::ParseJson(AnswerProgress(files, ranks, request)->body)
                  ->at("series")
                  .as_array()
                  .empty());
  request.target = "/muster/progress?uid=job-1&ranks=100";
  EXPECT_EQ(
      text::ParseJson(AnswerProgress(files, ranks, request)->body)->at("ranks").as_array().size(),
      1u);
  for (const char* wrong : {"points=many", "ranks=-1", "ranks=1x"}) {
    request.target = std::string("/muster/progress?uid=job-1&") + wrong;
    EXPECT_EQ(AnswerProgress(files, ranks, request)->status, 400) << wrong;
  }
  request.target = "/muster/progresses";
  EXPECT_FALSE(AnswerProgress(files, ranks, request));
}

// What a watch is sent.
class Watcher : public net::Responder {
 public:
  void Send(net::HttpResponse response) override { text += response.body; }
  void Start(int, net::Headers) override {}
  void Write(std::string chunk) override { text += chunk; }
  void Finish() override {}
  void CutShort(std::string) override { is_cut = true; }
  void Upgrade(net::Headers, std::function<void(std::string_view)>) override {}
  void Used(size_t) override {}
  size_t PendingBytes() const override { return unread; }
  void WhenTaken(size_t, std::function<void()>) override {}
  bool IsClosed() const override { return is_cut; }
  void OnClose(std::function<void()>) override {}

  // The events since the last call.
  std::vector<text::Json> Take() {
    std::vector<text::Json> events;
    for (const std::string& line : base::Split(std::exchange(text, ""), '\n')) {
      if (!line.empty()) events.push_back(*text::ParseJson(line));
    }
    return events;
  }

  std::string text;
  size_t unread = 0;
  bool is_cut = false;
};

class ProgressNewsTest : public ProgressFilesTest {
 protected:
  std::shared_ptr<Watcher> Ask(const std::string& target) {
    auto watcher = std::make_shared<Watcher>();
    EXPECT_TRUE(news_.Handle({"GET", target, {}, ""}, watcher));
    return watcher;
  }

  ProgressFiles files_{state_};
  RankFiles ranks_{state_};
  base::FakeClock clock_{base::Time(std::chrono::hours(400'000))};
  ProgressNews news_{files_, ranks_, clock_};
};

TEST_F(ProgressNewsTest, AWatchBeginsWithAllAndGetsWhatChanges) {
  files_.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  const auto watcher = Ask("/apis/muster.dev/v1/progress?watch=true");
  const auto first = watcher->Take();
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(text::GetString(first[0], {"object", "uid"}), "job-1");
  news_.Publish();  // what it has already
  watcher->Take();
  news_.Publish();
  EXPECT_TRUE(watcher->Take().empty());
  files_.Note("job-1", "log of a", 6000, Step(8), std::nullopt);
  files_.Note("job-1", "log of a", 6100, Step(9), std::nullopt);
  news_.Publish();
  const auto news = watcher->Take();
  ASSERT_EQ(news.size(), 1u) << "both are told together";
  const text::Array* sources = text::FindArray(news[0], {"object", "sources"});
  ASSERT_NE(sources, nullptr);
  EXPECT_EQ(text::GetInt(sources->at(0), {"step"}), 9);
  files_.Close("job-1");
  news_.Publish();
  const auto last = watcher->Take();
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(text::GetString(last[0], {"type"}), "DELETED");
}

TEST_F(ProgressNewsTest, NewLooksAtRanksAreAnnouncedWithoutThem) {
  const auto watcher = Ask("/apis/muster.dev/v1/progress?watch=true");
  ranks_.Note("job-1", {runs::RankSample()});
  news_.Publish();
  const auto news = watcher->Take();
  ASSERT_EQ(news.size(), 1u);
  EXPECT_EQ(text::GetBool(news[0], {"object", "hasLooks"}), true);
  EXPECT_EQ(text::FindArray(news[0], {"object", "sources"}), nullptr);
  // What the ranks use on average comes along.
  EXPECT_TRUE(text::Find(news[0], {"object", "busy", "cpu"})->is_null());
  runs::RankSample one, other;
  one.cpu = 50;
  other.cpu = 100;
  files_.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  ranks_.Note("job-1", {one, other});
  news_.Publish();
  const auto with_step = watcher->Take();
  ASSERT_EQ(with_step.size(), 1u);
  EXPECT_NE(text::FindArray(with_step[0], {"object", "sources"}), nullptr);
  EXPECT_EQ(text::ToJson(*text::Find(with_step[0], {"object", "busy", "cpu"})), "0.75");
}

TEST_F(ProgressNewsTest, VersionsGrowAndAListHasTheLast) {
  const auto version_of = [](const text::Json& json) {
    return *base::ParseInt(text::GetString(json, {"metadata", "resourceVersion"}));
  };
  files_.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  const auto watcher = Ask("/apis/muster.dev/v1/progress?watch=true");
  news_.Publish();
  const int64_t listed = version_of(Ask("/apis/muster.dev/v1/progress")->Take().at(0));
  files_.Note("job-1", "log of a", 6000, Step(8), std::nullopt);
  watcher->Take();
  news_.Publish();
  EXPECT_GT(version_of(*text::Find(watcher->Take().at(0), {"object"})), listed);
}

TEST_F(ProgressNewsTest, AWatchFromBeforeAnEndThatNobodyWasSentIsExpired) {
  const auto watch_from = [this](const text::Json& list) {
    const std::string version(text::GetString(list, {"metadata", "resourceVersion"}));
    return Ask("/apis/muster.dev/v1/progress?watch=true&resourceVersion=" + version)->Take();
  };
  files_.Note("job-1", "log of a", 5000, Step(7), std::nullopt);
  files_.Note("job-2", "log of b", 5000, Step(7), std::nullopt);
  news_.Publish();
  const text::Json listed = Ask("/apis/muster.dev/v1/progress")->Take().at(0);
  EXPECT_EQ(watch_from(listed).size(), 2u);
  files_.Close("job-1");
  news_.Publish();
  const auto refused = watch_from(listed);
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(text::GetInt(refused[0], {"code"}), 410);
  const auto after = watch_from(Ask("/apis/muster.dev/v1/progress")->Take().at(0));
  ASSERT_EQ(after.size(), 1u);
  EXPECT_EQ(text::GetString(after[0], {"object", "uid"}), "job-2");
}

TEST_F(ProgressNewsTest, AWatchThatDoesNotReadIsEnded) {
  const auto watcher = Ask("/apis/muster.dev/v1/progress?watch=true");
  watcher->unread = kMostUnreadNews + 1;
  files_.Note("job-1", "log of a", 6000, Step(8), std::nullopt);
  news_.Publish();
  EXPECT_TRUE(watcher->is_cut);
  EXPECT_TRUE(watcher->Take().empty());
  EXPECT_FALSE(news_.Handle({"GET", "/apis/muster.dev/v1/progresses", {}, ""}, watcher));
}

TEST(ReadProgressPod, IsOfAJobAndRuns) {
  const auto pod = [](const char* phase, const char* owner) {
    return *text::ParseJson(std::string(R"({"metadata": {"name": "a-master-0", "uid": "p",
        "labels": {"training.kubeflow.org/job-name": "a"},
        "ownerReferences": [{"uid": ")") +
                            owner + R"(", "controller": true}]},
        "spec": {"containers": [{"name": "side"}, {"name": "pytorch"}]},
        "status": {"phase": ")" +
                            phase + "\"}}");
  };
  const auto read = ReadProgressPod(pod("Running", "job-1"));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->job_uid, "job-1");
  EXPECT_EQ(read->container, "pytorch");
  EXPECT_FALSE(ReadProgressPod(pod("Pending", "job-1")));
  EXPECT_FALSE(ReadProgressPod(pod("Running", "")));
}

}  // namespace
}  // namespace local::daemon
