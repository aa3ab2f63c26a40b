// A machine with AMD's GPUs, by the files that its kernel would show below a root of the test's
// own: two processors, which are nodes of amdkfd too, and then the GPUs.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

#include "base/file.h"

namespace gpu {

class AmdMachine {
 public:
  explicit AmdMachine(int count = 0) : root_(testing::TempDir() + "gpus-XXXXXX") {
    EXPECT_NE(::mkdtemp(root_.data()), nullptr);
    if (count > 0) PutGpus(count);
  }
  ~AmdMachine() { EXPECT_TRUE(base::RemoveTree(root_)); }
  AmdMachine(const AmdMachine&) = delete;
  AmdMachine& operator=(const AmdMachine&) = delete;

  const std::string& root() const { return root_; }

  void Put(const std::string& path, const std::string& text = "") {
    ASSERT_TRUE(base::MakeDirs(base::DirectoryOf(root_ + path), 0755));
    ASSERT_TRUE(base::WriteFileAtomic(root_ + path, text, 0644, base::Durability::kNone));
  }
  void Remove(const std::string& path) { ASSERT_TRUE(base::RemoveTree(root_ + path)); }
  void PutNode(int number, const std::string& properties) {
    Put(fmt::format("/sys/class/kfd/kfd/topology/nodes/{}/properties", number), properties);
  }
  void PutGpus(int count) {
    Put("/dev/kfd");
    Put("/sys/module/amdgpu/version", "6.10.5\n");
    for (int node = 0; node < 2; ++node) PutNode(node, "cpu_cores_count 64\nsimd_count 0\n");
    for (int i = 0; i < count; ++i) {
      PutNode(2 + i,
              fmt::format("cpu_cores_count 0\nsimd_count 304\ndomain 0\nlocation_id {}\n"
                          "drm_render_minor {}\ngfx_target_version 90402\nunique_id {}\n",
                          (0x43 + i) << 8, 128 + i, 0xa1b2c3d4e5f60700 + static_cast<uint64_t>(i)));
      Put(fmt::format("/dev/dri/renderD{}", 128 + i));
      const std::string device = fmt::format("/sys/class/drm/renderD{}/device/", 128 + i);
      Put(device + "mem_info_vram_total", fmt::format("{}\n", int64_t{192} << 30));
      Put(device + "mem_info_vram_used", fmt::format("{}\n", int64_t{3} << 30));
      Put(device + "gpu_busy_percent", "17\n");
    }
  }

 private:
  std::string root_;
};

}  // namespace gpu
