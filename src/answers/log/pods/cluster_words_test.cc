#include "answers/log/pods/cluster_words.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

std::vector<Event> WordsOf(const std::vector<std::string_view>& lines) {
  return ReadClusterWords(lines, ReadDescribedPods(lines, {}));
}

TEST(ClusterWords, OfEachCommandOfKubectl) {
  const std::vector<Event> events = WordsOf({
      "LAST SEEN   TYPE      REASON             OBJECT   MESSAGE",
      "2m          Warning   FailedScheduling   pod/a    0/8 nodes are available: 8 Insufficient "
      "cpu.",
      "  Warning  FailedMount  10s   kubelet  MountVolume.SetUp failed for volume \"data\"",
      "b-worker-0   0/1   ImagePullBackOff   0   5m",
      "Name:             c-worker-1",
      "      Reason:       OOMKilled",
      "        reason: Evicted",
      "        message: Pod ephemeral local storage usage exceeds the total limit",
      "Error from server (BadRequest): container \"x\" in pod \"y\" is waiting to start: image "
      "can't be "
      "pulled",
  });
  ASSERT_EQ(events.size(), 6U);
  EXPECT_EQ(events[0].reason, "FailedScheduling");
  EXPECT_EQ(events[0].object, "pod/a");
  EXPECT_EQ(events[1].reason, "FailedMount");
  EXPECT_EQ(events[2].object, "pod b-worker-0");
  EXPECT_EQ(events[3].object, "pod c-worker-1");
  EXPECT_EQ(events[3].reason, "OOMKilled");
  EXPECT_EQ(events[4].message, "Pod ephemeral local storage usage exceeds the total limit");
  EXPECT_EQ(events[5].reason, "ImagePullBackOff");
}

TEST(ClusterWords, AReasonInAnyColumnAndAMessageOverSeveralLines) {
  const std::vector<Event> events = WordsOf({
      "ml   a-worker-0   0/1   Evicted   0   5m   <none>   n1",
      "a-worker-1   0/1   Failed   0   5m   10.0.0.1   n1   Evicted",
      "a-worker-2   0/1   Init:ErrImagePull   0   5m",
      "  message: 'The node was low on resource: memory. Threshold quantity: 100Mi,",
      "    available: 92Mi.'",
      "  phase: Failed",
      "  podIP: 10.0.0.1",
      "  qosClass: Burstable",
      "  reason: Evicted",
  });
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[0].object, "pod a-worker-0");
  EXPECT_EQ(events[1].reason, "Evicted");
  EXPECT_EQ(events[2].reason, "ErrImagePull");
  EXPECT_TRUE(events[3].message.ends_with("available: 92Mi.'"));
}

TEST(ClusterWords, WhatDecidesNothingIsNoEvent) {
  EXPECT_TRUE(WordsOf({"a-worker-0   1/1   Running   0   5m", "Warning: deprecated",
                       "reason: Completed", "  3/10 steps", ""})
                  .empty());
}

TEST(ClusterWords, WhichRankADescribedPodIsByItsLabels) {
  const auto index_of = [](std::vector<std::string_view> labels) {
    labels.insert(labels.begin(), "Name:             a-1-x7f2k");
    labels.emplace_back("      Reason:       OOMKilled");
    labels.emplace_back("Name:             a-2-k2f7x");
    labels.emplace_back("Labels:           batch.kubernetes.io/job-completion-index=2");
    const std::vector<Event> events = WordsOf(labels);
    return events.size() == 1 ? events[0].index : std::optional(-1);
  };
  EXPECT_EQ(index_of({"Labels:           batch.kubernetes.io/job-completion-index=1",
                      "                  job-name=a"}),
            1);
  EXPECT_EQ(index_of({"Annotations:      batch.kubernetes.io/job-completion-index: 1"}), 1);
  EXPECT_EQ(index_of({"                  batch.kubernetes.io/job-completion-index=1",
                      "                  jobset.sigs.k8s.io/job-index=0"}),
            1);
  EXPECT_EQ(index_of({"                  batch.kubernetes.io/job-completion-index=1",
                      "                  jobset.sigs.k8s.io/job-index=3"}),
            std::nullopt)
      << "the jobs before it have pods, too";
  EXPECT_EQ(index_of({"                  batch.kubernetes.io/job-completion-index=1",
                      "      nvidia.com/gpu:  8"}),
            std::nullopt)
      << "it may have eight ranks";
  for (const std::string_view several :
       {"      nvidia.com/mig-1g.5gb:  2", "      habana.ai/gaudi:  8",
        "      aws.amazon.com/neuroncore:  4", "      PET_NPROC_PER_NODE:   8",
        "      PET_NPROC_PER_NODE:   auto"}) {
    EXPECT_EQ(index_of({"                  batch.kubernetes.io/job-completion-index=1", several}),
              std::nullopt)
        << several;
  }
  EXPECT_EQ(index_of({"                  batch.kubernetes.io/job-completion-index=1",
                      "      nvidia.com/gpu:  1", "      PET_NPROC_PER_NODE:   1"}),
            1);
  const std::string_view replica = "                  training.kubeflow.org/replica-index=1";
  const std::string_view worker = "                  training.kubeflow.org/replica-type=worker";
  EXPECT_EQ(index_of({replica, worker}), std::nullopt) << "there may be a master";
  EXPECT_EQ(index_of({replica, worker, "Name:             a-master-0",
                      "                  training.kubeflow.org/replica-type=master",
                      "                  training.kubeflow.org/replica-index=0"}),
            0);
  EXPECT_EQ(index_of({replica, worker, "      RANK:                2"}), 2);
  EXPECT_EQ(index_of({"Labels:           app=a"}), std::nullopt);
}

}  // namespace
}  // namespace answers
