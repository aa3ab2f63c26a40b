#include "answers/stall/stall.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace answers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Python 3.11 writes such a dump.
constexpr const char* kInAllReduce =
    "Thread 0x00007f1 (most recent call first):\n"
    "  File \"/usr/lib/python3.11/threading.py\", line 320 in wait\n"
    "  File \"/usr/lib/python3.11/threading.py\", line 995 in _bootstrap\n"
    "\n"
    "Current thread 0x00007f2 (most recent call first):\n"
    "  File \"/opt/torch/distributed/distributed_c10d.py\", line 1536 in all_reduce\n"
    "  File \"/opt/torch/distributed/c10d_logger.py\", line 75 in wrapper\n"
    "  File \"/home/me/train.py\", line 88 in step\n"
    "  File \"/home/me/train.py\", line 99 in <module>\n";
constexpr const char* kAsleep =
    "Current thread 0x00007f2 (most recent call first):\n"
    "  File \"/home/me/loader.py\", line 31 in load\n"
    "  File \"/home/me/train.py\", line 99 in <module>\n";
constexpr const char* kInBarrier =
    "Current thread 0x00007f2 (most recent call first):\n"
    "  File \"/usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py\", line 30 in "
    "barrier\n"
    "  File \"/home/me/train.py\", line 12 in <module>\n";

std::string Source(std::string_view, int) { return "  time.sleep(60)  "; }

class Story {
 public:
  explicit Story(int world, bool is_whole = true) : watch_(seconds(3), is_whole, world) {
    for (int rank = 0; rank < world; ++rank)
      looks_.push_back({rank, 100 + rank, false, false, {'S'}});
  }
  // The answers of the ranks' recorders.
  std::map<int, std::string>& traces() { return traces_; }
  // Whether an answer is late.
  bool& lacks_traces() { return lacks_traces_; }
  // Ranks with other threads or processes that want a processor.
  std::set<int>& with_work() { return with_work_; }
  // Ranks whose recorder gives no usable answer.
  std::set<int>& mute() { return mute_; }
  bool& has_silent_pods() { return has_silent_pods_; }
  bool& awaits_pods() { return awaits_pods_; }
  std::map<int, KernelSleep>& kernel() { return kernel_; }
  RankLook& operator[](size_t rank) { return looks_[rank]; }
  std::vector<RankLook>& looks() { return looks_; }

  // Lets `count` seconds pass in which the ranks in `busy` do something. Returns how often the
  // watch asked for dumps.
  int Pass(int count, const std::vector<size_t>& busy, const std::map<int, std::string>& dumps) {
    int asked = 0;
    for (int i = 0; i < count; ++i) {
      now_ += seconds(1);
      for (const size_t rank : busy) looks_[rank].activity.ticks += 90;
      if (!watch_.See(now_, looks_)) continue;
      ++asked;
      watch_.Judge(now_,
                   {dumps, traces_, lacks_traces_, mute_, has_silent_pods_, with_work_,
                    awaits_pods_, kernel_},
                   Source);
    }
    return asked;
  }
  bool IsPartial() const { return watch_.stall() && watch_.stall()->is_partial; }
  std::string Said() const { return watch_.stall() ? Say(*watch_.stall(), now_) : ""; }

 private:
  StallWatch watch_;
  std::map<int, std::string> traces_;
  bool lacks_traces_ = false;
  std::set<int> with_work_;
  std::set<int> mute_;
  bool has_silent_pods_ = false;
  bool awaits_pods_ = false;
  std::map<int, KernelSleep> kernel_;
  std::vector<RankLook> looks_;
  StallWatch::Instant now_{};
};

TEST(Stall, ARankThatDoesNotEndWithTheOthersIsNamed) {
  constexpr const char* kInExit =
      "Current thread 0x00007f2 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/threading.py\", line 1590 in _shutdown\n";
  Story story(3);
  story.Pass(3, {}, {});
  story[0].has_ended = story[2].has_ended = true;
  story.Pass(5, {1}, {{1, kInExit}});
  EXPECT_EQ(story.Said(), "") << "it works";
  story.Pass(9, {}, {{1, kInExit}});
  EXPECT_EQ(story.Said(), "") << "it may only be slow";
  story.Pass(6, {}, {{1, kInExit}});
  EXPECT_EQ(story.Said().substr(story.Said().find(": ") + 2),
            "rank 1 has not ended, and the others have; it is at threading.py:1590");
  EXPECT_EQ(story.Said().substr(0, 8), "waiting ") << "what it does may be meant";
  story[1].has_ended = true;
  story.Pass(1, {}, {});
  EXPECT_EQ(story.Said(), "");
}

TEST(Stall, NamesTheRankThatIsMissingAndItsLine) {
  Story story(2);
  EXPECT_EQ(story.Pass(3, {}, {}), 0);
  EXPECT_EQ(story.Pass(1, {}, {{0, kInAllReduce}, {1, kAsleep}}), 1);
  EXPECT_EQ(story.Said(),
            "stalled 3 s: rank 1 has not entered all_reduce (train.py:88); it is at loader.py:31: "
            "time.sleep(60)");
}

// The program may be another one here, or at another place.
TEST(Stall, ALineOfAnotherMachineIsReadThere) {
  const auto read = [](std::string_view file, int line) {
    return fmt::format("\t{}:{}\x1b.wait()", file, line);
  };
  const std::string there = LineOfDump(kAsleep, read);
  EXPECT_EQ(there, "/home/me/loader.py:31?.wait()");
  EXPECT_EQ(LineOfDump("", read), "");
  StallWatch watch(seconds(3), true, 2);
  const std::vector<RankLook> looks = {{0, 100, false, false, {'S'}},
                                       {1, 101, false, false, {'S'}}};
  StallWatch::Instant now{};
  watch.See(now, looks);
  now += seconds(3);
  ASSERT_TRUE(watch.See(now, looks));
  StallWatch::Testimony testimony;
  testimony.dumps = {{0, kInAllReduce}, {1, kAsleep}};
  testimony.lines = {{1, there}};
  watch.Judge(now, testimony, Source);
  ASSERT_TRUE(watch.stall());
  EXPECT_NE(watch.stall()->text.find("rank 1 is in wait (loader.py:31)"), std::string::npos);
  testimony.lines = {{1, "step()"}};
  watch.Judge(now, testimony, Source);
  ASSERT_TRUE(watch.stall());
  EXPECT_TRUE(watch.stall()->text.ends_with("it is at loader.py:31: step()"));
}

TEST(Stall, WhoseStacksAreTooLongToBeSentIsNotSaidToHang) {
  StallWatch watch(seconds(3), true, 2);
  const std::vector<RankLook> looks = {{0, 100, false, false, {'S'}},
                                       {1, 101, false, false, {'S'}}};
  StallWatch::Instant now{};
  watch.See(now, looks);
  now += seconds(30);
  ASSERT_TRUE(watch.See(now, looks));
  StallWatch::Testimony testimony;
  testimony.dumps = {{0, kInAllReduce}};
  testimony.cut = {1};
  watch.Judge(now, testimony, Source);
  ASSERT_TRUE(watch.stall());
  EXPECT_EQ(watch.stall()->kind, Stall::Kind::kWaiting);
  EXPECT_TRUE(watch.stall()->text.ends_with("; it has stacks that are too long to be sent"));
}

TEST(Stall, WhoWorksLittleWhileItIsAskedAgainAndAgainIsNotHung) {
  Story story(2);
  story.lacks_traces() = true;
  for (int second = 0; second < 9; ++second) {
    story[1].activity.switches += 8;  // of a busy machine it gets little
    story[1].activity.ticks += 4;
    story[1].activity.dumped += second < 3 ? 0 : 900;
    story.Pass(1, {}, {{0, kInAllReduce}, {1, kAsleep}});
    EXPECT_EQ(story.Said(), "") << second;
  }
}

TEST(Stall, ThoseWhoWorkAreNotAsked) {
  Story story(2);
  EXPECT_EQ(story.Pass(600, {0, 1}, {}), 0);
  // In each step one rank waits for a moment.
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(story.Pass(2, {0}, {}), 0);
    EXPECT_EQ(story.Pass(1, {0, 1}, {}), 0);
  }
  EXPECT_EQ(story.Said(), "");
}

TEST(Stall, SlowIsNotHung) {
  Story story(2);
  const std::map<int, std::string> dumps = {{0, kInBarrier}, {1, kAsleep}};
  story.Pass(9, {1}, dumps);
  EXPECT_EQ(story.Said(), "");
  story.Pass(15, {1}, dumps);
  EXPECT_TRUE(story.Said().starts_with("waiting 2")) << story.Said();
  EXPECT_NE(story.Said().find("rank 1 has not entered barrier (train.py:12); it is busy at "
                              "loader.py:31"),
            std::string::npos)
      << story.Said();
}

TEST(Stall, IsOverWhenWhoWaitedGoesOn) {
  Story story(2);
  const std::map<int, std::string> dumps = {{0, kInBarrier}, {1, kAsleep}};
  story.Pass(6, {}, dumps);
  EXPECT_NE(story.Said(), "");
  story.Pass(1, {1}, dumps);
  EXPECT_NE(story.Said(), "");  // rank 0 still waits
  story.Pass(1, {0, 1}, dumps);
  EXPECT_EQ(story.Said(), "");
}

TEST(Stall, ToAskDoesNotCountAsProgress) {
  Story story(2);
  const std::map<int, std::string> dumps = {{0, kInBarrier}, {1, kAsleep}};
  story.Pass(4, {}, dumps);
  for (const size_t rank : {0, 1}) {
    story[rank].activity.dumped += 900;
    story[rank].activity.switches += 1;
    story[rank].activity.transfers += 30;
  }
  story.Pass(1, {}, dumps);
  story[0].activity.switches += 1;  // a moment later
  story.Pass(2, {}, dumps);
  EXPECT_TRUE(story.Said().starts_with("stalled 6 s")) << story.Said();
}

// The launcher in a pod and the daemon outside of it watch the same ranks, each once a second: what
// one asks disturbs the other.
TEST(Stall, TwoWatchesOfTheSameRanksDelayEachOtherByAMoment) {
  for (const int apart : {0, 1, 5, 9}) {  // tenths of a second
    std::vector<RankLook> looks{{0, 100, false, false, {'S'}}, {1, 101, false, false, {'S'}}};
    StallWatch launcher(seconds(3), true, 2), daemon(seconds(3), true, 2);
    const std::chrono::steady_clock::time_point begin{};
    const auto look = [&](StallWatch& watch, std::chrono::steady_clock::time_point now) {
      if (!watch.See(now, looks)) return;
      for (RankLook& rank : looks) {
        rank.activity.dumped += 900;
        rank.activity.switches += 8;
        rank.activity.transfers += 30;
      }
      StallWatch::Testimony testimony;
      testimony.dumps = {{0, kInBarrier}, {1, kAsleep}};
      watch.Judge(now, testimony, Source);
    };
    std::optional<int> first, last;
    for (int tenth = 0; tenth < 200 && !last; ++tenth) {
      const auto now = begin + std::chrono::milliseconds(100 * tenth);
      if (tenth % 10 == 0) look(launcher, now);
      if (tenth % 10 == apart) look(daemon, now);
      if (!first && (launcher.stall() || daemon.stall())) first = tenth;
      if (launcher.stall() && daemon.stall()) last = tenth;
    }
    EXPECT_LE(first.value_or(999), 40) << apart;
    EXPECT_LE(last.value_or(999), 60) << apart;
  }
}

// The daemon samples each rank every five seconds to know how the job spends its time.
TEST(Stall, WhoIsAskedByOthersIsJudgedOnceItHasSettled) {
  const std::map<int, std::string> dumps = {{0, kInBarrier}, {1, kAsleep}};
  for (const int moment : {0, 1, 2, 3, 4}) {
    Story story(2);
    int second = 0;
    bool is_asked = false;
    for (; second < 20 && story.Said().empty(); ++second) {
      if (second % 5 == moment || is_asked) {
        for (const size_t rank : {0, 1}) {
          story[rank].activity.dumped += 900;
          story[rank].activity.switches += 8;
          story[rank].activity.transfers += 30;
        }
      }
      is_asked = story.Pass(1, {}, dumps) > 0;
    }
    EXPECT_LE(second, 5) << moment;
  }
}

TEST(Stall, AskedSeldomerAndSeldomer) {
  Story story(2);
  EXPECT_LE(story.Pass(3600, {}, {{0, kInBarrier}, {1, kAsleep}}), 66);
}

TEST(Stall, AStoppedRankIsSaidToBeStopped) {
  Story story(2);
  story[1].activity.state = 'T';
  story.Pass(4, {}, {{0, kInBarrier}});
  EXPECT_EQ(story.Said(),
            "stalled 3 s: rank 1 has not entered barrier (train.py:12); it is stopped by a signal: "
            "kill -CONT 101 lets it go on");
}

TEST(Stall, ARankThatIsDone) {
  Story story(2);
  story[1].has_ended = true;
  story.Pass(4, {}, {{0, kInAllReduce}});
  EXPECT_EQ(story.Said(),
            "stalled 3 s: rank 1 has not entered all_reduce (train.py:88); it has ended with exit "
            "code 0");
}

TEST(Stall, ARankThatHasNotStarted) {
  Story story(3);
  story.looks().pop_back();
  story.Pass(4, {}, {{0, kInBarrier}, {1, kInBarrier}});
  EXPECT_EQ(story.Said(),
            "stalled 3 s: rank 2 has not entered barrier (train.py:12); it has not started");
}

TEST(Stall, ARankThatIsNoPythonNeedNotHaveFailedToStart) {
  Story story(3);
  story.looks().pop_back();
  story.has_silent_pods() = true;
  story.Pass(5, {}, {{0, kInBarrier}, {1, kInBarrier}});
  EXPECT_EQ(story.Said(), "") << "it may be at work";
  story.Pass(10, {}, {{0, kInBarrier}, {1, kInBarrier}});
  EXPECT_EQ(story.Said().substr(0, 8), "waiting ");
  EXPECT_EQ(
      story.Said().substr(story.Said().find(": ") + 2),
      "rank 2 has not entered barrier (train.py:12); it runs no Python that says where it is");
}

const KernelSleep kOnThread{201, "waits for another thread (futex_do_wait)"};
const KernelSleep kSleeps{202, "sleeps (hrtimer_nanosleep)", true};

TEST(Stall, WhatTheKernelKnowsIsSaidWhereNoRankIsPython) {
  Story story(3);
  story.kernel() = {{0, kOnThread}, {1, kSleeps}, {2, kOnThread}};
  story.Pass(10, {}, {});
  EXPECT_EQ(story.Said(), "");
  story.Pass(1, {}, {});
  EXPECT_EQ(story.Said(),
            "waiting 10 s: no rank does anything, and none runs Python that says where it is: rank "
            "1 (pid 202): sleeps (hrtimer_nanosleep); ranks 0, 2: each waits for another thread "
            "(futex_do_wait)");
  story.Pass(1, {2}, {});
  EXPECT_EQ(story.Said(), "") << "it goes on";
}

TEST(Stall, WhoMayJustRestOrWaitForAGpuIsNotSaidToHang) {
  const auto said = [](const std::map<int, KernelSleep>& kernel, const std::vector<size_t>& busy,
                       const std::set<int>& with_work = {}) {
    Story story(2);
    story.kernel() = kernel;
    story.with_work() = with_work;
    story.Pass(60, busy, {});
    return story.Said();
  };
  EXPECT_NE(said({{0, kOnThread}, {1, kOnThread}}, {}), "");
  EXPECT_EQ(said({{0, kSleeps}, {1, kSleeps}}, {}), "");
  KernelSleep serves = kOnThread;
  serves.is_server = true;
  EXPECT_EQ(said({{0, kOnThread}, {1, serves}}, {}), "") << "rank 0 may work for rank 1's clients";
  EXPECT_EQ(said({{0, kOnThread}}, {}), "") << "nobody knows what rank 1 waits for";
  EXPECT_EQ(said({{0, kOnThread}, {1, kOnThread}}, {1}), "");
  EXPECT_EQ(said({{0, kOnThread}, {1, kOnThread}}, {}, {1}), "");
  Story story(2);
  story.kernel() = {{0, kOnThread}, {1, kOnThread}};
  for (int i = 0; i < 60; ++i) {
    ++story[1].activity.switches;
    story.Pass(1, {}, {});
    EXPECT_EQ(story.Said(), "") << "rank 1 polls for something";
  }
}

TEST(Stall, ARankThatIsNoPythonIsNotKilledForThoseThatWaitForIt) {
  Story story(2);
  story.kernel() = {{1, kOnThread}};
  story.Pass(13, {}, {{0, kInBarrier}});
  EXPECT_EQ(story.Said(),
            "waiting 12 s: rank 1 has not entered barrier (train.py:12); it runs no Python that "
            "says where it is, and waits for another thread (futex_do_wait)");
}

TEST(Stall, ARankWhosePodIsStillToStartIsNotHung) {
  for (const bool has_silent_pods : {false, true}) {
    Story story(3);
    story.looks().pop_back();
    story.awaits_pods() = true;
    story.has_silent_pods() = has_silent_pods;
    story.Pass(15, {}, {{0, kInBarrier}, {1, kInBarrier}});
    EXPECT_TRUE(story.Said().starts_with("waiting ")) << story.Said();
    EXPECT_TRUE(story.Said().ends_with(
        ": rank 2 has not entered barrier (train.py:12); it has not started"))
        << story.Said();
  }
}

TEST(Stall, BeginsWhenTheLastProcessHasBegun) {
  Story story(2);
  story.awaits_pods() = true;
  const RankLook late = story.looks().back();
  story.looks().pop_back();
  story.Pass(40, {}, {{0, kInAllReduce}});
  EXPECT_TRUE(story.Said().starts_with("waiting 39 s: rank 1 has not entered")) << story.Said();
  story.awaits_pods() = false;
  story.looks().push_back(late);
  story.Pass(1, {1}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(story.Said(), "") << "it has just begun";
  story.Pass(6, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_TRUE(story.Said().starts_with("stalled 6 s: rank 1 has not entered")) << story.Said();
  story[1].pid = 300;
  story.Pass(1, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(story.Said(), "") << "its process is another one";
}

TEST(Stall, ARankThatStartsAgainAndAgainIsWhatTheOthersWaitFor) {
  const std::map<int, std::string> dumps = {{0, kInAllReduce}, {1, kInAllReduce}, {2, kAsleep}};
  Story story(3);
  story.Pass(1, {}, dumps);
  for (int i = 0; i < 8; ++i) {
    ++story[2].pid;
    story.Pass(1, {2}, dumps);
    const bool is_said = !story.Said().empty();
    EXPECT_EQ(is_said, i >= 6) << i << story.Said();  // ten seconds after the second that counts
    story.Pass(2, {2}, dumps);
  }
  EXPECT_NE(story.Said().find("rank 2 has not entered all_reduce (train.py:88); it starts again "
                              "and again, and is busy at loader.py:31"),
            std::string::npos)
      << story.Said();
  // Once the others go on, what was is forgotten.
  story.Pass(1, {0, 1, 2}, dumps);
  story.Pass(5, {2}, dumps);
  ++story[2].pid;
  story.Pass(6, {2}, dumps);
  EXPECT_EQ(story.Said(), "");
}

TEST(RankToKill, IsAMissingOneThatRuns) {
  const std::vector<RankLook> looks = {{0, 100}, {1, 101}, {2, 102, true}, {3, 103}};
  const auto kill = [&looks](std::vector<int> waiting, std::vector<int> missing) {
    Stall stall;
    stall.waiting = std::move(waiting);
    stall.missing = std::move(missing);
    return RankToKill(stall, looks);
  };
  EXPECT_EQ(kill({0, 3}, {1}), 1);
  EXPECT_EQ(kill({0}, {1, 3}), 1);
  EXPECT_EQ(kill({0, 1}, {}), 0) << "they wait for each other";
  EXPECT_EQ(kill({0, 1}, {2}), std::nullopt) << "it has ended";
  EXPECT_EQ(kill({0, 1}, {4}), std::nullopt) << "it has not started";
  EXPECT_EQ(kill({0}, {1, 2}), std::nullopt) << "the end of rank 1 would not bring rank 2 back";
  EXPECT_EQ(kill({}, {}), std::nullopt);
}

TEST(RankToKill, IsNobodyWhoHasDoneSomethingBetweenTwoLooks) {
  const std::vector<RankLook> before = {{0, 100, false, false, {'S', 5, 6, 7, 8}},
                                        {1, 101, false, false, {'S', 5, 6, 7, 8}},
                                        {2, 102, false, false, {'S', 5, 6, 7, 8}}};
  const auto kill = [&before](auto change) {
    Stall stall;
    stall.waiting = {0};
    stall.missing = {1, 2};
    std::vector<RankLook> now = before;
    change(now[2]);
    return RankToKill(stall, before, now);
  };
  EXPECT_EQ(kill([](RankLook&) {}), 1);
  EXPECT_EQ(kill([](RankLook& look) { look.activity.ticks += 3; }), 1) << "as an idle rank does";
  EXPECT_EQ(kill([](RankLook& look) { look.activity.ticks += 90; }), std::nullopt);
  EXPECT_EQ(kill([](RankLook& look) { look.activity.switches += 5; }), std::nullopt);
  EXPECT_EQ(kill([](RankLook& look) { ++look.activity.transfers; }), std::nullopt);
  EXPECT_EQ(kill([](RankLook& look) { ++look.activity.dumped; }), std::nullopt) << "it was asked";
  EXPECT_EQ(kill([](RankLook& look) { look.activity.state = 'R'; }), std::nullopt);
  EXPECT_EQ(kill([](RankLook& look) { ++look.pid; }), std::nullopt) << "another process";
  EXPECT_EQ(kill([](RankLook& look) { look.rank = 9; }), std::nullopt) << "it is not seen now";
}

TEST(Stall, WhoPollsForTheOthersBeforeTheyHaveMetWaits) {
  constexpr const char* kPolls =
      "Current thread 0x1 (most recent call first):\n"
      "  File \"/opt/torch/distributed/rendezvous.py\", line 7 in _create_c10d_store\n"
      "  File \"/opt/torch/distributed/distributed_c10d.py\", line 9 in init_process_group\n"
      "  File \"/home/me/train.py\", line 5 in <module>\n";
  for (const bool has_met : {false, true}) {
    Story story(2);
    story[0].may_poll = story[1].may_poll = !has_met;
    for (int second = 0; second < 6; ++second) {
      story[0].activity.switches += 100;
      story[0].activity.transfers += 8;  // it looks the host's name up again
      story[0].activity.ticks += 2;
      story.Pass(1, {}, {{0, kPolls}, {1, kAsleep}});
    }
    if (has_met) {
      EXPECT_EQ(story.Said(), "") << "it goes on";
      continue;
    }
    EXPECT_NE(story.Said().find("rank 1 has not entered init_process_group (train.py:5); it is at "
                                "loader.py:31"),
              std::string::npos)
        << story.Said();
    EXPECT_TRUE(story.Said().starts_with("stalled"));
    story[0].may_poll = story[1].may_poll = false;
    story[0].activity.switches += 100;
    story.Pass(1, {1}, {});
    EXPECT_EQ(story.Said(), "");
  }
}

// torch 1.13 does so at the end of init_process_group and of new_group.
TEST(Stall, WhoPollsInAStoreBasedBarrierWaits) {
  const std::string polls =
      "Current thread 0x1 (most recent call first):\n"
      "  File \"/opt/torch/distributed/distributed_c10d.py\", line 332 in _store_based_barrier\n"
      "  File \"/opt/torch/distributed/distributed_c10d.py\", line 786 in init_process_group\n"
      "  File \"/home/me/train.py\", line 5 in <module>\n";
  const std::string connects =
      "Current thread 0x1 (most recent call first):\n"
      "  File \"/opt/torch/distributed/distributed_c10d.py\", line 862 in "
      "_new_process_group_helper\n"
      "  File \"/opt/torch/distributed/distributed_c10d.py\", line 761 in init_process_group\n"
      "  File \"/home/me/train.py\", line 5 in <module>\n";
  const auto pass = [](Story& story, int count, const std::map<int, std::string>& dumps) {
    for (; count > 0; --count) {
      story[0].activity.switches += 100;
      story[0].activity.transfers += 200;
      story[0].activity.ticks += 2;
      story.Pass(1, {}, dumps);
    }
  };
  Story late(2);
  pass(late, 7, {{0, polls}, {1, kAsleep}});
  EXPECT_TRUE(late.Said().starts_with("stalled ")) << late.Said();
  EXPECT_NE(late.Said().find(" s: rank 1 has not entered init_process_group (train.py:5); it is at "
                             "loader.py:31"),
            std::string::npos)
      << late.Said();
  pass(late, 4, {{0, kAsleep}, {1, kAsleep}});
  EXPECT_EQ(late.Said(), "") << "it has left the barrier";

  Story apart(3);
  pass(apart, 13, {{0, polls}, {1, connects}, {2, connects}});
  EXPECT_NE(apart.Said().find(" s: ranks 0-2 are all in init_process_group (train.py:5) and none "
                              "goes on"),
            std::string::npos)
      << apart.Said();
  apart[0].activity.ticks += 90;
  pass(apart, 1, {});
  EXPECT_EQ(apart.Said(), "") << "it works";
}

TEST(Stall, ARecorderThatDoesNotAnswerIsAMissingWitness) {
  for (const bool is_late : {true, false}) {
    Story story(2);
    story.lacks_traces() = is_late;
    story.mute() = {1};
    story.Pass(4, {}, {{0, kInAllReduce}, {1, kAsleep}});
    const std::string kMissing = "; no usable answer of the flight recorder of rank 1";
    EXPECT_EQ(story.Said().ends_with(kMissing), !is_late) << "it may answer yet";
    story.Pass(8, {}, {{0, kInAllReduce}, {1, kAsleep}});
    EXPECT_TRUE(story.Said().ends_with(kMissing)) << story.Said();
  }
}

TEST(Stall, RanksInDifferentCollectivesWaitForEachOther) {
  Story story(4);
  story.Pass(4, {}, {{0, kInAllReduce}, {1, kInAllReduce}, {2, kInBarrier}, {3, kInAllReduce}});
  EXPECT_EQ(story.Said(),
            "stalled 3 s: rank 2 is in barrier (train.py:12), ranks 0, 1, 3 are in all_reduce "
            "(train.py:88): they wait for each other");
}

// At load 40 and the lowest priority, the worker of a data loader got no processor for 12 s, and
// the thread that finishes an all_reduce got none for 4 s.
TEST(Stall, WhoseThreadsAndWorkersGetNoProcessorIsSlow) {
  Story story(2);
  story.with_work() = {1};
  story.Pass(9, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(story.Said(), "");
  story.Pass(6, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(story.Said().substr(0, 8), "waiting ");
  story.with_work().clear();
  story.Pass(12, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(story.Said().substr(0, 8), "stalled ");

  // Its next idle moment is seen soon, not after a pause that has doubled each time.
  Story often(2);
  often.with_work() = {1};
  often.Pass(14, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(often.Said().substr(0, 8), "waiting ");
  often.with_work().clear();
  often.Pass(4, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(often.Said().substr(0, 8), "stalled ");

  Story disturbed(2);
  disturbed.with_work() = {1};
  disturbed.Pass(4, {}, {{0, kInAllReduce}, {1, kAsleep}});
  disturbed.with_work().clear();
  disturbed[1].activity.state = 'R';
  for (int second = 0; second < 4; ++second) {
    disturbed[1].activity.dumped += 900;
    disturbed.Pass(1, {}, {{0, kInAllReduce}, {1, kAsleep}});
    EXPECT_EQ(disturbed.Said(), "") << "it answers, and wants a processor";
  }

  Story apart(2);
  apart.with_work() = {1};
  apart.Pass(9, {}, {{0, kInAllReduce}, {1, kInBarrier}});
  EXPECT_EQ(apart.Said(), "");
  Story waits(2);
  waits.with_work() = {0};
  waits.Pass(4, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_EQ(waits.Said().substr(0, 8), "stalled ") << "the other is idle";
}

TEST(Stall, AllInOnePlaceIsSaidLater) {
  Story story(3);
  const std::map<int, std::string> dumps = {
      {0, kInAllReduce}, {1, kInAllReduce}, {2, kInAllReduce}};
  story.Pass(8, {}, dumps);
  EXPECT_EQ(story.Said(), "");
  story.Pass(20, {}, dumps);
  EXPECT_NE(story.Said().find("ranks 0-2 are all in all_reduce (train.py:88) and none goes on"),
            std::string::npos);
}

TEST(Stall, WhatIsNotAnsweredIsSaid) {
  StallWatch watch(std::chrono::seconds(3), true, 2);
  StallWatch::Testimony testimony;
  testimony.dumps = {{0, kInAllReduce}, {1, kInAllReduce}};
  testimony.unanswered = {{1, "sends to b:1 and gets no answer"}};
  const std::vector<RankLook> looks = {{0, 100, false, false, {'S'}},
                                       {1, 101, false, false, {'S'}}};
  const auto begin = std::chrono::steady_clock::now();
  for (int second = 0; second < 40; ++second) {
    const auto now = begin + std::chrono::seconds(second);
    if (watch.See(now, looks)) watch.Judge(now, testimony, Source);
  }
  ASSERT_TRUE(watch.stall());
  EXPECT_TRUE(watch.stall()->text.ends_with("; rank 1 sends to b:1 and gets no answer"))
      << watch.stall()->text;
}

TEST(Stall, WhoIsMissingMayBeElsewhere) {
  Story story(2, false);
  story.Pass(60, {}, {{0, kInAllReduce}, {1, kInAllReduce}});
  EXPECT_EQ(story.Said(), "");
}

TEST(Stall, ACheckpointIsNoStall) {
  Story story(2);
  story.Pass(8, {},
             {{0, kInBarrier},
              {1,
               "Current thread 0x1 (most recent call first):\n"
               "  File \"/opt/torch/serialization.py\", line 30 in save\n"
               "  File \"/home/me/train.py\", line 40 in main\n"}});
  EXPECT_EQ(story.Said(), "");
}

TEST(Stall, AJobInWhichNobodyWaitsIsLeftInPeace) {
  Story story(2);
  story.Pass(120, {}, {{0, kAsleep}, {1, kAsleep}});
  EXPECT_EQ(story.Said(), "");
}

TEST(Stall, ARankThatSaysNothing) {
  Story story(2);
  story.Pass(4, {}, {{0, kInBarrier}, {1, "no dump at all\nCurrent thread"}});
  EXPECT_EQ(story.Said(),
            "stalled 3 s: rank 1 has not entered barrier (train.py:12); it does not say where it "
            "is");
}

// The record of a rank that has entered the collectives of one group up to `number`.
std::string Recorded(int64_t number, std::string_view name) {
  return fmt::format(
      R"({{"pg_status": {{"0": {{"last_enqueued_collective": "{0}",)"
      R"( "last_completed_collective": "6"}}}}, "entries": [{{"collective_seq_id": {0},)"
      R"( "pg_id": 0, "process_group": ["0", "default_pg"], "profiling_name": "gloo:{1}",)"
      R"( "input_sizes": [[8]], "input_dtypes": ["Float"]}}]}})",
      number, name);
}

TEST(Stall, TheRecorderKnowsTheNumber) {
  Story story(2);
  story.traces() = {{0, Recorded(7, "all_reduce")}, {1, Recorded(6, "all_reduce")}};
  story.Pass(5, {}, {{0, kInAllReduce}, {1, kAsleep}});
  EXPECT_NE(story.Said().find("rank 1 has not entered all_reduce #7 (train.py:88); it is at "),
            std::string::npos)
      << story.Said();
}

TEST(Stall, ANumberThatComesLateIsSaidWhenItComes) {
  Story story(2);
  story.lacks_traces() = true;
  const std::map<int, std::string> dumps = {{0, kInAllReduce}, {1, kAsleep}};
  story.Pass(4, {}, dumps);
  EXPECT_NE(story.Said().find("rank 1 has not entered all_reduce (train.py:88)"),
            std::string::npos);
  EXPECT_TRUE(story.IsPartial());
  story.lacks_traces() = false;
  story.traces() = {{0, Recorded(7, "all_reduce")}, {1, Recorded(6, "all_reduce")}};
  EXPECT_EQ(story.Pass(1, {}, dumps), 1) << "it is asked again in the next look";
  EXPECT_NE(story.Said().find("rank 1 has not entered all_reduce #7 (train.py:88)"),
            std::string::npos);
  EXPECT_FALSE(story.IsPartial());
}

TEST(Stall, WhoNeverAnswersIsNotAskedEachSecondForEver) {
  Story story(2);
  story.lacks_traces() = true;
  EXPECT_LE(story.Pass(600, {}, {{0, kInBarrier}}), 20);
}

TEST(Stall, TheRecorderShowsThatCollectivesDiffer) {
  Story story(3);
  story.traces() = {
      {0, Recorded(7, "all_reduce")}, {1, Recorded(7, "barrier")}, {2, Recorded(7, "all_reduce")}};
  story.Pass(5, {}, {{0, kInAllReduce}, {1, kInBarrier}, {2, kInAllReduce}});
  EXPECT_EQ(story.Said().substr(story.Said().find("rank")),
            "rank 1 calls barrier (train.py:12) where ranks 0, 2 call all_reduce (train.py:88): "
            "collective #7 differs between ranks");
}

TEST(Stall, WhereCollectivesDifferALateStackIsAskedForAgain) {
  Story story(3);
  story.traces() = {
      {0, Recorded(7, "all_reduce")}, {1, Recorded(7, "barrier")}, {2, Recorded(7, "all_reduce")}};
  story.Pass(4, {}, {{2, kInAllReduce}});
  EXPECT_EQ(story.Said().substr(story.Said().find("rank")),
            "rank 1 calls barrier where ranks 0, 2 call all_reduce (train.py:88): "
            "collective #7 differs between ranks");
  EXPECT_TRUE(story.IsPartial());
  EXPECT_EQ(story.Pass(1, {}, {{0, kInAllReduce}, {1, kInBarrier}, {2, kInAllReduce}}), 1);
  EXPECT_NE(story.Said().find("rank 1 calls barrier (train.py:12)"), std::string::npos);
  EXPECT_FALSE(story.IsPartial());
}

TEST(Stall, TheRecorderKnowsOfCollectivesOfOtherThreads) {
  constexpr const char* kJoins =
      "Current thread 0x00007f2 (most recent call first):\n"
      "  File \"/usr/lib/python3.11/threading.py\", line 1112 in join\n"
      "  File \"/home/me/train.py\", line 10 in <module>\n";
  const std::map<int, std::string> dumps = {{0, kJoins}, {1, kJoins}};
  Story story(2);
  story.traces() = {{0, Recorded(7, "all_reduce")}, {1, Recorded(6, "all_reduce")}};
  story.Pass(12, {}, dumps);
  EXPECT_EQ(story.Said(), "") << "it may only be slow";
  story.Pass(4, {}, dumps);
  EXPECT_EQ(
      story.Said().substr(story.Said().find("rank")),
      "rank 1 has not entered all_reduce #7, which others have entered (in another thread, or "
      "asynchronously); it is at train.py:10, in join (threading.py:1112)");
  EXPECT_EQ(story.Said().substr(0, 8), "waiting ");
  story.traces() = {{0, Recorded(8, "barrier")}, {1, Recorded(7, "all_reduce")}};
  story.Pass(3, {}, dumps);
  EXPECT_EQ(story.Said(), "") << "they go on";
  story.traces() = {{0, Recorded(8, "barrier")}, {1, Recorded(8, "all_reduce")}};
  story.Pass(15, {}, dumps);
  EXPECT_NE(story.Said().find("collective #8 differs between ranks"), std::string::npos)
      << story.Said();
}

TEST(Stall, WhatAnEarlierProcessWaitedForIsForgotten) {
  Story story(2);
  story.traces() = {{0, Recorded(7, "all_reduce")}, {1, Recorded(6, "all_reduce")}};
  story.Pass(12, {}, {{0, kAsleep}, {1, kAsleep}});
  story[0].pid = 200;
  story[1].pid = 201;
  story.Pass(8, {}, {{0, kAsleep}, {1, kAsleep}});
  EXPECT_EQ(story.Said(), "") << "it may only be slow";
}

TEST(Stall, WhoseThreadWorksIsNotSaidToBeMissing) {
  Story story(2);
  story.traces() = {{0, Recorded(7, "all_reduce")}, {1, Recorded(6, "all_reduce")}};
  story.with_work() = {1};
  story.Pass(60, {}, {{0, kAsleep}, {1, kAsleep}});
  EXPECT_EQ(story.Said(), "");
}

TEST(Stall, ARecorderThatSaysNonsenseChangesNothing) {
  for (const char* nonsense :
       {"", "{}", "[1]", "{\"pg_status\": 3, \"entries\": {}}", "\xff\x00"}) {
    Story story(2);
    story.traces() = {{0, nonsense}, {1, Recorded(6, "all_reduce")}};
    story.Pass(5, {}, {{0, kInAllReduce}, {1, kAsleep}});
    EXPECT_NE(story.Said().find("rank 1 has not entered all_reduce (train.py:88)"),
              std::string::npos)
        << story.Said();
  }
}

TEST(Stack, TheLastWholeDumpCounts) {
  const std::string dump = std::string(kAsleep) + kInAllReduce + "Thread 0x3 (most rec";
  const auto stacks = ReadStacks(dump);
  ASSERT_EQ(stacks.size(), 1u);  // threads before the current one belong to the dump before
  EXPECT_EQ(WhatItDoes(stacks[0].frames).what, "all_reduce");
}

// As faulthandler writes it for one thread.
TEST(Stack, OfTheMainThreadAloneIsTheMainThreads) {
  const std::string dump =
      "Stack (most recent call first):\n  File \"/home/me/train.py\", line 88 in step\n"
      "Stack (most recent call first):\n  File \"/home/me/train.py\", line 89 in step\n";
  const auto stacks = ReadStacks(dump);
  ASSERT_EQ(stacks.size(), 1u);
  EXPECT_TRUE(stacks[0].is_main);
  ASSERT_EQ(stacks[0].frames.size(), 1u);
  EXPECT_EQ(stacks[0].frames[0].line, 89);
  EXPECT_TRUE(ReadStacks("Stacks (most recent call first):\n").empty());
}

// Python 3.11 writes this when a thread that it does not know calls abort().
constexpr const char* kAborted =
    "rank=1 world=2 parent=0\n"
    "Fatal Python error: Aborted\n\n"
    "Thread 0x00007f2 (most recent call first):\n"
    "  File \"/usr/lib/python3.11/threading.py\", line 327 in wait\n"
    "  File \"/home/me/loader.py\", line 8 in run\n\n"
    "Thread 0x00007f1 (most recent call first):\n"
    "  File \"/opt/torch/distributed/distributed_c10d.py\", line 20 in all_reduce\n"
    "  File \"/opt/torch/distributed/c10d_logger.py\", line 75 in wrapper\n"
    "  File \"/home/me/train.py\", line 88 in step\n\n"
    "Extension modules: numpy.core._multiarray_umath, torch._C (total: 2)\n";

TEST(Crash, OfAForeignThreadIsWhereTheMainThreadWas) {
  const auto crash = ReadCrash(kAborted);
  ASSERT_TRUE(crash);
  EXPECT_EQ(Say(*crash),
            "Aborted in all_reduce, called at File \"/home/me/train.py\", line 88 in step");
  const std::string said = "rank 1: " + Say(*crash);
  EXPECT_EQ(FrameIn(said).file, "/home/me/train.py");
  EXPECT_EQ(FrameIn(said).line, 88);
  EXPECT_EQ(FrameIn(said).function, "step");
}

TEST(Crash, OfAThreadOfPythonIsThere) {
  const std::string text = std::string(kAborted) +
                           "Fatal Python error: Segmentation fault\n\n"
                           "Current thread 0x00007f2 (most recent call first):\n"
                           "  File \"/home/me/kernels.py\", line 8 in launch\n\n"
                           "Thread 0x00007f1 (most recent call first):\n"
                           "  File \"/home/me/train.py\", line 88 in step\n";
  const auto crash = ReadCrash(text);
  ASSERT_TRUE(crash);
  EXPECT_EQ(Say(*crash), "Segmentation fault at File \"/home/me/kernels.py\", line 8 in launch");
}

TEST(Crash, OfNoPythonFrameSaysNothing) {
  EXPECT_FALSE(ReadCrash(kAsleep));
  EXPECT_EQ(Say(*ReadCrash("Fatal Python error: Aborted\n")), "");
  EXPECT_TRUE(FrameIn("Aborted at module.py:9").file.empty());
  EXPECT_TRUE(FrameIn("").file.empty());
}

TEST(Stack, WhatTheProgramHasCalledIsTheWait) {
  const auto doing =
      WhatItDoes(ReadStacks("Current thread 0x1 (most recent call first):\n"
                            "  File \"/opt/torch/distributed/distributed_c10d.py\", line 7 in "
                            "_store_based_barrier\n"
                            "  File \"/opt/torch/distributed/distributed_c10d.py\", line 9 in "
                            "init_process_group\n"
                            "  File \"/opt/torch/distributed/c10d_logger.py\", line 9 in wrapper\n"
                            "  File \"a.py\", line 3 in <module>\n")[0]
                     .frames);
  EXPECT_EQ(doing.kind, Doing::Kind::kWaiting);
  EXPECT_EQ(doing.what, "init_process_group");
  EXPECT_EQ(doing.where, "a.py:3");
}

TEST(Stack, EqualStacksAreShownOnceAndTheRarestFirst) {
  EXPECT_EQ(RenderStacks({{"rank 0", kInBarrier, ""},
                          {"rank 1", kAsleep, ""},
                          {"rank 2", kInBarrier, ""},
                          {"rank 3", "", "gave no stack within 2 s"}},
                         false),
            "rank 1\n"
            "  > load  /home/me/loader.py:31\n"
            "  > <module>  /home/me/train.py:99\n"
            "\n"
            "rank 3\n"
            "  gave no stack within 2 s\n"
            "\n"
            "rank 0, rank 2\n"
            "    barrier  /usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py:30\n"
            "  > <module>  /home/me/train.py:12\n");
}

TEST(MissingRecorder, IsSaidOfACollectiveWithoutItsNumber) {
  for (const char* const stall :
       {"stalled rank 1 has not entered all_reduce (train.py:88); it is at a.py:3: sleep(6)  # "
        "slow",
        "rank 2 is in barrier (a.py:1), ranks 0-1 are in all_reduce (a.py:2): they wait for each "
        "other"}) {
    EXPECT_TRUE(MissingRecorder(stall).starts_with("the number of the collective: ")) << stall;
  }
  for (const char* const stall :
       {"stalled rank 1 has not entered all_reduce #412 (train.py:88)",
        "stalled rank 1 has not entered init_process_group (a.py:1); it has not started",
        "rank 1 has not entered barrier (a.py:1); no usable answer of the flight recorder of rank "
        "1",
        "waiting rank 1 has not ended, and the others have", ""}) {
    EXPECT_EQ(MissingRecorder(stall), "") << stall;
  }
}

TEST(Stack, AnImportIsNoCall) {
  constexpr const char* kImport =
      "Current thread 0x1 (most recent call first):\n"
      "  File \"<frozen importlib._bootstrap>\", line 1178 in _find_and_load\n"
      "  File \"/usr/lib/python3/dist-packages/torch/serialization.py\", line 9 in <module>\n"
      "  File \"/usr/lib/python3/dist-packages/torch/distributed/rpc/api.py\", line 66 in "
      "_decorate\n"
      "  File \"/usr/lib/python3/dist-packages/torch/distributed/rpc/__init__.py\", line 66 in "
      "<module>\n"
      "  File \"<frozen importlib._bootstrap>\", line 241 in _call_with_frames_removed\n"
      "  File \"/w/train.py\", line 2 in <module>\n";
  const auto stacks = ReadStacks(kImport);
  const Doing doing = WhatItDoes(stacks[0].frames);
  EXPECT_EQ(doing.kind, Doing::Kind::kOwn);
  EXPECT_EQ(doing.what, "");
  EXPECT_EQ(doing.where, "train.py:2");
  Story story(2);
  story.Pass(30, {}, {{0, kImport}, {1, kAsleep}});
  EXPECT_EQ(story.Said(), "") << "nobody waits for another rank";
}

}  // namespace
}  // namespace answers
