// A simulated machine, seeded: the invariants that hold whatever is submitted and however it ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "local/scheduler/scheduler.h"

namespace local::scheduler {
namespace {

using std::chrono::seconds;

struct SimulatedJob {
  Gang gang;
  base::Duration runs_for{};
  std::optional<base::Time> ends_at;  // set once started
  bool is_done = false;

  int64_t Need() const {
    int64_t need = 0;
    for (const Pod& pod : gang.pods) need += pod.requests.gpus;
    return need;
  }
  bool Runs() const { return ends_at && !is_done; }
};

class Simulation {
 public:
  explicit Simulation(unsigned seed, bool with_priorities)
      : random_(seed), with_priorities_(with_priorities) {
    node_.gpus.resize(Pick(1, 8));
    for (Gpu& gpu : node_.gpus) gpu.is_locked_elsewhere = Pick(0, 9) == 0;
    const int count = static_cast<int>(Pick(5, 25));
    for (int i = 0; i < count; ++i) arrivals_.push_back(RandomJob(i));
  }

  void Run() {
    for (SimulatedJob& job : arrivals_) {
      job.gang.created = now_;
      jobs_.push_back(std::move(job));
      Step();
      // Several arrivals at once, or time passes until a job ends.
      if (Pick(0, 1) == 0) AdvanceToNextEnd();
    }
    Drain();
    for (Gpu& gpu : node_.gpus) gpu.is_locked_elsewhere = false;
    Drain();
    for (const SimulatedJob& job : jobs_) {
      EXPECT_TRUE(job.is_done || job.Need() > static_cast<int64_t>(node_.gpus.size()))
          << job.gang.key << " never ran";
    }
  }

 private:
  size_t Pick(size_t low, size_t high) {
    return std::uniform_int_distribution<size_t>(low, high)(random_);
  }

  void Drain() {
    for (Step(); AnyRuns(); Step()) AdvanceToNextEnd();
  }

  SimulatedJob RandomJob(int number) {
    SimulatedJob job;
    job.gang.key = "default/j" + std::to_string(100 + number);
    job.gang.priority = with_priorities_ ? static_cast<int32_t>(Pick(0, 2)) : 0;
    const size_t pods = Pick(1, 4);
    const auto gpus = static_cast<int64_t>(Pick(0, 3));
    for (size_t i = 0; i < pods; ++i) {
      Pod pod;
      pod.uid = job.gang.key + "/" + std::to_string(i);
      pod.requests.gpus = gpus;
      job.gang.pods.push_back(std::move(pod));
    }
    job.runs_for = seconds(Pick(1, 50));
    if (Pick(0, 1) == 0) {
      job.gang.active_deadline = seconds(Pick(1, 60));
      job.runs_for = std::min<base::Duration>(job.runs_for, *job.gang.active_deadline);
    }
    return job;
  }

  int64_t Usable() const {
    return std::count_if(node_.gpus.begin(), node_.gpus.end(),
                         [](const Gpu& gpu) { return !gpu.is_locked_elsewhere; });
  }

  bool AnyRuns() const {
    return std::any_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job.Runs(); });
  }

  void Step() {
    std::vector<Gang> gangs;
    for (const SimulatedJob& job : jobs_) {
      if (!job.is_done) gangs.push_back(job.gang);
    }
    std::shuffle(gangs.begin(), gangs.end(), random_);
    const Decision decision = Schedule(node_, gangs, GpuPolicy::kStrict, now_);
    Apply(decision);
    CheckGpus();
    TrackHead(decision);
    // A second call must bind nothing more: one call is complete.
    gangs.clear();
    for (const SimulatedJob& job : jobs_) {
      if (!job.is_done) gangs.push_back(job.gang);
    }
    EXPECT_TRUE(Schedule(node_, gangs, GpuPolicy::kStrict, now_).bindings.empty());
  }

  void Apply(const Decision& decision) {
    std::map<std::string, const Binding*> by_uid;
    for (const Binding& binding : decision.bindings) by_uid[binding.pod_uid] = &binding;
    for (SimulatedJob& job : jobs_) {
      size_t bound = 0;
      for (Pod& pod : job.gang.pods) {
        const auto it = by_uid.find(pod.uid);
        if (it == by_uid.end()) continue;
        ++bound;
        EXPECT_FALSE(pod.is_bound) << pod.uid << " is bound twice";
        pod.is_bound = true;
        pod.gpus = it->second->gpus;
        EXPECT_EQ(static_cast<int64_t>(pod.gpus.size()), pod.requests.gpus);
      }
      if (bound == 0) continue;
      EXPECT_EQ(bound, job.gang.pods.size()) << "half of " << job.gang.key;
      job.ends_at = now_ + job.runs_for;
      job.gang.is_started = true;
      job.gang.active_since = now_;
    }
  }

  void CheckGpus() {
    std::set<int> taken;
    for (const SimulatedJob& job : jobs_) {
      if (!job.Runs()) continue;
      for (const Pod& pod : job.gang.pods) {
        for (int index : pod.gpus) {
          EXPECT_TRUE(taken.insert(index).second) << "GPU " << index << " is given twice";
          ASSERT_LT(static_cast<size_t>(index), node_.gpus.size());
          EXPECT_FALSE(node_.gpus[static_cast<size_t>(index)].is_locked_elsewhere);
        }
      }
    }
  }

  // The head must start, at the latest, when the jobs that ran when it became the head leave
  // enough, or when it was first certain to start by their deadlines.
  void TrackHead(const Decision& decision) {
    if (with_priorities_) return;
    const SimulatedJob* head = nullptr;
    for (const SimulatedJob& job : jobs_) {
      if (!job.ends_at && job.Need() <= static_cast<int64_t>(node_.gpus.size())) {
        head = &job;
        break;
      }
    }
    if (head == nullptr || head->gang.key != head_) {
      head_ = head == nullptr ? "" : head->gang.key;
      ran_before_.clear();
      for (const SimulatedJob& job : jobs_) {
        if (job.Runs()) ran_before_.insert(job.gang.key);
      }
      sure_start_ = std::nullopt;
    }
    if (head == nullptr) return;
    if (!sure_start_) sure_start_ = SureStart(*head);
    int64_t held = 0;
    for (const SimulatedJob& job : jobs_) {
      if (job.Runs() && ran_before_.contains(job.gang.key)) held += job.Need();
    }
    const bool would_start = Usable() - held >= head->Need();
    if (!would_start) return;
    EXPECT_TRUE(sure_start_ && now_ < *sure_start_)
        << head_ << " is delayed by those behind it (" << decision.bindings.size() << " bound)";
  }

  std::optional<base::Time> SureStart(const SimulatedJob& head) const {
    std::vector<std::pair<base::Time, int64_t>> ends;
    int64_t held = 0;
    for (const SimulatedJob& job : jobs_) {
      if (!job.Runs() || !ran_before_.contains(job.gang.key)) continue;
      held += job.Need();
      if (job.gang.active_deadline) {
        ends.emplace_back(*job.gang.active_since + *job.gang.active_deadline, job.Need());
      }
    }
    std::sort(ends.begin(), ends.end());
    int64_t free = Usable() - held;
    for (const auto& [time, gpus] : ends) {
      free += gpus;
      if (free >= head.Need()) return time;
    }
    return std::nullopt;
  }

  void AdvanceToNextEnd() {
    std::optional<base::Time> next;
    for (const SimulatedJob& job : jobs_) {
      if (job.Runs() && (!next || *job.ends_at < *next)) next = job.ends_at;
    }
    now_ = next.value_or(now_ + seconds(1));
    for (SimulatedJob& job : jobs_) {
      if (job.Runs() && *job.ends_at <= now_) job.is_done = true;
    }
  }

  std::mt19937 random_;
  const bool with_priorities_;
  Node node_;
  base::Time now_{seconds(1'800'000'000)};
  std::vector<SimulatedJob> arrivals_;
  std::vector<SimulatedJob> jobs_;
  std::string head_;
  std::set<std::string> ran_before_;
  std::optional<base::Time> sure_start_;
};

TEST(SchedulerProperty, NeverOvercommitsNeverStartsHalfAGangNeverStarvesTheHead) {
  for (unsigned seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Simulation(seed, false).Run();
  }
}

TEST(SchedulerProperty, HoldsWithPriorities) {
  for (unsigned seed = 0; seed < 400 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Simulation(seed, true).Run();
  }
}

}  // namespace
}  // namespace local::scheduler
