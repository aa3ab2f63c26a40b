#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <thread>

#include "arena/streams/exec_session.h"
#include "arena/testing/verb_test_base.h"
#include "base/fd.h"
#include "cluster/testing/fake_exec.h"

namespace arena {
namespace {

using cluster::ExecScript;
using std::string_literals::operator""s;

constexpr const char* kNoTty =
    "Unable to use a TTY - input is not a terminal or the right kind of file\n";

class Attach : public VerbTest {
 protected:
  // Standard input is a pipe with that text; the script acts as the server.
  Ended Run(const std::vector<std::string>& args, const std::string& input = "",
            const std::string& program = "arena") {
    cluster_->on_exec = [this](const net::HttpRequest& request) -> net::WebSocketAnswer {
      asked_ = request.target;
      return {101, "", std::make_unique<cluster::ScriptedSocket>(script_)};
    };
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    const base::Fd reader(ends[0]);
    base::Fd writer(ends[1]);
    EXPECT_EQ(::write(writer.get(), input.data(), input.size()),
              static_cast<ssize_t>(input.size()));
    writer.Reset();
    const base::Fd before(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
    ::dup2(reader.get(), STDIN_FILENO);
    Ended ended = VerbTest::Run(args, program);
    ::dup2(before.get(), STDIN_FILENO);
    return ended;
  }
  void MakeRunning() {
    cluster_->Put(kJobs, MakeJob("x", "Running", std::chrono::seconds(60)));
    cluster_->Put(kPods, MakePod("x", "worker", 0, "Running"));
    cluster_->Put(kPods, MakePod("x", "master", 0, "Running"));
  }

  std::shared_ptr<ExecScript> script_ = std::make_shared<ExecScript>();
  std::string asked_;
};

TEST_F(Attach, CarriesACommandInTheMaster) {
  MakeRunning();
  script_->Say(cluster::kExecStdout, "out\n");
  script_->Say(cluster::kExecStderr, "err\n");
  script_->SayStatus(7);
  const auto ended = Run({"attach", "x"});
  EXPECT_EQ(ended.exit_code, 7);
  EXPECT_EQ(ended.out, "out\n");
  EXPECT_TRUE(ended.log.starts_with(
      "Hello! Arena attach the container pytorch of instance x-master-0\n"s + kNoTty + "err\n"))
      << ended.log;
  // Under its name the exit code of the program is 1.
  EXPECT_TRUE(ended.log.ends_with("msg=\"command terminated with exit code 7\"\n")) << ended.log;
  EXPECT_EQ(asked_,
            "/api/v1/namespaces/default/pods/x-master-0/exec?container=pytorch&command=sh&"
            "stdin=true&stdout=true&stderr=true");
}

TEST_F(Attach, GreetsAsArenaOnlyUnderItsName) {
  MakeRunning();
  script_->SayStatus(0);
  const auto ended = Run({"attach", "x"}, "", "muster");
  EXPECT_TRUE(ended.log.starts_with("Attached to the container pytorch of instance x-master-0\n"));
}

TEST_F(Attach, TakesTheCommandWithAndWithoutADash) {
  MakeRunning();
  script_->SayStatus(0);
  EXPECT_EQ(Run({"attach", "x", "bash"}).exit_code, 0);
  EXPECT_NE(asked_.find("command=bash&stdin"), std::string::npos) << asked_;
  script_ = std::make_shared<ExecScript>();
  script_->SayStatus(0);
  EXPECT_EQ(Run({"exec", "x", "-i", "x-worker-0", "-c", "side", "--", "ls", "-l"}).exit_code, 0);
  EXPECT_NE(asked_.find("/x-worker-0/exec?container=side&command=ls&command=-l&"),
            std::string::npos)
      << asked_;
}

TEST_F(Attach, SendsInputAndItsEnd) {
  MakeRunning();
  std::thread server([this] {
    script_->Heard(2);
    script_->SayStatus(0);
  });
  const auto ended = Run({"attach", "x", "cat"}, "some input");
  server.join();
  EXPECT_EQ(ended.exit_code, 0);
  const auto heard = script_->Heard(2);
  ASSERT_EQ(heard.size(), 2U);
  EXPECT_EQ(heard[0], "\0some input"s);
  EXPECT_EQ(heard[1], "\xff\0"s);
}

TEST_F(Attach, SaysWhyACommandDidNotRun) {
  MakeRunning();
  script_->SayStatus(base::Fail(base::Code::kNotFound, "exec: \"no\": not found"));
  const auto ended = Run({"attach", "x", "no"});
  EXPECT_EQ(ended.exit_code, 1);
  EXPECT_NE(ended.log.find("error executing command in container: exec: \\\"no\\\": not found"),
            std::string::npos);
}

TEST_F(Attach, RefusesInArenasWords) {
  const auto log_of = [this](const std::vector<std::string>& args, int code) {
    const auto ended = Run(args);
    EXPECT_EQ(ended.exit_code, code);
    return ended.log;
  };
  EXPECT_NE(log_of({"attach"}, 2)
                .find("expected 'attach JOB_NAME [ARG1] [ARG2] ... [ARGN]'.\\nJOB_NAME is required "
                      "argument for the attach command"),
            std::string::npos);
  EXPECT_NE(log_of({"attach", "--", "ls"}, 2).find("JOB_NAME is required"), std::string::npos);
  EXPECT_NE(log_of({"attach", "x"}, 1).find("Not found training job x in namespace default"),
            std::string::npos);
  cluster_->Put(kJobs, MakeJob("x", "Running", std::chrono::seconds(60)));
  EXPECT_NE(log_of({"attach", "x"}, 1)
                .find("can not attach the training job x, because it has no instances"),
            std::string::npos);
  cluster_->Put(kPods, MakePod("x", "master", 0, "Succeeded"));
  EXPECT_NE(
      log_of({"attach", "x"}, 1)
          .find("cannot exec into a container in a completed Instance; current phase is Succeeded"),
      std::string::npos);
  cluster_->Put(kPods, MakePod("x", "master", 0, "Pending"));
  EXPECT_NE(log_of({"attach", "x"}, 1).find("instance x-master-0 is not running"),
            std::string::npos);
  EXPECT_NE(log_of({"attach", "x", "-i", "x-worker-7"}, 1)
                .find("invalid instance name x-worker-7 in job x,please use 'arena get x' to make "
                      "sure instance name"),
            std::string::npos);
}

// A terminal as in a window, with a session on it.
class ExecSession : public testing::Test {
 protected:
  void SetUp() override {
    master_.Reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(master_ && ::grantpt(master_.get()) == 0 && ::unlockpt(master_.get()) == 0);
    char name[64];
    ASSERT_EQ(::ptsname_r(master_.get(), name, sizeof name), 0);
    terminal_.Reset(::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
    ASSERT_TRUE(terminal_);
    const winsize size{24, 80, 0, 0};
    ASSERT_EQ(::ioctl(master_.get(), TIOCSWINSZ, &size), 0);
    ASSERT_EQ(::tcgetattr(terminal_.get(), &before_), 0);
  }
  base::Result<int> Carry() { return CarrySession(stream_, {terminal_.get(), out_, err_, true}); }
  bool IsRaw() {
    termios now{};
    EXPECT_EQ(::tcgetattr(terminal_.get(), &now), 0);
    return (now.c_lflag & (ICANON | ECHO | ISIG)) == 0;
  }
  bool IsAsBefore() {
    termios now{};
    EXPECT_EQ(::tcgetattr(terminal_.get(), &now), 0);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
           now.c_oflag == before_.c_oflag;
  }

  base::Fd master_;
  base::Fd terminal_;
  termios before_{};
  std::shared_ptr<ExecScript> script_ = std::make_shared<ExecScript>();
  cluster::ExecStream stream_{std::make_unique<cluster::ScriptedSocket>(script_)};
  cli::StringOutput out_;
  cli::StringOutput err_;
};

TEST_F(ExecSession, IsRawUntilTheEnd) {
  std::thread window([this] {
    EXPECT_EQ(script_->Heard(1).at(0), "\x04{\"Width\":80,\"Height\":24}");
    EXPECT_TRUE(IsRaw());
    EXPECT_EQ(::write(master_.get(), "\x03", 1), 1);
    EXPECT_EQ(script_->Heard(2).at(1), "\0\x03"s);
    script_->Say(cluster::kExecStdout, "bye");
    script_->SayStatus(5);
  });
  const auto code = Carry();
  window.join();
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, 5);
  EXPECT_EQ(out_.text(), "bye");
  EXPECT_TRUE(IsAsBefore());
}

TEST_F(ExecSession, ATerminalThatGoesEndsTheInput) {
  std::thread window([this] {
    script_->Heard(1);
    master_.Reset();
    EXPECT_EQ(script_->Heard(2).at(1), "\xff\0"s);
    script_->SayStatus(0);
  });
  const auto code = Carry();
  window.join();
  EXPECT_TRUE(code);
}

TEST_F(ExecSession, FollowsTheSizeAndEndsOnASignal) {
  const pid_t self = ::getpid();
  std::thread window([this, self] {
    // Signals sent to the process must not reach a thread that would die of them.
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_BLOCK, &all, nullptr);
    script_->Heard(1);
    const winsize size{33, 77, 0, 0};
    EXPECT_EQ(::ioctl(master_.get(), TIOCSWINSZ, &size), 0);
    EXPECT_EQ(::kill(self, SIGWINCH), 0);
    EXPECT_EQ(script_->Heard(2).at(1), "\x04{\"Width\":77,\"Height\":33}");
    EXPECT_EQ(::kill(self, SIGTERM), 0);
  });
  const auto code = Carry();
  window.join();
  ASSERT_TRUE(code);
  EXPECT_EQ(*code, 128 + SIGTERM);
  EXPECT_TRUE(IsAsBefore());
}

TEST_F(ExecSession, ABrokenConnectionGivesTheTerminalBack) {
  script_->Close();
  const auto code = Carry();
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, base::Code::kUnavailable);
  EXPECT_TRUE(IsAsBefore());
}

}  // namespace
}  // namespace arena
