#include "answers/log/cluster_words.h"

#include <gtest/gtest.h>

namespace answers {
namespace {

TEST(ClusterWords, OfEachCommandOfKubectl) {
  const std::vector<Event> events = ReadClusterWords({
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
  const std::vector<Event> events = ReadClusterWords({
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
  EXPECT_TRUE(ReadClusterWords({"a-worker-0   1/1   Running   0   5m", "Warning: deprecated",
                                "reason: Completed", "  3/10 steps", ""})
                  .empty());
}

}  // namespace
}  // namespace answers
