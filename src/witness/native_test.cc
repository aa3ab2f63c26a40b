#include "witness/native.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/fd.h"

namespace witness {
namespace {

// A program that waits until it is killed. Returns once it has been executed.
pid_t StartCat(std::vector<std::string> environment, base::Fd& input) {
  std::array<int, 2> ends{};
  std::array<int, 2> executed{};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  EXPECT_EQ(::pipe2(executed.data(), O_CLOEXEC), 0);
  std::vector<char*> entries;
  for (std::string& entry : environment) entries.push_back(entry.data());
  entries.push_back(nullptr);
  std::string program = "/bin/cat";
  std::array<char*, 2> argv = {program.data(), nullptr};
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[0], 0);
    ::execve(program.c_str(), argv.data(), entries.data());
    ::_exit(127);
  }
  ::close(ends[0]);
  ::close(executed[1]);
  char byte = 0;
  EXPECT_EQ(::read(executed[0], &byte, 1), 0);  // closed by the exec
  ::close(executed[0]);
  input.Reset(ends[1]);
  return child;
}

TEST(NativeRanks, AreFoundByTheirEnvironment) {
  const std::string folder = "/nowhere/pods/native-" + std::to_string(::getpid()) + "/stacks";
  const std::string stacks = "MUSTER_STACKS=" + folder;
  std::vector<base::Fd> inputs(4);
  const std::vector<pid_t> pids = {
      StartCat({stacks, "RANK=0"}, inputs[0]),  // the launcher
      StartCat({stacks, "RANK=0", "LOCAL_RANK=0"}, inputs[1]),
      StartCat({stacks, "RANK=1", "LOCAL_RANK=1", "WORLD_SIZE=2"}, inputs[2]),
      StartCat({stacks, "RANK=many"}, inputs[3]),
  };
  const std::vector<NativeRank> found = NativeRanksOf({folder, "/other"});
  EXPECT_TRUE(NativeRanksOf({"/other"}).empty());
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(std::pair(found[0].rank, found[0].pid), std::pair(0, pids[1]));
  EXPECT_EQ(std::pair(found[1].rank, found[1].pid), std::pair(1, pids[2]));
  EXPECT_EQ(std::pair(found[0].world, found[1].world), std::pair(0, 2));
  EXPECT_EQ(found[0].folder, folder);
  inputs.clear();
  for (const pid_t pid : pids) ::waitpid(pid, nullptr, 0);
  EXPECT_EQ(KernelPlaceOf(pids[0]), "") << "it has gone";
}

// A shell, or `timeout`, whose program sleeps.
TEST(KernelSleep, OfAShellIsThatOfItsProgram) {
  const pid_t shell = ::fork();
  if (shell == 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    sigset_t none;
    ::sigemptyset(&none);
    ::signal(SIGCHLD, [](int) {});
    ::sigsuspend(&none);
    ::_exit(0);
  }
  const auto await = [](pid_t pid) {
    while (process::ReadStat(pid)->state != 'S') ::sched_yield();
  };
  std::vector<process::ProcessStat> below;
  while ((below = process::Descendants(shell)).empty()) ::sched_yield();
  await(shell);
  await(below[0].pid);
  process::ProcessTree tree;
  const auto sleep = KernelSleepOf(shell, tree);
  ASSERT_TRUE(sleep);
  EXPECT_EQ(sleep->pid, below[0].pid);
  EXPECT_TRUE(sleep->is_rest) << sleep->text;  // also where the kernel says nothing
  const answers::Activity before = NativeActivityOf(shell, tree);
  EXPECT_EQ(before.state, 'S');
  ::kill(below[0].pid, SIGKILL);
  ::waitpid(shell, nullptr, 0);
}

// Its main thread only waits for the one that receives.
TEST(NativeActivity, CountsWhatEveryThreadReceives) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::close(ends[0]);
    std::thread([&ends] {
      char byte = 0;
      while (::recv(ends[1], &byte, 1, 0) == 1) ::send(ends[1], &byte, 1, MSG_NOSIGNAL);
    }).join();
    ::_exit(0);
  }
  ::close(ends[1]);
  process::ProcessTree tree;
  const auto receive = [&ends] {
    char byte = 'x';
    return ::send(ends[0], &byte, 1, MSG_NOSIGNAL) == 1 && ::recv(ends[0], &byte, 1, 0) == 1;
  };
  ASSERT_TRUE(receive());  // the thread runs, and the main one has little left to do
  const uint64_t before = NativeActivityOf(child, tree).switches;
  bool has_grown = false;
  for (int i = 0; i < 1000 && !has_grown && receive(); ++i) {
    has_grown = NativeActivityOf(child, tree).switches > before + 10;
  }
  EXPECT_TRUE(has_grown);
  ::close(ends[0]);
  ::waitpid(child, nullptr, 0);
}

TEST(KernelSleep, OfAServerSaysThatItIsOne) {
  for (const int family : {AF_UNSPEC, AF_INET, AF_INET6, AF_UNIX}) {
    base::Fd listening(family == AF_UNSPEC ? -1 : ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (family == AF_INET6 && !listening) continue;  // a kernel without it
    if (listening) {
      sockaddr address{};  // any: of Unix sockets, an abstract one
      address.sa_family = static_cast<sa_family_t>(family);
      if (family == AF_UNIX) {
        ASSERT_EQ(::bind(listening.get(), &address, sizeof(sa_family_t)), 0);
      }
      ASSERT_EQ(::listen(listening.get(), 1), 0);
    }
    const pid_t child = ::fork();
    if (child == 0) {
      ::pause();
      ::_exit(0);
    }
    listening.Reset();
    process::ProcessTree tree;
    const auto sleep = KernelSleepOf(child, tree);
    ASSERT_TRUE(sleep);
    EXPECT_EQ(sleep->is_server, family != AF_UNSPEC) << family;
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
}

TEST(SayKernelPlace, WhatAProgramWaitsFor) {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"futex_wait_queue_me", "waits for another thread (futex_wait_queue_me)"},
      {"pipe_read", "waits for a pipe (pipe_read)"},
      {"anon_pipe_read", "waits for a pipe (anon_pipe_read)"},
      {"do_epoll_wait", "is in the kernel's do_epoll_wait"},
      {"ep_poll", "waits for sockets or pipes (ep_poll)"},
      {"nfs4_proc_lock", "waits for a file server (nfs4_proc_lock)"},
  };
  for (const auto& [place, said] : cases) EXPECT_EQ(SayKernelPlace(place), said) << place;
}

}  // namespace
}  // namespace witness
