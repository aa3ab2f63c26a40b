#include "local/daemon/gpu_metrics.h"

#include <gtest/gtest.h>

#include <future>

#include "local/node/testing/agent_fake_cluster.h"
#include "net/testing/ignoring_responder.h"

namespace local::daemon {
namespace {

using text::Array;
using text::Object;

text::Json PodHolding(const std::string& name, const std::string& units,
                      const std::string& phase = "Running") {
  return Object{
      {"metadata",
       {{"name", name}, {"namespace", "default"}, {"annotations", {{"muster.dev/gpus", units}}}}},
      {"spec", {{"nodeName", "here"}}},
      {"status", {{"phase", phase}}}};
}

gpu::Device Device(int index, int utilisation) {
  return {index, "GPU-" + std::to_string(index), "NVIDIA Test", 4096, 1024, utilisation, false, {}};
}

TEST(GpuMetricsPage, NamesWhoHoldsEachGpu) {
  gpu::Inventory inventory;
  inventory.devices = {Device(0, 35), Device(1, 0)};
  const std::string page = RenderGpuMetrics(
      inventory, {PodHolding("pt-worker-0", "1"), PodHolding("old", "0", "Failed")}, "here");
  EXPECT_NE(page.find("# TYPE nvidia_gpu_duty_cycle gauge\n"
                      "nvidia_gpu_duty_cycle{allocate_mode=\"exclusive\",minor_number=\"0\","
                      "name=\"NVIDIA Test\",namespace_name=\"\",node_name=\"here\",pod_name=\"\","
                      "uuid=\"GPU-0\"} 35\n"),
            std::string::npos)
      << page;
  EXPECT_NE(page.find("nvidia_gpu_memory_used_bytes{allocate_mode=\"exclusive\",minor_number=\"1\","
                      "name=\"NVIDIA Test\",namespace_name=\"default\",node_name=\"here\","
                      "pod_name=\"pt-worker-0\",uuid=\"GPU-1\"} 1024\n"),
            std::string::npos)
      << page;
}

TEST(GpuMetricsPage, APartOfAGpuHasMemoryAndNoDutyCycle) {
  gpu::Inventory inventory;
  inventory.devices = {Device(0, 0)};
  gpu::Device divided = Device(1, 0);
  divided.is_mig_enabled = true;
  divided.mig_instances = {{"MIG-a", "1g", 10, 5}, {"MIG-b", "1g", 10, 6}};
  inventory.devices.push_back(divided);
  const std::string page = RenderGpuMetrics(inventory, {PodHolding("p", "2")}, "here");
  EXPECT_NE(page.find("minor_number=\"1:1\",name=\"1g\",namespace_name=\"default\","
                      "node_name=\"here\",pod_name=\"p\",uuid=\"MIG-b\"} 6\n"),
            std::string::npos)
      << page;
  EXPECT_EQ(page.find("nvidia_gpu_duty_cycle{allocate_mode=\"exclusive\",minor_number=\"1:"),
            std::string::npos);
}

class Answered : public net::IgnoringResponder {
 public:
  explicit Answered(std::promise<net::HttpResponse>& to) : to_(to) {}
  void Send(net::HttpResponse response) override { to_.set_value(std::move(response)); }

 private:
  std::promise<net::HttpResponse>& to_;
};

TEST(GpuMetrics, AnswersAlsoWhereNoGpuIs) {
  node::FakeCluster cluster;
  cluster::Client client(cluster.Connect());
  GpuMetrics metrics(client, {.nvml_folder = "/no/such/library"}, "here");
  for (int i = 0; i < 2; ++i) {
    std::promise<net::HttpResponse> answer;
    metrics.Handle(std::make_shared<Answered>(answer));
    const net::HttpResponse response = answer.get_future().get();
    EXPECT_EQ(response.status, 200);
    EXPECT_NE(response.body.find("# TYPE nvidia_gpu_memory_total_bytes gauge\n"),
              std::string::npos);
  }
}

TEST(GpuMetrics, OnlyItsPathIsItsOwn) {
  EXPECT_TRUE(IsGpuMetricsRequest({"GET", "/metrics/gpus", {}, ""}));
  EXPECT_TRUE(IsGpuMetricsRequest({"GET", "/metrics/gpus?x=1", {}, ""}));
  EXPECT_FALSE(IsGpuMetricsRequest({"GET", "/metrics/gpus/0", {}, ""}));
  EXPECT_FALSE(IsGpuMetricsRequest({"POST", "/metrics/gpus", {}, ""}));
}

}  // namespace
}  // namespace local::daemon
