// Commands beside a pod's own, with the runner, a real shim and real processes.
#include "local/node/exec/runner.h"

#include <sys/socket.h>

#include <condition_variable>
#include <mutex>

#include "local/node/exec/channel.h"
#include "local/node/exec/server.h"
#include "local/node/testing/pod_fixture.h"
#include "process/procfs.h"

namespace local::node {
namespace {

// The requester; thread safe.
class Client {
 public:
  ExecClient Callbacks() {
    ExecClient client;
    client.output = [this](bool is_stderr, std::string bytes) {
      const std::lock_guard lock(mutex_);
      pending_ += keeps_pending_ ? bytes.size() : 0;
      (is_stderr ? err_ : out_) += bytes;
      changed_.notify_all();
    };
    client.pending = [this] {
      const std::lock_guard lock(mutex_);
      return pending_;
    };
    client.when_taken = [this](size_t, std::function<void()> callback) {
      const std::lock_guard lock(mutex_);
      when_taken_ = std::move(callback);
      changed_.notify_all();
    };
    client.stdin_used = [this](size_t bytes) {
      const std::lock_guard lock(mutex_);
      used_ += bytes;
      changed_.notify_all();
    };
    client.finish = [this](base::Result<int> exit_code) {
      const std::lock_guard lock(mutex_);
      end_ = std::move(exit_code);
      changed_.notify_all();
    };
    return client;
  }
  base::Result<int> AwaitEnd() {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, kTestWait, [&] { return end_.has_value(); })) {
      return base::Fail(base::Code::kTimeout, "no end; out: " + out_ + " err: " + err_);
    }
    return *end_;
  }
  // Waits until `text` is in the output; returns all of stdout so far.
  std::string Await(std::string_view text) {
    std::unique_lock lock(mutex_);
    const bool is_there =
        changed_.wait_for(lock, kTestWait, [&] { return out_.find(text) != std::string::npos; });
    EXPECT_TRUE(is_there) << "no " << text << " in " << out_;
    return out_;
  }
  // The peer stops reading until Take.
  void KeepPending() { keeps_pending_ = true; }
  void AwaitPause() {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, kTestWait, [&] { return static_cast<bool>(when_taken_); }));
  }
  void Take() {
    std::function<void()> callback;
    {
      const std::lock_guard lock(mutex_);
      keeps_pending_ = false;
      pending_ = 0;
      callback = std::exchange(when_taken_, {});
    }
    if (callback) callback();
  }
  std::string out() {
    const std::lock_guard lock(mutex_);
    return out_;
  }
  std::string err() {
    const std::lock_guard lock(mutex_);
    return err_;
  }
  bool AwaitUsed(size_t bytes) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kTestWait, [&] { return used_ == bytes; });
  }
  size_t used() {
    const std::lock_guard lock(mutex_);
    return used_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string out_;
  std::string err_;
  size_t used_ = 0;
  size_t pending_ = 0;
  bool keeps_pending_ = false;
  std::function<void()> when_taken_;
  std::optional<base::Result<int>> end_;
};

class ExecRunnerTest : public PodTest {
 protected:
  void SetUp() override {
    PodTest::SetUp();
    auto runner = ExecRunner::Create();
    ASSERT_TRUE(runner);
    runner_ = std::move(*runner);
  }
  void TearDown() override {
    runner_.reset();
    PodTest::TearDown();
  }
  // A pod whose container "pytorch" runs until the end of the test.
  PodSpec StartPod(const std::string& script = "sleep 1000") {
    const PodSpec spec = Pod({Shell(script)});
    StartAndAwait(spec);
    return spec;
  }
  static void StartAndAwait(const PodSpec& spec) {
    Start(spec);
    AwaitReport(spec.directory, [](const PodReport& report) {
      return report.containers.at(0).state.phase == ContainerState::Phase::kRunning;
    });
  }
  std::shared_ptr<Exec> Begin(const PodSpec& pod, std::vector<std::string> argv,
                              bool has_terminal = false) {
    return runner_->Start(
        {pod.directory, "pytorch", std::move(argv), true, true, !has_terminal, has_terminal},
        client_.Callbacks());
  }
  base::Result<int> RunScript(const PodSpec& pod, const std::string& script) {
    const auto exec = Begin(pod, {"sh", "-c", script});
    return client_.AwaitEnd();
  }
  // A descriptor of the process that has `entry` in its environment. In the middle of an exec the
  // kernel shows none.
  static base::Fd ProcessWith(const std::string& entry) {
    const auto end = std::chrono::steady_clock::now() + kTestWait;
    std::vector<pid_t> pids;
    do {
      pids = process::FindByEnvironment(entry);
    } while (pids.empty() && std::chrono::steady_clock::now() < end);
    EXPECT_EQ(pids.size(), 1U);
    if (pids.empty()) return {};
    auto pidfd = process::OpenPidfd(pids.front());
    return pidfd ? std::move(*pidfd) : base::Fd();
  }

  std::unique_ptr<ExecRunner> runner_;
  Client client_;
};

TEST_F(ExecRunnerTest, RunsWithTheContainersEnvironmentAndPlace) {
  PodSpec spec = Pod({Shell("sleep 1000")});
  spec.containers[0].cwd = "/usr";
  spec.containers[0].env.emplace_back("WORD", "a b");
  StartAndAwait(spec);
  const auto end = RunScript(spec, "pwd; echo \"$WORD $MUSTER_POD_UID\"; echo bad >&2; exit 9");
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, 9);
  EXPECT_EQ(client_.out(), "/usr\na b " + spec.uid + "\n");
  EXPECT_EQ(client_.err(), "bad\n");
}

TEST_F(ExecRunnerTest, SeesTheViewOfThePod) {
  PodSpec spec = Pod({Shell("sleep 1000")});
  const std::string source = root_ + "/volume";
  ASSERT_TRUE(base::MakeDirs(source, 0755));
  ASSERT_TRUE(
      base::WriteFileAtomic(source + "/file", "in the volume\n", 0644, base::Durability::kNone));
  spec.mounts.push_back({source, "/muster-test-mount", false});
  spec.hostname = "pod-of-the-test";
  StartAndAwait(spec);
  const auto end = RunScript(spec, "cat /muster-test-mount/file; uname -n");
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(client_.out(), "in the volume\npod-of-the-test\n");
}

TEST_F(ExecRunnerTest, ReportsASignal) {
  const auto end = RunScript(StartPod(), "kill -TERM $$");
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, 128 + SIGTERM);
}

TEST_F(ExecRunnerTest, SaysWhyThereIsNoCommand) {
  const PodSpec pod = StartPod();
  const auto error_of = [&](const std::string& directory, const std::string& container,
                            const std::string& program) {
    Client client;
    const auto exec = runner_->Start({directory, container, {program}, false, true, true, false},
                                     client.Callbacks());
    const auto end = client.AwaitEnd();
    return end ? "it ran" : end.error().message;
  };
  EXPECT_EQ(error_of(pod.directory, "pytorch", "no-such-program"),
            "exec: \"no-such-program\": executable file not found in $PATH");
  EXPECT_EQ(error_of(pod.directory, "other", "true"), "container not found (\"other\")");
  EXPECT_EQ(error_of(pod.directory, "pytorch", "/etc/passwd"),
            "exec \"/etc/passwd\": Permission denied");
  EXPECT_EQ(error_of(root_, "pytorch", "true"),
            "the pod accepts no commands, because no container is running");
}

TEST_F(ExecRunnerTest, CarriesInputToItsEnd) {
  const PodSpec pod = StartPod();
  const auto exec = Begin(pod, {"cat"});
  std::string sent;
  for (int i = 0; i < 64; ++i) {
    std::string part(16 << 10, static_cast<char>('a' + i % 26));
    sent += part;
    exec->WriteStdin(std::move(part));
  }
  exec->CloseStdin();
  const auto end = client_.AwaitEnd();
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, 0);
  EXPECT_TRUE(client_.out() == sent);
  EXPECT_EQ(client_.used(), sent.size());
}

TEST_F(ExecRunnerTest, InputThatNobodyReadsIsDropped) {
  const PodSpec pod = StartPod();
  const std::string go = root_ + "/go";
  const auto exec = Begin(
      pod, {"sh", "-c", "exec <&-; echo closed; while [ ! -e " + go + " ]; do sleep 0.05; done"});
  client_.Await("closed");
  exec->WriteStdin(std::string(1 << 20, 'x'));
  EXPECT_TRUE(client_.AwaitUsed(1 << 20));
  ASSERT_TRUE(base::WriteFileAtomic(go, "", 0644, base::Durability::kNone));
  ASSERT_TRUE(client_.AwaitEnd());
  exec->WriteStdin("after the end");
  exec->HangUp();
}

TEST_F(ExecRunnerTest, ASlowReaderMakesTheCommandWait) {
  const PodSpec pod = StartPod();
  client_.KeepPending();
  const auto exec = Begin(pod, {"head", "-c", "8000000", "/dev/zero"});
  client_.AwaitPause();
  EXPECT_LT(client_.out().size(), size_t{2 << 20});
  client_.Take();
  const auto end = client_.AwaitEnd();
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(client_.out().size(), 8'000'000U);
}

TEST_F(ExecRunnerTest, ASlowReaderGetsWhatWasWrittenBeforeTheEnd) {
  const PodSpec pod = StartPod();
  client_.KeepPending();
  // The process left behind keeps the output open.
  const auto exec =
      Begin(pod, {"sh", "-c", "sleep 1000 & head -c 1100000 /dev/zero; echo the end"});
  client_.AwaitPause();
  client_.Take();
  const auto end = client_.AwaitEnd();
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_TRUE(client_.out().ends_with("the end\n"));
  EXPECT_EQ(client_.out().size(), 1'100'000U + 8U);
}

TEST_F(ExecRunnerTest, ATerminalHasItsSizeFromTheStart) {
  const PodSpec pod = StartPod();
  const auto exec = Begin(
      pod, {"sh", "-c", "stty size; trap 'stty size; exit 3' WINCH; echo go; read -r x; read -r x"},
      true);
  exec->Resize(132, 50);
  client_.Await("50 132\r\ngo\r\n");
  exec->Resize(77, 33);
  exec->WriteStdin("\n");
  client_.Await("33 77\r\n");
  const auto end = client_.AwaitEnd();
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, 3);
}

TEST_F(ExecRunnerTest, ATerminalWithoutASizeStartsAllTheSame) {
  const PodSpec pod = StartPod();
  const auto exec = Begin(pod, {"sh", "-c", "echo $TERM; tty; cat; echo over"}, true);
  EXPECT_NE(client_.Await("/dev/pts/").find("xterm\r\n"), std::string::npos);
  exec->WriteStdin("line\n");
  exec->CloseStdin();  // ^D
  client_.Await("over");
  EXPECT_TRUE(client_.AwaitEnd());
}

TEST_F(ExecRunnerTest, TheTerminalsInterruptReachesTheCommand) {
  const PodSpec pod = StartPod();
  const auto exec = Begin(pod, {"sh", "-c", "echo ready; exec sleep 1000"}, true);
  client_.Await("ready");
  exec->WriteStdin("\x03");
  const auto end = client_.AwaitEnd();
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, 128 + SIGINT);
}

TEST_F(ExecRunnerTest, AHungUpCommandEnds) {
  const PodSpec pod = StartPod();
  for (const bool has_terminal : {false, true}) {
    Client client;
    const std::string mark = "MARK=" + base::NewUid();
    const auto exec =
        runner_->Start({pod.directory,
                        "pytorch",
                        {"env", mark, "sh", "-c",
                         "echo ready; trap '' HUP; while :; do read -r x; sleep 1000 <&0; done"},
                        true,
                        true,
                        false,
                        has_terminal},
                       client.Callbacks());
    client.Await("ready");
    const std::vector<pid_t> pids = process::FindByEnvironment(mark);
    ASSERT_FALSE(pids.empty());
    const auto shell = process::OpenPidfd(pids.front());
    ASSERT_TRUE(shell);
    exec->HangUp();
    EXPECT_TRUE(process::WaitForEnd(shell->get(), kTestWait));
    // The shell's children were killed with it.
    for (const pid_t pid : process::FindByEnvironment(mark)) {
      const auto child = process::OpenPidfd(pid);
      EXPECT_TRUE(!child || process::WaitForEnd(child->get(), kTestWait));
    }
    EXPECT_TRUE(process::FindByEnvironment(mark).empty());
  }
}

TEST_F(ExecRunnerTest, ACommandEndsWithItsRunner) {
  const PodSpec pod = StartPod();
  const std::string mark = "MARK=" + base::NewUid();
  Begin(pod, {"env", mark, "sh", "-c", "echo ready; exec sleep 1000"});
  client_.Await("ready");
  const base::Fd process = ProcessWith(mark);
  runner_.reset();
  EXPECT_TRUE(process::WaitForEnd(process.get(), kTestWait));
}

TEST_F(ExecRunnerTest, ACommandEndsWithItsContainerButNotWithAnother) {
  PodSpec spec = Pod({Shell("while [ ! -e " + root_ + "/go ]; do sleep 0.05; done"),
                      Program("other", {"sleep", "1000"})});
  StartAndAwait(spec);
  Client other;
  const auto theirs = runner_->Start({spec.directory,
                                      "other",
                                      {"sh", "-c", "echo ready; read -r x; echo still here"},
                                      true,
                                      true,
                                      true,
                                      false},
                                     other.Callbacks());
  other.Await("ready");
  const auto exec =
      Begin(spec, {"sh", "-c", "trap '' TERM HUP; echo ready; while :; do sleep 1; done"});
  client_.Await("ready");
  ASSERT_TRUE(base::WriteFileAtomic(root_ + "/go", "", 0644, base::Durability::kNone));
  const auto end = client_.AwaitEnd();
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, 128 + SIGKILL);
  theirs->WriteStdin("\n");
  other.Await("still here");
  EXPECT_TRUE(other.AwaitEnd());
}

TEST_F(ExecRunnerTest, ADeletedPodDoesNotWaitForItsCommands) {
  const PodSpec pod = Pod({Shell("exec sleep 1000")});
  const ShimHandle shim = Start(pod);
  AwaitReport(pod.directory, [](const PodReport& report) {
    return report.containers.at(0).state.phase == ContainerState::Phase::kRunning;
  });
  const auto exec =
      Begin(pod, {"sh", "-c", "trap '' TERM HUP; echo ready; while :; do sleep 1; done"});
  client_.Await("ready");
  // Much less than the grace period.
  ShimHandle handle(shim.pid(), *process::OpenPidfd(shim.pid()));
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(1000)));
  EXPECT_TRUE(process::WaitForEnd(handle.pidfd(), kTestWait));
  const auto end = client_.AwaitEnd();
  ASSERT_TRUE(end) << end.error().message;
  EXPECT_EQ(*end, 128 + SIGKILL);
}

TEST_F(ExecRunnerTest, APodRunsOnlySoMany) {
  const PodSpec pod = StartPod();
  std::vector<std::unique_ptr<Client>> clients;
  for (size_t i = 0; i < kMaxExecs; ++i) {
    clients.push_back(std::make_unique<Client>());
    runner_->Start({pod.directory,
                    "pytorch",
                    {"sh", "-c", "echo ready; exec sleep 1000"},
                    false,
                    true,
                    false,
                    false},
                   clients.back()->Callbacks());
    clients.back()->Await("ready");
  }
  const auto end = RunScript(pod, "true");
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().message, "the pod already runs 64 such commands");
  runner_.reset();  // before the clients are destroyed
}

TEST_F(ExecRunnerTest, AShimHearsNoNonsense) {
  const PodSpec pod = StartPod();
  const auto connection = ConnectToExecs(pod.directory);
  ASSERT_TRUE(connection);
  ASSERT_EQ(::send(connection->get(), "nonsense", 8, MSG_NOSIGNAL), 8);
  ASSERT_TRUE(process::WaitReadable(connection->get(), kTestWait));
  char byte = 0;
  EXPECT_EQ(::recv(connection->get(), &byte, 1, 0), 0);
  const auto end = RunScript(pod, "exit 4");
  ASSERT_TRUE(end);
  EXPECT_EQ(*end, 4);
}

}  // namespace
}  // namespace local::node
