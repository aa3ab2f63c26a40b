#include "answers/log/pods/described_pod.h"

#include <gtest/gtest.h>

#include <string>

#include "answers/files/read_log.h"
#include "answers/log/pods/cluster_words.h"
#include "answers/verdict.h"

namespace answers {
namespace {

std::optional<int> RankOfPods(const std::vector<LogFile>& files) {
  const Evidence evidence = ReadLogs(files);
  const Verdict verdict = Explain(evidence);
  return verdict.rank ? evidence.ranks[*verdict.rank].rank : std::nullopt;
}

TEST(DescribedPod, OfYaml) {
  const std::vector<std::string_view> lines = {
      "apiVersion: v1",
      "items:",
      "- apiVersion: v1",
      "  kind: Pod",
      "  metadata:",
      "    annotations:",
      "      batch.kubernetes.io/job-completion-index: \"3\"",
      "    labels:",
      "      app: x",
      "    name: train-3-zz",
      "    ownerReferences:",
      "    - apiVersion: batch/v1",
      "      kind: Job",
      "      name: train",
      "  spec:",
      "    nodeName: n1",
      "- apiVersion: v1",
      "  kind: Pod",
      "  metadata:",
      "    name: train-4-zx",
      "  spec:",
      "    containers:",
      "    - args:",
      "      - --nproc_per_node",
      "      - \"8\"",
      "- apiVersion: v1",
      "  kind: Service",
      "  metadata:",
      "    name: a-worker-0",
      "kind: List",
  };
  const std::vector<DescribedPod> pods = ReadDescribedPods(lines, {true, false});
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_EQ(pods[0].name, "train-3-zz");
  EXPECT_EQ(pods[0].node, "n1");
  EXPECT_EQ(pods[0].rank, 3);
  EXPECT_EQ(pods[0].end, 16U);
  EXPECT_EQ(pods[1].name, "train-4-zx");
  EXPECT_EQ(pods[1].rank, std::nullopt);
  EXPECT_TRUE(pods[1].may_have_several);
  EXPECT_EQ(DescribedAt(pods, 10), &pods[0]);
  EXPECT_EQ(DescribedAt(pods, 28), nullptr);
}

TEST(DescribedPod, OfJson) {
  const std::vector<std::string_view> lines = {
      "{",
      "    \"apiVersion\": \"v1\",",
      "    \"kind\": \"Pod\",",
      "    \"metadata\": {",
      "        \"labels\": {",
      "            \"training.kubeflow.org/replica-index\": \"1\",",
      "            \"training.kubeflow.org/replica-type\": \"worker\"",
      "        },",
      "        \"name\": \"clip-worker-1\",",
      "    },",
      "    \"spec\": {",
      "        \"containers\": [",
      "            {\"env\": [",
      "                    {",
      "                        \"name\": \"RANK\",",
      "                        \"value\": \"2\"",
      "                    }",
      "}",
  };
  const std::vector<DescribedPod> pods = ReadDescribedPods(lines, {});
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].name, "clip-worker-1");
  EXPECT_EQ(pods[0].rank, 2);
  EXPECT_TRUE(IsPodsJson("{\n    \"kind\": \"Pod\",\n"));
  EXPECT_FALSE(IsPodsJson("{\"failures\": []}"));
}

TEST(DescribedPod, ItsNameCountsIfItIsAPod) {
  const auto rank_of = [](const std::string& name, std::string_view below, bool has_master) {
    const std::string line = "Name:             " + name;
    return ReadDescribedPods({line, below}, {has_master, false})[0].rank;
  };
  EXPECT_EQ(rank_of("clip-worker-1", "Containers:", true), 2);
  EXPECT_EQ(rank_of("clip-worker-1", "Containers:", false), std::nullopt);
  EXPECT_EQ(rank_of("clip-worker-1", "Type:  ClusterIP", true), std::nullopt);
  EXPECT_EQ(rank_of("gpt2-node-0-2-p9bkd", "Containers:", false), 2);
}

TEST(DescribedPod, AProgramsWordNameIsNone) {
  const std::vector<DescribedPod> pods =
      ReadDescribedPods({"Name: NVIDIA H100", "RANK: 3", "--nproc_per_node=8"}, {});
  ASSERT_EQ(pods.size(), 1U);
  EXPECT_EQ(pods[0].rank, std::nullopt);
  EXPECT_FALSE(pods[0].may_have_several);
}

TEST(DescribedPod, WhateverItsFileIsCalled) {
  const std::string described =
      "Name:             clip-worker-1\nLabels:           training.kubeflow.org/replica-index=1\n"
      "                  training.kubeflow.org/replica-type=worker\nStatus:           Failed\n"
      "Containers:\n  pytorch:\n    State:          Terminated\n      Reason:       Error\n"
      "      Exit Code:    139\n";
  EXPECT_EQ(RankOfPods({{"clip-master-0.log", "a\n"}, {"describe.txt", described}}), 2);
  EXPECT_EQ(RankOfPods({{"clip-worker-1.log", "a\n"}, {"describe.txt", described}}), 1)
      << "as its log";
  EXPECT_EQ(RankOfPods({{"describe.txt", described}}), std::nullopt) << "there may be a master";
  const std::string yaml =
      "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations:\n"
      "    batch.kubernetes.io/job-completion-index: \"3\"\n  name: train-3-zz\nstatus:\n"
      "  containerStatuses:\n  - name: main\n    state:\n      terminated:\n"
      "        exitCode: 137\n        reason: OOMKilled\n";
  EXPECT_EQ(RankOfPods({{"pod.yaml", yaml}}), 3);
  EXPECT_EQ(RankOfPods({{"pod.yaml", yaml + "spec:\n  containers:\n  - resources:\n      limits:\n"
                                            "        nvidia.com/gpu: \"8\"\n"}}),
            std::nullopt);
}

TEST(DescribedPod, OfANodesEventWhoRanThere) {
  const std::string lost =
      "LAST SEEN   TYPE      REASON         OBJECT    MESSAGE\n"
      "4m12s       Normal    NodeNotReady   node/n7   Node n7 status is now: NodeNotReady\n";
  const auto placed = [](const std::string& pod, const std::string& node) {
    return "18m  Normal  Scheduled  pod/" + pod + "  Successfully assigned team/" + pod + " to " +
           node + "\n";
  };
  const auto rank_with = [&lost](const std::string& about) {
    return RankOfPods({{"vit-worker-3.log", "step 1\n"},
                       {"vit-worker-4.log", "step 1\n"},
                       {"vit-master-0.log", "step 1\n"},
                       {"events.txt", lost + about}});
  };
  EXPECT_EQ(rank_with(""), std::nullopt);
  EXPECT_EQ(rank_with(placed("vit-worker-3", "n7") + placed("vit-worker-4", "n8")), 4);
  EXPECT_EQ(rank_with(placed("vit-worker-3", "n7") + placed("vit-worker-4", "n7")), std::nullopt);
  EXPECT_EQ(rank_with("4m  Warning  NodeNotReady  pod/vit-worker-3  Node is not ready\n"), 4);
  EXPECT_EQ(rank_with("4m  Warning  NodeNotReady  pod/vit-worker-3  Node is not ready\n"
                      "4m  Warning  NodeNotReady  pod/vit-worker-4  Node is not ready\n"),
            std::nullopt);
  EXPECT_EQ(rank_with("Name:         vit-worker-3\nNode:         n7/10.0.0.7\nContainers:\n"), 4);
}

TEST(DescribedPod, WhereItIsByTheColumnsOfGetPods) {
  EXPECT_EQ(ReadPlaces({"NAME    READY   STATUS    RESTARTS      AGE   IP       NODE    NOMINATED",
                        "a-w-1   1/1     Running   2 (5m ago)    18m   1.2.3.4  n7      <none>",
                        "a-w-2   0/1     Pending   0             18m   <none>   <none>  <none>"}),
            (std::vector<std::pair<std::string, std::string>>{{"a-w-1", "n7"}}));
}

TEST(DescribedPod, IsNotWithinAnother) {
  constexpr std::string_view kLines[] = {"kind: Pod",  "metadata:", "  name: a",    " kind: Pod",
                                         " metadata:", "  name: b", "---",          "kind: Pod",
                                         "metadata:",  "  name: c", "  nodeName: n"};
  const auto pods = ReadDescribedPods({std::begin(kLines), std::end(kLines)}, {});
  ASSERT_EQ(pods.size(), 2U);
  EXPECT_EQ(pods[0].name, "a");
  EXPECT_EQ(pods[1].name, "c");
}

TEST(DescribedPod, ManyOnOneNodeAreRead) {
  constexpr int kPods = 4000;
  std::string log;
  for (int i = 0; i < kPods; ++i) {
    const std::string number = std::to_string(i);
    log += "18m  Normal  Scheduled  pod/a-" + number + "  Successfully assigned t/a-" + number +
           " to n1\n[rank" + number + "]: step\n" +
           "4m  Warning  NodeNotReady  node/n1  Node is not ready\n";
  }
  EXPECT_FALSE(ReadLogs({{"events.txt", log}}).ranks.empty());
}

}  // namespace
}  // namespace answers
