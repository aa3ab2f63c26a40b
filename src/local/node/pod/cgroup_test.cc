#include "local/node/pod/cgroup.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "local/node/pod/pod_processes.h"
#include "local/node/testing/pod_fixture.h"
#include "process/procfs.h"
#include "process/spawn.h"

namespace local::node {
namespace {

// A fake machine, made of files.
class CgroupTest : public PodTest {
 protected:
  void Put(const std::string& path, const std::string& text) {
    ASSERT_TRUE(base::MakeDirs(base::DirectoryOf(root_ + path), 0755));
    ASSERT_TRUE(base::WriteFileAtomic(root_ + path, text, 0644, base::Durability::kNone));
  }
  void MountCgroups() {
    Put("/proc/self/mountinfo",
        "24 1 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "33 24 0:28 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
    Put("/sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
    Put("/sys/fs/cgroup/cgroup.subtree_control", "");
  }
  std::string Read(const std::string& path) {
    return base::ReadFile(root_ + path).value_or("(none)");
  }
};

TEST_F(CgroupTest, RootHasATreeOfItsOwn) {
  MountCgroups();
  const CgroupPlace place = FindCgroupPlace(0, {}, root_);
  EXPECT_EQ(place.kind, CgroupPlace::Kind::kOwnTree);
  EXPECT_EQ(place.mount, root_ + "/sys/fs/cgroup");
  EXPECT_TRUE(place.has_memory && place.has_cpu);
  EXPECT_EQ(place.why, "");
}

TEST_F(CgroupTest, WhereVersion1HasTheControllersThereIsNone) {
  EXPECT_EQ(FindCgroupPlace(0, {}, root_).why, "no cgroup v2 is mounted here");
  MountCgroups();
  Put("/sys/fs/cgroup/cgroup.controllers", "\n");
  const CgroupPlace place = FindCgroupPlace(0, {}, root_);
  EXPECT_EQ(place.kind, CgroupPlace::Kind::kNone);
  EXPECT_EQ(place.why, "cgroup v2 has no controller for memory and CPUs for this user");
}

TEST_F(CgroupTest, InAContainerOnlyWhatItsRootHandsDownIsThere) {
  MountCgroups();
  Put("/sys/fs/cgroup/cgroup.type", "domain\n");
  EXPECT_EQ(FindCgroupPlace(0, {}, root_).kind, CgroupPlace::Kind::kNone);
  Put("/sys/fs/cgroup/cgroup.subtree_control", "memory\n");
  const CgroupPlace place = FindCgroupPlace(0, {}, root_);
  EXPECT_EQ(place.kind, CgroupPlace::Kind::kOwnTree);
  EXPECT_TRUE(place.has_memory);
  EXPECT_FALSE(place.has_cpu);
}

TEST_F(CgroupTest, OthersNeedTheirManagerOfSystemd) {
  MountCgroups();
  base::Environment environment;
  environment.Set("PATH", root_ + "/bin");
  environment.Set("XDG_RUNTIME_DIR", "/run/user/1000");
  EXPECT_EQ(FindCgroupPlace(1000, environment, root_).kind, CgroupPlace::Kind::kNone);
  Put("/run/user/1000/systemd/private", "");
  Put("/bin/systemd-run", "");
  ASSERT_EQ(::chmod((root_ + "/bin/systemd-run").c_str(), 0755), 0);
  Put("/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/cgroup.controllers",
      "memory pids\n");
  const CgroupPlace place = FindCgroupPlace(1000, environment, root_);
  EXPECT_EQ(place.kind, CgroupPlace::Kind::kUserScope);
  EXPECT_TRUE(place.has_memory);
  EXPECT_FALSE(place.has_cpu);
  EXPECT_EQ(place.why, "cgroup v2 has no controller for CPUs for this user");
}

TEST_F(CgroupTest, AContainersLimitsAreItsCgroups) {
  MountCgroups();
  PodSpec spec = Pod({Shell("true"), Program("free", {"true"})});
  spec.cgroup_mount = root_ + "/sys/fs/cgroup";
  spec.containers[0].memory_limit = 64 << 20;
  spec.containers[0].cpu_limit_milli = 1500;
  // The kernel creates these files with the directory.
  const std::string group = "/sys/fs/cgroup/muster/" + PodCgroupName(spec.uid) + "/pytorch";
  for (const char* file : {"memory.max", "memory.swap.max", "memory.oom.group", "cpu.max"}) {
    Put(group + "/" + file, "");
  }
  ASSERT_TRUE(MakeCgroups(spec));
  EXPECT_EQ(spec.containers[0].cgroup, root_ + group);
  EXPECT_EQ(spec.containers[1].cgroup, "") << "it has no limit";
  EXPECT_EQ(Read(group + "/memory.max"), "67108864");
  EXPECT_EQ(Read(group + "/memory.swap.max"), "0");
  EXPECT_EQ(Read(group + "/memory.oom.group"), "1");
  EXPECT_EQ(Read(group + "/cpu.max"), "150000 100000");
  EXPECT_TRUE(IsMemoryLimited(spec.containers[0]));
  Put(group + "/memory.events", "low 0\nhigh 0\nmax 7\noom 1\noom_kill 2\n");
  EXPECT_EQ(OomKillsOf(spec.containers[0].cgroup), 2u);
}

TEST_F(CgroupTest, WithoutAControllerTheContainerRunsWithoutItsLimit) {
  MountCgroups();
  PodSpec spec = Pod({Shell("true")});
  spec.cgroup_mount = root_ + "/sys/fs/cgroup";
  spec.containers[0].memory_limit = 64 << 20;
  EXPECT_FALSE(MakeCgroups(spec)) << "there is no memory.max";
  EXPECT_FALSE(IsMemoryLimited(spec.containers[0]));
  EXPECT_EQ(spec.containers[0].cgroup, "");
}

// With the real kernel, but no controller.
TEST_F(CgroupTest, APodsProcessesAreKnownByTheirCgroup) {
  const std::string mount = FindCgroupPlace(::geteuid(), {}).mount;
  const std::string uid = base::NewUid();
  const std::string group = mount + "/" + PodCgroupName(uid);
  if (mount.empty() || ::mkdir(group.c_str(), 0755) != 0) {
    GTEST_SKIP() << "this machine lets nobody make a cgroup of version 2";
  }
  process::SpawnOptions options;
  options.path = "/bin/sh";
  options.argv = {"sh", "-c", "setsid sleep 1000 & echo $!"};
  options.cgroup = group;
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_CLOEXEC), 0);
  options.fds = {{ends[1], 1}};
  const auto pid = process::Spawn(options);
  ASSERT_TRUE(pid) << pid.error().message;
  char said[32] = "";
  ASSERT_GT(::read(ends[0], said, sizeof said - 1), 0);
  ASSERT_EQ(::waitpid(*pid, nullptr, 0), *pid);
  const auto stray = static_cast<pid_t>(std::atoi(said));
  EXPECT_EQ(PodProcesses(uid, {}).Find(), std::vector<pid_t>{stray});
  EXPECT_TRUE(PodProcesses(base::NewUid(), {}).Find().empty());
  EXPECT_TRUE(KillStrays(root_, uid));
  const auto left = process::ReadStat(stray);
  EXPECT_TRUE(!left || left->state == 'Z');
  ::close(ends[0]);
  ::close(ends[1]);
  ::rmdir(group.c_str());
}

}  // namespace
}  // namespace local::node
