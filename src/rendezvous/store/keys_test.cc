#include "rendezvous/store/keys.h"

#include <gtest/gtest.h>

namespace rendezvous {
namespace {

TEST(StoreKeys, BarriersAreNamedByTheirGroup) {
  const StoreKeyName counter = ParseStoreKey("/default_pg/0//store_based_barrier_key:1");
  EXPECT_EQ(counter.kind, StoreKeyName::Kind::kCounter);
  EXPECT_EQ(counter.group, "1");
  const StoreKeyName last = ParseStoreKey("/default_pg/0//store_based_barrier_key:1:last_worker");
  EXPECT_EQ(last.kind, StoreKeyName::Kind::kLastArrived);
  EXPECT_EQ(last.group, "1");
  EXPECT_EQ(last.meeting, counter.meeting);
}

// Any client that reaches the store may choose a key's name.
TEST(StoreKeys, ABarrierWithoutAGroupIsNoLastWorker) {
  const StoreKeyName name = ParseStoreKey("/default_pg/store_based_barrier_key:last_worker");
  EXPECT_EQ(name.kind, StoreKeyName::Kind::kCounter);
  EXPECT_EQ(ParseStoreKey("/default_pg/store_based_barrier_key:").group, "");
}

}  // namespace
}  // namespace rendezvous
