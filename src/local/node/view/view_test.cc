// With real namespaces, as the user who runs the tests and, if that is root, also as nobody.
#include "local/node/view/view.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "base/strings.h"
#include "local/node/testing/pod_fixture.h"

namespace local::node {
namespace {

constexpr uid_t kNobody = 65534;

// By descriptor, because nobody may have no access to the build directory.
std::string ExecutableForAll() {
  static const int fd = [] {
    const base::Fd opened(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    return ::fcntl(opened.get(), F_DUPFD_CLOEXEC, 200);
  }();
  return fmt::format("/proc/self/fd/{}", fd);
}

class ViewTest : public PodTest, public testing::WithParamInterface<bool> {
 protected:
  void SetUp() override {
    PodTest::SetUp();
    if (IsNobody() && ::geteuid() != 0) GTEST_SKIP() << "only root can become nobody";
#ifdef __SANITIZE_THREAD__
    if (User() != 0) GTEST_SKIP() << "a user namespace wants one thread; the sanitizer has its own";
#endif
    if (!CanMakeNamespaces()) GTEST_SKIP() << "namespaces are forbidden on this machine";
    data_ = root_ + "/data";
    ASSERT_TRUE(base::MakeDirs(data_, 0755));
    ASSERT_TRUE(base::WriteFileAtomic(data_ + "/digits", "0123", 0644, base::Durability::kNone));
    pods_ = root_ + "/pods";
    ASSERT_TRUE(base::MakeDirs(pods_, 0755));
    ASSERT_EQ(::chown(pods_.c_str(), User(), User()), 0);
  }

  bool IsNobody() const { return GetParam(); }
  uid_t User() const { return IsNobody() ? kNobody : ::geteuid(); }

  bool CanMakeNamespaces() const {
    const pid_t child = ::fork();
    if (child == 0) {
      BecomeUser();
      const int flags = ::geteuid() == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS;
      ::_exit(::unshare(flags) == 0 ? 0 : 1);
    }
    int status = 1;
    ::waitpid(child, &status, 0);
    return status == 0;
  }

  void BecomeUser() const {
    if (!IsNobody()) return;
    if (::setgroups(0, nullptr) != 0 || ::setresgid(kNobody, kNobody, kNobody) != 0 ||
        ::setresuid(kNobody, kNobody, kNobody) != 0) {
      ::_exit(3);
    }
  }

  PodSpec ViewPod(const std::string& script) {
    PodSpec spec = Pod({Shell(script)});
    spec.directory = pods_ + "/" + spec.uid;
    specs_.back().directory = spec.directory;
    return spec;
  }

  // Runs in a child that has become the user; reads the report here.
  PodReport RunAsUser(const PodSpec& spec) {
    const std::string executable = ExecutableForAll();
    const pid_t child = ::fork();
    if (child == 0) {
      BecomeUser();
      const auto handle = StartShim(executable, spec, {});
      if (!handle) {
        fmt::print(stderr, "{}\n", handle.error().message);
        ::_exit(1);
      }
      ::_exit(process::WaitForEnd(handle->pidfd(), kTestWait) ? 0 : 2);
    }
    int status = 1;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    const auto report = ReadReport(spec.directory);
    EXPECT_TRUE(report) << report.error().message;
    return report.value_or(PodReport{});
  }

  std::string data_;
  std::string pods_;
};

TEST_P(ViewTest, ShowsCodeDataNamesAndKeepsTheRest) {
  PodSpec spec = ViewPod(
      "pwd; cat /root/code/train.py; cat /mnist_data/digits; echo; hostname; "
      "grep -c '127.0.0.1.*job-master-0' /etc/hosts; touch /root/code/out /root/scratch && "
      "echo written; test -x /usr/bin/env && test -c /dev/null && test -d /proc/self && "
      "ls /root | tr '\\n' ' '; "
      "touch /mnist_data/x 2>/dev/null || echo read-only; grep CapEff /proc/self/status; "
      "grep -c muster-host /proc/self/mounts; id -u");
  spec.containers[0].cwd = "/root";
  spec.hostname = "job-master-0";
  spec.hosts = {{"job-master-0", "127.0.0.1"}};
  spec.mounts = {{spec.directory + "/code", "/root/code"}, {data_, "/mnist_data", true}};
  ASSERT_TRUE(base::MakeDirs(spec.directory + "/code"));
  ASSERT_TRUE(base::WriteFileAtomic(spec.directory + "/code/train.py", "print\n", 0644,
                                    base::Durability::kNone));
  const uid_t user = User();
  for (const char* const path : {"", "/code", "/code/train.py"}) {
    ASSERT_EQ(::chown((spec.directory + path).c_str(), user, user), 0);
  }
  const bool had_code = ::access("/root/code", F_OK) == 0;
  const bool had_data = ::access("/mnist_data", F_OK) == 0;

  const PodReport report = RunAsUser(spec);
  EXPECT_TRUE(report.has_succeeded) << report.reason << ": " << report.message;
  const std::string log = Log(spec, "pytorch");
  EXPECT_TRUE(log.starts_with("/root\nprint\n0123\njob-master-0\n1\nwritten\n")) << log;
  EXPECT_NE(log.find("code"), std::string::npos) << log;
  EXPECT_NE(log.find("read-only\n"), std::string::npos) << log;
  EXPECT_NE(log.find(fmt::format("\n0\n{}\n", user)), std::string::npos) << log;
  if (user != 0) {
    EXPECT_NE(log.find("CapEff:\t0000000000000000"), std::string::npos) << log;
  }
  EXPECT_EQ(::access((spec.directory + "/code/out").c_str(), F_OK), 0);
  EXPECT_EQ(::access("/root/code", F_OK) == 0, had_code);
  EXPECT_EQ(::access("/mnist_data", F_OK) == 0, had_data);
  EXPECT_NE(::access("/root/scratch", F_OK), 0);
}

TEST_P(ViewTest, MemoryIsThePodsOwnAndHasItsLimit) {
  PodSpec spec = ViewPod(
      "touch /dev/shm/of-view-test && stat -c %a /dev/shm; "
      "dd if=/dev/zero of=/dev/shm/small bs=4096 count=1 2>/dev/null && echo fits; "
      "dd if=/dev/zero of=/dev/shm/large bs=65536 count=2 2>/dev/null || echo full");
  spec.mounts = {{"dshm", "/dev/shm", false, 65536}};
  const PodReport report = RunAsUser(spec);
  EXPECT_TRUE(report.has_succeeded) << report.reason << ": " << report.message;
  EXPECT_EQ(Log(spec, "pytorch"), "1777\nfits\nfull\n");
  EXPECT_NE(::access("/dev/shm/of-view-test", F_OK), 0);
}

TEST_P(ViewTest, KeepsTheUsersHomeInReach) {
  const std::string home = pods_ + "/home";
  ASSERT_TRUE(base::MakeDirs(home + "/.venv/bin"));
  ASSERT_TRUE(base::WriteFileAtomic(home + "/.venv/bin/hello", "#!/bin/sh\necho from the venv\n",
                                    0755, base::Durability::kNone));
  const uid_t user = User();
  for (const char* const path : {"", "/.venv", "/.venv/bin", "/.venv/bin/hello"}) {
    ASSERT_EQ(::chown((home + path).c_str(), user, user), 0);
  }
  PodSpec spec = ViewPod("./.venv/bin/hello; ls -A");
  spec.containers[0].cwd = home;
  spec.mounts = {{data_, home + "/code"}};
  const PodReport report = RunAsUser(spec);
  EXPECT_TRUE(report.has_succeeded) << report.message;
  EXPECT_EQ(Log(spec, "pytorch"), "from the venv\n.venv\ncode\n");
  EXPECT_NE(::access((home + "/code").c_str(), F_OK), 0);
}

TEST_P(ViewTest, MakesAWorkingDirectoryThatTheMachineLacks) {
  PodSpec spec = ViewPod("pwd; touch here && echo writable");
  spec.containers[0].cwd = "/workspace-of-test/run";
  const PodReport report = RunAsUser(spec);
  EXPECT_TRUE(report.has_succeeded) << report.message;
  EXPECT_EQ(Log(spec, "pytorch"), "/workspace-of-test/run\nwritable\n");
  EXPECT_NE(::access("/workspace-of-test", F_OK), 0);
}

TEST_P(ViewTest, APodThatNeedsNothingStaysInTheMachinesNamespaces) {
  std::string own(64, '\0');
  own.resize(static_cast<size_t>(::readlink("/proc/self/ns/mnt", own.data(), own.size())));
  const PodSpec spec = ViewPod("readlink /proc/self/ns/mnt");
  RunAsUser(spec);
  EXPECT_EQ(Log(spec, "pytorch"), own + "\n");
}

TEST_P(ViewTest, TheShimIsAdoptedAndObeysFromItsView) {
  PodSpec spec = ViewPod("echo up; sleep 1000");
  spec.mounts = {{data_, "/mnist_data"}};
  const std::string executable = ExecutableForAll();
  const pid_t child = ::fork();
  if (child == 0) {
    BecomeUser();
    if (!StartShim(executable, spec, {})) ::_exit(1);
    AwaitReport(spec.directory, [](const PodReport& r) {
      return r.containers[0].state.phase == ContainerState::Phase::kRunning;
    });
    auto adopted = AdoptShim(spec.directory);
    if (!adopted || !adopted->has_value()) ::_exit(2);
    if (!(*adopted)->Terminate(std::chrono::seconds(5))) ::_exit(3);
    if (!process::WaitForEnd((*adopted)->pidfd(), kTestWait)) ::_exit(4);
    ::_exit(0);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), 0);
  const auto report = ReadReport(spec.directory);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->is_finished);
  EXPECT_EQ(report->containers[0].state.signal, SIGTERM);
}

TEST_P(ViewTest, AMountThatCannotBeIsTheReason) {
  PodSpec spec = ViewPod("true");
  spec.mounts = {{root_ + "/nowhere", "/mnist_data"}};
  const PodReport report = RunAsUser(spec);
  EXPECT_TRUE(report.is_finished);
  EXPECT_FALSE(report.has_succeeded);
  EXPECT_EQ(report.reason, "ViewFailed");
  EXPECT_EQ(report.message,
            fmt::format("mount {}/nowhere on /mnist_data: No such file or directory", root_));
  EXPECT_EQ(report.containers[0].state.phase, ContainerState::Phase::kWaiting);
}

// The limit is per user namespace: the test creates one and sets it there.
TEST_P(ViewTest, WhereNamespacesAreForbiddenThePodSaysSo) {
  PodSpec spec = ViewPod("true");
  spec.mounts = {{data_, "/mnist_data"}};
  const std::string executable = ExecutableForAll();
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "a user namespace wants one thread; the sanitizer has its own";
#endif
  const uid_t user = User() == 0 ? kNobody : User();
  ASSERT_EQ(::chown(pods_.c_str(), user, user), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 &&
        (::setresgid(user, user, user) != 0 || ::setresuid(user, user, user) != 0)) {
      ::_exit(1);
    }
    ::prctl(PR_SET_DUMPABLE, 1);  // the change of user had cleared it, and with it access to
                                  // /proc/self
    const auto write = [](const char* path, const std::string& content) {
      const base::Fd fd(::open(path, O_WRONLY | O_CLOEXEC));
      return ::write(fd.get(), content.data(), content.size()) > 0;
    };
    if (::unshare(CLONE_NEWUSER) != 0 ||
        !write("/proc/self/uid_map", fmt::format("{0} {0} 1", user)) ||
        !write("/proc/sys/user/max_user_namespaces", "0")) {
      ::_exit(77);
    }
    const auto handle = StartShim(executable, spec, {});
    if (!handle) ::_exit(2);
    ::_exit(process::WaitForEnd(handle->pidfd(), kTestWait) ? 0 : 3);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "the limit cannot be set here";
  ASSERT_EQ(WEXITSTATUS(status), 0);
  const auto report = ReadReport(spec.directory);
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->is_finished);
  EXPECT_EQ(report->reason, "NamespaceForbidden");
  EXPECT_NE(report->message.find("`sysctl -w user.max_user_namespaces=15000`"), std::string::npos)
      << report->message;
  EXPECT_EQ(report->containers[0].state.phase, ContainerState::Phase::kWaiting);
}

TEST_P(ViewTest, ARootThatIsReadOnlyLeavesTheVolumesAndDevices) {
  PodSpec spec = ViewPod(
      "cd /; for place in / /tmp /etc /root /new; do touch $place/muster-test 2>/dev/null && "
      "echo wrote $place; done; touch /volume/x && echo volume; echo x > /dev/null && "
      "touch /dev/shm/muster-test-$$ && rm /dev/shm/muster-test-$$ && echo devices; "
      "test -r /etc/hosts && echo done");
  ASSERT_TRUE(base::MakeDirs(spec.directory + "/volume"));
  for (const char* const path : {"", "/volume"}) {
    ASSERT_EQ(::chown((spec.directory + path).c_str(), User(), User()), 0);
  }
  spec.is_root_read_only = true;
  spec.hosts = {{"job-master-0", "127.0.0.1"}};
  spec.mounts = {{spec.directory + "/volume", "/volume"}, {data_, "/new/data", true}};
  const PodReport report = RunAsUser(spec);
  EXPECT_TRUE(report.has_succeeded) << report.reason << ": " << report.message;
  EXPECT_EQ(Log(spec, "pytorch"), "volume\ndevices\ndone\n");
}

TEST_P(ViewTest, APodRunsAsTheUserThatItNames) {
  PodSpec spec = ViewPod("id -u; id -g; touch /volume/x; stat -c %u /volume/x; echo > /dev/stdout");
  ASSERT_TRUE(base::MakeDirs(spec.directory + "/volume", 0777));
  ASSERT_EQ(::chmod((spec.directory + "/volume").c_str(), 0777), 0);
  for (const char* const path : {"", "/volume"}) {
    ASSERT_EQ(::chown((spec.directory + path).c_str(), User(), User()), 0);
  }
  spec.containers[0].rights.user = 4242;
  spec.containers[0].rights.group = 4243;
  spec.mounts = {{spec.directory + "/volume", "/volume"}};
  const PodReport report = RunAsUser(spec);
  EXPECT_TRUE(report.has_succeeded) << report.reason << ": " << report.message;
  EXPECT_EQ(Log(spec, "pytorch"), "4242\n4243\n4242\n\n");
  struct stat info{};
  ASSERT_EQ(::stat((spec.directory + "/volume/x").c_str(), &info), 0);
  EXPECT_EQ(info.st_uid, User() == 0 ? 4242 : User()) << "outside it is who has started it";
}

INSTANTIATE_TEST_SUITE_P(Users, ViewTest, testing::Bool(),
                         [](const auto& param) { return param.param ? "Nobody" : "Self"; });

}  // namespace
}  // namespace local::node
