#include "controller/loop/event_aggregation.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

using Events = std::vector<reconcile::Event>;

TEST(AggregateEvents, ReportsChildrenOfOneKindAtOnce) {
  const Events aggregated =
      AggregateEvents({{false, "SuccessfulCreatePod", "Created pod: j-master-0"},
                       {false, "SuccessfulCreateService", "Created service: j-a"},
                       {false, "SuccessfulCreatePod", "Created pod: j-worker-0"},
                       {false, "PyTorchJobSucceeded", "PyTorchJob j is done: x"},
                       {false, "SuccessfulCreatePod", "Created pod: j-worker-1"}},
                      1);
  EXPECT_EQ(
      aggregated,
      (Events{{false, "SuccessfulCreatePod", "Created 3 pods: j-master-0, j-worker-0, j-worker-1"},
              {false, "SuccessfulCreateService", "Created service: j-a"},
              {false, "PyTorchJobSucceeded", "PyTorchJob j is done: x"}}));
}

TEST(AggregateEvents, ADeletedJobIsNoPod) {
  const Events events = {{false, "SuccessfulDeletePod", "Deleted pod: j-worker-0"},
                         {false, "SuccessfulDeletePod", "Deleted job: j"}};
  EXPECT_EQ(AggregateEvents(events, 1), events);
}

// Those of a kind are counted: the services stay apart.
TEST(AggregateEvents, LeavesApartUpToANumber) {
  Events events = {{false, "SuccessfulCreatePod", "Created pod: j-0"},
                   {false, "SuccessfulCreateService", "Created service: j-0"},
                   {false, "SuccessfulCreatePod", "Created pod: j-1"},
                   {false, "SuccessfulCreateService", "Created service: j-1"}};
  EXPECT_EQ(AggregateEvents(events, 2), events);
  events.push_back({false, "SuccessfulCreatePod", "Created pod: j-2"});
  EXPECT_EQ(
      AggregateEvents(events, 2),
      (Events{
          {false, "SuccessfulCreatePod", "Created 3 pods: j-0, j-1, j-2"}, events[1], events[3]}));
}

TEST(AggregateEvents, CountsNamesThatDoNotFit) {
  Events many;
  for (int i = 0; i < 1000; ++i) {
    many.push_back({false, "SuccessfulCreatePod", "Created pod: job-worker-" + std::to_string(i)});
  }
  const Events aggregated = AggregateEvents(many, kMostEventsApart);
  ASSERT_EQ(aggregated.size(), 1U);
  EXPECT_LE(aggregated[0].message.size(), kMaxEventMessage);
  EXPECT_TRUE(aggregated[0].message.starts_with("Created 1000 pods: job-worker-0, job-worker-1, "));
  EXPECT_TRUE(aggregated[0].message.ends_with(" more")) << aggregated[0].message;
}

TEST(AggregateEvents, FailuresStayApart) {
  const Events events = {{true, "FailedCreatePod", "Error creating: a"},
                         {true, "FailedCreatePod", "Error creating: b"}};
  EXPECT_EQ(AggregateEvents(events, 1), events);
}

}  // namespace
}  // namespace controller
