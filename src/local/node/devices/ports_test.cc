#include "local/node/devices/ports.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <set>

#include "base/folder.h"

namespace local::node {
namespace {

using Ranges = std::vector<std::pair<int, int>>;

std::string PortLockPrefix() { return "muster-test-" + std::to_string(::getpid()) + "/port/"; }

// A listener on a port that the kernel chose.
struct Listener {
  Listener() : fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address;
    EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), length), 0);
    EXPECT_EQ(::listen(fd.get(), 1), 0);
    EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &length), 0);
    port = ntohs(address.sin_port);
  }
  base::Fd fd;
  int port = 0;
};

TEST(CandidatePorts, AvoidTheKernelsRange) {
  EXPECT_EQ(CandidatePorts({32768, 60999}),
            (Ranges{{23456, 32767}, {61000, 65535}, {10000, 23455}}));
  EXPECT_EQ(CandidatePorts({1024, 65535}), Ranges{});
  EXPECT_EQ(CandidatePorts({15000, 65535}), (Ranges{{10000, 14999}}));
  EXPECT_EQ(CandidatePorts({1024, 20000}), (Ranges{{23456, 65535}, {20001, 23455}}));
  EXPECT_EQ(CandidatePorts({23456, 60999}), (Ranges{{61000, 65535}, {10000, 23455}}));
}

TEST(ParsePortRange, ReadsWhatTheKernelWrites) {
  EXPECT_EQ(*ParsePortRange("32768\t60999\n"), (std::pair<int, int>{32768, 60999}));
  EXPECT_FALSE(ParsePortRange(""));
  EXPECT_FALSE(ParsePortRange("1"));
  EXPECT_FALSE(ParsePortRange("9 1"));
  EXPECT_FALSE(ParsePortRange("a b"));
}

TEST(PortAllocator, TwoNeverShareOne) {
  const Ranges few = {{23500, 23511}};
  PortAllocator ours(few, PortLockPrefix()), theirs(few, PortLockPrefix());
  std::set<int> seen;
  for (int i = 0; i < 3; ++i) {
    for (PortAllocator* allocator : {&ours, &theirs}) {
      const auto port = allocator->Assign("job" + std::to_string(i), std::nullopt);
      ASSERT_TRUE(port) << port.error().message;
      EXPECT_TRUE(seen.insert(*port).second) << *port;
    }
  }
}

TEST(PortAllocator, ManyWaitingJobsCostFewDescriptors) {
  const auto descriptors = [] { return base::EntriesOf("/proc/self/fd").size(); };
  PortAllocator allocator({{23456, 32767}}, PortLockPrefix());
  const size_t before = descriptors();
  std::set<int> ports;
  for (size_t i = 0; i < 3 * kMaxHeldLocks; ++i) {
    const auto port = allocator.Assign("job" + std::to_string(i), std::nullopt);
    ASSERT_TRUE(port) << port.error().message;
    EXPECT_TRUE(ports.insert(*port).second) << *port;
  }
  EXPECT_LE(descriptors(), before + kMaxHeldLocks);
  EXPECT_TRUE(allocator.LockForStart("job" + std::to_string(2 * kMaxHeldLocks), ""));
  for (size_t i = 0; i < 3 * kMaxHeldLocks; ++i) allocator.Release("job" + std::to_string(i));
  EXPECT_EQ(descriptors(), before);
}

TEST(PortAllocator, AJobKeepsItsPort) {
  PortAllocator allocator({{23520, 23529}}, PortLockPrefix());
  const int port = *allocator.Assign("job", std::nullopt);
  EXPECT_EQ(*allocator.Assign("job", std::nullopt), port);
  EXPECT_EQ(*allocator.Assign("job", 23529), port);
  EXPECT_EQ(allocator.Find("job"), port);
  EXPECT_EQ(allocator.Find("other"), std::nullopt);
}

TEST(PortAllocator, APortThatIsWantedIsGivenIfItIsFree) {
  PortAllocator allocator({{23520, 23529}}, PortLockPrefix());
  EXPECT_EQ(*allocator.Assign("first", std::nullopt, 23540), 23540);
  EXPECT_EQ(*allocator.Assign("first", std::nullopt, 23541), 23540) << "a job keeps its port";
  const int other = *allocator.Assign("second", std::nullopt, 23540);
  EXPECT_TRUE(other >= 23520 && other <= 23529) << other;
  EXPECT_NE(*allocator.Assign("low", std::nullopt, 80), 80);
  EXPECT_EQ(*allocator.Assign("stored", 23525, 23542), 23525);
  allocator.Release("first");
  EXPECT_EQ(*allocator.Assign("third", std::nullopt, 23540), 23540);
}

TEST(PortAllocator, AJobWithoutPodsGivesUpAPortThatTheStoredPodsOfAnotherHave) {
  PortAllocator ports({{23500, 23511}}, PortLockPrefix());
  const int port = *ports.Assign("without-pods", std::nullopt);
  EXPECT_EQ(*ports.Assign("stored", port), port);
  EXPECT_TRUE(ports.LockForStart("stored", ""));
  EXPECT_NE(*ports.Assign("without-pods", std::nullopt), port);
  EXPECT_TRUE(ports.LockForStart("without-pods", ""));
}

TEST(PortAllocator, OfTwoJobsWhosePodsHaveTheSamePortTheFirstToStartHasIt) {
  PortAllocator ports({{23500, 23511}}, PortLockPrefix());
  const int port = *ports.Assign("first", std::nullopt);
  EXPECT_EQ(*ports.Assign("second", port), port);
  EXPECT_EQ(*ports.Assign("first", port), port) << "its pods have been created with it";
  EXPECT_TRUE(ports.LockForStart("first", ""));
  EXPECT_EQ(*ports.Assign("second", port), port);
  EXPECT_EQ(ports.LockForStart("second", "").error().code, base::Code::kUnavailable);
  ports.Release("first");
  EXPECT_TRUE(ports.LockForStart("second", ""));
}

TEST(PortAllocator, AJobWhosePortWasTakenBackAndHasNoPodsGetsAnotherOne) {
  PortAllocator ports({{23500, 23511}}, PortLockPrefix());
  const int port = *ports.Assign("first", std::nullopt);
  EXPECT_EQ(*ports.Assign("second", port), port);
  EXPECT_TRUE(ports.LockForStart("first", ""));
  EXPECT_NE(*ports.Assign("second", std::nullopt), port);
  EXPECT_TRUE(ports.LockForStart("second", ""));
}

TEST(PortAllocator, APortThatStoredPodsStillHaveIsNobodyElses) {
  PortAllocator ports({{23512, 23512}}, PortLockPrefix());
  ASSERT_EQ(*ports.Assign("first", std::nullopt), 23512);
  EXPECT_EQ(*ports.Assign("second", 23512), 23512);
  ports.Release("second");
  EXPECT_FALSE(ports.Assign("third", std::nullopt));
  ports.Release("first");
  EXPECT_EQ(*ports.Assign("third", std::nullopt), 23512);
}

TEST(PortAllocator, AJobThatHasStartedGivesItsPortToNobody) {
  PortAllocator ports({{23500, 23511}}, PortLockPrefix());
  const int port = *ports.Assign("running", std::nullopt);
  const auto of_its_shim = ports.LockForStart("running", "");
  ASSERT_TRUE(of_its_shim);
  EXPECT_EQ(*ports.Assign("stored", port), port);
  EXPECT_EQ(ports.LockForStart("stored", "").error().code, base::Code::kUnavailable);
  EXPECT_EQ(*ports.Assign("running", std::nullopt), port);
  EXPECT_TRUE(ports.LockForStart("running", ""));
}

TEST(PortAllocator, SkipsAPortThatSomebodyListensOn) {
  Listener listener;
  EXPECT_FALSE(IsPortFree(listener.port));
  PortAllocator allocator({{listener.port, listener.port}}, PortLockPrefix());
  const auto port = allocator.Assign("job", std::nullopt);
  ASSERT_FALSE(port);
  EXPECT_EQ(port.error().code, base::Code::kExhausted);
}

TEST(PortAllocator, ProbesAgainBeforeTheStart) {
  Listener listener;
  PortAllocator allocator({}, PortLockPrefix());
  ASSERT_TRUE(allocator.Assign("job", listener.port));
  const auto lock = allocator.LockForStart("job", "");
  ASSERT_FALSE(lock);
  EXPECT_EQ(lock.error().message,
            "port " + std::to_string(listener.port) + " of the job is in use by another program");
  EXPECT_EQ(allocator.LockForStart("other", "").error().code, base::Code::kNotFound);
}

// A process of a pod that has the listener's socket open.
class Holder {
 public:
  Holder(const Listener& listener, const std::string& job, const std::string& pod) {
    const std::string token = "MUSTER_RDZV_TOKEN=" + job, host = "HOSTNAME=" + pod;
    const base::Fd inherited(::dup(listener.fd.get()));
    const char* const args[] = {"sleep", "60", nullptr};
    const char* const environment[] = {token.c_str(), host.c_str(), nullptr};
    EXPECT_EQ(::posix_spawn(&pid_, "/bin/sleep", nullptr, nullptr, const_cast<char**>(args),
                            const_cast<char**>(environment)),
              0);
  }
  ~Holder() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = 0;
};

TEST(PortAllocator, AnotherPodOfTheJobMayListen) {
  const Listener listener;
  const int port = listener.port;
  const Holder holder(listener, "job", "job-worker-1");
  PortAllocator allocator({}, PortLockPrefix());
  ASSERT_TRUE(allocator.Assign("job", port));
  EXPECT_TRUE(allocator.LockForStart("job", "job-worker-0"));
  // What is left of a pod of the same name ends soon.
  EXPECT_FALSE(allocator.LockForStart("job", "job-worker-1"));
  PortAllocator others({}, PortLockPrefix() + "other/");
  ASSERT_TRUE(others.Assign("other", port));
  EXPECT_FALSE(others.LockForStart("other", "other-worker-0"));
}

TEST(PortAllocator, AShimKeepsTheLockOfAPortThatItsDaemonReleased) {
  const Ranges one = {{23530, 23530}};
  PortAllocator before(one, PortLockPrefix());
  ASSERT_TRUE(before.Assign("job", std::nullopt));
  auto shims = before.LockForStart("job", "");
  ASSERT_TRUE(shims) << shims.error().message;
  before.Release("job");

  // The next daemon finds the port in the job's pods, and takes nothing from the shim.
  PortAllocator after(one, PortLockPrefix());
  EXPECT_EQ(*after.Assign("job", 23530), 23530);
  EXPECT_FALSE(after.Assign("another", std::nullopt));
  EXPECT_FALSE(after.LockForStart("job", ""));
  shims->Reset();
  EXPECT_TRUE(after.LockForStart("job", ""));
}

TEST(PortAllocator, AReleasedPortIsNotTheNextOne) {
  PortAllocator allocator({{23540, 23549}}, PortLockPrefix());
  const int first = *allocator.Assign("a", std::nullopt);
  allocator.Release("a");
  EXPECT_NE(*allocator.Assign("b", std::nullopt), first);
}

}  // namespace
}  // namespace local::node
