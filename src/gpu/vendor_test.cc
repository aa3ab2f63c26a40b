#include "gpu/vendor.h"

#include <gtest/gtest.h>

#include "gpu/testing/amd_machine.h"

namespace gpu {
namespace {

class VendorTest : public testing::Test {
 protected:
  int Count(const std::map<std::string, std::string>& variables = {}) {
    return UsableGpus(base::Environment(variables), machine_.root());
  }

  AmdMachine machine_;
};

TEST_F(VendorTest, AMachineWithoutAnyHasNone) {
  EXPECT_EQ(InstalledVendor(machine_.root()), nullptr);
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "0,1"}}), 0);
}

TEST(Vendor, KnowsItsDeviceFiles) {
  for (const char* const path : {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/kfd"}) {
    EXPECT_TRUE(IsDevice(path)) << path;
  }
  for (const char* const path : {"/dev/null", "/dev/nvme0", "socket:[7]", ""}) {
    EXPECT_FALSE(IsDevice(path)) << path;
  }
}

TEST_F(VendorTest, AmdsAreCountedAsRocmDoes) {
  machine_.PutGpus(10);
  ASSERT_EQ(InstalledVendor(machine_.root()), &kAmd);
  EXPECT_EQ(kAmd.installed(machine_.root())[0], "0000:43:00.0");
  EXPECT_EQ(kAmd.installed(machine_.root())[9], "0000:4c:00.0") << "in the order of their numbers";
  EXPECT_EQ(Count(), 10);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "0,1,2"}}), 3);
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "4,5"}}), 2);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "1"}, {"CUDA_VISIBLE_DEVICES", "4,5"}}), 1);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", ""}}), 0);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "GPU-a1b2c3d4e5f60718,3"}}), 2);
}

TEST_F(VendorTest, HipCountsWhatRocrLeaves) {
  machine_.PutGpus(8);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "4,5,6"}}), 3);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "4,5,6"}, {"HIP_VISIBLE_DEVICES", "0,2"}}), 2);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "4,5,6"}, {"HIP_VISIBLE_DEVICES", "0,3"}}), 1);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "-1"}}), 0);
}

TEST_F(VendorTest, AContainerHasTheAmdDevicesThatItWasGiven) {
  machine_.PutGpus(4);
  machine_.Remove("/dev/dri/renderD129");
  EXPECT_EQ(Count(), 3);
  machine_.Remove("/dev/kfd");
  EXPECT_EQ(Count(), 0);
}

TEST_F(VendorTest, NvidiasAreCountedAsCudaDoes) {
  machine_.PutGpus(1);
  machine_.Put("/dev/nvidia0");
  machine_.Put("/dev/nvidia1");
  machine_.Put("/dev/nvidiactl");
  ASSERT_EQ(InstalledVendor(machine_.root()), &kNvidia);
  EXPECT_EQ(Count(), 2);
  for (const char* address : {"0000:c1:00.0", "0000:41:00.0", "0000:81:00.0"}) {
    machine_.Put(std::string("/proc/driver/nvidia/gpus/") + address + "/information");
  }
  EXPECT_EQ(kNvidia.installed(machine_.root())[0], "0000:41:00.0");
  EXPECT_EQ(Count(), 3);
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "0,7,1"}}), 1) << "it stops at one that is not there";
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "MIG-1,GPU-2"}}), 2);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "0"}}), 3) << "that is AMD's";
}

TEST(Vendor, ShowsAProgramItsUnitsAlone) {
  EXPECT_EQ(kNvidia.shown({"1", "3"}),
            (Variables{{"CUDA_DEVICE_ORDER", "PCI_BUS_ID"}, {"CUDA_VISIBLE_DEVICES", "1,3"}}));
  EXPECT_EQ(kAmd.shown({"1", "3"}),
            (Variables{{"ROCR_VISIBLE_DEVICES", "1,3"}, {"HIP_VISIBLE_DEVICES", "0,1"}}))
      << "HIP counts what ROCr leaves";
}

TEST(Vendor, HidesItsGpusUnlessTheProgramSaysWhichItSees) {
  const auto hidden = [](const Vendor& vendor, std::map<std::string, std::string> variables) {
    return vendor.hidden(base::Environment(std::move(variables)));
  };
  EXPECT_EQ(hidden(kNvidia, {{"NVIDIA_VISIBLE_DEVICES", "none"}}),
            (Variables{{"CUDA_VISIBLE_DEVICES", ""}, {"NVIDIA_VISIBLE_DEVICES", "void"}}));
  EXPECT_EQ(hidden(kNvidia, {{"CUDA_VISIBLE_DEVICES", ""}}), Variables());
  EXPECT_EQ(hidden(kNvidia, {{"NVIDIA_VISIBLE_DEVICES", "all"}}), Variables());
  EXPECT_EQ(hidden(kAmd, {}),
            (Variables{{"ROCR_VISIBLE_DEVICES", ""}, {"HIP_VISIBLE_DEVICES", "-1"}}));
  EXPECT_EQ(hidden(kAmd, {{"HIP_VISIBLE_DEVICES", "2"}}), Variables());
}

TEST(Vendor, IsKnownByItsResource) {
  EXPECT_TRUE(IsResource("nvidia.com/gpu"));
  EXPECT_TRUE(IsResource("amd.com/gpu"));
  EXPECT_FALSE(IsResource("rdma/hca"));
}

}  // namespace
}  // namespace gpu
