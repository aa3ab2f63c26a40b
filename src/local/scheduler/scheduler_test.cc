#include "local/scheduler/scheduler.h"

#include <gtest/gtest.h>

#include "local/scheduler/reservation.h"

namespace local::scheduler {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr base::Time kNow{seconds(1'800'000'000)};

Node Machine(size_t gpus) {
  Node node;
  node.name = "here";
  node.cpu_milli = 8000;
  node.memory = int64_t{16} << 30;
  node.gpus.resize(gpus);
  return node;
}

class GangBuilder {
 public:
  explicit GangBuilder(std::string name) {
    gang_.key = "default/" + name;
    gang_.created = kNow;
  }

  GangBuilder& Pods(int count, int64_t gpus) {
    for (int i = 0; i < count; ++i) AddPod({gpus, 0, 0});
    return *this;
  }
  GangBuilder& AddPod(Requests requests) {
    Pod pod;
    pod.uid = gang_.key + "/" + std::to_string(gang_.pods.size());
    pod.name = pod.uid;
    pod.requests = requests;
    gang_.pods.push_back(std::move(pod));
    return *this;
  }
  GangBuilder& Bound(int64_t gpus, std::vector<int> indices) {
    AddPod({gpus, 0, 0});
    gang_.pods.back().is_bound = true;
    gang_.pods.back().gpus = std::move(indices);
    gang_.is_started = true;
    return *this;
  }
  GangBuilder& Missing(int count, int64_t gpus_each) {
    gang_.missing_pods = count;
    gang_.missing.gpus = count * gpus_each;
    return *this;
  }
  GangBuilder& Started() {
    gang_.is_started = true;
    return *this;
  }
  GangBuilder& Priority(int32_t priority) {
    gang_.priority = priority;
    return *this;
  }
  GangBuilder& Age(base::Duration age) {
    gang_.created = kNow - age;
    return *this;
  }
  GangBuilder& Deadline(base::Duration deadline,
                        std::optional<base::Time> active_since = std::nullopt) {
    gang_.active_deadline = deadline;
    gang_.active_since = active_since;
    return *this;
  }
  GangBuilder& MinAvailable(int pods) {
    gang_.min_available = pods;
    return *this;
  }
  operator Gang() const { return gang_; }

 private:
  Gang gang_;
};

GangBuilder Job(std::string name) { return GangBuilder(std::move(name)); }

// "default/a/0:0,1 default/b/0:" in the order of the decision.
std::string Bindings(const Decision& decision) {
  std::string text;
  for (const Binding& binding : decision.bindings) {
    if (!text.empty()) text += ' ';
    text += binding.pod_uid.substr(std::string_view("default/").size()) + ":";
    for (size_t i = 0; i < binding.gpus.size(); ++i) {
      text += (i > 0 ? "," : "") + std::to_string(binding.gpus[i]);
    }
  }
  return text;
}

std::string MessageOf(const Decision& decision, const std::string& job) {
  for (const Waiting& waiting : decision.waiting) {
    if (waiting.gang == "default/" + job) return waiting.message;
  }
  return "(not waiting)";
}

struct Case {
  std::string name;
  size_t gpus;
  std::vector<Gang> gangs;
  std::string bindings;
};

TEST(Schedule, BindsWhatFits) {
  const std::vector<Case> cases = {
      {"a pod without a wish always starts", 0, {Job("a").Pods(2, 0)}, "a/0: a/1:"},
      {"all pods of a gang get their own GPUs", 4, {Job("a").Pods(2, 2)}, "a/0:0,1 a/1:2,3"},
      {"half a gang does not start", 1, {Job("a").Pods(2, 1)}, ""},
      {"a gang whose pods are not all created waits", 4, {Job("a").Pods(1, 1).Missing(1, 1)}, ""},
      {"a bound GPU is not given again", 2, {Job("a").Bound(1, {0}), Job("b").Pods(1, 1)}, "b/0:1"},
      {"older first among equals",
       1,
       {Job("young").Pods(1, 1).Age(minutes(1)), Job("old").Pods(1, 1).Age(minutes(2))},
       "old/0:0"},
      {"priority before age",
       1,
       {Job("old").Pods(1, 1).Age(minutes(2)), Job("high").Pods(1, 1).Age(minutes(1)).Priority(5)},
       "high/0:0"},
      {"CPU and memory do not block", 0, {Job("a").AddPod({0, 64'000, int64_t{1} << 50})}, "a/0:"},
      {"CPU and memory order equals",
       1,
       {Job("a").AddPod({1, 64'000, 0}), Job("b").AddPod({1, 1000, 0})},
       "b/0:0"},
      {"a recreated pod goes to its gang's place, before an older job",
       2,
       {Job("older").Pods(1, 1).Age(hours(2)), Job("a").Bound(1, {0}).Pods(1, 1).Age(hours(1))},
       "a/1:1"},
      {"the place of a pod that is still to be recreated is kept",
       2,
       {Job("older").Pods(1, 1).Age(hours(2)), Job("a").Bound(1, {0}).Missing(1, 1)},
       ""},
      {"a whole gang that is recreated keeps its place until it is complete",
       2,
       {Job("older").Pods(1, 1).Age(hours(2)), Job("a").Started().Pods(1, 1).Missing(1, 1)},
       ""},
      {"a gang starts with its minimum, and with more as far as there is room",
       3,
       {Job("a").Pods(4, 1).MinAvailable(2)},
       "a/0:0 a/1:1 a/2:2"},
      {"less than the minimum does not start", 1, {Job("a").Pods(4, 1).MinAvailable(2)}, ""},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Bindings(Schedule(Machine(c.gpus), c.gangs, GpuPolicy::kStrict, kNow)), c.bindings);
  }
}

TEST(Schedule, StartsNothingOnACordonedNode) {
  Node node = Machine(2);
  node.name = "here";
  node.is_cordoned = true;
  const Decision decision =
      Schedule(node, {Job("a").Pods(1, 0), Job("b").Pods(2, 1)}, GpuPolicy::kAuto, kNow);
  EXPECT_TRUE(decision.bindings.empty());
  ASSERT_EQ(decision.waiting.size(), 2U);
  EXPECT_EQ(decision.waiting[0].message,
            "0/1 nodes are available: 1 node(s) were unschedulable: here is cordoned (kubectl "
            "uncordon here)");
}

TEST(Schedule, BackfillsOnlyWhatTheHeadLeaves) {
  const std::vector<Case> cases = {
      {"what the head will not need may be taken",
       8,
       {Job("run").Bound(4, {0, 1, 2, 3}), Job("head").Pods(1, 6).Age(hours(1)),
        Job("small").Pods(1, 2)},
       "small/0:4,5"},
      {"what could delay the head may not",
       8,
       {Job("run").Bound(4, {0, 1, 2, 3}), Job("head").Pods(1, 6).Age(hours(1)),
        Job("small").Pods(1, 3)},
       ""},
      {"whichever of the running ones ends first",
       8,
       {Job("r1").Bound(2, {0, 1}), Job("r2").Bound(2, {2, 3}),
        Job("head").Pods(1, 6).Age(hours(1)), Job("small").Pods(1, 1)},
       ""},
      {"the spare is spent once",
       8,
       {Job("run").Bound(4, {0, 1, 2, 3}), Job("head").Pods(1, 6).Age(hours(1)),
        Job("s1").Pods(1, 2).Age(minutes(2)), Job("s2").Pods(1, 1).Age(minutes(1))},
       "s1/0:4,5"},
      {"a job without GPUs overtakes anybody",
       1,
       {Job("run").Bound(1, {0}), Job("head").Pods(1, 1).Age(hours(1)), Job("cpu").Pods(3, 0)},
       "cpu/0: cpu/1: cpu/2:"},
      {"a deadline that ends before the head is sure to start",
       2,
       {Job("run").Bound(1, {0}).Deadline(hours(2), kNow - hours(1)),
        Job("head").Pods(1, 2).Age(hours(1)), Job("short").Pods(1, 1).Deadline(minutes(59))},
       "short/0:1"},
      {"a deadline that ends after it",
       2,
       {Job("run").Bound(1, {0}).Deadline(hours(2), kNow - hours(1)),
        Job("head").Pods(1, 2).Age(hours(1)), Job("long").Pods(1, 1).Deadline(minutes(61))},
       ""},
      {"a deadline does not help when nobody knows when the head starts",
       2,
       {Job("run").Bound(1, {0}), Job("head").Pods(1, 2).Age(hours(1)),
        Job("short").Pods(1, 1).Deadline(minutes(1))},
       ""},
      {"a job that can never start holds nobody up",
       2,
       {Job("giant").Pods(1, 3).Age(hours(1)), Job("small").Pods(1, 1)},
       "small/0:0"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Bindings(Schedule(Machine(c.gpus), c.gangs, GpuPolicy::kStrict, kNow)), c.bindings);
  }
}

TEST(Schedule, SaysWhyAJobWaits) {
  const std::string prefix =
      "0/1 nodes are available: 1 Insufficient nvidia.com/gpu: the job asks for ";
  Node none = Machine(0);
  EXPECT_EQ(MessageOf(Schedule(none, {Job("a").Pods(2, 1)}, GpuPolicy::kStrict, kNow), "a"),
            prefix + "2, this machine has none");
  none.no_gpu_reason = "no NVIDIA driver";
  EXPECT_EQ(MessageOf(Schedule(none, {Job("a").Pods(2, 1)}, GpuPolicy::kStrict, kNow), "a"),
            prefix + "2, this machine has none (no NVIDIA driver)");
  EXPECT_EQ(MessageOf(Schedule(Machine(1), {Job("a").Pods(2, 1)}, GpuPolicy::kAuto, kNow), "a"),
            prefix + "2, this machine has 1");
  EXPECT_EQ(MessageOf(Schedule(Machine(2), {Job("other").Bound(1, {0}), Job("a").Pods(2, 1)},
                               GpuPolicy::kStrict, kNow),
                      "a"),
            prefix + "2, 1 of 2 is in use by default/other; it is first in the queue");
  const Decision kept =
      Schedule(Machine(2),
               {Job("other").Bound(1, {0}), Job("a").Pods(2, 1).Age(hours(1)), Job("b").Pods(1, 1)},
               GpuPolicy::kStrict, kNow);
  EXPECT_EQ(
      MessageOf(kept, "b"),
      prefix +
          "1, 1 of 2 is free but reserved for default/a, the first in the queue; it is number 2 "
          "in the queue");
}

TEST(Schedule, SaysUntilWhenAndWhoseTurnItIs) {
  std::vector<Gang> gangs = {Job("run").Bound(1, {0}).Deadline(minutes(10)),
                             Job("a").Pods(1, 1).Age(hours(2)), Job("b").Pods(1, 1).Age(hours(1))};
  const auto message = [&gangs](const char* job) {
    const std::string text = MessageOf(Schedule(Machine(1), gangs, GpuPolicy::kStrict, kNow), job);
    return text.substr(text.find("1 of 1"));
  };
  EXPECT_EQ(message("a"), "1 of 1 is in use by default/run; it is first in the queue")
      << "it has not started, and its deadline neither";
  gangs[0].active_since = kNow - minutes(4);
  const std::string until = base::FormatRfc3339(kNow + minutes(6));
  EXPECT_EQ(message("a"), "1 of 1 is in use by default/run (until " + until +
                              " at the latest); it is first in the queue and will start by " +
                              until + " at the latest");
  EXPECT_EQ(message("b"), "1 of 1 is in use by default/run (until " + until +
                              " at the latest); it is number 2 in the queue");
  for (int i = 0; i < 12; ++i) gangs.push_back(Job("c" + std::to_string(i)).Pods(1, 1));
  EXPECT_TRUE(message("c9").ends_with("; 10 or more jobs are ahead of it in the queue"));
}

TEST(Schedule, NamesAFewOfTheHoldersAndCountsTheRest) {
  std::vector<Gang> gangs;
  for (int i = 0; i < 5; ++i) gangs.push_back(Job("r" + std::to_string(i)).Bound(1, {i}));
  gangs.push_back(Job("a").Pods(1, 1));
  EXPECT_EQ(
      MessageOf(Schedule(Machine(5), gangs, GpuPolicy::kStrict, kNow), "a"),
      "0/1 nodes are available: 1 Insufficient nvidia.com/gpu: the job asks for 1, 5 of 5 are "
      "in use by default/r0, default/r1, default/r2 and 2 more; it is first in the queue");
}

TEST(Schedule, NeverGivesAGpuThatIsLockedElsewhere) {
  Node node = Machine(2);
  node.gpus[0].is_locked_elsewhere = true;
  EXPECT_EQ(Bindings(Schedule(node, {Job("a").Pods(1, 1)}, GpuPolicy::kStrict, kNow)), "a/0:1");
  const Decision two = Schedule(node, {Job("a").Pods(2, 1)}, GpuPolicy::kStrict, kNow);
  EXPECT_EQ(Bindings(two), "");
  EXPECT_EQ(
      MessageOf(two, "a"),
      "0/1 nodes are available: 1 Insufficient nvidia.com/gpu: the job asks for 2, 1 of 2 is in "
      "use by another muster on this machine; it is first in the queue");
  EXPECT_TRUE(two.waiting[0].wants_locked_gpu);
  node.gpus[0].holder = "alice (another muster on this machine)";
  EXPECT_TRUE(
      MessageOf(Schedule(node, {Job("a").Pods(2, 1)}, GpuPolicy::kStrict, kNow), "a")
          .ends_with("in use by alice (another muster on this machine); it is first in the queue"));
}

TEST(Schedule, ALockThatABoundPodHoldsIsItsOwn) {
  Node node = Machine(1);
  node.gpus[0].is_locked_elsewhere = true;  // as the pod's shim does
  const Decision decision =
      Schedule(node, {Job("run").Bound(1, {0}), Job("a").Pods(1, 1)}, GpuPolicy::kStrict, kNow);
  EXPECT_EQ(
      MessageOf(decision, "a"),
      "0/1 nodes are available: 1 Insufficient nvidia.com/gpu: the job asks for 1, 1 of 1 is in "
      "use by default/run; it is first in the queue");
  EXPECT_FALSE(decision.waiting[0].wants_locked_gpu);
}

TEST(Schedule, WaitsWithoutAVerdictUntilTheGpusAreKnown) {
  Node node = Machine(0);
  node.are_gpus_known = false;
  const Decision decision =
      Schedule(node, {Job("a").Pods(1, 1), Job("cpu").Pods(1, 0)}, GpuPolicy::kAuto, kNow);
  EXPECT_EQ(Bindings(decision), "cpu/0:");
  EXPECT_EQ(MessageOf(decision, "a"), "");
}

struct PolicyCase {
  GpuPolicy policy;
  size_t gpus;
  int64_t wish;
  std::string bindings;
  std::string warning;
};

TEST(Schedule, FollowsTheGpuPolicy) {
  const std::string asks = "the job asks for ";
  const std::vector<PolicyCase> cases = {
      {GpuPolicy::kStrict, 0, 1, "", ""},
      {GpuPolicy::kAuto, 0, 1, "a/0:",
       asks + "1 nvidia.com/gpu, this machine has none: it runs on the CPU (local.gpus: auto)"},
      {GpuPolicy::kOptional, 0, 1, "a/0:",
       asks + "1 nvidia.com/gpu, this machine has none: it runs on the CPU (local.gpus: optional)"},
      {GpuPolicy::kStrict, 1, 2, "", ""},
      {GpuPolicy::kAuto, 1, 2, "", ""},
      {GpuPolicy::kOptional, 1, 2, "a/0:",
       asks + "2 nvidia.com/gpu, this machine has 1: it runs on the CPU (local.gpus: optional)"},
      {GpuPolicy::kAuto, 1, 1, "a/0:0", ""},
      {GpuPolicy::kOptional, 1, 1, "a/0:0", ""},
  };
  for (const PolicyCase& c : cases) {
    SCOPED_TRACE(testing::Message()
                 << static_cast<int>(c.policy) << " " << c.gpus << " " << c.wish);
    const Decision decision = Schedule(Machine(c.gpus), {Job("a").Pods(1, c.wish)}, c.policy, kNow);
    EXPECT_EQ(Bindings(decision), c.bindings);
    ASSERT_EQ(decision.warnings.size(), c.warning.empty() ? 0u : 1u);
    if (!c.warning.empty()) {
      EXPECT_EQ(decision.warnings[0].gang, "default/a");
      EXPECT_EQ(decision.warnings[0].message, c.warning);
    }
  }
}

TEST(Schedule, AJobThatRunsOnTheCpuGoesOnThere) {
  // It requests two GPUs where there is one; one pod succeeded, one is recreated.
  const Gang gang = Job("a").Bound(1, {}).Pods(1, 1);
  EXPECT_EQ(Bindings(Schedule(Machine(1), {gang}, GpuPolicy::kOptional, kNow)), "a/1:");
}

TEST(Reserve, LeavesWhatNoOrderOfEndingsNeeds) {
  EXPECT_EQ(Reserve(6, 4, {{4, {}}}).spare, 2);
  EXPECT_EQ(Reserve(6, 4, {{2, {}}, {2, {}}}).spare, 0);
  EXPECT_EQ(Reserve(6, 4, {{3, {}}, {3, {}}}).spare, 1);
  EXPECT_EQ(Reserve(3, 2, {}).spare, 0);
}

TEST(Reserve, IsSureOfAStartByDeadlinesOnly) {
  EXPECT_EQ(Reserve(3, 1, {{1, kNow + hours(2)}, {1, kNow + hours(1)}}).sure_start,
            kNow + hours(2));
  EXPECT_EQ(Reserve(2, 1, {{1, kNow + hours(2)}, {1, kNow + hours(1)}}).sure_start,
            kNow + hours(1));
  EXPECT_EQ(Reserve(3, 1, {{1, kNow + hours(2)}, {1, {}}}).sure_start, std::nullopt);
}

}  // namespace
}  // namespace local::scheduler
