// Generates traces of jobs on one machine from a seed, and runs the scheduler over them: for tests
// and for bench/forecast.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "local/scheduler/past_runs.h"
#include "local/scheduler/scheduler.h"

namespace local::scheduler {

struct TraceShape {
  unsigned seed = 1;
  int jobs = 500;
  int64_t gpus = 8;
  double load = 1.1;        // requested GPU time / available GPU time
  double sameness = 0.35;   // sigma of the logarithm of one command's durations
  double with_limit = 0.3;  // share of jobs that have a deadline
};

struct TracedJob {
  Gang gang;
  std::string command;
  base::Duration runs_for{};
};

// Durations of commands are log-normal with a median of 206 s and a mean of 6,652 s, GPUs mostly
// one, seldom many (Hu et al., "Characterization and Prediction of Deep Learning Workloads",
// SC'21); arrivals are those of a Poisson process, commands repeat by Zipf's law. A deadline is a
// guess: two to twenty times the duration.
inline std::vector<TracedJob> GenerateTrace(const TraceShape& shape) {
  std::mt19937 random(shape.seed);
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  std::lognormal_distribution<double> medians(std::log(206.0), 2.2);
  std::vector<double> commands(40);
  std::vector<double> often;
  for (size_t i = 0; i < commands.size(); ++i) {
    commands[i] = std::min(medians(random), 86'400.0);
    often.push_back(1.0 / static_cast<double>(i + 1));
  }
  std::discrete_distribution<size_t> zipf(often.begin(), often.end());
  std::discrete_distribution<int> sizes({60, 15, 15, 10});  // 1, 2, 4, 8 GPUs
  std::vector<TracedJob> jobs;
  double asked = 0;
  for (int i = 0; i < shape.jobs; ++i) {
    TracedJob& job = jobs.emplace_back();
    const size_t command = zipf(random);
    job.command = "python job" + std::to_string(command) + ".py";
    const double seconds = std::max(
        2.0, commands[command] * std::lognormal_distribution<double>(0, shape.sameness)(random));
    job.runs_for = std::chrono::seconds(static_cast<int64_t>(seconds));
    const int64_t gpus = std::min<int64_t>(int64_t{1} << sizes(random), shape.gpus);
    job.gang.key = "default/j" + std::to_string(i);
    Pod pod;
    pod.uid = pod.name = job.gang.key;
    pod.requests.gpus = gpus;
    job.gang.pods.push_back(std::move(pod));
    if (uniform() < shape.with_limit) {
      job.gang.active_deadline =
          std::chrono::seconds(static_cast<int64_t>(seconds * (2 + 18 * uniform())));
    }
    asked += seconds * static_cast<double>(gpus);
  }
  const double span = asked / static_cast<double>(shape.gpus) / shape.load;
  std::exponential_distribution<double> gap(shape.jobs / span);
  double at = 1.8e9;
  for (TracedJob& job : jobs) {
    at += gap(random);
    job.gang.created = base::Time(std::chrono::seconds(static_cast<int64_t>(at)));
  }
  return jobs;
}

inline Node MachineOf(const TraceShape& shape) {
  Node node;
  node.gpus.resize(static_cast<size_t>(shape.gpus));
  return node;
}

// Runs the trace; returns the runs in the order of their ends.
inline std::vector<PastRun> RunTrace(const Node& node, const std::vector<TracedJob>& trace) {
  std::vector<PastRun> done;
  std::vector<Gang> gangs;                 // waiting or running
  std::map<std::string, base::Time> ends;  // of the running gangs
  std::map<std::string, const TracedJob*> jobs;
  for (const TracedJob& job : trace) jobs[job.gang.key] = &job;
  size_t next = 0;
  while (next < trace.size() || !gangs.empty()) {
    std::optional<base::Time> now;
    if (next < trace.size()) now = trace[next].gang.created;
    for (const auto& [key, end] : ends) now = std::min(now.value_or(end), end);
    if (!now) break;
    for (const auto& [key, end] : ends) {
      if (end != *now) continue;
      PastRun run{jobs[key]->gang, jobs[key]->command, end - jobs[key]->runs_for, end};
      done.push_back(std::move(run));
      std::erase_if(gangs, [&](const Gang& gang) { return gang.key == key; });
    }
    std::erase_if(ends, [&](const auto& each) { return each.second == *now; });
    for (; next < trace.size() && trace[next].gang.created == *now; ++next) {
      gangs.push_back(trace[next].gang);
    }
    for (const Binding& binding : Schedule(node, gangs, GpuPolicy::kStrict, *now).bindings) {
      for (Gang& gang : gangs) {
        if (gang.key != binding.pod_uid) continue;
        gang.pods[0].is_bound = gang.is_started = true;
        gang.pods[0].gpus = binding.gpus;
        gang.active_since = gang.running_since = *now;
        ends[gang.key] = *now + jobs[gang.key]->runs_for;
      }
    }
  }
  return done;
}

// The start of `run` as first come, first served would predict it: every run starts in the order of
// submission and lasts as long as `duration_of` says.
template <typename DurationOf>
base::Time FirstComeFirstServed(const Node& node, const std::vector<PastRun>& past,
                                const PastRun& run, DurationOf duration_of) {
  const base::Time then = run.gang.created;
  std::vector<base::Time> free(node.gpus.size(), then);  // when each GPU is free
  std::vector<const PastRun*> waiting;
  size_t taken = 0;
  for (const PastRun& each : past) {
    if (each.gang.created > then || each.ended <= then) continue;
    if (each.started > then || &each == &run) {
      waiting.push_back(&each);
      continue;
    }
    for (int64_t i = 0; i < each.gang.pods[0].requests.gpus && taken < free.size(); ++i) {
      free[taken++] = std::max(then, each.started + duration_of(each));
    }
  }
  std::sort(waiting.begin(), waiting.end(), [](const PastRun* a, const PastRun* b) {
    return std::pair(a->gang.created, a->gang.key) < std::pair(b->gang.created, b->gang.key);
  });
  base::Time start = then;
  for (const PastRun* each : waiting) {
    std::sort(free.begin(), free.end());
    const auto need = static_cast<size_t>(each->gang.pods[0].requests.gpus);
    start = std::max(start, free[need - 1]);
    if (each == &run) return start;
    for (size_t i = 0; i < need; ++i) free[i] = start + duration_of(*each);
  }
  return start;
}

}  // namespace local::scheduler
