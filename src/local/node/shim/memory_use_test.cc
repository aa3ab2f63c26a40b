#include "local/node/shim/memory_use.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

namespace local::node {
namespace {

using std::chrono::milliseconds;

TEST(MemoryUse, IsWhatNoFileHolds) {
  EXPECT_EQ(ResidentIn("VmRSS:\t  900 kB\nRssAnon:\t  100 kB\nRssFile:\t 700 kB\nRssShmem:\t  28 "
                       "kB\n"),
            128 << 10);
  EXPECT_EQ(ProportionalIn("Rss: 900 kB\nPss: 800 kB\nPss_Anon: 60 kB\nPss_File: 1 kB\n"
                           "Pss_Shmem: 4 kB\nSwapPss: 7 kB\n"),
            64 << 10);
  EXPECT_EQ(ProportionalIn("Rss: 900 kB\nPss: 800 kB\nSwapPss: 7 kB\n"), 800 << 10);
  EXPECT_EQ(ResidentIn(""), 0);
}

TEST(MemoryUse, CountsPagesThatAChildSharesOnce) {
  constexpr size_t kBytes = 64 << 20;
  void* const pages =
      ::mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  std::memset(pages, 1, kBytes);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char nothing = 0;
    ::close(ends[1]);
    [[maybe_unused]] const ssize_t ended = ::read(ends[0], &nothing, 1);
    ::_exit(0);
  }
  const int64_t bound = MemoryOf({::getpid(), child}, INT64_MAX);
  const int64_t used = MemoryOf({::getpid(), child}, 0);
  ::close(ends[1]);
  ::waitpid(child, nullptr, 0);
  ::munmap(pages, kBytes);
  ::close(ends[0]);
  EXPECT_GE(bound, int64_t{2} * kBytes);
  EXPECT_GE(used, int64_t{kBytes});
  EXPECT_LT(used, bound - int64_t{kBytes} / 2) << "what else the test itself holds is in both";
  EXPECT_EQ(MemoryOf({child}, 0), 0) << "it is gone";
}

TEST(MemoryUse, IsLookedAtWhenTheLimitCouldBeMet) {
  constexpr int64_t kGiB = 1 << 30;
  EXPECT_EQ(UntilNextLook(0, 64 * kGiB, {}), milliseconds(1000));
  EXPECT_EQ(UntilNextLook(kGiB / 2, kGiB, {}), milliseconds(128));
  EXPECT_EQ(UntilNextLook(kGiB, kGiB, {}), milliseconds(50));
  EXPECT_EQ(UntilNextLook(2 * kGiB, kGiB, {}), milliseconds(50));
  EXPECT_EQ(UntilNextLook(kGiB, kGiB, milliseconds(100)), milliseconds(2000)) << "it is dear";
}

TEST(MemoryUse, IsSaidInUnitsThatPeopleWrite) {
  EXPECT_EQ(FormatMemory(int64_t{1} << 30), "1 GiB");
  EXPECT_EQ(FormatMemory(200 << 20), "200 MiB");
  EXPECT_EQ(FormatMemory(int64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(FormatMemory(12), "12 bytes");
}

}  // namespace
}  // namespace local::node
