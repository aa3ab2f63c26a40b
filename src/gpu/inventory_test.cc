#include "gpu/inventory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <thread>

#include "gpu/meter.h"
#include "gpu/testing/amd_machine.h"
#include "gpu/vendor.h"

namespace gpu {
namespace {

// Where tests/support/CMakeLists.txt puts the stand-in: beside this program.
std::string FakeDirectory() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  const std::string self(path.data(), length < 0 ? 0 : static_cast<size_t>(length));
  return self.substr(0, self.rfind('/')) + "/fake_nvml";
}

Inventory ReadFake(const char* machine) {
  ::setenv("MUSTER_FAKE_NVML", machine, 1);
  return ReadNvidia({.nvml_folder = FakeDirectory()});
}

TEST(ReadNvidia, NoLibraryIsNoGpuAndAReason) {
  const Inventory inventory = ReadNvidia({.nvml_folder = "/nonexistent"});
  EXPECT_TRUE(inventory.devices.empty());
  EXPECT_EQ(inventory.reason, "no NVIDIA driver is installed");
}

TEST(ReadNvidia, ADriverThatDoesNotAnswerIsNoGpuAndItsWords) {
  const Inventory inventory = ReadFake("mismatch");
  EXPECT_TRUE(inventory.devices.empty());
  EXPECT_EQ(inventory.reason, "NVML: Driver/library version mismatch");
}

TEST(ReadNvidia, NoneOneEight) {
  EXPECT_TRUE(ReadFake("0").devices.empty());
  EXPECT_EQ(ReadFake("0").reason, "the NVIDIA driver sees no GPU");
  const Inventory one = ReadFake("1");
  ASSERT_EQ(one.devices.size(), 1u);
  EXPECT_EQ(one.devices[0].name, "NVIDIA Fake 80GB");
  EXPECT_EQ(one.devices[0].memory_total, int64_t{80} << 30);
  EXPECT_EQ(one.devices[0].memory_used, int64_t{1} << 30);
  EXPECT_EQ(one.devices[0].utilisation_percent, 42);
  EXPECT_EQ(one.driver_version, "570.00.01");
  EXPECT_EQ(one.reason, "");
  const Inventory eight = ReadFake("8");
  ASSERT_EQ(eight.Units().size(), 8u);
  EXPECT_EQ(eight.Units()[7].visible, "7");
  EXPECT_EQ(eight.Units()[7].uuid, "GPU-00000000-fake-0008");
}

TEST(ReadNvidia, TroublesOfGpus) {
  using Troubles = std::vector<std::string>;
  const Inventory worn = ReadFake("worn");
  EXPECT_EQ(TroublesOf(worn.devices[0], nullptr),
            (Troubles{"GPU 0 (NVIDIA Fake 80GB): a part of its memory is broken, and there is no "
                      "spare one",
                      "GPU 0 (NVIDIA Fake 80GB): its clocks are slowed (hardware slowdown)",
                      "GPU 0 (NVIDIA Fake 80GB): its clocks are slowed (thermal slowdown by "
                      "hardware)"}));
  const Troubles waits{
      "GPU 1 (NVIDIA Fake 80GB): a part of its memory is to be replaced at its next reset"};
  EXPECT_EQ(TroublesOf(worn.devices[1], nullptr), waits);
  EXPECT_EQ(TroublesOf(ReadFake("old").devices[0], nullptr).size(), 1u);
  EXPECT_FALSE(ReadFake("1").devices[0].health.uncorrected) << "it has no ECC";
}

TEST(ReadNvidia, OnlyErrorsWhileTheJobRanAreItsTrouble) {
  const std::string path = testing::TempDir() + "/errors";
  const auto read = [&path](const char* count) {
    EXPECT_TRUE(base::WriteFileAtomic(path, count, 0644, base::Durability::kNone));
    ::setenv("MUSTER_FAKE_NVML_ERRORS", path.c_str(), 1);
    Inventory inventory = ReadFake("1");
    ::unsetenv("MUSTER_FAKE_NVML_ERRORS");
    return inventory.devices.at(0);
  };
  const Device before = read("3");
  EXPECT_EQ(before.health.uncorrected, 3);
  EXPECT_EQ(before.health.uncorrected_in_life, 103);
  EXPECT_TRUE(TroublesOf(before, &before).empty());
  const Device after = read("5");
  EXPECT_EQ(TroublesOf(after, &before),
            std::vector<std::string>{"GPU 0 (NVIDIA Fake 80GB): 2 uncorrected memory errors while "
                                     "the job ran, 5 since the driver was loaded"});
  EXPECT_TRUE(TroublesOf(after, nullptr).empty()) << "nobody knows when they happened";
}

TEST(ReadNvidia, MigInstancesAreUnitsAndKnownByUuid) {
  const Inventory inventory = ReadFake("mig");
  ASSERT_EQ(inventory.devices.size(), 2u);
  EXPECT_FALSE(inventory.devices[0].is_mig_enabled);
  EXPECT_TRUE(inventory.devices[1].is_mig_enabled);
  EXPECT_EQ(inventory.devices[1].utilisation_percent, std::nullopt);
  const std::vector<Unit> units = inventory.Units();
  ASSERT_EQ(units.size(), 3u);
  EXPECT_EQ(units[0].visible, "GPU-00000000-fake-0001");
  EXPECT_EQ(units[1].visible, "MIG-00000000-fake-2001");
  EXPECT_EQ(units[2].visible, "MIG-00000000-fake-2003");
  EXPECT_EQ(units[2].device, 1);
  EXPECT_EQ(units[2].memory_total, int64_t{40} << 30);
}

TEST(ReadNvidia, MigWithoutInstancesIsNothingToRunOn) {
  const Inventory inventory = ReadFake("mig-empty");
  EXPECT_TRUE(inventory.Units().empty());
  EXPECT_EQ(inventory.reason, "MIG is enabled and no MIG instance exists");
}

TEST(ReadNvidia, AGpuThatIsLostIsLeftOutAndNamed) {
  const Inventory inventory = ReadFake("lost");
  ASSERT_EQ(inventory.Units().size(), 2u);
  EXPECT_EQ(inventory.reason, "GPU 1: GPU is lost");
  // NVML's count has a hole that CUDA's has not.
  EXPECT_EQ(inventory.Units()[1].visible, "GPU-00000000-fake-0003");
}

TEST(ReadAmd, WhatTheKernelShowsOfEach) {
  AmdMachine machine(2);
  const Inventory inventory = ReadAmd({.root = machine.root()});
  EXPECT_EQ(inventory.vendor, &kAmd);
  EXPECT_EQ(inventory.reason, "");
  EXPECT_EQ(inventory.driver_version, "6.10.5");
  ASSERT_EQ(inventory.devices.size(), 2u);
  const Device& second = inventory.devices[1];
  EXPECT_EQ(second.index, 1);
  EXPECT_EQ(second.uuid, "GPU-a1b2c3d4e5f60701");
  EXPECT_EQ(second.name, "AMD gfx942");
  EXPECT_EQ(second.memory_total, int64_t{192} << 30);
  EXPECT_EQ(second.memory_used, int64_t{3} << 30);
  EXPECT_EQ(second.utilisation_percent, 17);
  EXPECT_EQ(inventory.Units()[1].visible, "1");
  machine.Put("/sys/class/drm/renderD128/device/product_name", "AMD Instinct MI300X\n");
  EXPECT_EQ(ReadAmd({.root = machine.root()}).devices[0].name, "AMD Instinct MI300X");
}

TEST(ReadAmd, ACardWithoutANumberIsKnownByItsPlace) {
  AmdMachine machine(1);
  machine.PutNode(2, "simd_count 64\ndomain 0\nlocation_id 768\ngfx_target_version 90010\n");
  const Inventory inventory = ReadAmd({.root = machine.root()});
  ASSERT_EQ(inventory.devices.size(), 1u);
  EXPECT_EQ(inventory.devices[0].uuid, "GPU-0000-0300");
  EXPECT_EQ(inventory.devices[0].name, "AMD gfx90a");
  EXPECT_EQ(inventory.devices[0].utilisation_percent, std::nullopt);
}

TEST(ReadAmd, ADriverWithoutAGpuThatMayBeOpenedSaysSo) {
  AmdMachine machine(1);
  machine.Remove("/dev/dri/renderD128");
  EXPECT_EQ(ReadAmd({.root = machine.root()}).reason,
            "the AMD driver shows no GPU that this user may open");
  machine.Remove("/dev/kfd");
  EXPECT_EQ(ReadAmd({.root = machine.root()}).reason, "");
}

TEST(Read, TheFirstMakerThatHasAny) {
  AmdMachine machine(2);
  ::setenv("MUSTER_FAKE_NVML", "1", 1);
  EXPECT_EQ(Read({FakeDirectory(), machine.root()}).vendor, &kNvidia);
  ::setenv("MUSTER_FAKE_NVML", "0", 1);
  const Inventory amds = Read({FakeDirectory(), machine.root()});
  EXPECT_EQ(amds.vendor, &kAmd);
  EXPECT_EQ(amds.Units().size(), 2u);
  EXPECT_EQ(Read({FakeDirectory(), "/nonexistent"}).reason, "the NVIDIA driver sees no GPU");
}

TEST(BusyOf, NothingWhereAGpuIsLeftOut) {
  EXPECT_EQ(BusyOf(ReadFake("2")).size(), 2u);
  EXPECT_EQ(BusyOf(ReadFake("lost")).size(), 0u);
}

TEST(Meter, ALookReportsWhatWasReadSinceTheOneBefore) {
  ::setenv("MUSTER_FAKE_NVML", "2", 1);
  Meter meter({.nvml_folder = FakeDirectory()});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  BusyUnits busy = meter.Look();
  EXPECT_TRUE(busy.empty());
  while (busy.empty() && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    busy = meter.Look();
  }
  ASSERT_EQ(busy.size(), 2u);
  EXPECT_TRUE(busy[0].has_value());
}

}  // namespace
}  // namespace gpu
