// S7: `top node`, all kinds and forms (compat/arena.md 2.8).
#include "arena/testing/verb_test_base.h"
#include "text/yaml.h"

namespace arena {
namespace {

struct NodeOf {
  std::string name;
  std::string address;
  text::Object capacity;
  text::Object allocatable = {};  // {} is the same
  text::Object labels = {};
};

class NodesCompat : public VerbTest {
 protected:
  void PutNode(const NodeOf& node) {
    cluster_->Put(
        kNodes,
        text::Object{
            {"metadata", {{"name", node.name}, {"labels", node.labels}}},
            {"status",
             {{"capacity", node.capacity},
              {"allocatable", node.allocatable.empty() ? node.capacity : node.allocatable},
              {"addresses",
               text::Array{text::Object{{"type", "InternalIP"}, {"address", node.address}}}},
              {"conditions", text::Array{text::Object{{"type", "Ready"}, {"status", "True"}}}}}}});
  }
  void PutPod(const std::string& name, const std::string& node, text::Object limits,
              text::Object annotations = {}) {
    cluster_->Put(
        kPods,
        text::Object{
            {"metadata",
             {{"name", name}, {"namespace", "default"}, {"annotations", std::move(annotations)}}},
            {"spec",
             {{"nodeName", node},
              {"containers", text::Array{text::Object{
                                 {"name", "c"}, {"resources", {{"limits", std::move(limits)}}}}}}}},
            {"status",
             {{"phase", "Running"},
              {"containerStatuses",
               text::Array{text::Object{
                   {"name", "c"}, {"ready", true}, {"state", {{"running", text::Object{}}}}}}}}}});
  }
  std::string Top(std::vector<std::string> args) {
    args.insert(args.begin(), {"top", "node"});
    const Ended ended = Run(args);
    EXPECT_EQ(ended.exit_code, 0) << ended.log;
    return ended.out;
  }

  const NodeOf cpu_{"cpu-1", "10.0.0.10", {{"cpu", "8"}}, {}, {{"kubernetes.io/role", "master"}}};
  const NodeOf exclusive_{"gpu-1", "10.0.0.11", {{"nvidia.com/gpu", "8"}}};
  const NodeOf share_{
      "share-1", "10.0.0.12", {{"aliyun.com/gpu-mem", "60"}, {"aliyun.com/gpu-count", "4"}}};
  const NodeOf topology_{"topo-1",
                         "10.0.0.13",
                         {{"aliyun.com/gpu", "2"}},
                         {},
                         {{"ack.node.gpu.schedule", "topology"}}};
  void PutTopology() {
    PutNode(topology_);
    cluster_->Put("/api/v1/namespaces/kube-system/configmaps", Json(R"({
      "metadata": {"name": "topo-1", "namespace": "kube-system",
                   "labels": {"ack.node.gpu.schedule": "topology", "nodename": "topo-1"}},
      "data": {"devices": "{\"0\": \"Healthy\", \"1\": \"Unhealthy\"}",
               "linkType": "[[\"N-A\", \"NV2\"], [\"NV2\", \"N-A\"]]",
               "bandwith": "[[738.42, 96.44], [96.26, 744.05]]"}})"));
    PutPod(
        "trains", "topo-1", {{"aliyun.com/gpu", "1"}},
        {{"topology.kubernetes.io/gpu-group", "0"}, {"topology.kubernetes.io/gpu-visible", "0"}});
  }
};

TEST_F(NodesCompat, OneKindHasATableOfItsOwn) {
  PutNode(exclusive_);
  PutPod("a", "gpu-1", {{"nvidia.com/gpu", "2"}});
  EXPECT_EQ(Top({"-o", "wide"}),
            "NAME   IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)\n"
            "gpu-1  10.0.0.11  <none>  Ready   8           2\n" +
                std::string(99, '-') +
                "\nAllocated/Total GPUs of nodes which own resource nvidia.com/gpu In Cluster:\n"
                "2/8 (25.0%)\n");
}

TEST_F(NodesCompat, TheRoleOfANodeWithGpusIsInItsDetailsOnly) {
  NodeOf worker = exclusive_;
  worker.labels = {{"node-role.kubernetes.io/worker", ""}};
  PutNode(worker);
  PutNode(cpu_);
  EXPECT_TRUE(Top({"-o", "wide"})
                  .starts_with("NAME   IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)\n"
                               "cpu-1  10.0.0.10  master  Ready   0           0\n"
                               "gpu-1  10.0.0.11  <none>  Ready   8           0\n"));
  EXPECT_NE(Top({"-d", "gpu-1"}).find("Role:    worker\n"), std::string::npos);
  const text::Json nodes = Json(Top({"-d", "-o", "json"}));
  EXPECT_EQ(text::GetString(nodes.at("gpuExclusiveNodes").as_array()[0], {"role"}), "");
  EXPECT_EQ(text::GetString(nodes.at("normalNodes").as_array()[0], {"role"}), "master");
  EXPECT_NE(Run({"top", "node"}, "muster").out.find("worker"), std::string::npos);
}

TEST_F(NodesCompat, UnhealthyGpusHaveAColumnAndAFooter) {
  NodeOf broken = exclusive_;
  broken.allocatable = {{"nvidia.com/gpu", "6"}};
  PutNode(broken);
  EXPECT_EQ(Top({"-o", "wide"}),
            "NAME   IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)  UNHEALTHY\n"
            "gpu-1  10.0.0.11  <none>  Ready   8           0               2\n" +
                std::string(99, '-') +
                "\nAllocated/Total GPUs of nodes which own resource nvidia.com/gpu In Cluster:\n"
                "0/8 (0.0%)\n"
                "Unhealthy/Total GPUs of nodes which own resource nvidia.com/gpu In Cluster:\n"
                "2/8 (25.0%)\n");
}

TEST_F(NodesCompat, SeveralKindsStandBelowEachOtherWithTheirModes) {
  PutNode(share_);
  PutNode(exclusive_);
  PutNode(cpu_);
  PutTopology();
  PutPod("a", "gpu-1", {{"nvidia.com/gpu", "8"}});
  PutPod("s", "share-1", {{"aliyun.com/gpu-mem", "3"}}, {{"ALIYUN_COM_GPU_MEM_IDX", "1"}});
  const std::string table =
      "NAME     IPADDRESS  ROLE    STATUS  GPU(Total)  GPU(Allocated)  GPU(Mode)\n"
      "cpu-1    10.0.0.10  master  Ready   0           0               none\n"
      "gpu-1    10.0.0.11  <none>  Ready   8           8               exclusive\n"
      "topo-1   10.0.0.13  <none>  Ready   2           1               topology\n"
      "share-1  10.0.0.12  <none>  Ready   4           0.2             share\n";
  EXPECT_EQ(Top({"-o", "wide"}),
            table + std::string(99, '-') + "\nAllocated/Total GPUs In Cluster:\n9.2/14 (65.7%)\n");
  EXPECT_EQ(Top({"cpu-1", "gpu-1", "topo-1", "share-1", "-o", "wide"}), table);
  const std::pair<const char*, const char*> modes[] = {
      {"n", "cpu-1"},  {"none", "cpu-1"},      {"e", "gpu-1"},   {"GPUExclusive", "gpu-1"},
      {"t", "topo-1"}, {"topology", "topo-1"}, {"s", "share-1"}, {"share", "share-1"}};
  for (const auto& [mode, name] : modes) {
    const std::string out = Top({"-o", "wide", "-m", mode});
    EXPECT_NE(out.find(std::string("\n") + name), std::string::npos) << out;
    size_t others = 0;
    for (const char* other : {"cpu-1", "gpu-1", "topo-1", "share-1"}) {
      others += out.find(std::string("\n") + other + " ") != std::string::npos ? 1 : 0;
    }
    EXPECT_EQ(others, 1u) << mode;
  }
}

TEST_F(NodesCompat, SharedGpusCountMemoryAndCores) {
  NodeOf with_cores = share_;
  with_cores.capacity["aliyun.com/gpu-core.percentage"] = "400";
  PutNode(with_cores);
  PutPod("s", "share-1", {{"aliyun.com/gpu-mem", "6"}, {"aliyun.com/gpu-core.percentage", "50"}},
         {{"scheduler.framework.gpushare.allocation", R"({"0": {"0": 3, "2": 3}})"},
          {"gpushare.alibabacloud.com/core-percentage", R"({"0": {"0": 25, "2": 25}})"}});
  EXPECT_EQ(
      Top({"-o", "wide"}),
      "NAME     IPADDRESS  ROLE    STATUS  GPUs(Allocated/Total)  GPU_MEMORY(Allocated/Total)  "
      "GPU_CORE(Allocated/Total)\n"
      "share-1  10.0.0.12  <none>  Ready   0.4/4                  6.0/60.0 GiB                 "
      "50/400\n" +
          std::string(107, '-') +
          "\nAllocated/Total GPUs of nodes which own resource aliyun.com/gpu-mem In Cluster:\n"
          "0.4/4 (10.0%)\n"
          "Allocated/Total GPU Memory of nodes which own resource aliyun.com/gpu-mem In Cluster:\n"
          "6.0/60.0 GiB(10.0%)\n"
          "Allocated/Total GPU Core of nodes which own resource aliyun.com/gpu-core.percentage In "
          "Cluster:\n"
          "50/400 (12.5%)\n");
  const std::string details = Top({"-d"});
  EXPECT_NE(
      details.find("Instances:\n"
                   "  NAMESPACE  NAME  GPU_MEM(Requested)  GPU_MEM(Allocated)         "
                   "GPU_CORE(Requested)  GPU_CORE(Allocated)\n"
                   "  ---------  ----  ------------------  ------------------         "
                   "-------------------  -------------------\n"
                   "  default    s     6.0 GiB             gpu0(3.0GiB),gpu2(3.0GiB)  50      "
                   "             gpu0(25),gpu2(25)\n"),
      std::string::npos)
      << details;
  EXPECT_NE(details.find("  0      15 GiB         3 GiB(20.0%)       100          25(25.0%)\n"),
            std::string::npos)
      << details;
}

TEST_F(NodesCompat, DetailsOfANodeWithoutGpus) {
  PutNode(cpu_);
  EXPECT_EQ(Top({"-d"}),
            "\nName:    cpu-1\n"
            "Status:  Ready\n"
            "Role:    master\n"
            "Type:    Normal\n"
            "Address: 10.0.0.10\n"
            "Description:\n"
            "  This node has none gpu devices\n\n");
  const std::string details = Run({"top", "node", "-d"}, "muster").out;
  EXPECT_NE(details.find("Description:\n  This node has no GPU\n"), std::string::npos) << details;
}

TEST_F(NodesCompat, DetailsOfMeasuredGpus) {
  PutNode({"gpu-1", "10.0.0.11", {{"nvidia.com/gpu", "2"}}});
  PutPod("a", "gpu-1", {{"nvidia.com/gpu", "1"}});
  for (const auto& [id, pod] : {std::pair("0", ""), std::pair("1", "a")}) {
    const std::string labels = std::string("{minor_number=\"") + id + "\",namespace_name=\"" +
                               (*pod == '\0' ? "" : "default") +
                               "\",node_name=\"gpu-1\",pod_name=\"" + pod + "\",uuid=\"GPU-" + id +
                               "\"}";
    cluster_->gpu_metrics += "nvidia_gpu_duty_cycle" + labels + " 50\n" +
                             "nvidia_gpu_memory_used_bytes" + labels + " 2147483648\n" +
                             "nvidia_gpu_memory_total_bytes" + labels + " 17179869184\n";
  }
  EXPECT_EQ(Top({"-d", "--metric"}),
            "\nName:    gpu-1\n"
            "Status:  Ready\n"
            "Role:    <none>\n"
            "Type:    GPUExclusive\n"
            "Address: 10.0.0.11\n"
            "Description:\n"
            "  1.This node is enabled gpu exclusive mode.\n"
            "  2.Pods can request resource 'nvidia.com/gpu' to use gpu exclusive feature on this "
            "node\n"
            "Instances:\n"
            "  NAMESPACE  NAME  STATUS   GPU(Requested)  GPU(Allocated)\n"
            "  ---------  ----  ------   --------------  --------------\n"
            "  default    a     Running  1               gpu1\n"
            "GPUs:\n"
            "  INDEX  MEMORY(Total)  MEMORY(Allocated)  MEMORY(Used)  DUTY_CYCLE\n"
            "  -----  -------------  -----------------  ------------  ----------\n"
            "  0      16.0 GiB       0.0 GiB            0.0 GiB       0.0%\n"
            "  1      16.0 GiB       16.0 GiB           2.0 GiB       50.0%\n"
            "GPU Summary:\n"
            "  Total GPUs:           2\n"
            "  Allocated GPUs:       1\n"
            "  Unhealthy GPUs:       0\n"
            "  Total GPU Memory:     32.0 GiB\n"
            "  Allocated GPU Memory: 16.0 GiB\n"
            "  Used GPU Memory:      2.0 GiB\n\n");
}

TEST_F(NodesCompat, DetailsOfATopology) {
  PutTopology();
  const std::string details = Top({"-d"});
  EXPECT_TRUE(
      details.ends_with("Instances:\n"
                        "  NAMESPACE  NAME    GPU(Requested)  GPU(Allocated)\n"
                        "  ---------  ----    --------------  --------------\n"
                        "  default    trains  1               0\n"
                        "LinkTypeMatrix:\n"
                        "        GPU0  GPU1\n"
                        "  GPU0  N-A   NV2\n"
                        "  GPU1  NV2   N-A\n"
                        "BandwidthMatrix:\n"
                        "        GPU0    GPU1\n"
                        "  GPU0  738.42  96.44\n"
                        "  GPU1  96.26   744.05\n"
                        "GPUs:\n"
                        "  INDEX  STATUS  HEALTHY\n"
                        "  ----   ------  -------\n"
                        "  GPU0   using   true\n"
                        "  GPU1   idle    false\n"
                        "GPU Summary:\n"
                        "  Total GPUs: 2\n"
                        "  Allocated GPUs: 1\n"
                        "  Unhealthy GPUs: 0\n\n"))
      << details;
}

TEST_F(NodesCompat, JsonHasTheFourKindsAndTheirKeys) {
  EXPECT_EQ(Run({"top", "node", "-o", "json"}).exit_code, 1);
  PutNode(exclusive_);
  PutNode(cpu_);
  PutPod("a", "gpu-1", {{"nvidia.com/gpu", "2"}});
  EXPECT_EQ(Top({"-d", "-o", "json"}),
            R"({
    "gpuExclusiveNodes": [
        {
            "instances": [
                {
                    "name": "a",
                    "namespace": "default",
                    "status": "Running",
                    "requestGPUs": 2
                }
            ],
            "name": "gpu-1",
            "description": "\n  1.This node is enabled gpu exclusive mode.\n  2.Pods can request resource 'nvidia.com/gpu' to use gpu exclusive feature on this node\n",
            "ip": "10.0.0.11",
            "status": "Ready",
            "role": "",
            "type": "GPUExclusive",
            "totalGPUs": 8,
            "allocatedGPUs": 2,
            "unhealthyGPUs": 0,
            "gpuMetrics": []
        }
    ],
    "gpuShareNodes": [],
    "gpuTopologyNodes": [],
    "normalNodes": [
        {
            "name": "cpu-1",
            "description": "\n  This node has none gpu devices\n",
            "ip": "10.0.0.10",
            "status": "Ready",
            "role": "master",
            "type": "Normal"
        }
    ]
})");
}

// The names that arenasdk 0.10 looks up without asking whether they are there.
TEST_F(NodesCompat, JsonHasTheNamesThatThePythonSdkReads) {
  PutNode({"gpu-1", "10.0.0.11", {{"nvidia.com/gpu", "1"}}});
  PutNode(share_);
  PutTopology();
  PutPod("a", "share-1", {{"aliyun.com/gpu-mem", "3"}},
         {{"scheduler.framework.gpushare.allocation", R"({"0": {"2": 3}})"}});
  cluster_->gpu_metrics = "nvidia_gpu_duty_cycle{minor_number=\"0\",node_name=\"gpu-1\"} 5\n";
  const text::Json nodes = Json(Top({"-d", "--metric", "-o", "json"}));
  const auto first = [&](std::string_view kind, std::string_view of) {
    return text::Items(text::Items(nodes, {kind})[0], {of})[0];
  };
  EXPECT_EQ(text::GetInt(first("gpuShareNodes", "instances"), {"allocation", "2"}), 3);
  EXPECT_EQ(text::GetString(first("gpuTopologyNodes", "devices"), {"gpuIndex"}), "0");
  EXPECT_EQ(text::GetString(first("gpuTopologyNodes", "devices"), {"status"}), "using");
  EXPECT_EQ(text::GetString(first("gpuExclusiveNodes", "gpuMetrics"), {"status"}), "idle");
}

// Whatever reads YAML reads what the JSON says.
TEST_F(NodesCompat, YamlSaysWhatJsonSays) {
  PutNode(exclusive_);
  PutNode(cpu_);
  PutNode(share_);
  PutTopology();
  PutPod("a", "gpu-1", {{"nvidia.com/gpu", "2"}});
  PutPod("b", "share-1", {{"aliyun.com/gpu-mem", "3"}},
         {{"scheduler.framework.gpushare.allocation", R"({"0": {"2": 3}})"}});
  const std::string printed = Top({"-o", "yaml"});
  EXPECT_NE(printed.find("gpuMemoryAllocation:\n      \"2\": 3\n"), std::string::npos) << printed;
  const auto yaml = text::ParseYaml(printed);
  ASSERT_TRUE(yaml);
  EXPECT_EQ(text::ToPrettyJson(*yaml), text::ToPrettyJson(Json(Top({"-o", "json"}))));
}

TEST_F(NodesCompat, OfSeveralNodesTheMissingOneIsNamed) {
  PutNode(exclusive_);
  const Ended ended = Run({"top", "node", "gpu-1", "nobody"});
  EXPECT_EQ(ended.exit_code, 0);
  EXPECT_NE(ended.out.find("gpu-1"), std::string::npos);
  EXPECT_NE(ended.log.find("there is no node nobody"), std::string::npos) << ended.log;
  EXPECT_EQ(Run({"top", "node", "gpu-1", "nobody", "-o", "json"}).log, "");
}

TEST_F(NodesCompat, MistakesAreSaidInArenasWords) {
  PutNode(exclusive_);
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"top", "node", "nobody"}, "failed to display nodes's informations: not found nodes"},
      {{"top", "node", "-m", "x"},
       "unknown node type,only supports:[n(none)|e(exclusive)|t(topology)|s(share)]"},
      {{"top", "node", "-d", "-r"}, "must specify only one node name when '-r' is enabled"},
      {{"top", "node", "-d", "-r", "a", "b"},
       "must specify only one node name when '-r' is enabled"},
  };
  for (const auto& [args, message] : cases) {
    const Ended ended = Run(args);
    EXPECT_NE(ended.exit_code, 0);
    EXPECT_NE(ended.log.find(message), std::string::npos) << ended.log;
  }
}

}  // namespace
}  // namespace arena
