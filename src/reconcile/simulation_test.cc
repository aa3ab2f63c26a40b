// Random lives of random jobs, with the invariants that must hold whatever happens to the pods.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "reconcile/testing/fake_cluster.h"

namespace reconcile {
namespace {

constexpr int kLives = 250;
constexpr int kStepsOfALife = 60;

class Life {
 public:
  explicit Life(unsigned seed) : random_(seed), cluster_(RandomJob(), RandomOptions()) {
    cluster_.is_graceful = Chance(50);
  }

  void Run() {
    for (int step = 0; step < kStepsOfALife && !cluster_.job.is_null(); ++step) {
      Disturb();
      const std::string before = Finished();
      cluster_.Step();
      if (cluster_.job.is_null()) return;
      CheckPods();
      CheckConditions(before);
    }
    if (!cluster_.job.is_null()) CheckItSettles();
  }

 private:
  int Below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(random_); }
  bool Chance(int percent) { return Below(100) < percent; }
  template <typename T>
  T Pick(std::initializer_list<T> choices) {
    return *(choices.begin() + Below(static_cast<int>(choices.size())));
  }

  TestJob RandomJob() {
    TestJob job;
    job.has_master = Chance(70);
    job.workers = job.has_master && Chance(20) ? -1 : 1 + Below(4);
    job.master_policy = Pick<const char*>({"OnFailure", "Always", "Never", "ExitCode", ""});
    job.worker_policy = Pick<const char*>({"OnFailure", "Always", "Never", "ExitCode", ""});
    text::Object run;
    if (Chance(50)) run["cleanPodPolicy"] = Pick<const char*>({"None", "Running", "All"});
    if (Chance(30)) run["backoffLimit"] = Below(4);
    if (Chance(30)) run["activeDeadlineSeconds"] = 20 + Below(300);
    if (Chance(20)) run["ttlSecondsAfterFinished"] = Below(100);
    job.run_policy = text::ToJson(run);
    if (!job.has_master && Chance(40)) {
      job.spec = R"({"elasticPolicy":{"minReplicas":1,"maxReplicas":4,"metrics":[{"type":"x"}]}})";
    }
    if (Chance(40)) {
      job.metadata = R"({"annotations":{"muster.dev/restart-scope":")" +
                     std::string(Pick<const char*>({"pod", "replica", "job"})) + R"("}})";
    }
    return job;
  }

  Options RandomOptions() {
    Options options;
    if (Chance(40)) options.gang_scheduler_name = Pick<const char*>({"volcano", "mine"});
    return options;
  }

  std::string RandomPod() {
    auto pod = cluster_.pods.begin();
    std::advance(pod, Below(static_cast<int>(cluster_.pods.size())));
    return pod->first;
  }

  bool HasEnded(const std::string& pod) const {
    const std::string_view phase = text::GetString(cluster_.pods.at(pod), {"status", "phase"});
    return phase == "Succeeded" || phase == "Failed";
  }

  bool IsGoing(const std::string& pod) const {
    return text::Find(cluster_.pods.at(pod), {"metadata", "deletionTimestamp"}) != nullptr;
  }

  void DisturbPod() {
    const std::string pod = RandomPod();
    switch (Below(10)) {
      case 0:
      case 1:
      case 2:
        if (!HasEnded(pod)) cluster_.Phase(pod, "Running", -1, Below(10) == 0 ? 1 : 0);
        break;
      case 3:
        if (!HasEnded(pod)) cluster_.Phase(pod, "Succeeded", 0);
        break;
      case 4:
        if (!HasEnded(pod)) cluster_.Phase(pod, "Failed", Pick({1, 2, 127, 128, 137, 143}));
        break;
      case 5:
        cluster_.BeginDeletion(pod);
        break;
      case 8:
        if (!HasEnded(pod)) {
          cluster_.Disrupt(pod, "EvictionByEvictionAPI", "Eviction API: evicting");
          cluster_.BeginDeletion(pod);
        }
        break;
      case 9:
        if (!HasEnded(pod) && IsGoing(pod)) cluster_.EndDeletion(pod, Pick({0, 1, 143}));
        break;
      case 6:
        if (Chance(30)) cluster_.pods.erase(pod);
        break;
      case 7:
        if (!HasEnded(pod)) {
          text::Set(cluster_.pods.at(pod), {"status", "containerStatuses"}, Parse(R"([{
              "name":"pytorch","state":{"waiting":{"reason":"R","message":"m"}}}])"));
        }
        break;
    }
  }

  void Disturb() {
    cluster_.now += std::chrono::milliseconds(Below(9000));
    const int pods_to_disturb = Below(3);
    for (int i = 0; i < pods_to_disturb && !cluster_.pods.empty(); ++i) DisturbPod();
    if (Chance(20)) cluster_.FinishDeletions();
    if (Chance(4) && !cluster_.services.empty()) {
      cluster_.services.erase(cluster_.services.begin());
    }
    if (Chance(5)) {
      text::Set(cluster_.job, {"spec", "runPolicy", "suspend"}, text::Json(Chance(50)));
    }
    if (Chance(5) && text::Find(cluster_.job, {"spec", "pytorchReplicaSpecs", "Worker"})) {
      text::Set(cluster_.job, {"spec", "pytorchReplicaSpecs", "Worker", "replicas"}, Below(5));
    }
    if (Chance(30) && cluster_.pod_groups.contains("j")) {
      text::Set(cluster_.pod_groups.at("j"), {"status", "phase"},
                text::Json(Pick<const char*>({"Pending", "Inqueue", "Running"})));
    }
  }

  std::string Finished() const {
    const auto status = text::Find(cluster_.job, {"status"});
    if (status == nullptr) return "";
    const auto parsed = api::ParseJobStatus(*status);
    if (parsed->Is("Succeeded")) return "Succeeded";
    return parsed->Is("Failed") ? "Failed" : "";
  }

  void CheckPods() {
    std::set<std::string> indexes;
    for (const auto& [name, pod] : cluster_.pods) {
      const text::Json& labels = *text::Find(pod, {"metadata", "labels"});
      const std::string index = std::string(text::GetString(labels, {api::kReplicaTypeLabel})) +
                                std::string(text::GetString(labels, {api::kReplicaIndexLabel}));
      EXPECT_TRUE(indexes.insert(index).second) << "two pods of " << index;
    }
  }

  void CheckConditions(const std::string& finished_before) {
    const text::Json* const status = text::Find(cluster_.job, {"status"});
    if (status == nullptr) return;
    const auto parsed = api::ParseJobStatus(*status);
    ASSERT_TRUE(parsed);
    std::set<std::string> types;
    for (const api::Condition& condition : parsed->conditions) {
      EXPECT_TRUE(types.insert(condition.type).second) << "two conditions " << condition.type;
      EXPECT_TRUE(condition.status == "True" || condition.status == "False");
      EXPECT_TRUE(condition.last_transition_time && condition.last_update_time);
      EXPECT_LE(*condition.last_transition_time, *condition.last_update_time);
    }
    EXPECT_TRUE(parsed->Is("Created"));
    EXPECT_FALSE(types.contains("Running") && types.contains("Restarting") &&
                 !parsed->IsFinished() && parsed->Is("Running"));
    EXPECT_FALSE(parsed->Is("Succeeded") && parsed->Is("Failed"));
    if (parsed->IsFinished()) {
      EXPECT_FALSE(parsed->Is("Running") || parsed->Is("Restarting"));
      EXPECT_TRUE(parsed->completion_time);
    } else {
      EXPECT_FALSE(parsed->completion_time);
    }
    if (!finished_before.empty()) {
      EXPECT_EQ(Finished(), finished_before);
    }
    for (const auto& [type, counts] : parsed->replica_statuses) {
      EXPECT_GE(counts.active, 0);
      EXPECT_GE(counts.succeeded, 0);
      EXPECT_GE(counts.failed, 0);
    }
  }

  // Once nothing happens any more, the plan becomes empty and stays empty.
  void CheckItSettles() {
    if (cluster_.pod_groups.contains("j")) {
      text::Set(cluster_.pod_groups.at("j"), {"status", "phase"}, text::Json("Running"));
    }
    cluster_.FinishDeletions();
    cluster_.Settle();
    cluster_.FinishDeletions();
    cluster_.Settle();
    if (cluster_.job.is_null()) return;
    const Plan plan = cluster_.Look();
    EXPECT_TRUE(plan.writes.empty() && !plan.status && plan.events.empty() &&
                plan.counters.empty());
    if (!Finished().empty()) {
      EXPECT_EQ(plan.is_settled, !plan.look_again);
    } else if (cluster_.Types().find("Suspended=True") != std::string::npos) {
      EXPECT_TRUE(cluster_.pods.empty() && cluster_.services.empty());
    } else if (cluster_.options.gang_scheduler_name != "volcano") {
      CheckAllPodsExist();
    }
  }

  void CheckAllPodsExist() {
    size_t wanted = 0;
    for (const char* const type : {"Master", "Worker"}) {
      wanted += static_cast<size_t>(
          text::GetInt(cluster_.job, {"spec", "pytorchReplicaSpecs", type, "replicas"})
              .value_or(0));
    }
    EXPECT_EQ(cluster_.pods.size(), wanted);
    EXPECT_EQ(cluster_.services.size(), wanted);
  }

  std::mt19937 random_;
  FakeCluster cluster_;
};

TEST(Simulation, RandomLives) {
  for (unsigned seed = 1; seed <= kLives; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Life(seed).Run();
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace
}  // namespace reconcile
