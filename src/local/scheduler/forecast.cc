#include "local/scheduler/forecast.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>
#include <tuple>
#include <utility>

#include "base/strings.h"

namespace local::scheduler {
namespace {

using std::chrono::duration_cast;

constexpr size_t kMostGangs = 300;
// A day's jobs, run one after another.
constexpr int kMostSteps = 2'000;

bool HasBoundPods(const Gang& gang) {
  return std::any_of(gang.pods.begin(), gang.pods.end(),
                     [](const Pod& pod) { return pod.is_bound; });
}

// Pods that are still to be created count as existing.
void Complete(Gang& gang) {
  for (int i = 0; i < gang.missing_pods; ++i) {
    Pod pod;
    pod.uid = gang.key + "/missing/" + std::to_string(i);
    pod.requests = {gang.missing.gpus / gang.missing_pods,
                    gang.missing.cpu_milli / gang.missing_pods,
                    gang.missing.memory / gang.missing_pods};
    gang.pods.push_back(std::move(pod));
  }
  gang.missing = {};
  gang.missing_pods = 0;
}

// One possible future.
class Course {
 public:
  Course(const Node& node, std::vector<Gang> gangs, GpuPolicy policy, base::Time now)
      : node_(node),
        gangs_(std::move(gangs)),
        policy_(policy),
        now_(now),
        ends_(gangs_.size()),
        runs_(gangs_.size()) {}

  struct Start {
    base::Time at;
    std::vector<Ending> endings;
    bool is_too_late = false;  // the target's deadline ended it at that time
  };
  // `shares`: of each gang, in the order of `gangs` (see Remaining).
  std::optional<Start> Run(const Durations& durations, const std::vector<double>& shares,
                           const std::string& target) {
    for (size_t i = 0; i < gangs_.size(); ++i) {
      runs_[i] = HasBoundPods(gangs_[i]);
      if (runs_[i]) Expect(i, durations, shares[i]);
      LimitToDeadline(i);
    }
    Start start;
    for (int step = 0; step < kMostSteps; ++step) {
      for (const size_t i : StartWhatFits()) {
        if (gangs_[i].key == target) {
          start.at = now_;
          return start;
        }
        if (runs_[i]) continue;
        runs_[i] = true;
        gangs_[i].active_since = gangs_[i].active_since.value_or(now_);
        gangs_[i].running_since = now_;
        Expect(i, durations, shares[i]);
        LimitToDeadline(i);
      }
      const auto next = NextEnd();
      if (!next) return std::nullopt;
      now_ = std::max(now_, *ends_[*next]);
      if (gangs_[*next].key == target) {
        start.at = now_;
        start.is_too_late = true;
        return start;
      }
      start.endings.push_back({gangs_[*next].key, now_});
      gangs_[*next].pods.clear();
      ends_[*next].reset();
    }
    return std::nullopt;
  }

 private:
  void Expect(size_t i, const Durations& durations, double share) {
    const Gang& gang = gangs_[i];
    const auto known = durations.find(gang.key);
    static const std::vector<base::Duration> kNone;
    const std::vector<base::Duration>& past = known == durations.end() ? kNone : known->second;
    ends_[i].reset();
    // Without past runs, the job's deadline is a better estimate than its age.
    if (past.empty() && gang.active_deadline) return;
    const base::Duration elapsed = now_ - gang.running_since.value_or(now_);
    const auto left = Remaining(past, std::max(base::Duration(0), elapsed), share);
    if (left) ends_[i] = now_ + *left;
  }

  // A gang's deadline also ends its wait.
  void LimitToDeadline(size_t i) {
    const Gang& gang = gangs_[i];
    if (!gang.active_deadline || !gang.active_since) return;
    const base::Time by = std::max(now_, *gang.active_since + *gang.active_deadline);
    ends_[i] = std::min(ends_[i].value_or(by), by);
  }

  // The gangs of which pods start now.
  std::vector<size_t> StartWhatFits() {
    const Decision decision = Schedule(node_, gangs_, policy_, now_);
    if (decision.bindings.empty()) return {};
    std::map<std::string_view, const Binding*> bindings;
    for (const Binding& binding : decision.bindings) bindings[binding.pod_uid] = &binding;
    std::vector<size_t> started;
    for (size_t i = 0; i < gangs_.size(); ++i) {
      bool has_started = false;
      for (Pod& pod : gangs_[i].pods) {
        const auto binding = bindings.find(pod.uid);
        if (binding == bindings.end()) continue;
        pod.is_bound = true;
        pod.gpus = binding->second->gpus;
        has_started = true;
      }
      gangs_[i].is_started |= has_started;
      if (has_started) started.push_back(i);
    }
    return started;
  }

  std::optional<size_t> NextEnd() const {
    std::optional<size_t> next;
    for (size_t i = 0; i < ends_.size(); ++i) {
      if (ends_[i] && (!next || *ends_[i] < *ends_[*next])) next = i;
    }
    return next;
  }

  const Node& node_;
  std::vector<Gang> gangs_;
  const GpuPolicy policy_;
  base::Time now_;
  std::vector<std::optional<base::Time>> ends_;  // of each gang; nullopt: unknown
  std::vector<bool> runs_;
};

// What the target's start can depend on.
std::vector<Gang> BeforeIt(const std::vector<Gang>& gangs, const Gang& target) {
  const auto order = [](const Gang& gang) {
    return std::tuple(-static_cast<int64_t>(gang.priority), gang.created, gang.key);
  };
  std::vector<Gang> before;
  for (const Gang& gang : gangs) {
    const bool holds = gang.is_started || HasBoundPods(gang);
    if (!holds && order(target) < order(gang)) continue;
    Complete(before.emplace_back(gang));
  }
  return before;
}

// Of the pods that start together.
int64_t NeedOf(Gang gang) {
  Complete(gang);
  int64_t need = 0;
  int pods = 0;
  for (const Pod& pod : gang.pods) {
    if (gang.min_available && ++pods > std::max(1, *gang.min_available)) break;
    need += pod.requests.gpus;
  }
  return need;
}

// Each gang's durations are spread evenly over the courses, in an order of its own for each gang.
std::vector<std::vector<double>> Shares(size_t gangs) {
  std::mt19937 random(1);
  std::vector<std::vector<double>> shares(kCourses, std::vector<double>(gangs));
  std::vector<int> order(kCourses);
  for (size_t gang = 0; gang < gangs; ++gang) {
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (size_t course = 0; course < kCourses; ++course) {
      shares[course][gang] = (order[course] + 0.5) / kCourses;
    }
  }
  return shares;
}

}  // namespace

std::optional<base::Duration> Remaining(const std::vector<base::Duration>& past,
                                        base::Duration elapsed, double share) {
  std::vector<base::Duration> longer;
  std::copy_if(past.begin(), past.end(), std::back_inserter(longer),
               [elapsed](base::Duration each) { return each > elapsed; });
  if (longer.empty()) {
    if (elapsed <= base::Duration(0)) return std::nullopt;
    // Half of the things that have lasted t last beyond 2 t (Gott, Nature 363, 1993).
    return duration_cast<base::Duration>(elapsed * (share / (1 - share)));
  }
  std::sort(longer.begin(), longer.end());
  const auto at = static_cast<size_t>(share * static_cast<double>(longer.size()));
  return longer[std::min(at, longer.size() - 1)] - elapsed;
}

Forecast Foresee(const Node& node, const std::vector<Gang>& gangs, GpuPolicy policy, base::Time now,
                 const Durations& durations, const std::string& target) {
  Forecast forecast;
  const auto found = std::find_if(gangs.begin(), gangs.end(),
                                  [&](const Gang& gang) { return gang.key == target; });
  if (found == gangs.end()) return forecast;
  if (HasBoundPods(*found)) {
    forecast.kind = Forecast::Kind::kNow;
    forecast.median = now;
    return forecast;
  }
  if (!node.are_gpus_known || node.is_cordoned) return forecast;
  const std::vector<Gang> before = BeforeIt(gangs, *found);
  if (before.size() > kMostGangs) return forecast;
  const bool is_wish_ignored =
      policy == GpuPolicy::kOptional || (policy == GpuPolicy::kAuto && node.gpus.empty());
  if (NeedOf(*found) > static_cast<int64_t>(node.gpus.size()) && !is_wish_ignored) {
    forecast.kind = Forecast::Kind::kNever;
    return forecast;
  }
  std::vector<Course::Start> starts;
  for (const std::vector<double>& shares : Shares(before.size())) {
    if (auto start = Course(node, before, policy, now).Run(durations, shares, target)) {
      starts.push_back(std::move(*start));
    }
  }
  // The courses in which it does not start are the last, and among them those without an end.
  std::stable_sort(starts.begin(), starts.end(), [](const auto& a, const auto& b) {
    return std::tie(a.is_too_late, a.at) < std::tie(b.is_too_late, b.at);
  });
  constexpr size_t kMiddle = kCourses / 2;
  constexpr size_t kNineOfTen = kCourses * 9 / 10;
  if (starts.size() <= kMiddle) return forecast;
  if (starts[kMiddle].is_too_late) {
    forecast.kind = Forecast::Kind::kExpires;
    return forecast;
  }
  forecast.median = starts[kMiddle].at;
  forecast.kind = forecast.median <= now ? Forecast::Kind::kNow : Forecast::Kind::kLater;
  if (starts.size() > kNineOfTen && !starts[kNineOfTen].is_too_late) {
    forecast.late = starts[kNineOfTen].at;
  }
  forecast.endings = std::move(starts[kMiddle].endings);
  return forecast;
}

}  // namespace local::scheduler
