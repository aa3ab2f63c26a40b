#include "launch/python/frames.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/file.h"

namespace launch {
namespace {

constexpr std::string_view kDump =
    "Process 4711: python -u train.py\n"
    "Python v3.11.2 (/usr/bin/python3.11)\n"
    "\n"
    "Thread 4800 (idle): \"loader\"\n"
    "    get (queue.py:171)\n"
    "Thread 4711 (idle): \"MainThread\"\n"
    "    wait (/usr/lib/python3.11/threading.py:320)\n"
    "    fetch (torch/utils/data/dataloader.py:1301)\n"
    "    load (/home/u/train.py:30)\n"
    "    <module> (/home/u/train.py:55)\n";

TEST(PlaceInDump, IsTheMainThreadsInnermostFrameAndTheScripts) {
  EXPECT_EQ(PlaceInDump(kDump, "src/train.py"),
            "wait (threading.py:320), called from load (train.py:30)");
  EXPECT_EQ(PlaceInDump(kDump, "other.py"), "wait (threading.py:320)");
  EXPECT_EQ(PlaceInDump(kDump, "threading.py"), "wait (threading.py:320)");
}

TEST(PlaceInDump, OfAnythingElseIsNothing) {
  for (const char* text :
       {"", "Error: Permission denied", "Thread 1 (idle): \"MainThread\"\n",
        "Thread 1 (idle): \"MainThread\"\n    no place\n    a:1 (\n", "    f (x.py:1)\n"}) {
    EXPECT_EQ(PlaceInDump(text, "x.py"), "") << text;
  }
}

class PythonFramesTest : public testing::Test {
 protected:
  PythonFramesTest() {
    char name[] = "/tmp/muster-frames-XXXXXX";
    folder_ = ::mkdtemp(name);
    loop_ = std::move(*process::EventLoop::Create(base::SystemClock()));
  }
  ~PythonFramesTest() override {
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
    (void)base::RemoveTree(folder_);
  }

  base::Environment WithProgram(const std::string& text) const {
    const std::string path = folder_ + "/py-spy";
    EXPECT_TRUE(base::WriteFileAtomic(path, text, 0755, base::Durability::kNone));
    return base::Environment({{"PATH", folder_ + ":/usr/bin:/bin"}});
  }

  std::string folder_;
  std::unique_ptr<process::EventLoop> loop_;
};

TEST_F(PythonFramesTest, AsksOfEachProcess) {
  const auto environment = WithProgram(
      "#!/bin/sh\n[ $4 = 7 ] && exit 1\n"
      "echo \"Thread $4 (idle): \\\"MainThread\\\"\"; echo \"    load (train.py:$4)\"\n");
  std::map<pid_t, std::string> places;
  PythonFrames frames(*loop_, "train.py", [&](const std::map<pid_t, std::string>& found) {
    places = found;
    loop_->Stop();
  });
  ASSERT_TRUE(frames.Ask({7, 30, 31}, environment));
  ASSERT_TRUE(loop_->Run());
  EXPECT_EQ(places,
            (std::map<pid_t, std::string>{{30, "load (train.py:30)"}, {31, "load (train.py:31)"}}));
}

TEST_F(PythonFramesTest, IsNotThereWithoutTheProgram) {
  PythonFrames frames(*loop_, "train.py", [](const auto&) { FAIL(); });
  EXPECT_FALSE(frames.Ask({1}, base::Environment({{"PATH", folder_}})));
}

TEST_F(PythonFramesTest, EndsAProgramThatIsNotWantedAnyMore) {
  const auto environment = WithProgram("#!/bin/sh\nexec sleep 1000\n");
  PythonFrames frames(*loop_, "train.py", [](const auto&) { FAIL(); });
  EXPECT_TRUE(frames.Ask({1, 2}, environment));
}

}  // namespace
}  // namespace launch
