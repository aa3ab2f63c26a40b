#include "witness/stacks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

namespace witness {
namespace {

class StacksTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "/muster-stacks-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << text;
  }

  // What a process that was forked does all the time.
  struct Life {
    bool has_file = true;  // keeps its file open, as the hook does
    bool answers = true;
    enum class Main { kSleeps, kRunsPython, kRunsNative, kWaitsForTheLock } main = Main::kSleeps;
    bool another_is_busy = false;
    int output = -1;  // its stdout
  };
  using Main = Life::Main;

  pid_t Fork(const Life& life) {
    int ready[2];
    EXPECT_EQ(::pipe(ready), 0);
    const pid_t pid = ::fork();
    if (pid == 0) {
      const std::string path = folder_ + "/" + std::to_string(::getpid());
      if (life.output >= 0) ::dup2(life.output, 1);
      if (life.has_file) {
        file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
        (void)!::write(file_, "rank=3 world=8 parent=0\n", 24);
      }
      if (life.answers) {
        late_ = folder_ + "/late";
        ::signal(SIGRTMAX - 2, [](int) {
          const int before = errno;
          while (::access(late_.c_str(), F_OK) == 0) ::usleep(1000);
          (void)!::write(file_, "here I am\n", 10);
          errno = before;
        });
        ::signal(SIGRTMAX - 3, [](int) {
          const int before = errno;
          (void)!::write(file_, "all of us\n", 10);
          errno = before;
        });
        ::signal(SIGRTMAX - 4, [](int) { is_asked_ = 1; });
        ::signal(SIGRTMAX - 5, [](int) { is_asked_ = 2; });
      }
      std::thread([&life, ready = ready[1]] {
        (void)!::write(ready, "r", 1);
        while (life.another_is_busy) {
        }
        ::pause();
      }).detach();
      Live(life.main);
    }
    char byte = 0;
    EXPECT_EQ(::read(ready[0], &byte, 1), 1);
    ::close(ready[0]);
    ::close(ready[1]);
    return pid;
  }
  static void Live(Main main) {
    while (true) {
      (void)!::write(-1, "", 0);  // The thread sanitizer handles signals in calls only.
      if (main == Main::kSleeps) ::pause();
      if (main == Main::kWaitsForTheLock) ::usleep(5000);
      if (main == Main::kRunsPython && is_asked_ != 0) {
        (void)!::write(file_, is_asked_ == 1 ? "between\n" : "between, all\n",
                       is_asked_ == 1 ? 8 : 13);
        is_asked_ = 0;
      }
    }
  }
  // Ends the process, which must still run.
  static void End(pid_t pid) {
    int status = 0;
    EXPECT_EQ(::waitpid(pid, &status, WNOHANG), 0) << "it has ended by itself";
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
  }

  std::string folder_;
  static inline int file_ = -1;
  static inline volatile sig_atomic_t is_asked_ = 0;
  static inline std::string late_;  // while it exists, nobody answers
};

TEST_F(StacksTest, WhoHasTheHookIsFoundAndAnswers) {
  const pid_t pid = Fork({});
  const auto found = ProcessesIn(folder_);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].pid, pid);
  EXPECT_EQ(found[0].rank, 3);
  EXPECT_EQ(found[0].world, 8);
  EXPECT_FALSE(found[0].is_child);
  Question question(PidsByFolder{{folder_, {pid}}});
  EXPECT_EQ(question.Await(std::chrono::seconds(5)),
            (std::map<pid_t, std::string>{{pid, "here I am\n"}}));
  process::ProcessTree tree;
  EXPECT_EQ(ActivityOf(folder_, pid, tree).dumped, 34u);
  End(pid);
  EXPECT_TRUE(ProcessesIn(folder_).empty());
}

TEST_F(StacksTest, AnAnswerIsLackingOnlyWhereItCanStillCome) {
  const pid_t late = Fork({}), stopped = Fork({});
  ::kill(stopped, SIGSTOP);
  ASSERT_EQ(::waitpid(stopped, nullptr, WUNTRACED), stopped);
  EXPECT_FALSE(Question(PidsByFolder{{folder_, {stopped}}}).LacksAnswers());
  Write("late", "");
  Question question(PidsByFolder{{folder_, {late, stopped}}});
  EXPECT_TRUE(question.LacksAnswers());
  std::filesystem::remove(folder_ + "/late");
  EXPECT_EQ(question.Await(std::chrono::seconds(1)).size(), 1u);
  EXPECT_FALSE(question.LacksAnswers());
  End(late);
  End(stopped);
}

// Reading the frames of a thread that runs would crash it.
TEST_F(StacksTest, AllThreadsAreAskedForOnlyWhereTheOthersSleep) {
  const pid_t at_rest = Fork({}), busy = Fork({.another_is_busy = true});
  Question question(PidsByFolder{{folder_, {at_rest, busy}}}, Threads::kAll);
  EXPECT_EQ(question.Await(std::chrono::seconds(5)),
            (std::map<pid_t, std::string>{{at_rest, "all of us\n"}, {busy, "here I am\n"}}));
  EXPECT_EQ(question.Busy(), std::set<pid_t>{busy});
  End(at_rest);
  End(busy);
}

// Also where it is the thread that receives the signal: Python frees the memory of frames that it
// is in.
TEST_F(StacksTest, AMainThreadThatRunsAnswersBetweenInstructionsOrOnceItIsSeenNotToRunAny) {
  const pid_t python = Fork({.main = Main::kRunsPython}),
              native = Fork({.main = Main::kRunsNative}),
              waits = Fork({.main = Main::kWaitsForTheLock});
  const PidsByFolder pids{{folder_, {python, native, waits}}};
  Question question(pids);
  EXPECT_EQ(question.Await(std::chrono::seconds(5)),
            (std::map<pid_t, std::string>{
                {python, "between\n"}, {native, "here I am\n"}, {waits, "here I am\n"}}));
  Question all(pids, Threads::kAll);
  EXPECT_EQ(all.Await(std::chrono::seconds(5)),
            (std::map<pid_t, std::string>{
                {python, "between, all\n"}, {native, "here I am\n"}, {waits, "here I am\n"}}));
  EXPECT_EQ(all.Busy(), (std::set<pid_t>{native, waits}));
  End(python);
  End(native);
  End(waits);
}

// Python would lose the rest of a write that a signal cuts short.
TEST_F(StacksTest, WhoseOutputTakesNoMoreIsAskedOnceItHasBeenRead) {
  int output[2];
  ASSERT_EQ(::pipe(output), 0);
  const std::string full(static_cast<size_t>(::fcntl(output[1], F_GETPIPE_SZ)), 'x');
  ASSERT_EQ(::write(output[1], full.data(), full.size()), static_cast<ssize_t>(full.size()));
  const pid_t asleep = Fork({.output = output[1]}),
              python = Fork({.main = Main::kRunsPython, .output = output[1]});
  Question question(PidsByFolder{{folder_, {asleep, python}}});
  EXPECT_TRUE(question.Await(std::chrono::milliseconds(300)).empty());
  EXPECT_TRUE(question.LacksAnswers());
  std::string read(full.size() / 2, '\0');
  ASSERT_EQ(::read(output[0], read.data(), read.size()), static_cast<ssize_t>(read.size()));
  EXPECT_EQ(question.Await(std::chrono::milliseconds(500)),
            (std::map<pid_t, std::string>{{asleep, "here I am\n"}}))
      << "one that works may be writing";
  ASSERT_EQ(::read(output[0], read.data(), read.size()), static_cast<ssize_t>(read.size()));
  EXPECT_EQ(question.Await(std::chrono::seconds(5)),
            (std::map<pid_t, std::string>{{asleep, "here I am\n"}, {python, "between\n"}}));
  End(asleep);
  End(python);
  ::close(output[0]);
  ::close(output[1]);
}

// The signal would end these processes.
TEST_F(StacksTest, NobodyElseIsSentTheSignal) {
  const pid_t without_handler = Fork({.answers = false});
  const pid_t without_file = Fork({.has_file = false});
  Write(std::to_string(without_file), "rank=0 world=2 parent=0\n");
  Write(std::to_string(::getpid()), "rank=0 world=2 parent=0\n");
  Write("-1", "");
  Write("1x", "");
  EXPECT_TRUE(ProcessesIn(folder_).empty());
  Question question(PidsByFolder{{folder_, {without_handler, without_file, ::getpid(), 1, 0, -1}}});
  EXPECT_TRUE(question.Await(std::chrono::milliseconds(20)).empty());
  End(without_handler);
  End(without_file);
}

TEST_F(StacksTest, ALineOfASourceFile) {
  Write("a.py", "one\n  two\nthree");
  Write("a.txt", "secret\n");
  std::filesystem::create_directory(folder_ + "/d.py");
  EXPECT_EQ(::mkfifo((folder_ + "/f.py").c_str(), 0600), 0);
  EXPECT_EQ(SourceLine(folder_ + "/a.py", 2), "  two");
  EXPECT_EQ(SourceLine(folder_ + "/a.py", 3), "three");
  EXPECT_EQ(SourceLine(folder_ + "/a.py", 4), "");
  EXPECT_EQ(SourceLine(folder_ + "/a.py", 0), "");
  for (const char* name : {"/a.txt", "/d.py", "/f.py", "/none.py"}) {
    EXPECT_EQ(SourceLine(folder_ + name, 1), "") << name;
  }
  EXPECT_EQ(SourceLine("a.py", 1), "");
}

TEST(ActivityOf, CountsThisProcess) {
  process::ProcessTree tree;
  const auto activity = ActivityOf("/nowhere", ::getpid(), tree);
  EXPECT_NE(activity.state, '?');
  EXPECT_GT(activity.transfers, 0u);
  EXPECT_EQ(ActivityOf("/nowhere", 0x3fffffff, tree).state, '?');
}

TEST(HasWorkToDo, IsWhatAnotherThreadOrAChildWaitsToDo) {
  process::ProcessTree tree;
  EXPECT_FALSE(HasWorkToDo(::getpid(), tree)) << "the main thread does not count";
  std::atomic<bool> is_over = false;
  std::atomic<bool> has_begun = false;
  std::thread thread([&] {
    has_begun = true;
    while (!is_over) {
    }
  });
  while (!has_begun) std::this_thread::yield();
  EXPECT_TRUE(HasWorkToDo(::getpid(), tree));
  ::pthread_setname_np(thread.native_handle(), "pt_workerserver");
  EXPECT_FALSE(HasWorkToDo(::getpid(), tree)) << "it only answers us";
  is_over = true;
  thread.join();
  // The time of children that were reaped, such as loaders of an epoch, is no thread's own.
  const pid_t reaped = ::fork();
  if (reaped == 0) {
    while (std::clock() < CLOCKS_PER_SEC / 4) {
    }
    ::_exit(0);
  }
  ::waitpid(reaped, nullptr, 0);
  bool has_work = true;
  bool has_worked =
      true;  // this thread may come to look so late that the other has worked for long
  while (has_work && has_worked) {
    is_over = has_begun = false;
    std::atomic<pid_t> id = 0;
    std::thread poller([&] {
      for (int i = 0; i < 2'000; ++i) std::this_thread::sleep_for(std::chrono::microseconds(1));
      id = ::gettid();
      has_begun = true;
      while (!is_over) {
      }
    });
    while (!has_begun) std::this_thread::yield();
    has_work = HasWorkToDo(::getpid(), tree);
    constexpr uint64_t kFewTicks = 10;
    for (const process::ProcessStat& each : process::ThreadsOf(::getpid())) {
      if (each.pid == id) has_worked = each.own_ticks > kFewTicks;
    }
    is_over = true;
    poller.join();
  }
  EXPECT_FALSE(has_work) << "it has only polled";
  const pid_t child = ::fork();
  if (child == 0) {
    while (true) {
    }
  }
  EXPECT_TRUE(HasWorkToDo(::getpid(), tree));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_FALSE(HasWorkToDo(child, tree));
}

TEST_F(StacksTest, ACrashNamesItsRankAndPlace) {
  const std::string kFatal =
      "Fatal Python error: Aborted\n\nThread 0x00007f1 (most recent call first):\n"
      "  File \"/home/me/train.py\", line 8 in step\n\n";
  Write("71", "rank=3 world=8 parent=0\n" + kFatal);
  Write("72", "rank=3 world=8 parent=71\n" + kFatal);
  Write("73", "rank=2 world=8 parent=0\nCurrent thread 0x1 (most recent call first):\n");
  Write("meetings", kFatal);
  const std::string kSaid = "Aborted at File \"/home/me/train.py\", line 8 in step";
  ASSERT_TRUE(CrashOf(folder_, 71));
  EXPECT_EQ(CrashOf(folder_, 71)->text, kSaid);
  EXPECT_FALSE(CrashOf(folder_, 73));
  EXPECT_FALSE(CrashOf(folder_, 74));
  const auto crashes = CrashesIn(folder_, {});
  ASSERT_EQ(crashes.size(), 1u) << "a forked process is not the rank";
  EXPECT_EQ(crashes[0].rank, 3);
  EXPECT_EQ(crashes[0].text, kSaid);
  EXPECT_TRUE(CrashesIn(folder_, crashes[0].time + std::chrono::seconds(1)).empty())
      << "of an attempt before";
}

TEST(RanksAmong, AreTheirFirstProcesses) {
  const auto ranks = RanksAmong({{10, 0, 2, false},
                                 {11, 0, 2, true},
                                 {12, 1, 2, false},
                                 {13, 1, 2, false},
                                 {14, -1, 0, false}});
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks.at(0).pid, 10);
  EXPECT_EQ(ranks.at(1).pid, 12);
}

}  // namespace
}  // namespace witness
