#include "local/daemon/progress/progress_keeper.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "base/clock.h"
#include "base/file.h"
#include "base/folder.h"
#include "local/node/pod/pod_spec.h"

namespace local::daemon {
namespace {

// A watch of the news that can be waited for.
class Reader : public net::Responder {
 public:
  void Send(net::HttpResponse) override {}
  void Start(int, net::Headers) override {}
  void Write(std::string chunk) override {
    const std::lock_guard lock(mutex_);
    text_ += chunk;
    changed_.notify_all();
  }
  void Finish() override {}
  void CutShort(std::string) override {}
  void Upgrade(net::Headers, std::function<void(std::string_view)>) override {}
  void Used(size_t) override {}
  size_t PendingBytes() const override { return 0; }
  void WhenTaken(size_t, std::function<void()>) override {}
  bool IsClosed() const override { return false; }
  void OnClose(std::function<void()>) override {}

  bool Await(const std::string& text) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60),
                             [&] { return text_.find(text) != std::string::npos; });
  }

  bool Has(const std::string& text) {
    const std::lock_guard lock(mutex_);
    return text_.find(text) != std::string::npos;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string text_;
};

text::Json PodIn(const char* phase) {
  return text::Object{
      {"metadata", text::Object{{"name", "a-master-0"},
                                {"namespace", "default"},
                                {"uid", "pod-1"},
                                {"labels", text::Object{{std::string(api::kJobNameLabel), "a"}}},
                                {"ownerReferences", text::Array{text::Object{{"controller", true},
                                                                             {"uid", "job-1"}}}}}},
      {"spec", text::Object{{"containers", text::Array{text::Object{{"name", "pytorch"}}}}}},
      {"status", text::Object{{"phase", phase}}}};
}

// What a pod that has ended leaves on the disk.
void WriteEnded(const std::string& folder, const std::string& line) {
  ASSERT_TRUE(base::MakeDirs(folder + "/logs/pytorch"));
  ASSERT_TRUE(base::WriteFileAtomic(folder + "/logs/pytorch/0.log",
                                    "2026-11-26T10:00:00.000000000Z stdout F " + line + "\n", 0600,
                                    base::Durability::kNone));
  node::PodReport report;
  report.uid = "pod-1";
  report.is_finished = report.has_succeeded = true;
  report.containers.emplace_back().name = "pytorch";
  report.containers.back().state.phase = node::ContainerState::Phase::kTerminated;
  ASSERT_TRUE(base::WriteFileAtomic(folder + "/status.json", text::ToJson(node::ToJson(report)),
                                    0600, base::Durability::kNone));
}

class ProgressKeeperTest : public testing::Test {
 protected:
  ~ProgressKeeperTest() override {
    keeper_.reset();
    static_cast<void>(base::RemoveTree(state_));
  }
  void Start(int64_t first_version) {
    auto keeper = ProgressKeeper::Start(files_, news_, lines_, state_, first_version);
    ASSERT_TRUE(keeper);
    keeper_ = std::move(*keeper);
    ASSERT_TRUE(news_.Handle({"GET", "/apis/muster.dev/v1/progress?watch=true", {}, ""}, reader_));
  }
  static std::string MakeFolder() {
    char folder[] = "/tmp/muster-keeper-XXXXXX";
    return ::mkdtemp(folder);
  }

  const std::string state_ = MakeFolder();
  ProgressFiles files_{state_};
  RankFiles ranks_{state_};
  ProgressNews news_{files_, ranks_, base::SystemClock()};
  LastLines lines_;
  std::unique_ptr<ProgressKeeper> keeper_;
  std::shared_ptr<Reader> reader_ = std::make_shared<Reader>();
};

TEST_F(ProgressKeeperTest, APodWhoseEndIsReportedTogetherWithItsStartIsRead) {
  Start(0);
  const text::Json waits = PodIn("Pending"), over = PodIn("Succeeded");
  keeper_->OnPod("pod-1", &waits);
  WriteEnded(state_ + "/pods/pod-1", "step 2 loss 0.25");
  keeper_->OnPod("pod-1", &over);
  EXPECT_TRUE(reader_->Await("0.25"));
}

TEST_F(ProgressKeeperTest, APodThatEndedWhileNoDaemonRanIsReadOnce) {
  Start(40);
  WriteEnded(state_ + "/pods/pod-1", "step 2 loss 0.25");
  WriteEnded(state_ + "/pods/pod-2", "step 7 loss 0.75");
  text::Json before = PodIn("Succeeded"), late = PodIn("Succeeded");
  text::Set(before, {"metadata", "resourceVersion"}, text::Json("40"));
  text::Set(before, {"metadata", "uid"}, text::Json("pod-2"));
  text::Set(late, {"metadata", "resourceVersion"}, text::Json("41"));
  keeper_->OnPod("pod-2", &before);
  keeper_->OnPod("pod-1", &late);
  EXPECT_TRUE(reader_->Await("0.25"));
  EXPECT_FALSE(reader_->Has("0.75")) << "an earlier daemon has read it";
}

}  // namespace
}  // namespace local::daemon
