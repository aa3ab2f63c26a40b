#include "launch/agent/rank_snapshots.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace launch {
namespace {

// A rank takes 1 ms to answer. One that has not answered by then is asked again a second later.
constexpr base::Duration kSnapshotTime = std::chrono::milliseconds(20);
constexpr std::chrono::milliseconds kSnapshotWait{20};

}  // namespace

RankSnapshots::RankSnapshots(process::EventLoop& loop, base::Clock& clock,
                             std::string stacks_folder)
    : loop_(loop), clock_(clock), folder_(std::move(stacks_folder)) {}

RankSnapshots::~RankSnapshots() { loop_.Cancel(timer_); }

void RankSnapshots::Take(const std::vector<answers::RankLook>& looks, std::function<void()> then) {
  std::map<pid_t, int> busy;
  std::vector<pid_t> pids;
  for (const answers::RankLook& look : looks) {
    uint64_t& ticks = ticks_[look.rank];
    const bool is_busy = !look.has_ended && look.activity.ticks != ticks;
    ticks = look.activity.ticks;
    if (!is_busy) continue;
    busy[look.pid] = look.rank;
    pids.push_back(look.pid);
  }
  if (pids.empty()) return;
  turns_.Finish(folder_);
  auto question =
      std::make_shared<witness::RecorderQuestion>(witness::PidsByFolder{{folder_, pids}});
  loop_.Cancel(timer_);
  timer_ =
      loop_.After(kSnapshotTime, [this, question, busy = std::move(busy), then = std::move(then)] {
        timer_ = 0;
        std::map<int, answers::Trace> fresh;
        for (const auto& [pid, json] : question->Await(kSnapshotWait)) {
          auto trace = answers::ReadTrace(json);
          if (!trace || trace->empty()) continue;
          fresh[busy.at(pid)] = std::move(*trace);
          answered_[busy.at(pid)] = clock_.Now();
        }
        if (fresh.empty()) return;
        std::vector<pid_t> answered;
        for (const auto& [pid, rank] : busy) {
          if (fresh.contains(rank)) answered.push_back(pid);
        }
        turns_.PassOn(folder_, answered);
        watch_.See(fresh);
        for (auto& [rank, trace] : fresh) last_[rank] = std::move(trace);
        then();
      });
}

bool RankSnapshots::IsNew(const answers::Straggler& straggler) {
  if (std::exchange(straggler_, straggler.rank) == straggler.rank) return false;
  places_ = {};
  return true;
}

std::string RankSnapshots::LastOf(const Failure& failure) const {
  const auto found = last_.find(failure.rank);
  const std::string last = found == last_.end() ? "" : answers::LastCollectiveOf(found->second);
  if (last.empty()) return "";
  const double before =
      std::chrono::duration<double>(failure.time - answered_.at(found->first)).count();
  return fmt::format("rank {}, {:.1f} s before its end, {}", failure.rank, std::max(0.0, before),
                     last);
}

}  // namespace launch
