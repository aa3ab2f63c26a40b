#include "local/daemon/progress/rank_meter.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "api/gpus.h"
#include "process/procfs.h"

namespace local::daemon {
namespace {

std::optional<int64_t> BusyOf(const std::vector<int>& units, size_t local, size_t ranks,
                              const gpu::BusyUnits& gpus) {
  const api::GpuRange range = api::GpusOfRank(units.size(), local, ranks);
  int64_t sum = 0, count = 0;
  for (size_t i = range.first; i < range.first + range.count; ++i) {
    const auto unit = static_cast<size_t>(units[i]);
    if (unit >= gpus.size() || !gpus[unit]) continue;
    sum += *gpus[unit];
    ++count;
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

}  // namespace

void RankMeter::See(const std::string& job_uid, const std::vector<MeteredRank>& ranks,
                    base::Time now, const gpu::BusyUnits& gpus) {
  const int64_t at = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
  if (!files_.IsDue(job_uid, ranks.size(), at)) return;
  std::map<std::string, std::set<int>> pods;
  for (const MeteredRank& rank : ranks) pods[rank.pod_uid].insert(rank.rank);
  std::map<int, Before> now_used;
  std::vector<runs::RankSample> samples;
  const std::map<int, Before>& before = before_[job_uid];
  for (const MeteredRank& rank : ranks) {
    const Before used{rank.pid, rank.ticks, process::TransferredBytes(rank.pid), now};
    now_used[rank.rank] = used;
    const auto known = before.find(rank.rank);
    // Two samples are needed to tell what a process uses.
    if (known == before.end() || known->second.pid != rank.pid || now <= known->second.at) continue;
    const double seconds = std::chrono::duration<double>(now - known->second.at).count();
    const auto a_second = [seconds](uint64_t to, uint64_t from) {
      return to <= from ? 0.0 : static_cast<double>(to - from) / seconds;
    };
    runs::RankSample sample;
    sample.at = at;
    sample.rank = rank.rank;
    sample.cpu = static_cast<int64_t>(100 * a_second(used.ticks, known->second.ticks) /
                                      static_cast<double>(::sysconf(_SC_CLK_TCK)));
    sample.memory = process::ResidentBytes(rank.pid) >> 20;
    sample.io = static_cast<int64_t>(a_second(used.io, known->second.io)) >> 10;
    const std::set<int>& of_pod = pods[rank.pod_uid];
    const auto local = std::distance(of_pod.begin(), of_pod.find(rank.rank));
    const size_t in_pod =
        rank.ranks_of_pod > 0 ? static_cast<size_t>(rank.ranks_of_pod) : of_pod.size();
    sample.gpu = BusyOf(rank.gpu_units, static_cast<size_t>(rank.rank) % in_pod, in_pod, gpus);
    if (const auto spoke =
            lines_.Of(rank.pod_uid, rank.rank, static_cast<int>(local), of_pod.size())) {
      sample.quiet = std::max<int64_t>(0, at - *spoke);
    }
    sample.role = rank.role;
    samples.push_back(sample);
  }
  before_[job_uid] = std::move(now_used);
  files_.Note(job_uid, samples);
}

void RankMeter::KeepOpen(const std::set<std::string>& jobs) {
  std::erase_if(before_, [&jobs](const auto& job) { return !jobs.contains(job.first); });
  files_.KeepOpen(jobs);
}

}  // namespace local::daemon
