#include "reconcile/conditions.h"

#include <gtest/gtest.h>

namespace reconcile {
namespace {

using std::chrono::seconds;

base::Time At(int second) { return base::Time(seconds(1'000'000'000 + second)); }

std::string Show(const api::JobStatus& status) {
  std::string all;
  for (const api::Condition& condition : status.conditions) {
    all += condition.type + "=" + condition.status + " ";
  }
  return all;
}

bool SetTrue(api::JobStatus& status, std::string_view type, int second = 0) {
  return SetCondition(status, type, true, std::string(type) + "Reason", "message", At(second));
}

// T3.
TEST(Conditions, OrderAndMutualExclusion) {
  api::JobStatus status;
  EXPECT_TRUE(SetTrue(status, kCreated));
  EXPECT_TRUE(SetTrue(status, kRunning));
  EXPECT_EQ(Show(status), "Created=True Running=True ");
  EXPECT_TRUE(SetTrue(status, kRestarting));
  EXPECT_EQ(Show(status), "Created=True Restarting=True ");
  EXPECT_TRUE(SetTrue(status, kRunning));
  EXPECT_EQ(Show(status), "Created=True Running=True ");
  EXPECT_TRUE(SetTrue(status, kFailed));
  EXPECT_EQ(Show(status), "Created=True Running=False Failed=True ");
  EXPECT_FALSE(SetTrue(status, kSucceeded)) << "nothing is set after Failed";
  EXPECT_FALSE(SetTrue(status, kRunning));
}

// T1, T2.
TEST(Conditions, Finished) {
  for (const auto& [type, is_finished] : std::map<std::string_view, bool>{{kSucceeded, true},
                                                                          {kFailed, true},
                                                                          {kSuspended, false},
                                                                          {kRunning, false},
                                                                          {kCreated, false},
                                                                          {kRestarting, false}}) {
    api::JobStatus status;
    SetTrue(status, type);
    EXPECT_EQ(status.IsFinished(), is_finished) << type;
    EXPECT_TRUE(status.Is(type));
  }
}

TEST(Conditions, SuccessTurnsRunningAndRestartingToFalseWhereTheyStand) {
  api::JobStatus status;
  SetTrue(status, kRestarting, 1);
  SetTrue(status, kSuspended, 2);
  SetTrue(status, kSucceeded, 3);
  EXPECT_EQ(Show(status), "Restarting=False Suspended=True Succeeded=True ");
  EXPECT_EQ(status.conditions[0].reason, "RestartingReason");
  EXPECT_EQ(*status.conditions[0].last_update_time, At(1));
  EXPECT_EQ(*status.conditions[0].last_transition_time, At(1));
}

TEST(Conditions, SameStatusAndReasonChangeNothing) {
  api::JobStatus status;
  SetTrue(status, kRunning, 1);
  EXPECT_FALSE(SetCondition(status, kRunning, true, "RunningReason", "another message", At(5)));
  EXPECT_EQ(status.conditions[0].message, "message");
  EXPECT_EQ(*status.conditions[0].last_update_time, At(1));
}

TEST(Conditions, ANewReasonKeepsTheTimeOfTransition) {
  api::JobStatus status;
  SetTrue(status, kSuspended, 1);
  SetTrue(status, kCreated, 2);
  EXPECT_TRUE(SetCondition(status, kSuspended, true, "Other", "m", At(5)));
  EXPECT_EQ(Show(status), "Created=True Suspended=True ");
  EXPECT_EQ(*status.conditions[1].last_update_time, At(5));
  EXPECT_EQ(*status.conditions[1].last_transition_time, At(1));
  EXPECT_TRUE(SetCondition(status, kSuspended, false, "Other", "m", At(9)));
  EXPECT_EQ(*status.conditions[1].last_transition_time, At(9));
}

TEST(Conditions, EqualStatuses) {
  api::JobStatus a;
  SetTrue(a, kCreated, 1);
  a.replica_statuses["Worker"].active = 1;
  api::JobStatus b = a;
  EXPECT_TRUE(AreEqual(a, b));
  b.replica_statuses["Worker"].active = 2;
  EXPECT_FALSE(AreEqual(a, b));
  b = a;
  b.conditions[0].message = "x";
  EXPECT_FALSE(AreEqual(a, b));
  b = a;
  b.completion_time = At(1);
  EXPECT_FALSE(AreEqual(a, b));
}

}  // namespace
}  // namespace reconcile
