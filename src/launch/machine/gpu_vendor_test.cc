#include "launch/machine/gpu_vendor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "base/file.h"

namespace launch {
namespace {

// A machine of the test's own, by its files.
class GpuVendorTest : public testing::Test {
 protected:
  GpuVendorTest() : root_(testing::TempDir() + "gpus-XXXXXX") {
    EXPECT_NE(::mkdtemp(root_.data()), nullptr);
  }
  ~GpuVendorTest() override { EXPECT_TRUE(base::RemoveTree(root_)); }

  void Put(const std::string& path, const std::string& text = "") {
    ASSERT_TRUE(base::MakeDirs(base::DirectoryOf(root_ + path), 0755));
    ASSERT_TRUE(base::WriteFileAtomic(root_ + path, text, 0644, base::Durability::kNone));
  }
  // As amdkfd shows two processors and `count` GPUs.
  void PutAmd(int count) {
    Put("/dev/kfd");
    for (int node = 0; node < 2 + count; ++node) {
      const bool is_gpu = node >= 2;
      Put(fmt::format("/sys/class/kfd/kfd/topology/nodes/{}/properties", node),
          fmt::format("cpu_cores_count {}\nsimd_count {}\ndomain 0\nlocation_id {}\n"
                      "drm_render_minor {}\n",
                      is_gpu ? 0 : 64, is_gpu ? 304 : 0, is_gpu ? (0x41 + node) << 8 : 0,
                      is_gpu ? 126 + node : 0));
      if (is_gpu) Put(fmt::format("/dev/dri/renderD{}", 126 + node));
    }
  }
  int Count(const std::map<std::string, std::string>& variables = {}) {
    return UsableGpus(base::Environment(variables), root_);
  }

  std::string root_;
};

TEST_F(GpuVendorTest, AMachineWithoutAnyHasNone) {
  EXPECT_EQ(InstalledVendor(root_), nullptr);
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "0,1"}}), 0);
}

TEST_F(GpuVendorTest, AmdsAreCountedAsRocmDoes) {
  PutAmd(10);
  ASSERT_EQ(InstalledVendor(root_), &kAmd);
  EXPECT_EQ(kAmd.installed(root_)[0], "0000:43:00.0");
  EXPECT_EQ(kAmd.installed(root_)[9], "0000:4c:00.0") << "in the order of their numbers";
  EXPECT_EQ(Count(), 10);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "0,1,2"}}), 3);
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "4,5"}}), 2);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "1"}, {"CUDA_VISIBLE_DEVICES", "4,5"}}), 1);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", ""}}), 0);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "GPU-a1b2c3d4e5f60718,3"}}), 2);
}

TEST_F(GpuVendorTest, HipCountsWhatRocrLeaves) {
  PutAmd(8);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "4,5,6"}}), 3);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "4,5,6"}, {"HIP_VISIBLE_DEVICES", "0,2"}}), 2);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "4,5,6"}, {"HIP_VISIBLE_DEVICES", "0,3"}}), 1);
  EXPECT_EQ(Count({{"ROCR_VISIBLE_DEVICES", "-1"}}), 0);
}

TEST_F(GpuVendorTest, AContainerHasTheAmdDevicesThatItWasGiven) {
  PutAmd(4);
  ASSERT_TRUE(base::RemoveTree(root_ + "/dev/dri/renderD129"));
  EXPECT_EQ(Count(), 3);
  ASSERT_TRUE(base::RemoveTree(root_ + "/dev/kfd"));
  EXPECT_EQ(Count(), 0);
}

TEST_F(GpuVendorTest, NvidiasAreCountedAsCudaDoes) {
  PutAmd(1);
  Put("/dev/nvidia0");
  Put("/dev/nvidia1");
  Put("/dev/nvidiactl");
  ASSERT_EQ(InstalledVendor(root_), &kNvidia);
  EXPECT_EQ(Count(), 2);
  for (const char* address : {"0000:c1:00.0", "0000:41:00.0", "0000:81:00.0"}) {
    Put(std::string("/proc/driver/nvidia/gpus/") + address + "/information");
  }
  EXPECT_EQ(kNvidia.installed(root_)[0], "0000:41:00.0");
  EXPECT_EQ(Count(), 3);
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "0,7,1"}}), 1) << "it stops at one that is not there";
  EXPECT_EQ(Count({{"CUDA_VISIBLE_DEVICES", "MIG-1,GPU-2"}}), 2);
  EXPECT_EQ(Count({{"HIP_VISIBLE_DEVICES", "0"}}), 3) << "that is AMD's";
}

}  // namespace
}  // namespace launch
