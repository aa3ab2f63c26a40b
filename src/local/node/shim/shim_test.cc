#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "answers/witness_line.h"
#include "base/strings.h"
#include "local/node/pod/pod_processes.h"
#include "local/node/pod/shim_client.h"
#include "local/node/pod/shim_files.h"
#include "local/node/testing/pod_fixture.h"
#include "process/file_lock.h"
#include "process/procfs.h"

namespace {

thread_local int g_synced_files = 0;  // the tests of other files sync in threads
thread_local int g_synced_folders = 0;

}  // namespace

extern "C" int fdatasync(int fd) {
  ++g_synced_files;
  return static_cast<int>(::syscall(SYS_fdatasync, fd));
}
extern "C" int fsync(int fd) {
  ++g_synced_folders;
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace local::node {
namespace {

using Phase = ContainerState::Phase;

class ShimTest : public PodTest {};

TEST_F(ShimTest, RunsAProgramToItsEndAndRecordsItsOutput) {
  const PodSpec spec = Pod({Shell("echo hello; echo to-stderr >&2; pwd")});
  const PodReport report = Run(spec);
  EXPECT_TRUE(report.is_finished);
  EXPECT_TRUE(report.has_succeeded);
  EXPECT_EQ(report.uid, spec.uid);
  ASSERT_EQ(report.containers.size(), 1u);
  const ContainerState& state = report.containers[0].state;
  EXPECT_EQ(state.phase, Phase::kTerminated);
  EXPECT_EQ(state.reason, "Completed");
  EXPECT_EQ(state.exit_code, 0);
  EXPECT_TRUE(state.started_at && state.finished_at);
  EXPECT_LE(*state.started_at, *state.finished_at);
  const std::string log = Log(spec, "pytorch");
  EXPECT_NE(log.find("hello\n"), std::string::npos) << log;
  EXPECT_NE(log.find("to-stderr\n"), std::string::npos) << log;
  struct stat info{};
  ASSERT_EQ(::stat((spec.directory + "/logs/pytorch/0.log").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(ShimTest, ItsProgramsHaveThePodsUmask) {
  const mode_t before = ::umask(0077);  // like the daemon's
  PodSpec spec = Pod({Shell("umask")});
  EXPECT_TRUE(Run(spec).has_succeeded);
  EXPECT_EQ(Log(spec, "pytorch"), "0022\n") << "nobody has said another";
  spec = Pod({Shell("umask")});
  spec.umask = 0007;
  EXPECT_TRUE(Run(spec).has_succeeded);
  ::umask(before);
  EXPECT_EQ(Log(spec, "pytorch"), "0007\n");
  struct stat info{};
  ASSERT_EQ(::stat((spec.directory + "/status.json").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u) << "the shim's own files stay its user's";
}

TEST_F(ShimTest, ReportsTheExitCodeAndTheLastLines) {
  const PodReport report = Run(Pod({Shell("for i in $(seq 30); do echo line $i; done; exit 3")}));
  EXPECT_TRUE(report.is_finished);
  EXPECT_FALSE(report.has_succeeded);
  const ContainerState& state = report.containers[0].state;
  EXPECT_EQ(state.reason, "Error");
  EXPECT_EQ(state.exit_code, 3);
  EXPECT_EQ(state.signal, 0);
  EXPECT_TRUE(state.message.starts_with("line 7\n")) << state.message;
  EXPECT_TRUE(state.message.ends_with("line 30")) << state.message;
}

TEST_F(ShimTest, ReportsTheSignal) {
  for (const int signal : {SIGSEGV, SIGKILL, SIGTERM}) {
    const PodReport report = Run(Pod({Shell(fmt::format("kill -{} $$", signal))}));
    const ContainerState& state = report.containers[0].state;
    EXPECT_EQ(state.signal, signal);
    EXPECT_EQ(state.exit_code, 128 + signal);
    EXPECT_EQ(state.reason, "Error");
  }
}

TEST_F(ShimTest, SaysWhyAProgramCannotBeStarted) {
  const PodReport report = Run(Pod({Program("pytorch", {"no-such-program-here"})}));
  EXPECT_FALSE(report.has_succeeded);
  const ContainerState& state = report.containers[0].state;
  EXPECT_EQ(state.reason, "StartError");
  EXPECT_EQ(state.exit_code, 128);
  EXPECT_EQ(state.message, "exec: \"no-such-program-here\": executable file not found in $PATH");
}

TEST_F(ShimTest, AProgramThatIsNotFoundSaysThatItsImageIsNotHere) {
  const std::string hint = "the image mnist is not used";
  const struct {
    std::vector<std::string> argv;
    bool is_hinted;
  } cases[] = {
      {{"no-such-program"}, true},
      {{"sh", "-c", "no-such-program"}, true},
      {{"sh", "-c", "cat no-such-file"}, true},
      {{"sh", "-c", "echo ValueError >&2; exit 1"}, false},
      {{"sh", "-c", "echo No such file or directory"}, false},  // and it succeeded
  };
  for (const auto& [argv, is_hinted] : cases) {
    ContainerSpec container = Program("pytorch", argv);
    container.image_hint = hint;
    const PodSpec spec = Pod({container});
    const PodReport report = Run(spec);
    const std::string log = Log(spec, "pytorch");
    EXPECT_EQ(report.containers[0].state.message.ends_with("; " + hint), is_hinted)
        << report.containers[0].state.message;
    EXPECT_EQ(log.find(hint + "\n") != std::string::npos, is_hinted) << log;
  }
}

TEST_F(ShimTest, GivesTheProgramACleanProcess) {
  const PodReport report = Run(Pod({Shell(
      "readlink /proc/self/fd/0; ls /proc/self/fd | wc -l; env | sort;"
      "grep -E '^Sig(Blk|Ign)' /proc/self/status; cut -d' ' -f5,6 /proc/$$/stat; echo $$")}));
  ASSERT_TRUE(report.has_succeeded);
  PodSpec spec = Pod({});
  spec.uid = report.uid;
  spec.directory = root_ + "/" + report.uid;
  const std::vector<std::string> lines = base::Split(Log(spec, "pytorch"), '\n');
  EXPECT_EQ(lines[0], "/dev/null");
  EXPECT_EQ(lines[1], "4");  // 0, 1, 2 and that of ls
  EXPECT_NE(std::find(lines.begin(), lines.end(), "MUSTER_POD_UID=" + report.uid), lines.end());
  EXPECT_NE(std::find(lines.begin(), lines.end(), "SigBlk:\t0000000000000000"), lines.end());
  EXPECT_NE(std::find(lines.begin(), lines.end(), "SigIgn:\t0000000000000000"), lines.end());
  const std::string pid = lines[lines.size() - 2];
  EXPECT_EQ(lines[lines.size() - 3], pid + " " + pid);  // it leads its group and session
}

TEST_F(ShimTest, RunsInitContainersInOrderThenAllContainersAtOnce) {
  // Each main container waits for the other: they end only if both run.
  const std::string fifo = root_ + "/fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  PodSpec spec = Pod({Program("a", {"sh", "-c", "cat " + root_ + "/order " + fifo}),
                      Program("b", {"sh", "-c", "echo met > " + fifo})});
  spec.init_containers = {Program("first", {"sh", "-c", "echo 1 >> " + root_ + "/order"}),
                          Program("second", {"sh", "-c", "echo 2 >> " + root_ + "/order"})};
  const PodReport report = Run(spec);
  EXPECT_TRUE(report.has_succeeded);
  EXPECT_EQ(Log(spec, "a"), "1\n2\nmet\n");
  EXPECT_EQ(report.init_containers[1].state.reason, "Completed");
}

TEST_F(ShimTest, AFailedInitContainerEndsThePod) {
  PodSpec spec = Pod({Shell("echo never")});
  spec.init_containers = {Program("sync", {"sh", "-c", "echo no such repository >&2; exit 7"}),
                          Program("later", {"true"})};
  const PodReport report = Run(spec);
  EXPECT_TRUE(report.is_finished);
  EXPECT_FALSE(report.has_succeeded);
  EXPECT_EQ(report.init_containers[0].state.exit_code, 7);
  EXPECT_EQ(report.init_containers[0].state.message, "no such repository");
  EXPECT_EQ(report.init_containers[1].state.phase, Phase::kWaiting);
  EXPECT_EQ(report.containers[0].state.phase, Phase::kWaiting);
  EXPECT_EQ(report.containers[0].state.reason, "PodInitializing");
}

TEST_F(ShimTest, RestartsInPlaceOnFailureUntilItSucceeds) {
  PodSpec spec = Pod({Shell("echo try; echo x >> count; [ $(wc -l < count) -ge 3 ]")},
                     PodRestartPolicy::kOnFailure);
  spec.containers[0].cwd = root_;
  const PodReport report = Run(spec);
  EXPECT_TRUE(report.has_succeeded);
  EXPECT_EQ(report.containers[0].restart_count, 2);
  ASSERT_TRUE(report.containers[0].last_termination);
  EXPECT_EQ(report.containers[0].last_termination->exit_code, 1);
  for (int restart = 0; restart < 3; ++restart) EXPECT_EQ(Log(spec, "pytorch", restart), "try\n");
}

TEST_F(ShimTest, KeepsTheLogsOfTheLatestRuns) {
  PodSpec spec =
      Pod({Shell("echo x >> n; wc -l < n; [ $(wc -l < n) -ge 13 ]")}, PodRestartPolicy::kOnFailure);
  spec.containers[0].cwd = root_;
  spec.restart_backoff = std::chrono::milliseconds(0);
  EXPECT_EQ(Run(spec).containers[0].restart_count, 12);
  EXPECT_EQ(Log(spec, "pytorch", 2), "");
  EXPECT_EQ(Log(spec, "pytorch", 3), "4\n");
  EXPECT_EQ(Log(spec, "pytorch", 12), "13\n");
}

TEST_F(ShimTest, WaitsInCrashLoopBackOffLongerFromTheSecondEndOn) {
  PodSpec spec = Pod({Shell("echo >> n; exit $(wc -l < n)")}, PodRestartPolicy::kAlways);
  spec.containers[0].cwd = root_;
  spec.restart_backoff = std::chrono::hours(1);
  ShimHandle handle = Start(spec);
  const PodReport report = AwaitReport(spec.directory, [](const PodReport& r) {
    return r.containers[0].state.message.starts_with("back-off 1h restarting failed");
  });
  EXPECT_EQ(report.containers[0].restart_count, 1);
  EXPECT_EQ(report.containers[0].state.phase, Phase::kWaiting);
  EXPECT_EQ(report.containers[0].state.reason, "CrashLoopBackOff");
  EXPECT_FALSE(report.is_finished);
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(5)));
  const PodReport end = AwaitEnd(spec, handle);
  EXPECT_TRUE(end.is_finished);
  EXPECT_EQ(end.containers[0].state.exit_code, 2);
  ASSERT_TRUE(end.containers[0].last_termination);
  EXPECT_EQ(end.containers[0].last_termination->exit_code, 1);
}

TEST_F(ShimTest, TerminateAsksFirstAndReportsTheAnswer) {
  const PodSpec spec = Pod(
      {Shell("trap 'echo bye; exit 5' TERM; touch " + root_ + "/up; while :; do sleep 0.05; done")},
      PodRestartPolicy::kAlways);
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(20)));
  const PodReport report = AwaitEnd(spec, handle);
  EXPECT_TRUE(report.is_finished);
  EXPECT_FALSE(report.has_succeeded);
  EXPECT_EQ(report.containers[0].state.exit_code, 5);
  EXPECT_TRUE(Log(spec, "pytorch").ends_with("bye\n")) << Log(spec, "pytorch");
}

TEST_F(ShimTest, TerminateKillsAfterTheGrace) {
  const PodSpec spec =
      Pod({Shell("trap '' TERM; touch " + root_ + "/up; while :; do sleep 0.05; done")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(0)));
  const PodReport report = AwaitEnd(spec, handle);
  EXPECT_EQ(report.containers[0].state.signal, SIGKILL);
  EXPECT_EQ(report.containers[0].state.reason, "Error");
}

TEST_F(ShimTest, AShorterGraceIsHeardBeforeTheLongerOneWasRead) {
  const PodSpec spec =
      Pod({Shell("trap '' TERM; touch " + root_ + "/up; while :; do sleep 0.05; done")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  // The kernel queues one SIGTERM: a second one is lost while the first is pending.
  ASSERT_TRUE(process::SendSignal(handle.pidfd(), SIGSTOP));
  ASSERT_TRUE(process::SendSignal(handle.pidfd(), SIGTERM, 3600));
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(0)));
  EXPECT_EQ(AwaitEnd(spec, handle).containers[0].state.signal, SIGKILL);
}

TEST_F(ShimTest, AProgramBehindAShellHasTheGraceToo) {
  // dash dies of the group's SIGTERM while its child is still saving its work.
  const std::string child = "trap 'sleep 0.3; echo saved; exit 0' TERM; touch " + root_ +
                            "/up; while :; do sleep 0.05; done";
  const PodSpec spec = Pod({Shell("sh -c \"" + child + "\"; true")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(20)));
  AwaitEnd(spec, handle);
  EXPECT_TRUE(Log(spec, "pytorch").ends_with("saved\n")) << Log(spec, "pytorch");
}

TEST_F(ShimTest, WhoHasASessionOfItsOwnIsAskedOnlyByWhoGaveIt) {
  // As torchrun's ranks are. A second SIGTERM would interrupt what they do at the first.
  const std::string rank = "trap 'echo asked; asked=1' TERM; touch " + root_ +
                           "/rank; until test $asked; do sleep 0.05; done; sleep 0.3; echo saved";
  const PodSpec spec =
      Pod({Shell("trap 'sleep 0.1; kill -TERM $rank; wait $rank' TERM; setsid sh -c \"" +
                 base::ReplaceAll(rank, "$", "\\$") + "\" & rank=$!; until test -e " + root_ +
                 "/rank; do sleep 0.01; done; touch " + root_ + "/up; wait")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(20)));
  AwaitEnd(spec, handle);
  // A shell may say, too, that its own child was terminated.
  const std::string log = Log(spec, "pytorch");
  EXPECT_TRUE(log.ends_with("asked\nsaved\n")) << log;
  EXPECT_EQ(log.find("asked"), log.rfind("asked")) << log;
}

TEST_F(ShimTest, WhoHasASessionOfItsOwnIsAskedWhenItsParentHasDied) {
  const std::string child = "trap 'echo asked; asked=1' TERM; touch " + root_ +
                            "/a; until test $asked; do sleep 0.05; done; sleep 0.3; echo saved";
  const PodSpec spec = Pod(
      {Shell("setsid sh -c \"" + base::ReplaceAll(child, "$", "\\$") + "\" & setsid sh -c 'touch " +
             root_ + "/b; exec sleep 1000' & until test -e " + root_ + "/a && test -e " + root_ +
             "/b; do sleep 0.01; done; touch " + root_ + "/up; wait")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  // Longer than a test may take: nobody is left to the end of the grace period.
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(3600)));
  AwaitEnd(spec, handle);
  // A shell says, too, that its own child was terminated.
  const std::string log = Log(spec, "pytorch");
  EXPECT_TRUE(log.ends_with("asked\nsaved\n")) << log;
  EXPECT_EQ(log.find("asked"), log.rfind("asked")) << log;
}

TEST_F(ShimTest, LeavesNoProcessThatHidesInASessionOfItsOwn) {
  const PodSpec spec = Pod(
      {Shell("setsid sh -c 'trap \"\" TERM; echo $$ > " + root_ + "/tmp; mv " + root_ + "/tmp " +
             root_ + "/stray; exec >/dev/null 2>&1; while :; do sleep 0.05; done' & wait")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/stray");
  const auto stray = base::ParseInt(base::Trim(*base::ReadFile(root_ + "/stray")));
  ASSERT_TRUE(stray);
  ASSERT_TRUE(process::ReadStat(static_cast<pid_t>(*stray)));
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(1)));
  AwaitEnd(spec, handle);
  EXPECT_FALSE(process::ReadStat(static_cast<pid_t>(*stray)));
  EXPECT_TRUE(process::FindByEnvironment("MUSTER_POD_UID=" + spec.uid).empty());
}

TEST_F(ShimTest, WhatAContainerLeavesBehindEndsWithIt) {
  const PodSpec spec = Pod({Shell("setsid sleep 1000 & sleep 1000 & echo done")});
  const PodReport report = Run(spec);
  EXPECT_TRUE(report.has_succeeded);
  EXPECT_EQ(Log(spec, "pytorch"), "done\n");
  EXPECT_TRUE(process::FindByEnvironment("MUSTER_POD_UID=" + spec.uid).empty());
}

TEST_F(ShimTest, AKilledShimTakesItsPodWithIt) {
  const PodSpec spec = Pod({Shell("(setsid sleep 1000) & touch " + root_ + "/up; sleep 1000")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  ASSERT_EQ(::kill(handle.pid(), SIGKILL), 0);
  ASSERT_TRUE(process::WaitForEnd(handle.pidfd(), kTestWait));
  ASSERT_TRUE(KillStrays(spec.directory, spec.uid));
  EXPECT_TRUE(process::FindByEnvironment("MUSTER_POD_UID=" + spec.uid).empty());
  const auto adopted = AdoptShim(spec.directory);
  ASSERT_TRUE(adopted);
  EXPECT_FALSE(adopted->has_value());
  EXPECT_FALSE(ReadReport(spec.directory)->is_finished);
}

// Starts a process without the pod's environment, by `how`; its pid is in <root>/stray.
std::string StrayScript(const std::string& how, const std::string& root) {
  return how + " env -i sh -c 'echo $$ > " + root + "/new; mv " + root + "/new " + root +
         "/stray; sleep 1000' & sleep 1000";
}

// Kills the shim, and expects that the process in `path` is found and ended.
void ExpectStrayEnds(const PodSpec& spec, const ShimHandle& shim, const std::string& path) {
  const auto text = base::ReadFile(path);
  ASSERT_TRUE(text);
  const auto stray = static_cast<pid_t>(base::ParseInt(base::Trim(*text)).value_or(0));
  ASSERT_TRUE(process::ReadStat(stray));
  ASSERT_EQ(::kill(shim.pid(), SIGKILL), 0);
  ASSERT_TRUE(process::WaitForEnd(shim.pidfd(), kTestWait));
  ASSERT_TRUE(KillStrays(spec.directory, spec.uid));
  const auto left = process::ReadStat(stray);
  EXPECT_TRUE(!left || left->state == 'Z');
}

TEST_F(ShimTest, AKilledShimsProgramsAreKnownByTheirSession) {
  const PodSpec spec = Pod({Shell(StrayScript("", root_))});
  const ShimHandle shim = Start(spec);
  AwaitReport(spec.directory,
              [](const PodReport& report) { return report.containers[0].session.id > 0; });
  AwaitFile(root_ + "/stray");
  ExpectStrayEnds(spec, shim, root_ + "/stray");
}

TEST_F(ShimTest, AKilledShimsProgramsAreKnownByTheirViewOfTheMachine) {
  PodSpec spec = Pod({Shell(StrayScript("setsid", root_))});
  spec.hosts = {{"job-master-0", "127.0.0.1"}};
  const ShimHandle shim = Start(spec);
  const PodReport report = AwaitReport(spec.directory, [](const PodReport& each) {
    return each.is_finished || each.containers[0].state.phase == Phase::kRunning;
  });
  if (report.reason == "NamespaceForbidden") GTEST_SKIP() << "this machine forbids namespaces";
  AwaitFile(root_ + "/stray");
  ExpectStrayEnds(spec, shim, root_ + "/stray");
}

TEST_F(ShimTest, AStoppedShimEndsItsPodAllTheSame) {
  const PodSpec spec = Pod({Shell("touch " + root_ + "/up; sleep 1000")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  ASSERT_EQ(::kill(handle.pid(), SIGSTOP), 0);
  ASSERT_TRUE(handle.Terminate(std::chrono::seconds(20)));
  EXPECT_EQ(AwaitEnd(spec, handle).containers[0].state.signal, SIGTERM);
}

TEST_F(ShimTest, AShimThatHangsIsKilledWithWhatItStarted) {
  const PodSpec spec = Pod({Shell("(setsid sleep 1000) & touch " + root_ + "/up; sleep 1000")});
  ShimHandle handle = Start(spec);
  AwaitFile(root_ + "/up");
  ASSERT_EQ(::kill(handle.pid(), SIGSTOP), 0);
  ASSERT_TRUE(handle.Kill());
  ASSERT_TRUE(process::WaitForEnd(handle.pidfd(), kTestWait));
  ASSERT_TRUE(KillStrays(spec.directory, spec.uid));
  EXPECT_TRUE(PodProcesses(spec.uid, {}).Find().empty());
}

TEST_F(ShimTest, ARunningShimIsAdoptedAndObeys) {
  const PodSpec spec = Pod({Shell("touch " + root_ + "/up; sleep 1000")});
  const pid_t pid = Start(spec).pid();
  AwaitFile(root_ + "/up");
  auto adopted = AdoptShim(spec.directory);
  ASSERT_TRUE(adopted && adopted->has_value());
  EXPECT_EQ((*adopted)->pid(), pid);
  EXPECT_FALSE(IsFromEarlierBoot(spec.directory));
  EXPECT_FALSE(StartShim(OwnExecutable(), spec, {}));  // the directory is in use
  ASSERT_TRUE((*adopted)->Terminate(std::chrono::seconds(5)));
  const PodReport report = AwaitEnd(spec, **adopted);
  EXPECT_EQ(report.containers[0].state.signal, SIGTERM);
}

TEST_F(ShimTest, AShimOfAnEarlierBootIsNotAdopted) {
  const std::string directory = root_ + "/old";
  ASSERT_TRUE(base::MakeDirs(directory));
  EXPECT_FALSE(AdoptShim(directory)->has_value());
  EXPECT_FALSE(IsFromEarlierBoot(directory));
  ASSERT_TRUE(base::WriteFileAtomic(
      directory + "/shim.json",
      fmt::format(R"({{"pid":{},"startTicks":1,"bootId":"another"}})", ::getpid()), 0600,
      base::Durability::kNone));
  EXPECT_FALSE(AdoptShim(directory)->has_value());
  EXPECT_TRUE(IsFromEarlierBoot(directory));
}

// Otherwise a power cut takes the file away, and the next boot's daemon starts the program again.
TEST_F(ShimTest, ItsFileIsOnTheDiskBeforeItsProgramStarts) {
  const base::Fd before(::open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  ASSERT_EQ(::chdir(root_.c_str()), 0);
  const int files = g_synced_files;
  const int folders = g_synced_folders;
  EXPECT_TRUE(WriteIdentity());
  EXPECT_EQ(g_synced_files, files + 1);
  EXPECT_EQ(g_synced_folders, folders + 1);
  ASSERT_EQ(::fchdir(before.get()), 0);
}

// As a failing disk leaves it: the file's name was written, its content was not.
TEST_F(ShimTest, AShimWhoseFileIsEmptyIsNotAdoptedUnlessItHoldsItsLock) {
  const std::string directory = root_ + "/cut";
  ASSERT_TRUE(base::MakeDirs(directory));
  ASSERT_TRUE(base::WriteFileAtomic(directory + "/shim.json", "", 0600, base::Durability::kNone));
  const auto adopted = AdoptShim(directory);
  ASSERT_TRUE(adopted) << adopted.error().message;
  EXPECT_FALSE(adopted->has_value());
  const auto lock = process::TryLockFile(directory + "/lock");
  ASSERT_TRUE(lock && *lock);
  EXPECT_FALSE(AdoptShim(directory));
}

TEST_F(ShimTest, EndsWithItsProgramIfItsFolderWasRemoved) {
  const std::string go = root_ + "/go";
  ASSERT_EQ(::mkfifo(go.c_str(), 0600), 0);
  const PodSpec spec =
      Pod({Shell("read line < " + go + "; echo $line > " + root_ + "/ran; exit 1")},
          PodRestartPolicy::kAlways);
  ShimHandle shim = Start(spec);
  AwaitReport(spec.directory, [](const PodReport& report) {
    return report.containers[0].state.phase == Phase::kRunning;
  });
  // The shim may write a file meanwhile.
  ASSERT_TRUE(base::RemoveTree(spec.directory) || base::RemoveTree(spec.directory));
  std::ofstream(go) << "on\n";
  const base::Status ended = process::WaitForEnd(shim.pidfd(), kTestWait);
  EXPECT_TRUE(ended);
  if (!ended) {
    EXPECT_TRUE(shim.Kill());
  }
  EXPECT_EQ(base::ReadFile(root_ + "/ran").value_or(""), "on\n") << "the removal did not end it";
}

TEST_F(ShimTest, KeepsLocksAsLongAsItLivesAndHidesThemFromThePod) {
  const std::string path = root_ + "/gpu-0";
  base::Fd lock(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  const PodSpec spec = Pod({Shell("ls /proc/self/fd | wc -l; touch " + root_ + "/up; sleep 1000")});
  auto handle = StartShim(OwnExecutable(), spec, {lock.get()});
  ASSERT_TRUE(handle) << handle.error().message;
  lock.Reset();
  AwaitFile(root_ + "/up");
  base::Fd other(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), -1);
  ASSERT_TRUE(handle->Terminate(std::chrono::seconds(5)));
  AwaitEnd(spec, *handle);
  EXPECT_EQ(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
  EXPECT_EQ(Log(spec, "pytorch"), "4\n");
}

TEST_F(ShimTest, ShowsOutputThatHasNoNewlineYet) {
  const PodSpec spec =
      Pod({Shell("printf 'progress 10%%'; cat " + root_ + "/go; printf ' 100%%'")});
  ASSERT_EQ(::mkfifo((root_ + "/go").c_str(), 0600), 0);
  ShimHandle handle = Start(spec);
  AwaitReport(spec.directory,
              [](const PodReport& r) { return r.containers[0].state.phase == Phase::kRunning; });
  const std::string log_dir = spec.directory + "/logs/pytorch";
  auto inotify = process::Inotify::Create();
  ASSERT_TRUE(inotify->Watch(log_dir, IN_CREATE | IN_MODIFY));
  while (Log(spec, "pytorch") != "progress 10%") {
    ASSERT_TRUE(process::WaitReadable(inotify->fd(), kTestWait)) << Log(spec, "pytorch");
    inotify->Read();
  }
  const base::Fd go(::open((root_ + "/go").c_str(), O_WRONLY | O_CLOEXEC));
  base::Fd closing(go.get());
  closing.Reset();
  AwaitEnd(spec, handle);
  EXPECT_EQ(Log(spec, "pytorch"), "progress 10% 100%\n");
}

TEST_F(ShimTest, AddsLinesOfOthersToTheLogBetweenThoseOfTheProgram) {
  const PodSpec spec =
      Pod({Shell("printf 'at 10%%' >&2; cat " + root_ + "/go; echo ' at 100%' >&2")});
  ASSERT_EQ(::mkfifo((root_ + "/go").c_str(), 0600), 0);
  ShimHandle handle = Start(spec);
  const std::string log_dir = spec.directory + "/logs/pytorch";
  const auto await = [&](const std::string& text) {
    auto inotify = process::Inotify::Create();
    ASSERT_TRUE(inotify->Watch(log_dir, IN_CREATE | IN_MODIFY));
    while (Log(spec, "pytorch") != text) {
      ASSERT_TRUE(process::WaitReadable(inotify->fd(), kTestWait)) << Log(spec, "pytorch");
      inotify->Read();
    }
  };
  AwaitReport(spec.directory,
              [](const PodReport& r) { return r.containers[0].state.phase == Phase::kRunning; });
  await("at 10%");
  ASSERT_TRUE(AddToLog(spec.directory, "muster: stalled\n"));
  await("at 10%\nmuster: stalled\n");
  const base::Fd go(::open((root_ + "/go").c_str(), O_WRONLY | O_CLOEXEC));
  base::Fd closing(go.get());
  closing.Reset();
  AwaitEnd(spec, handle);
  EXPECT_EQ(Log(spec, "pytorch"), "at 10%\nmuster: stalled\n at 100%\n");
  EXPECT_EQ(AddToLog(spec.directory, "late\n").error().code, base::Code::kNotFound);
}

TEST_F(ShimTest, KeepsEveryByteOfALoudProgram) {
  const PodSpec spec = Pod({Shell("seq 1 200000")});
  ASSERT_TRUE(Run(spec).has_succeeded);
  std::string expected;
  for (int i = 1; i <= 200000; ++i) expected += fmt::format("{}\n", i);
  EXPECT_EQ(Log(spec, "pytorch"), expected);
}

TEST_F(ShimTest, ATerminalIsOneWhenAskedFor) {
  PodSpec spec = Pod({Shell("test -t 0 && test -t 1 && echo terminal")});
  spec.containers[0].tty = true;
  EXPECT_TRUE(Run(spec).has_succeeded);
  EXPECT_EQ(Log(spec, "pytorch"), "terminal\n");
}

// A memory cgroup for the test, if the machine permits one; otherwise "".
std::string MakeMemoryLimit(const std::string& name) {
  const std::pair<const char*, const char*> hierarchies[] = {
      {"/sys/fs/cgroup/memory/", "/memory.limit_in_bytes"},
      {"/sys/fs/cgroup/", "/memory.max"},
  };
  for (const auto& [root, limit] : hierarchies) {
    const std::string group = root + name;
    if (::mkdir(group.c_str(), 0755) != 0) continue;
    const base::Fd fd(::open((group + limit).c_str(), O_WRONLY | O_CLOEXEC));
    constexpr std::string_view kLimit = "67108864";
    if (::write(fd.get(), kLimit.data(), kLimit.size()) > 0) return group;
    ::rmdir(group.c_str());
  }
  return "";
}

TEST_F(ShimTest, DistinguishesAnOutOfMemoryKillFromOthers) {
  const std::string group = MakeMemoryLimit("muster-test-" + std::to_string(::getpid()));
  if (group.empty()) GTEST_SKIP() << "no memory cgroup can be made here";
  // tail buffers the last line of its input, which never ends.
  const std::string hog = "echo $$ > " + group + "/cgroup.procs && exec tail -n1 /dev/zero";
  const PodReport report = Run(Pod({Shell(hog)}));
  const PodReport behind_a_shell = Run(Pod({Shell("sh -c '" + hog + "'; exit $?")}));
  ::rmdir(group.c_str());
  EXPECT_EQ(report.containers[0].state.reason, "OOMKilled");
  EXPECT_EQ(report.containers[0].state.exit_code, 137);
  EXPECT_EQ(report.containers[0].state.signal, SIGKILL);
  EXPECT_NE(report.containers[0].state.message.find(answers::kNoMemoryAround), std::string::npos);
  EXPECT_EQ(behind_a_shell.containers[0].state.reason, "OOMKilled");
  EXPECT_EQ(behind_a_shell.containers[0].state.exit_code, 137);
}

TEST_F(ShimTest, ARankThatIsKilledForAStallSaysSo) {
  const auto end = [this](const std::string& last) {
    PodSpec spec = Pod({});
    const std::string note = fmt::format("{}/{}", spec.directory, kStallKillFile);
    spec.containers = {Shell(fmt::format("echo -n it held up the others > {}; {}", note, last))};
    const ContainerState state = Run(spec).containers[0].state;
    EXPECT_NE(::access(note.c_str(), F_OK), 0) << "it is about one end only";
    return state;
  };
  const ContainerState killed = end("kill -KILL $$");
  EXPECT_EQ(killed.reason, "Error");
  EXPECT_EQ(killed.signal, SIGKILL);
  EXPECT_EQ(killed.message, "container pytorch was killed: it held up the others");
  EXPECT_EQ(end("echo boom; exit 3").message, "boom") << "it was quicker";
}

TEST_F(ShimTest, AContainerThatUsesMoreMemoryThanItsLimitIsKilledAndSaysSo) {
  // tail buffers the last line of its input, which never ends.
  PodSpec spec = Pod({Shell("echo begins; (setsid tail -n1 /dev/zero) & wait"),
                      Program("other", {"sh", "-c", "echo fine"})});
  spec.containers[0].memory_limit = 64 << 20;
  spec.containers[1].memory_limit = 64 << 20;
  const PodReport report = Run(spec);
  const ContainerState& state = report.containers[0].state;
  EXPECT_EQ(state.reason, "OOMKilled");
  EXPECT_EQ(state.exit_code, 137);
  EXPECT_TRUE(state.message.starts_with("begins\ncontainer pytorch was killed: it used "))
      << state.message;
  EXPECT_TRUE(state.message.ends_with(" of memory, but its limit is 64 MiB")) << state.message;
  EXPECT_NE(Log(spec, "pytorch").find("its limit is 64 MiB\n"), std::string::npos);
  EXPECT_EQ(report.containers[1].state.reason, "Completed");
  EXPECT_TRUE(PodProcesses(spec.uid, {}).Find().empty());
}

TEST_F(ShimTest, AContainerHasNoMoreRightsThanItIsToHave) {
  PodSpec spec = Pod({Shell("grep -E '^(Uid|NoNewPrivs|CapBnd|Groups)' /proc/self/status")});
  spec.containers[0].rights.has_no_new_privileges = true;
  if (::geteuid() == 0) {
    spec.containers[0].rights.user = 65534;
    spec.containers[0].rights.groups = {77};
    spec.containers[0].rights.dropped_capabilities = ~uint64_t{0};
  }
  EXPECT_TRUE(Run(spec).has_succeeded);
  const std::string log = Log(spec, "pytorch");
  EXPECT_NE(log.find("NoNewPrivs:\t1\n"), std::string::npos) << log;
  if (::geteuid() != 0) return;
  EXPECT_NE(log.find("Uid:\t65534\t65534\t65534\t65534\n"), std::string::npos) << log;
  EXPECT_NE(log.find("Groups:\t77 \n"), std::string::npos) << log;
  EXPECT_NE(log.find("CapBnd:\t0000000000000000\n"), std::string::npos) << log;
}

// The whole pod on a full file system, in a mount namespace of the test.
TEST_F(ShimTest, AFullDiskNeitherBlocksNorKillsThePod) {
  const std::string small = root_ + "/small";
  ASSERT_TRUE(base::MakeDirs(small));
  PodSpec spec = Pod({Shell("yes " + std::string(200, 'y') + " | head -c 900000; rm " + small +
                            "/ballast; echo after; exit 3")});
  spec.directory = small + "/pod";
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const pid_t child = ::fork();
  if (child == 0) {
    if (::unshare(uid == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) ::_exit(77);
    // A user without a name in a namespace cannot create files there.
    if (uid != 0) {
      std::ofstream("/proc/self/setgroups") << "deny";
      std::ofstream("/proc/self/uid_map") << fmt::format("{0} {0} 1", uid);
      std::ofstream("/proc/self/gid_map") << fmt::format("{0} {0} 1", gid);
    }
    if (uid == 0) ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
    if (::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=800k") != 0) ::_exit(77);
    if (!base::WriteFileAtomic(small + "/ballast", std::string(300'000, 'x'), 0600,
                               base::Durability::kNone)) {
      ::_exit(1);
    }
    const auto shim = StartShim(OwnExecutable(), spec, {});
    if (!shim || !process::WaitForEnd(shim->pidfd(), kTestWait)) ::_exit(2);
    const auto report = ReadReport(spec.directory);
    if (!report || !report->is_finished) ::_exit(3);
    const ContainerState& state = report->containers[0].state;
    const std::string log = Log(spec, "pytorch");
    const bool is_reported =
        state.exit_code == 3 &&
        state.message.find("log truncated: the disk is nearly full, ") != std::string::npos &&
        log.starts_with("yyy") && log.ends_with("after\n") &&
        log.find("muster: log truncated: the disk is nearly full, ") != std::string::npos;
    if (!is_reported) fmt::print(stderr, "{}\n{}\n", state.message, log.substr(log.size() - 300));
    ::_exit(is_reported ? 0 : 4);
  }
  int status = 1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no file system of its own can be mounted here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace local::node
