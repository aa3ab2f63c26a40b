#include "local/node/devices/gpu.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <future>

#include "base/file.h"

namespace local::node {
namespace {

// Where tests/support/CMakeLists.txt puts the stand-in: beside this program.
std::string FakeDirectory() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string self(path.data(), length < 0 ? 0 : static_cast<size_t>(length));
  return self.substr(0, self.rfind('/')) + "/fake_nvml";
}

GpuInventory ReadFake(const char* machine) {
  ::setenv("MUSTER_FAKE_NVML", machine, 1);
  return ReadGpus(FakeDirectory());
}

// Locks of this process only: test programs may run at once.
struct LockFolder {
  LockFolder() : path(testing::TempDir() + "gpu-locks-XXXXXX") {
    EXPECT_NE(::mkdtemp(path.data()), nullptr);
  }
  ~LockFolder() { EXPECT_TRUE(base::RemoveTree(path)); }
  std::string path;
};

std::vector<bool> AreElsewhere(const GpuAllocator& allocator) {
  std::vector<bool> are;
  for (const std::string& holder : allocator.HoldersElsewhere()) are.push_back(!holder.empty());
  return are;
}

TEST(ReadGpus, NoLibraryIsNoGpuAndAReason) {
  const GpuInventory inventory = ReadGpus("/nonexistent");
  EXPECT_TRUE(inventory.devices.empty());
  EXPECT_EQ(inventory.reason, "no NVIDIA driver is installed");
}

TEST(ReadGpus, ADriverThatDoesNotAnswerIsNoGpuAndItsWords) {
  const GpuInventory inventory = ReadFake("mismatch");
  EXPECT_TRUE(inventory.devices.empty());
  EXPECT_EQ(inventory.reason, "NVML: Driver/library version mismatch");
}

TEST(ReadGpus, NoneOneEight) {
  EXPECT_TRUE(ReadFake("0").devices.empty());
  EXPECT_EQ(ReadFake("0").reason, "the NVIDIA driver sees no GPU");
  const GpuInventory one = ReadFake("1");
  ASSERT_EQ(one.devices.size(), 1u);
  EXPECT_EQ(one.devices[0].name, "NVIDIA Fake 80GB");
  EXPECT_EQ(one.devices[0].memory_total, int64_t{80} << 30);
  EXPECT_EQ(one.devices[0].memory_used, int64_t{1} << 30);
  EXPECT_EQ(one.devices[0].utilisation_percent, 42);
  EXPECT_EQ(one.driver_version, "570.00.01");
  EXPECT_EQ(one.reason, "");
  const GpuInventory eight = ReadFake("8");
  ASSERT_EQ(eight.Units().size(), 8u);
  EXPECT_EQ(eight.Units()[7].visible, "7");
  EXPECT_EQ(eight.Units()[7].uuid, "GPU-00000000-fake-0008");
}

TEST(ReadGpus, MigInstancesAreUnitsAndKnownByUuid) {
  const GpuInventory inventory = ReadFake("mig");
  ASSERT_EQ(inventory.devices.size(), 2u);
  EXPECT_FALSE(inventory.devices[0].is_mig_enabled);
  EXPECT_TRUE(inventory.devices[1].is_mig_enabled);
  EXPECT_EQ(inventory.devices[1].utilisation_percent, std::nullopt);
  const std::vector<GpuUnit> units = inventory.Units();
  ASSERT_EQ(units.size(), 3u);
  EXPECT_EQ(units[0].visible, "GPU-00000000-fake-0001");
  EXPECT_EQ(units[1].visible, "MIG-00000000-fake-2001");
  EXPECT_EQ(units[2].visible, "MIG-00000000-fake-2003");
  EXPECT_EQ(units[2].device, 1);
  EXPECT_EQ(units[2].memory_total, int64_t{40} << 30);
}

TEST(ReadGpus, MigWithoutInstancesIsNothingToRunOn) {
  const GpuInventory inventory = ReadFake("mig-empty");
  EXPECT_TRUE(inventory.Units().empty());
  EXPECT_EQ(inventory.reason, "MIG is enabled and no MIG instance exists");
}

TEST(ReadGpus, AGpuThatIsLostIsLeftOutAndNamed) {
  const GpuInventory inventory = ReadFake("lost");
  ASSERT_EQ(inventory.Units().size(), 2u);
  EXPECT_EQ(inventory.reason, "GPU 1: GPU is lost");
  // NVML's count has a hole that CUDA's has not.
  EXPECT_EQ(inventory.Units()[1].visible, "GPU-00000000-fake-0003");
}

TEST(GpuDiscovery, TellsOnce) {
  ::setenv("MUSTER_FAKE_NVML", "2", 1);
  std::promise<size_t> units;
  GpuDiscovery discovery(
      FakeDirectory(), [&](GpuInventory inventory) { units.set_value(inventory.Units().size()); });
  EXPECT_EQ(units.get_future().get(), 2u);
}

TEST(GpuAllocator, LocksAllUnitsOrNone) {
  const LockFolder folder;
  GpuAllocator ours(folder.path), theirs(folder.path);
  ours.SetInventory(ReadFake("3"));
  theirs.SetInventory(ReadFake("3"));
  ASSERT_TRUE(theirs.Lock("them", {1}));
  EXPECT_EQ(AreElsewhere(ours), (std::vector<bool>{false, true, false}));

  const base::Status both = ours.Lock("us", {0, 1});
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, base::Code::kUnavailable);
  EXPECT_NE(both.error().message.find("GPU 1"), std::string::npos) << both.error().message;
  EXPECT_TRUE(theirs.Lock("them", {0})) << "a failed Lock kept GPU 0";
  EXPECT_EQ(AreElsewhere(theirs), (std::vector<bool>{false, false, false}));

  theirs.Release("them");
  EXPECT_TRUE(ours.Lock("us", {0, 1}));
  EXPECT_TRUE(ours.Lock("us", {0, 1})) << "locking again is fine";
}

TEST(GpuAllocator, ALockLivesAsLongAsWhoeverTookIt) {
  const LockFolder folder;
  GpuAllocator ours(folder.path), theirs(folder.path);
  ours.SetInventory(ReadFake("1"));
  theirs.SetInventory(ReadFake("1"));
  ASSERT_TRUE(ours.Lock("pod", {0}));
  {
    auto locks = ours.Take("pod", {0});
    ASSERT_TRUE(locks);
    EXPECT_EQ(locks->size(), 1u);
    ours.Release("pod");
    EXPECT_FALSE(theirs.Lock("other", {0}));
    EXPECT_EQ(AreElsewhere(ours), (std::vector<bool>{true}));
  }
  EXPECT_TRUE(theirs.Lock("other", {0}));
  EXPECT_FALSE(ours.Take("pod", {0}));
}

TEST(GpuAllocator, TakesWhatWasNotLockedYet) {
  const LockFolder folder;
  GpuAllocator allocator(folder.path);
  allocator.SetInventory(ReadFake("2"));
  auto locks = allocator.Take("pod", {0, 1});
  ASSERT_TRUE(locks);
  EXPECT_EQ(locks->size(), 2u);
  EXPECT_FALSE(allocator.Lock("pod", {2}));
}

TEST(Units, RoundTrip) {
  EXPECT_EQ(FormatUnits({0, 3}), "0,3");
  EXPECT_EQ(FormatUnits({}), "");
  EXPECT_EQ(ParseUnits("0,3"), (std::vector<int>{0, 3}));
  EXPECT_EQ(ParseUnits(""), std::vector<int>{});
  EXPECT_EQ(ParseUnits("x,1,-2"), (std::vector<int>{1}));
}

}  // namespace
}  // namespace local::node
