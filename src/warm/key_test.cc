#include "warm/key.h"

#include <gtest/gtest.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

namespace warm {
namespace {

// Runs `change` in a process of its own; returns whether the place differs afterwards.
bool ChangesThePlace(const std::function<void()>& change) {
  const pid_t child = ::fork();
  if (child == 0) {
    const auto before = PlaceOutside("/proc/self/exe");
    change();
    ::_exit(*before == *PlaceOutside("/proc/self/exe") ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 1;
}

std::string WarmKeyOf(const std::vector<std::string>& environment) {
  return Key("/usr/bin/python3", "-u", "numpy", environment, "place");
}

TEST(Key, WhatLibrariesReadIsPartOfItAndTheRestIsNot) {
  const std::string key = WarmKeyOf({"OMP_NUM_THREADS=1", "FOO=1"});
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(key, WarmKeyOf({"OMP_NUM_THREADS=1", "FOO=2", "EPOCHS=3"}));
  EXPECT_NE(key, WarmKeyOf({"OMP_NUM_THREADS=2", "FOO=1"}));
  EXPECT_NE(key, WarmKeyOf({"FOO=1"}));
}

TEST(Key, PythonImportsAndPlaceArePartOfIt) {
  const std::string key = Key("/a", "-u", "m", {}, "p");
  EXPECT_NE(key, Key("/b", "-u", "m", {}, "p"));
  EXPECT_NE(key, Key("/a", "", "m", {}, "p"));
  EXPECT_NE(key, Key("/a", "-u", "n", {}, "p"));
  EXPECT_NE(key, Key("/a", "-u", "m", {}, "q"));
  // No text may move from one part to the next.
  EXPECT_NE(Key("/a", "", "b", {}, ""), Key("/ab", "", "", {}, ""));
}

TEST(Key, NamesAreSortedIntoRankLibrariesAndOthers) {
  for (const char* name : {"RANK", "LOCAL_RANK", "MASTER_PORT", "TORCHELASTIC_RUN_ID"}) {
    EXPECT_TRUE(IsOfOneRank(name)) << name;
    EXPECT_FALSE(IsReadByLibraries(name)) << name;
  }
  for (const char* name :
       {"OMP_NUM_THREADS", "LD_PRELOAD", "PYTHONPATH", "PYTHONHASHSEED", "LANG",
        "TORCH_NCCL_ASYNC_ERROR_HANDLING", "CUDA_HOME", "MKL_DEBUG_CPU_TYPE", "TMPDIR", "TEMP"}) {
    EXPECT_TRUE(IsReadByLibraries(name)) << name;
  }
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "HOME", "PATH", "WANDB_RUN_ID", "NCCL_DEBUG",
                           "GLOO_SOCKET_IFNAME", "TMPDIRS", "", "OMP"}) {
    EXPECT_FALSE(IsReadByLibraries(name)) << name;
    EXPECT_FALSE(IsOfOneRank(name)) << name;
  }
}

TEST(Key, AnInterpreterOfAllRanksHasNothingOfOne) {
  const std::vector<std::string> kept =
      EnvironmentOfResident({"RANK=0", "RANKS=2", "TORCHELASTIC_RUN_ID=x", "HOME=/",
                             "MASTER_ADDR=localhost", "A=RANK=1"});
  EXPECT_EQ(kept, (std::vector<std::string>{"RANKS=2", "HOME=/", "A=RANK=1"}));
}

TEST(Key, APlaceKnowsItsPythonAndStaysTheSame) {
  const auto place = PlaceOutside("/proc/self/exe");
  ASSERT_TRUE(place);
  EXPECT_EQ(*place, *PlaceOutside("/proc/self/exe"));
  EXPECT_NE(*place, *PlaceOutside("/etc/passwd"));
  EXPECT_EQ(PlaceOutside("/no/python").error().code, base::Code::kNotFound);
}

TEST(Key, WhatAnExecWouldHaveKeptMakesAnotherPlace) {
  EXPECT_FALSE(ChangesThePlace([] {}));
  EXPECT_TRUE(ChangesThePlace([] { ::personality(ADDR_NO_RANDOMIZE); }));
  EXPECT_TRUE(ChangesThePlace([] { ::prctl(PR_SET_TIMERSLACK, 123456); }));
  EXPECT_TRUE(ChangesThePlace([] { ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); }));
  constexpr int kLowestBestEffort = 2 << 13 | 7;
  EXPECT_TRUE(ChangesThePlace([] { ::syscall(SYS_ioprio_set, 1, 0, kLowestBestEffort); }));
}

TEST(Key, AMemoryPolicyMakesAnotherPlace) {
  constexpr int kInterleave = 3;
  unsigned long first_node = 1;
  const auto set = [&](int policy, unsigned long* nodes) {
    return ::syscall(SYS_set_mempolicy, policy, nodes, nodes == nullptr ? 0 : 64);
  };
  // Containers may forbid it, and some kernels lack it.
  if (set(kInterleave, &first_node) != 0) return;
  EXPECT_EQ(set(0, nullptr), 0);
  EXPECT_TRUE(ChangesThePlace([&] { set(kInterleave, &first_node); }));
}

TEST(Key, NamespacesOfAPodAreInside) {
  const std::string inside = PlaceInside();
  for (const char* part : {"user:[", "mnt:[", "uts:[", "\n/\n", "Groups:", "CapEff:", "CapBnd:"}) {
    EXPECT_NE(inside.find(part), std::string::npos) << part << " in " << inside;
    EXPECT_EQ(PlaceOutside("/proc/self/exe")->find(part), std::string::npos) << part;
  }
}

}  // namespace
}  // namespace warm
