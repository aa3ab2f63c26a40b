#include "process/procfs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "base/fd.h"
#include "base/file.h"
#include "process/pidfd.h"
#include "process/spawn.h"

namespace process {
namespace {

TEST(Procfs, ReadsStatWhateverTheName) {
  const auto stat =
      ParseStat("42 (a) b (c)) S 1 40 39 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 100 200 3\n");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, 42);
  EXPECT_EQ(stat->state, 'S');
  EXPECT_EQ(stat->parent, 1);
  EXPECT_EQ(stat->group, 40);
  EXPECT_EQ(stat->session, 39);
  EXPECT_EQ(stat->ticks, 5u + 6 + 7 + 8);
  EXPECT_EQ(stat->own_ticks, 5u + 6);
  EXPECT_EQ(stat->start_ticks, 987654u);
  EXPECT_FALSE(stat->is_exiting);
  EXPECT_TRUE(
      ParseStat("42 (a) R 1 40 39 0 -1 4194564 1 2 3 4 5 6 7 8 20 0 1 0 9 100 200 3")->is_exiting);
  for (const char* const text : {"", "42", "42 (x) S", "x (x) S 1 2 3", "42 x S 1 2 3 4 5 6"}) {
    EXPECT_FALSE(ParseStat(text)) << text;
  }
}

TEST(Procfs, KnowsThisProcess) {
  const auto stat = ReadStat(::getpid());
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->pid, ::getpid());
  EXPECT_EQ(stat->parent, ::getppid());
  EXPECT_EQ(BootId()->size(), 36u);
  const auto pids = AllPids();
  EXPECT_NE(std::find(pids.begin(), pids.end(), ::getpid()), pids.end());
  EXPECT_EQ(ReadStat(0x3fffffff).error().code, base::Code::kNotFound);
}

TEST(Procfs, CountsWhatAProcessReadsAndWrites) {
  const uint64_t before = TransferredBytes(::getpid());
  const auto text = base::ReadFile("/proc/self/maps");
  ASSERT_TRUE(text);
  EXPECT_GE(TransferredBytes(::getpid()), before + text->size());
  EXPECT_EQ(TransferredBytes(0x3fffffff), 0u);
}

TEST(Procfs, FindsDescendantsAndProcessesByTheirEnvironment) {
  SpawnOptions options;
  options.path = "/bin/sh";
  options.argv = {"sh", "-c", "sleep 1000 & wait"};
  options.env = {"PATH=/usr/bin:/bin", "MUSTER_TEST_MARK=" + std::to_string(::getpid())};
  options.group = SpawnOptions::Group::kProcessGroup;
  const auto pid = Spawn(options);
  ASSERT_TRUE(pid);
  std::vector<ProcessStat> found;
  // The shell forks soon after its exec.
  while (found.size() < 2) found = Descendants(::getpid());
  EXPECT_EQ(found[0].pid, *pid);
  EXPECT_EQ(found[1].parent, *pid);
  ProcessTree tree;
  EXPECT_EQ(tree.DescendantsOf(*pid).size(), 1u);
  EXPECT_EQ(tree.DescendantsOf(::getpid()).size(), 2u);
  EXPECT_TRUE(tree.DescendantsOf(found[1].pid).empty());
  const std::string mark = options.env[1];
  // While it executes `sleep`, the kernel shows no environment.
  while (FindByEnvironment(mark).size() < 2) std::this_thread::yield();
  EXPECT_TRUE(FindByEnvironment(mark.substr(0, mark.size() - 1)).empty());
  EXPECT_TRUE(FindByEnvironment(mark.substr(1)).empty());
  ::kill(-*pid, SIGKILL);
  ::waitpid(*pid, nullptr, 0);
}

TEST(Pidfd, CarriesAValueWithASignal) {
  SpawnOptions options;
  options.path = "/bin/sleep";
  options.argv = {"sleep", "1000"};
  const auto pid = Spawn(options);
  ASSERT_TRUE(pid);
  const auto pidfd = OpenPidfd(*pid);
  ASSERT_TRUE(pidfd);
  EXPECT_EQ(WaitForEnd(pidfd->get(), std::chrono::milliseconds(0)).error().code,
            base::Code::kTimeout);
  EXPECT_TRUE(SendSignal(pidfd->get(), SIGTERM, 30));
  int status = 0;
  EXPECT_EQ(::waitpid(*pid, &status, 0), *pid);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_EQ(SendSignal(pidfd->get(), SIGTERM).error().code, base::Code::kNotFound);
  EXPECT_EQ(OpenPidfd(*pid).error().code, base::Code::kNotFound);
}

TEST(UnifiedCgroup, IsTheLineOfHierarchyZero) {
  EXPECT_EQ(UnifiedCgroup("0::/user.slice/a b.scope\n"), "/user.slice/a b.scope");
  EXPECT_EQ(UnifiedCgroup("10:memory:/old\n1:name=systemd:/s\n0::/\n"), "/");
  EXPECT_EQ(UnifiedCgroup("10:memory:/old\n"), "");
  EXPECT_EQ(UnifiedCgroup(""), "");
}

TEST(OomKills, AreReadFromTheFilesOfBothVersions) {
  const std::string path = testing::TempDir() + "/muster-oom-" + std::to_string(::getpid());
  const auto kills_of = [&path](std::string_view text) {
    EXPECT_TRUE(base::WriteFileAtomic(path, text, 0600, base::Durability::kNone));
    return OomKillsIn(path);
  };
  EXPECT_EQ(kills_of("low 0\noom 3\noom_kill 2\noom_group_kill 1\n"), 2);
  EXPECT_EQ(kills_of("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n"), 0);
  EXPECT_EQ(kills_of("oom 3\n"), std::nullopt);
  ::unlink(path.c_str());
  EXPECT_EQ(OomKillsIn(path), std::nullopt);
}

TEST(OpenDescriptors, CountsThem) {
  const size_t before = OpenDescriptors(::getpid());
  const base::Fd one(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(OpenDescriptors(::getpid()), before + 1);
  EXPECT_EQ(OpenDescriptors(-1), 0U);
}

}  // namespace
}  // namespace process
