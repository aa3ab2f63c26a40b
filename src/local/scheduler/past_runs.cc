#include "local/scheduler/past_runs.h"

#include <algorithm>

namespace local::scheduler {
namespace {

constexpr size_t kMostDurations = 50;
// Times have a resolution of one second: a job that starts at once may seem to wait for one.
constexpr std::chrono::seconds kShortestWait{2};

// "python train.py" of "python train.py --lr 0.1", and of "python train.py lr=0.1".
std::string ProgramOf(const std::string& command) {
  size_t end = 0;
  while (end < command.size()) {
    const size_t begin = command.find_first_not_of(' ', end);
    if (begin == std::string::npos) break;
    const size_t next = std::min(command.find(' ', begin), command.size());
    const std::string word = command.substr(begin, next - begin);
    if (end > 0 && (word.starts_with('-') || word.find('=') != std::string::npos)) break;
    end = next;
  }
  return command.substr(0, end);
}

template <typename IsLike>
std::vector<base::Duration> DurationsOf(const std::vector<PastRun>& past, IsLike is_like) {
  std::vector<base::Duration> durations;
  for (auto run = past.rbegin(); run != past.rend() && durations.size() < kMostDurations; ++run) {
    if (is_like(*run)) durations.push_back(run->ended - run->started);
  }
  return durations;
}

// Its submission, or when it was resumed: the time for which it was suspended is not a wait.
base::Time WaitsSince(const PastRun& run) {
  return run.gang.active_since.value_or(run.gang.created);
}

bool NeedsGpus(const Gang& gang) {
  return std::any_of(gang.pods.begin(), gang.pods.end(),
                     [](const Pod& pod) { return pod.requests.gpus > 0; });
}

// Gives the gang, which ran then, the GPUs that are left.
void Bind(Gang& gang, std::vector<int>& free) {
  gang.is_started = true;
  for (Pod& pod : gang.pods) {
    pod.is_bound = true;
    for (int64_t i = 0; i < pod.requests.gpus && !free.empty(); ++i) {
      pod.gpus.push_back(free.back());
      free.pop_back();
    }
  }
}

}  // namespace

Expected ExpectedOf(const std::string& command, const std::vector<PastRun>& past) {
  Expected expected;
  expected.durations =
      DurationsOf(past, [&](const PastRun& run) { return run.command == command; });
  expected.likeness = Likeness::kCommand;
  if (!expected.durations.empty()) return expected;
  const std::string program = ProgramOf(command);
  expected.durations =
      DurationsOf(past, [&](const PastRun& run) { return ProgramOf(run.command) == program; });
  expected.likeness = Likeness::kProgram;
  if (!expected.durations.empty()) return expected;
  expected.durations = DurationsOf(past, [](const PastRun&) { return true; });
  expected.likeness = expected.durations.empty() ? Likeness::kNone : Likeness::kAny;
  return expected;
}

Forecast ForecastFor(const Node& node, const std::vector<PastRun>& past, GpuPolicy policy,
                     const PastRun& run) {
  const base::Time then = WaitsSince(run);
  std::vector<PastRun> known;
  for (const PastRun& each : past) {
    if (each.ended <= then) known.push_back(each);
  }
  std::vector<Gang> gangs;
  Durations durations;
  std::vector<int> free;
  for (size_t i = 0; i < node.gpus.size(); ++i) free.push_back(static_cast<int>(i));
  for (const PastRun& each : past) {
    if (WaitsSince(each) > then || each.ended <= then) continue;
    Gang& gang = gangs.emplace_back(each.gang);
    durations[gang.key] = ExpectedOf(each.command, known).durations;
    if (each.started > then || &each == &run) continue;
    gang.active_since = gang.active_since.value_or(each.started);
    gang.running_since = each.started;
    Bind(gang, free);
  }
  return Foresee(node, gangs, policy, then, durations, run.gang.key);
}

Accuracy MeasureForecasts(const Node& node, const std::vector<PastRun>& past, GpuPolicy policy,
                          size_t most) {
  Accuracy accuracy;
  std::vector<base::Duration> errors;
  for (auto run = past.rbegin(); run != past.rend() && errors.size() < most; ++run) {
    if (!NeedsGpus(run->gang) || run->started - WaitsSince(*run) < kShortestWait) continue;
    const Forecast forecast = ForecastFor(node, past, policy, *run);
    if (forecast.kind != Forecast::Kind::kLater && forecast.kind != Forecast::Kind::kNow) continue;
    errors.push_back(std::chrono::abs(forecast.median - run->started));
    if (forecast.late && run->started <= *forecast.late) ++accuracy.by_late;
  }
  accuracy.runs = static_cast<int>(errors.size());
  if (errors.empty()) return accuracy;
  std::sort(errors.begin(), errors.end());
  accuracy.median = errors[errors.size() / 2];
  accuracy.p90 = errors[errors.size() * 9 / 10];
  return accuracy;
}

}  // namespace local::scheduler
