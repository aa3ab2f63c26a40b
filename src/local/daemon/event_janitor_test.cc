#include "local/daemon/event_janitor.h"

#include <gtest/gtest.h>

#include "api/resources.h"
#include "local/node/testing/agent_fake_cluster.h"

namespace local::daemon {
namespace {

using text::Object;

text::Json Event(const std::string& name, const text::Json& last_seen, const char* created) {
  return Object{
      {"metadata", {{"name", name}, {"namespace", "default"}, {"creationTimestamp", created}}},
      {"lastTimestamp", last_seen}};
}

struct EventJanitorTest : testing::Test {
  node::FakeCluster cluster;
  cluster::Client client{cluster.Connect()};
  base::Time now = *base::ParseRfc3339("2026-07-30T10:00:00Z");
};

TEST_F(EventJanitorTest, DeletesWhatWasLastSeenAnHourAgo) {
  cluster.Put(api::kEvents, Event("old", "2026-07-30T09:00:00Z", "2026-07-30T08:00:00Z"));
  cluster.Put(api::kEvents, Event("seen-again", "2026-07-30T09:20:00Z", "2026-07-30T08:00:00Z"));
  cluster.Put(api::kEvents, Event("never-counted", nullptr, "2026-07-30T08:59:00Z"));
  const auto next = DeleteOldEvents(client, now);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(*next, *base::ParseRfc3339("2026-07-30T10:20:00Z"));
  const auto left = client.List(api::kEvents, {});
  ASSERT_TRUE(left);
  ASSERT_EQ(left->items.size(), 1U);
  EXPECT_EQ(text::GetString(left->items[0], {"metadata", "name"}), "seen-again");
}

TEST_F(EventJanitorTest, LooksAgainWhenWhatComesNextWouldBeDue) {
  const auto next = DeleteOldEvents(client, now);
  ASSERT_TRUE(next) << next.error().message;
  EXPECT_EQ(*next, now + kEventLife);
}

TEST_F(EventJanitorTest, DeletesMoreThanOneCallCarries) {
  for (int i = 0; i < 600; ++i) {
    cluster.Put(api::kEvents, Event("e" + std::to_string(i), "2026-07-30T08:00:00Z", ""));
  }
  ASSERT_TRUE(DeleteOldEvents(client, now));
  EXPECT_TRUE(client.List(api::kEvents, {})->items.empty());
}

}  // namespace
}  // namespace local::daemon
