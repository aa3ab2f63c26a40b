#include "process/spawn.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "base/fd.h"
#include "base/file.h"
#include "process/pidfd.h"
#include "process/procfs.h"

namespace process {
namespace {

constexpr std::chrono::seconds kWait{20};

struct Ended {
  int status = -1;
  std::string output;
};

// Runs it to its end with stdout in a pipe.
Ended RunToEnd(SpawnOptions options) {
  int ends[2];
  EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const base::Fd reader(ends[0]);
  base::Fd writer(ends[1]);
  options.fds.push_back({writer.get(), 1});
  const auto pid = Spawn(options);
  EXPECT_TRUE(pid) << pid.error().message;
  writer.Reset();
  Ended ended;
  if (!pid) return ended;
  char buffer[4096];
  while (true) {
    const ssize_t count = ::read(reader.get(), buffer, sizeof buffer);
    if (count <= 0) break;
    ended.output.append(buffer, static_cast<size_t>(count));
  }
  EXPECT_EQ(::waitpid(*pid, &ended.status, 0), *pid);
  return ended;
}

SpawnOptions Shell(const std::string& script) {
  SpawnOptions options;
  options.path = "/bin/sh";
  options.argv = {"sh", "-c", script};
  options.env = {"PATH=/usr/bin:/bin", "A=1"};
  return options;
}

TEST(Spawn, GivesEnvironmentDirectoryAndExitCode) {
  SpawnOptions options = Shell("echo $A; pwd; exit 7");
  options.cwd = "/usr";
  const Ended ended = RunToEnd(options);
  EXPECT_EQ(ended.output, "1\n/usr\n");
  EXPECT_EQ(WEXITSTATUS(ended.status), 7);
}

TEST(Spawn, PlacesDescriptorsThatCrossEachOther) {
  base::Fd a(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  base::Fd b(::open("/dev/zero", O_RDONLY | O_CLOEXEC));
  SpawnOptions options = Shell("readlink /proc/self/fd/" + std::to_string(b.get()) +
                               " /proc/self/fd/" + std::to_string(a.get()));
  options.fds = {{a.get(), b.get()}, {b.get(), a.get()}};
  EXPECT_EQ(RunToEnd(options).output, "/dev/null\n/dev/zero\n");
}

TEST(Spawn, MakesGroupsAndSessions) {
  SpawnOptions options = Shell("cut -d' ' -f5,6 /proc/$$/stat; echo $$");
  options.group = SpawnOptions::Group::kSession;
  const std::string output = RunToEnd(options).output;
  const std::string pid = output.substr(output.find('\n') + 1);
  EXPECT_EQ(output, pid.substr(0, pid.size() - 1) + " " + pid + pid);
}

TEST(Spawn, ReportsWhatFailed) {
  SpawnOptions options = Shell("true");
  options.path = "/no/such/program";
  EXPECT_EQ(Spawn(options).error().message, "exec \"/no/such/program\": No such file or directory");
  options = Shell("true");
  options.cwd = "/no/such/directory";
  EXPECT_EQ(Spawn(options).error().message,
            "chdir \"/no/such/directory\": No such file or directory");
  options = Shell("true");
  options.path = "/etc/passwd";
  EXPECT_EQ(Spawn(options).error().code, base::Code::kPermissionDenied);
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);  // no zombie is left
}

TEST(Spawn, NamesAMissingInterpreter) {
  const std::string script = testing::TempDir() + "/muster-spawn-script";
  ASSERT_TRUE(base::WriteFileAtomic(script, "#!/no/such/python\n", 0755, base::Durability::kNone));
  SpawnOptions options = Shell("");
  options.path = script;
  EXPECT_TRUE(Spawn(options).error().message.ends_with(
      "No such file or directory (the interpreter in its first line is missing)"));
  ASSERT_TRUE(base::WriteFileAtomic(script, "echo x\n", 0755, base::Durability::kNone));
  EXPECT_TRUE(Spawn(options).error().message.ends_with(
      "Exec format error (its first line is not like #!/bin/sh, or it is for another machine)"));
  ::unlink(script.c_str());
}

TEST(Spawn, ADetachedProgramIsNobodysZombie) {
  SpawnOptions options = Shell("exec sleep 1000");
  options.is_detached = true;
  options.group = SpawnOptions::Group::kSession;
  const auto pid = Spawn(options);
  ASSERT_TRUE(pid) << pid.error().message;
  const auto stat = ReadStat(*pid);
  ASSERT_TRUE(stat);
  EXPECT_NE(stat->parent, ::getpid());
  EXPECT_EQ(stat->session, *pid);
  const auto pidfd = OpenPidfd(*pid);
  ASSERT_TRUE(pidfd);
  ASSERT_TRUE(SendSignal(pidfd->get(), SIGKILL));
  EXPECT_TRUE(WaitForEnd(pidfd->get(), kWait));
}

TEST(Spawn, ADetachedProgramsFailureIsReportedToo) {
  SpawnOptions options = Shell("true");
  options.path = "/no/such/program";
  options.is_detached = true;
  EXPECT_EQ(Spawn(options).error().message, "exec \"/no/such/program\": No such file or directory");
}

TEST(Spawn, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  const pid_t middle = ::fork();
  if (middle == 0) {
    SpawnOptions options = Shell("exec sleep 1000");
    options.dies_with_parent = true;
    const auto pid = Spawn(options);
    const pid_t child = pid ? *pid : -1;
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &child, sizeof child);
    ::pause();
    ::_exit(0);
  }
  pid_t child = -1;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  const auto pidfd = OpenPidfd(child);
  ASSERT_TRUE(pidfd);
  ::kill(middle, SIGKILL);
  ::waitpid(middle, nullptr, 0);
  EXPECT_TRUE(WaitForEnd(pidfd->get(), kWait));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(Spawn, ManyThreadsAtOnce) {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 25; ++n) {
        const auto pid = Spawn(Shell("exit 3"));
        ASSERT_TRUE(pid);
        int status = 0;
        ASSERT_EQ(::waitpid(*pid, &status, 0), *pid);
        ASSERT_EQ(WEXITSTATUS(status), 3);
      }
    });
  }
}

TEST(FindProgram, SearchesThePathItIsGiven) {
  EXPECT_EQ(*FindProgram("sh", "/nowhere:/bin"), "/bin/sh");
  EXPECT_EQ(*FindProgram("./x", "/bin"), "./x");
  EXPECT_EQ(FindProgram("sh", "/nowhere").error().message,
            "exec: \"sh\": executable file not found in $PATH");
  EXPECT_EQ(FindProgram("passwd", "/etc").error().code, base::Code::kPermissionDenied);
}

}  // namespace
}  // namespace process
