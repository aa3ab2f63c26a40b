#include "ads/node/address.h"

#include <gtest/gtest.h>

#include "ads/testing/temporary_folder.h"

namespace ads {
namespace {

TEST(NodeAddress_InCidr, IsTheFirstInside) {
  const std::vector<InterfaceAddress> all = {
      {"lo", "127.0.0.1"}, {"eth0", "192.168.1.4"}, {"eth1", "10.0.3.7"}, {"eth2", "10.0.4.1"}};
  EXPECT_EQ(FindInCidr(all, "10.0.0.0/16")->interface, "eth1");
  EXPECT_EQ(FindInCidr(all, "10.0.4.0/24")->address, "10.0.4.1");
  EXPECT_EQ(FindInCidr(all, "10.0.3.7/32")->interface, "eth1");
  EXPECT_EQ(FindInCidr(all, "0.0.0.0/0")->interface, "lo");
  EXPECT_FALSE(FindInCidr(all, "172.16.0.0/12"));
  EXPECT_FALSE(FindInCidr(all, "10.0.0.0/33"));
  EXPECT_FALSE(FindInCidr(all, "nonsense"));
}

TEST(NodeAddress_Gpus, AreThoseThatCudaWouldSee) {
  const auto count = [](const std::string& visible) {
    base::Environment environment;
    environment.Set("CUDA_VISIBLE_DEVICES", visible);
    return CountGpus(environment, "/nowhere");
  };
  EXPECT_EQ(count("0,1"), 2);
  EXPECT_EQ(count(""), 0);
  EXPECT_EQ(count("GPU-a, GPU-b,-1,2"), 2);
  EXPECT_EQ(CountGpus(base::Environment(), "/nowhere"), 0);
  const TemporaryFolder root;
  ASSERT_TRUE(base::MakeDirs(root.path() + "/dev"));
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "null"}) {
    ASSERT_TRUE(
        base::WriteFileAtomic(root.path() + "/dev/" + name, "", 0600, base::Durability::kNone));
  }
  EXPECT_EQ(CountGpus(base::Environment(), root.path()), 2);
}

}  // namespace
}  // namespace ads
