#include "witness/machine.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <time.h>

#include "base/file.h"

namespace witness {
namespace {

class MachineTest : public testing::Test {
 protected:
  MachineTest() {
    char path[] = "/tmp/muster-machine-XXXXXX";
    root_ = ::mkdtemp(path);
    (void)base::MakeDirs(root_ + "/dev", 0700);
  }
  ~MachineTest() override { (void)base::RemoveTree(root_); }
  void Log(const std::string& text) {
    ASSERT_TRUE(base::WriteFileAtomic(root_ + "/dev/kmsg", text, 0600, base::Durability::kNone));
  }
  static int64_t SinceBoot() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return int64_t{now.tv_sec} * 1'000'000;
  }

  std::string root_;
  const base::Time now_ = *base::ParseRfc3339("2026-07-30T10:00:00Z");
};

TEST_F(MachineTest, ReportsWhatTheKernelHasSaidSinceTheStart) {
  const Machine machine(root_);
  const std::string at = std::to_string(SinceBoot() + 1'000'000);
  Log("3,1,5,-;Out of memory: Killed process 1 (old)\n"
      "6,2," +
      at +
      ",-;eth0: link becomes ready\n"
      "3,3," +
      at +
      ",-;Out of memory: Killed process 42 (python3)\n"
      "3,4," +
      at + ",-;NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.\n");
  const auto facts = machine.KernelSays(false, now_);
  ASSERT_EQ(facts.size(), 1U);
  EXPECT_EQ(facts[0].source, "kernel's log");
  EXPECT_EQ(facts[0].text, "Out of memory: Killed process 42 (python3)");
  EXPECT_LE(now_ - *facts[0].time, std::chrono::seconds(2));
  EXPECT_EQ(machine.KernelSays(true, now_).size(), 2U);
}

TEST_F(MachineTest, WithoutTheKernelsLogNothingIsReported) {
  EXPECT_TRUE(Machine(root_).KernelSays(true, now_).empty());
  EXPECT_EQ(Machine(root_).WhyKernelIsSilent(), "No such file or directory");
  Log("");
  EXPECT_EQ(Machine(root_).WhyKernelIsSilent(), "");
}

TEST_F(MachineTest, AFileSystemWithRoomIsNotReported) {
  EXPECT_TRUE(FullFileSystems({root_, root_, "/nosuch"}, now_).empty());
}

}  // namespace
}  // namespace witness
