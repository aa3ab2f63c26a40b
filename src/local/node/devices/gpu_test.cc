#include "local/node/devices/gpu.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <future>
#include <thread>

#include "base/file.h"

namespace local::node {
namespace {

gpu::Inventory Gpus(int count) {
  gpu::Inventory inventory;
  for (int i = 0; i < count; ++i) {
    gpu::Device& device = inventory.devices.emplace_back();
    device.index = i;
    device.uuid = "GPU-" + std::to_string(i);
  }
  return inventory;
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

TEST(GpuDiscovery, ReportsOnce) {
  std::promise<size_t> units;
  GpuDiscovery discovery(
      {.nvml_folder = "/nonexistent", .root = "/nonexistent"},
      [&](const gpu::Inventory& inventory) { units.set_value(inventory.Units().size()); });
  EXPECT_EQ(units.get_future().get(), 0u);
}

TEST(GpuAllocator, KnowsWhoseTheyAre) {
  GpuAllocator allocator("/nonexistent");
  EXPECT_EQ(&allocator.Vendor(), &gpu::kNvidia);
  gpu::Inventory inventory = Gpus(1);
  inventory.vendor = &gpu::kAmd;
  allocator.SetInventory(inventory);
  EXPECT_EQ(allocator.Vendor().resource, "amd.com/gpu");
}

TEST(GpuAllocator, IsAwaited) {
  GpuAllocator allocator("/nonexistent");
  EXPECT_FALSE(allocator.AwaitKnown(std::chrono::milliseconds(1)));
  std::jthread driver([&allocator] { allocator.SetInventory(Gpus(1)); });
  EXPECT_TRUE(allocator.AwaitKnown(std::chrono::minutes(1)));
  EXPECT_TRUE(allocator.IsKnown());
}

TEST(GpuAllocator, LocksAllUnitsOrNone) {
  const LockFolder folder;
  GpuAllocator ours(folder.path), theirs(folder.path);
  ours.SetInventory(Gpus(3));
  theirs.SetInventory(Gpus(3));
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
  ours.SetInventory(Gpus(1));
  theirs.SetInventory(Gpus(1));
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
  allocator.SetInventory(Gpus(2));
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
