// forecast_replay [--traces N] [--jobs N]: generated traces are run by the scheduler itself; of
// each job that waited, the start that is foretold when it is submitted is compared with the real
// one.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <functional>
#include <map>
#include <string_view>

#include "local/scheduler/past_runs.h"
#include "local/scheduler/testing/trace.h"

namespace {

using namespace local::scheduler;
using std::chrono::duration_cast;
using std::chrono::seconds;

struct Errors {
  std::vector<double> off;      // seconds, either way
  std::vector<double> of_wait;  // the same, as a share of the wait
  int early = 0, late = 0;      // who started before and after what was foretold

  void Add(base::Time forecast, const PastRun& run) {
    const auto error = duration_cast<seconds>(run.started - forecast).count();
    const auto wait = duration_cast<seconds>(run.started - run.gang.created).count();
    off.push_back(static_cast<double>(std::abs(error)));
    of_wait.push_back(off.back() / static_cast<double>(std::max<int64_t>(1, wait)));
    (error < 0 ? early : late) += error != 0;
  }
};

double Quantile(std::vector<double> values, double share) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[std::min(values.size() - 1,
                         static_cast<size_t>(share * static_cast<double>(values.size())))];
}

void Print(const char* name, const Errors& errors) {
  fmt::print("{:34} {:>6} {:>9.0f} {:>9.0f} {:>9.2f} {:>9.2f}\n", name, errors.off.size(),
             Quantile(errors.off, 0.5), Quantile(errors.off, 0.9), Quantile(errors.of_wait, 0.5),
             Quantile(errors.of_wait, 0.9));
}

int NumberAfter(int argc, char** argv, std::string_view flag, int otherwise) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] == flag) return std::atoi(argv[i + 1]);
  }
  return otherwise;
}

}  // namespace

int main(int argc, char** argv) {
  const int traces = NumberAfter(argc, argv, "--traces", 5);
  const int jobs = NumberAfter(argc, argv, "--jobs", 400);
  Errors ours, by_mean, by_limit;
  int by_late = 0, foretold_late = 0, unknown = 0;
  double longest = 0;
  for (int seed = 1; seed <= traces; ++seed) {
    TraceShape shape;
    shape.seed = static_cast<unsigned>(seed);
    shape.jobs = jobs;
    const Node node = MachineOf(shape);
    const std::vector<PastRun> past = RunTrace(node, GenerateTrace(shape));
    for (const PastRun& run : past) {
      if (run.started - run.gang.created < seconds(1)) continue;
      const auto begin = std::chrono::steady_clock::now();
      const Forecast forecast = ForecastFor(node, past, GpuPolicy::kStrict, run);
      longest = std::max(longest, std::chrono::duration<double, std::milli>(
                                      std::chrono::steady_clock::now() - begin)
                                      .count());
      if (forecast.kind == Forecast::Kind::kUnknown) {
        ++unknown;
        continue;
      }
      ours.Add(forecast.median, run);
      if (forecast.late) {
        ++foretold_late;
        by_late += run.started <= *forecast.late;
      }
      std::vector<PastRun> known;
      for (const PastRun& each : past) {
        if (each.ended <= run.gang.created) known.push_back(each);
      }
      const auto mean = [&](const PastRun& each) {
        const auto durations = ExpectedOf(each.command, known).durations;
        base::Duration sum{};
        for (const base::Duration one : durations) sum += one;
        return durations.empty() ? base::Duration(seconds(3600))
                                 : sum / static_cast<int64_t>(durations.size());
      };
      by_mean.Add(FirstComeFirstServed(node, past, run, mean), run);
      by_limit.Add(
          FirstComeFirstServed(node, past, run,
                               [&](const PastRun& each) {
                                 return each.gang.active_deadline.value_or(seconds(86'400));
                               }),
          run);
    }
  }
  fmt::print("{} traces of {} jobs on 8 GPUs, load 1.1\n\n", traces, jobs);
  fmt::print("{:34} {:>6} {:>9} {:>9} {:>9} {:>9}\n", "start of a job that waits, by", "jobs",
             "p50 s", "p90 s", "p50/wait", "p90/wait");
  Print("the scheduler, run ahead (muster)", ours);
  Print("FCFS, mean of past durations", by_mean);
  Print("FCFS, time limits (else 24 h)", by_limit);
  fmt::print(
      "\nstarted by the time said for nine of ten: {} of {}; not foretold: {}; longest forecast "
      "{:.1f} ms\n",
      by_late, foretold_late, unknown, longest);
  return 0;
}
