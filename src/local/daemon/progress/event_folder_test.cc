#include "local/daemon/progress/event_folder.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "local/daemon/progress/event_files.h"
#include "local/daemon/progress/testing/event_record.h"

namespace local::daemon {
namespace {

class EventFolderTest : public testing::Test {
 protected:
  EventFolderTest() {
    char folder[] = "/tmp/muster-events-XXXXXX";
    folder_ = ::mkdtemp(folder);
    std::filesystem::create_directories(folder_ + "/runs/first");
  }
  ~EventFolderTest() override { static_cast<void>(base::RemoveTree(folder_)); }

  void Write(const std::string& text, std::ios::openmode mode = std::ios::app) {
    std::ofstream(folder_ + "/runs/first/events.out.tfevents.1.host", std::ios::binary | mode)
        << text;
  }
  // So many seconds after the start.
  void SetChanged(const std::string& path, int64_t seconds) {
    const timeval at{kRunStart / 1000 + seconds, 0};
    const timeval times[] = {at, at};
    ASSERT_EQ(::utimes(path.c_str(), times), 0);
  }
  // As many files as a look reads, without events.
  void WriteOthers(int64_t seconds) {
    std::filesystem::create_directories(folder_ + "/runs/other");
    for (size_t i = 0; i < kMostEventFiles; ++i) {
      const std::string path =
          fmt::format("{}/runs/other/events.out.tfevents.1.host{}", folder_, i);
      std::ofstream(path).flush();
      SetChanged(path, seconds);
    }
  }
  // The steps of the events that a look finds.
  std::vector<int64_t> Look(EventFolder& events) {
    std::vector<int64_t> steps;
    events.Look(now_,
                [&](const std::string& file, runs::Millis at, const runs::ScalarEvent& event) {
                  EXPECT_EQ(file, "runs/first/events.out.tfevents.1.host");
                  at_ = at;
                  EXPECT_EQ(event.scalars.at(0).first, "loss");
                  steps.push_back(event.step);
                });
    return steps;
  }

  std::string folder_;
  runs::Millis now_ = kRunStart + 10'000;
  runs::Millis at_ = 0;  // of the last event
};

TEST_F(EventFolderTest, ReadsOnWhereTheLastLookEnded) {
  EventFolder events(folder_, kRunStart);
  EXPECT_TRUE(Look(events).empty());
  Write(EventRecord(1, 0.5F) + EventRecord(2, 0.4F).substr(0, 9));
  EXPECT_EQ(Look(events), std::vector<int64_t>{1});
  Write(EventRecord(2, 0.4F).substr(9) + EventRecord(3, 0.3F));
  EXPECT_EQ(Look(events), (std::vector<int64_t>{2, 3}));
  EXPECT_TRUE(Look(events).empty());
}

TEST_F(EventFolderTest, AFileThatIsRewrittenIsReadAnewAndADamagedOneNoFurther) {
  EventFolder events(folder_, kRunStart);
  Write(EventRecord(1, 0.5F) + EventRecord(2, 0.4F));
  EXPECT_EQ(Look(events).size(), 2u);
  Write(EventRecord(7, 0.5F, 3), std::ios::trunc);
  EXPECT_EQ(Look(events), std::vector<int64_t>{7});
  // Also if it is longer than it was, as by another program of the same name.
  std::string longer;
  for (char step = 1; step < 9; ++step) longer += EventRecord(step, 0.5F, 4);
  Write(longer, std::ios::trunc);
  EXPECT_EQ(Look(events).size(), 8u);
  Write("no record at all, and longer than a head" + EventRecord(8, 0.5F));
  EXPECT_TRUE(Look(events).empty());
  Write(EventRecord(9, 0.5F));
  EXPECT_TRUE(Look(events).empty());
}

TEST_F(EventFolderTest, AFileThatWasCutIsNotCountedTwice) {
  EventFolder events(folder_, kRunStart);
  EXPECT_TRUE(Look(events).empty());
  const std::string first = EventRecord(1, 0.5F, 1) + EventRecord(2, 0.4F, 2);
  Write(first + EventRecord(3, 0.3F, 3));
  EXPECT_EQ(Look(events).size(), 3u);
  Write(first, std::ios::trunc);
  EXPECT_TRUE(Look(events).empty());
  Write(EventRecord(4, 0.3F, 4));
  EXPECT_EQ(Look(events), std::vector<int64_t>{4});
}

TEST_F(EventFolderTest, WhatEarlierRunsHaveLeftIsNotOfThisOne) {
  Write(EventRecord(1, 0.5F, -1000) + EventRecord(2, 0.5F, 1));
  EventFolder events(folder_, kRunStart);
  EXPECT_EQ(Look(events), std::vector<int64_t>{2});
  // Or are copied with the code while it starts.
  EventFolder copied(folder_ + "/new", kRunStart);
  std::filesystem::create_directories(folder_ + "/new");
  EXPECT_TRUE(Look(copied).empty());
  std::filesystem::rename(folder_ + "/runs", folder_ + "/new/runs");
  EXPECT_EQ(Look(copied), std::vector<int64_t>{2});
  std::filesystem::rename(folder_ + "/new/runs", folder_ + "/runs");
  // What comes later does count, whatever the time that it claims.
  Write(EventRecord(3, 0.5F, -1000));
  EXPECT_EQ(Look(events), std::vector<int64_t>{3});
  EXPECT_EQ(at_, now_);
}

TEST_F(EventFolderTest, TimesThatCannotBeAreThoseOfTheLook) {
  EventFolder events(folder_, kRunStart);
  Look(events);
  Write(EventRecord(1, 0.5F, 5));
  Look(events);
  EXPECT_EQ(at_, kRunStart + 5000);
  for (const double seconds : {-7200.0, 7200.0, 1e10, -1.764e9}) {
    Write(EventRecord(1, 0.5F, seconds));
    EXPECT_EQ(Look(events).size(), 1u);
    EXPECT_EQ(at_, now_) << seconds;
  }
  // The clock of the machine is set back by an hour.
  now_ -= 3'600'000;
  Write(EventRecord(1, 0.5F, 11 - 3600));
  EXPECT_EQ(Look(events).size(), 1u);
  EXPECT_EQ(at_, kRunStart + 11'000 - 3'600'000);
}

TEST_F(EventFolderTest, ManyFilesOfEarlierRunsHideNoneOfThisOne) {
  WriteOthers(-3600);
  EventFolder events(folder_, kRunStart);
  EXPECT_TRUE(Look(events).empty());
  Write(EventRecord(1, 0.5F));
  EXPECT_EQ(Look(events), std::vector<int64_t>{1});
}

TEST_F(EventFolderTest, OfManyFilesThoseThatChangedLastAreRead) {
  WriteOthers(5);
  EventFolder events(folder_, kRunStart);
  EXPECT_TRUE(Look(events).empty());
  Write(EventRecord(1, 0.5F));
  SetChanged(folder_ + "/runs/first/events.out.tfevents.1.host", 6);
  EXPECT_EQ(Look(events), std::vector<int64_t>{1});
  // What was read once is not read again when it is among them again.
  WriteOthers(7);
  Write(EventRecord(2, 0.5F));
  SetChanged(folder_ + "/runs/first/events.out.tfevents.1.host", 6);
  EXPECT_TRUE(Look(events).empty());
  Write(EventRecord(3, 0.5F));
  EXPECT_EQ(Look(events), (std::vector<int64_t>{2, 3}));
}

TEST_F(EventFolderTest, LinksAndOtherFilesAreLeftAlone) {
  Write(EventRecord(1, 0.5F));
  std::filesystem::create_symlink(folder_ + "/runs", folder_ + "/link");
  std::filesystem::create_symlink("/dev/zero", folder_ + "/events.out.tfevents.2.host");
  std::ofstream(folder_ + "/notes.txt") << EventRecord(5, 0.5F);
  EventFolder events(folder_, kRunStart);
  EXPECT_EQ(Look(events), std::vector<int64_t>{1});
}

}  // namespace
}  // namespace local::daemon
