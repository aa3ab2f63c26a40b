#include "local/daemon/ranks/rank_snapshots.h"

#include "answers/stall/straggler.h"

namespace local::daemon {
namespace {

constexpr std::chrono::milliseconds kTake{20};

}  // namespace

std::map<int, answers::Trace> RankSnapshots::See(base::Time wall,
                                                 const std::vector<SampledRank>& ranks) {
  std::map<int, answers::Trace> traces = Read();
  witness::PidsByFolder pids;
  std::map<pid_t, int> by_pid;
  for (const SampledRank& rank : ranks) {
    uint64_t& ticks = ticks_[rank.rank];
    if (std::exchange(ticks, rank.ticks) == rank.ticks) continue;
    by_pid[rank.pid] = rank.rank;
    pids[rank.folder].push_back(rank.pid);
  }
  // A single rank makes no collective calls.
  if (pids.empty() || ranks.size() < 2) return traces;
  for (const auto& [folder, own] : pids) turns_[folder].Finish(folder);
  asked_.emplace(wall, std::move(by_pid), pids, witness::RecorderQuestion(pids));
  return traces;
}

std::map<int, answers::Trace> RankSnapshots::Read() {
  std::map<int, answers::Trace> traces;
  if (!asked_) return traces;
  Asked asked = *std::exchange(asked_, std::nullopt);
  const std::map<pid_t, std::string> said = asked.question.Await(kTake);
  for (const auto& [pid, json] : said) {
    auto trace = answers::ReadTrace(json);
    if (!trace) continue;
    const int rank = asked.ranks.at(pid);
    const std::string last = answers::LastCollectiveOf(*trace);
    if (!last.empty()) last_[rank] = {rank, asked.wall, last};
    traces[rank] = std::move(*trace);
  }
  for (auto& [folder, pids] : asked.pids) {
    std::erase_if(pids, [&](pid_t pid) { return !said.contains(pid); });
    turns_[folder].PassOn(folder, pids);
  }
  return traces;
}

std::vector<api::LastCollective> RankSnapshots::Last() const {
  std::vector<api::LastCollective> last;
  for (const auto& [rank, one] : last_) last.push_back(one);
  return last;
}

}  // namespace local::daemon
