#include "arena/jobs/room.h"

#include <gtest/gtest.h>

namespace arena {
namespace {

text::Json Json(const std::string& json) { return *text::ParseJson(json); }

text::Json Node(const std::string& name, int gpus, const std::string& spec = "{}") {
  return Json(R"({"metadata":{"name":")" + name + R"("},"spec":)" + spec +
              R"(,"status":{"allocatable":{"nvidia.com/gpu":")" + std::to_string(gpus) +
              R"("},"conditions":[{"type":"Ready","status":"True"}]}})");
}

text::Json PodOn(const std::string& node, const std::string& job, int gpus) {
  return Json(R"({"metadata":{"name":"p","namespace":"team","labels":{)"
              R"("training.kubeflow.org/job-name":")" +
              job + R"("}},"spec":{"nodeName":")" + node +
              R"(","containers":[{"name":"pytorch","resources":{"limits":{"nvidia.com/gpu":")" +
              std::to_string(gpus) + R"("}}}]},"status":{"phase":"Running"}})");
}

WouldBe Of(int64_t gpus, int64_t nodes = 1) {
  WouldBe job;
  job.gpus = gpus;
  job.nodes = nodes;
  return job;
}

TEST(Room, IsWhatTheNodesHaveLessWhatPodsRequest) {
  const std::vector<text::Json> nodes{Node("n1", 8), Node("n2", 8), Node("cpu", 0),
                                      Node("off", 8, R"({"unschedulable":true})")};
  const std::vector<text::Json> pods{PodOn("n1", "bert", 4), PodOn("n1", "bert", 2),
                                     PodOn("n2", "gpt", 5)};
  EXPECT_EQ(
      RenderRoom(JudgeRoom(Of(3), nodes, pods, {}, true)),
      "Its GPUs are free now: it needs a node with 3 GPUs free. Taints, processors, memory and "
      "node selectors are not looked at.\n"
      "  n1: 2 of 8 GPUs free; held by team/bert (6)\n"
      "  n2: 3 of 8 GPUs free; held by team/gpt (5)\n"
      "When it starts is not known: Kubernetes' schedulers and queues do not say.\n");
  // Two replicas may be on one node, but none on two.
  EXPECT_EQ(text::GetString(JudgeRoom(Of(2, 2), nodes, pods, {}, true), {"kind"}), "now");
  EXPECT_EQ(text::GetString(JudgeRoom(Of(5), nodes, pods, {}, true), {"kind"}), "unknown");
  EXPECT_TRUE(RenderRoom(JudgeRoom(Of(4, 2), nodes, pods, {}, true))
                  .starts_with("It does not fit now: it needs 2 times 4 GPUs on one node.\n"));
  EXPECT_TRUE(RenderRoom(JudgeRoom(Of(9), nodes, pods, {}, true))
                  .starts_with("It does not fit on the present nodes, even if they were empty"));
  const std::vector<text::Json> none{Node("cpu", 0)};
  EXPECT_NE(RenderRoom(JudgeRoom(Of(1), none, {}, {}, true)).find("no node that takes pods has"),
            std::string::npos);
}

TEST(Room, AQuotaAndUnseenPodsAreSaid) {
  const std::vector<text::Json> nodes{Node("n1", 8)};
  const text::Array quotas{
      Json(R"({"metadata":{"name":"fair"},"status":{"hard":{"requests.nvidia.com/gpu":"4"},)"
           R"("used":{"requests.nvidia.com/gpu":"3"}}})")};
  const text::Json room = JudgeRoom(Of(2), nodes, {}, quotas, false);
  EXPECT_EQ(text::GetString(room, {"kind"}), "unknown");
  const std::string text = RenderRoom(room);
  EXPECT_NE(text.find("The namespace's quota fair leaves 1 of 4 GPUs.\n"), std::string::npos);
  EXPECT_NE(text.find("You may not list the pods of other namespaces"), std::string::npos);
  EXPECT_EQ(text::GetString(JudgeRoom(Of(1), nodes, {}, quotas, true), {"kind"}), "now");
}

}  // namespace
}  // namespace arena
