#include "controller/operator/lease.h"

#include <gtest/gtest.h>

namespace controller {
namespace {

using std::chrono::seconds;

class LeaseTest : public ::testing::Test {
 protected:
  // Looks at the Lease as `watcher` and writes what it wants; returns whether it then holds the
  // Lease.
  bool Try(LeaseWatcher& watcher) {
    auto spec = watcher.Want(lease_, clock_.Now(), clock_.Steady());
    if (!spec) return false;
    lease_ = text::Object{{"spec", std::move(*spec)}};
    return true;
  }
  std::string Holder() const { return ReadLease(lease_).holder; }

  base::FakeClock clock_{*base::ParseRfc3339("2026-07-30T10:00:00Z")};
  LeaseWatcher a_{"a", seconds(15)}, b_{"b", seconds(15)};
  text::Json lease_;
};

TEST_F(LeaseTest, IsHeldByTheFirst) {
  EXPECT_TRUE(Try(a_));
  EXPECT_FALSE(Try(b_));
  const LeaseRecord record = ReadLease(lease_);
  EXPECT_EQ(record.holder, "a");
  EXPECT_EQ(record.duration, seconds(15));
  EXPECT_EQ(record.acquired, "2026-07-30T10:00:00.000000Z");
  EXPECT_EQ(record.transitions, 0);
}

TEST_F(LeaseTest, StaysWithAHolderThatRenewsIt) {
  Try(a_);
  for (int i = 0; i < 30; ++i) {
    clock_.Advance(seconds(2));
    EXPECT_TRUE(Try(a_));
    EXPECT_FALSE(Try(b_));
  }
  EXPECT_EQ(ReadLease(lease_).acquired, "2026-07-30T10:00:00.000000Z");
  EXPECT_EQ(ReadLease(lease_).renewed, "2026-07-30T10:01:00.000000Z");
}

TEST_F(LeaseTest, IsTakenFromAHolderThatIsSilentForSoLong) {
  Try(a_);
  EXPECT_FALSE(Try(b_));
  clock_.Advance(seconds(14));
  EXPECT_FALSE(Try(b_));
  clock_.Advance(seconds(1));
  EXPECT_TRUE(Try(b_));
  EXPECT_EQ(Holder(), "b");
  EXPECT_EQ(ReadLease(lease_).transitions, 1);
  EXPECT_FALSE(Try(a_));
}

TEST_F(LeaseTest, TheHoldersClockDoesNotCount) {
  lease_ = text::Object{{"spec", text::Object{{"holderIdentity", "a"},
                                              {"leaseDurationSeconds", 15},
                                              {"renewTime", "2020-01-01T00:00:00.000000Z"}}}};
  EXPECT_FALSE(Try(b_));
  clock_.Advance(seconds(15));
  EXPECT_TRUE(Try(b_));
}

TEST_F(LeaseTest, IsFreeOnceReleased) {
  Try(a_);
  EXPECT_FALSE(b_.Release(lease_, clock_.Now()));
  lease_ = text::Object{{"spec", *a_.Release(lease_, clock_.Now())}};
  EXPECT_EQ(Holder(), "");
  EXPECT_TRUE(Try(b_));
  EXPECT_EQ(Holder(), "b");
}

}  // namespace
}  // namespace controller
