#include "local/daemon/ranks/rank_snapshots.h"

#include "answers/stall/straggler.h"

namespace local::daemon {
namespace {

constexpr std::chrono::milliseconds kTake{20};

}  // namespace

std::map<int, answers::Trace> RankSnapshots::See(base::Time wall,
                                                 const std::vector<SampledRank>& ranks) {
  std::map<int, answers::Trace> traces = Read();
  std::map<std::string, std::vector<pid_t>> by_folder;
  Asked asked;
  asked.wall = wall;
  for (const SampledRank& rank : ranks) {
    uint64_t& ticks = ticks_[rank.rank];
    if (std::exchange(ticks, rank.ticks) == rank.ticks) continue;
    asked.ranks[rank.pid] = rank.rank;
    by_folder[rank.folder].push_back(rank.pid);
  }
  // A single rank makes no collective calls.
  if (by_folder.empty() || ranks.size() < 2) return traces;
  for (const auto& [folder, pids] : by_folder) {
    turns_[folder].Finish(folder);
    asked.questions.emplace_back(folder, witness::RecorderQuestion(folder, pids));
  }
  asked_ = std::move(asked);
  return traces;
}

std::map<int, answers::Trace> RankSnapshots::Read() {
  std::map<int, answers::Trace> traces;
  if (!asked_) return traces;
  Asked asked = *std::exchange(asked_, std::nullopt);
  for (auto& [folder, question] : asked.questions) {
    std::vector<pid_t> answered;
    for (const auto& [pid, json] : question.Await(kTake)) {
      answered.push_back(pid);
      auto trace = answers::ReadTrace(json);
      if (!trace) continue;
      const int rank = asked.ranks.at(pid);
      const std::string last = answers::LastCollectiveOf(*trace);
      if (!last.empty()) last_[rank] = {rank, asked.wall, last};
      traces[rank] = std::move(*trace);
    }
    turns_[folder].PassOn(folder, answered);
  }
  return traces;
}

std::vector<api::LastCollective> RankSnapshots::Last() const {
  std::vector<api::LastCollective> last;
  for (const auto& [rank, one] : last_) last.push_back(one);
  return last;
}

}  // namespace local::daemon
