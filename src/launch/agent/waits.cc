// The part of Agent that explains waits in the workers' store that do not end.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "answers/stall/stack.h"
#include "base/file.h"
#include "launch/agent/agent.h"
#include "rendezvous/sockets/port_owner.h"

namespace launch {
namespace {

// The intervals after each start; the last one repeats. They are short enough for a user who waits,
// and long enough to let an idle launcher sleep.
constexpr std::array<std::chrono::seconds, 5> kLooks = {
    std::chrono::seconds(10), std::chrono::seconds(20), std::chrono::seconds(30),
    std::chrono::seconds(60), std::chrono::seconds(300)};
constexpr base::Duration kShortestWait = std::chrono::seconds(8);
constexpr size_t kMostAsked = 8;  // of the ranks that are missing

std::string NameFrame(const answers::Frame& frame) {
  return fmt::format("{} ({})", frame.function, answers::PlaceOf(frame));
}

// "sleep (clock.py:3), called from load (train.py:30)": the innermost frame of the main thread, and
// the program's own. "" if it is unknown.
std::string PlaceInDump(std::string_view dump) {
  const auto stacks = answers::ReadStacks(dump);
  if (stacks.empty() || stacks[0].frames.empty()) return "";
  std::string innermost = NameFrame(stacks[0].frames[0]);
  const answers::Frame own = answers::WhatItDoes(stacks[0].frames).own;
  if (own.file.empty() || NameFrame(own) == innermost) return innermost;
  return fmt::format("{}, called from {}", innermost, NameFrame(own));
}

}  // namespace

std::string WaitChannel(pid_t pid) {
  const auto text = base::ReadFile(fmt::format("/proc/{}/wchan", pid), 4096);
  if (!text || text->empty() || *text == "0") return "";
  return "in " + *text;
}

void Agent::LookForWaitsLater() {
  loop_->Cancel(wait_timer_);
  wait_timer_ = 0;
  // Otherwise another node has the store.
  if (!store_ && !(rendezvous_ && rendezvous_->is_host())) return;
  const auto wait = kLooks[std::min(wait_looks_++, kLooks.size() - 1)];
  wait_timer_ = loop_->After(wait, [this] {
    wait_timer_ = 0;
    LookForWaits();
    LookForWaitsLater();
  });
}

std::vector<rendezvous::RankInfo> Agent::DescribeRanks(const Places& places) const {
  std::vector<rendezvous::RankInfo> ranks;
  if (assignment_) {
    for (const rendezvous::Node& node : assignment_->nodes) {
      for (int i = 0; i < node.nproc; ++i) {
        rendezvous::RankInfo& info = ranks.emplace_back();
        info.rank = node.first_rank + i;
        info.host = node.host;
      }
    }
  }
  const Group group = MakeGroup();
  if (!assignment_) ranks.resize(static_cast<size_t>(group.world_size));
  const std::vector<pid_t> pids = group_->Pids();
  for (size_t i = 0; i < pids.size(); ++i) {
    rendezvous::RankInfo& info = ranks[static_cast<size_t>(group.first_rank) + i];
    info.rank = group.first_rank + static_cast<int>(i);
    info.host = host_;
    info.pid = pids[i];
    info.is_alive = pids[i] != 0;
    if (!info.is_alive) {
      info.doing = "has ended with exit code 0";  // any other would have ended the job
      continue;
    }
    const auto place = places.find(info.pid);
    info.doing = place != places.end() ? "waiting in " + place->second : WaitChannel(info.pid);
  }
  return ranks;
}

std::vector<rendezvous::StuckWait> Agent::StuckWaits(const Places& places) const {
  if (!group_ || group_->IsStopping() || group_->running_count() == 0) return {};
  const rendezvous::StoreSnapshot snapshot = store_ ? store_->Snapshot() : rendezvous_->Snapshot();
  if (snapshot.waiters.empty()) return {};
  std::vector<uint16_t> ports;
  ports.reserve(snapshot.clients.size());
  for (const rendezvous::StoreClient& client : snapshot.clients) ports.push_back(client.peer.port);
  const auto ranks = DescribeRanks(places);
  const auto pid_of_port = rendezvous::FindPortOwners(ports, group_->Pids());
  return rendezvous::ExplainWaits(
      snapshot, ranks, rendezvous::RanksOfClients(snapshot, ranks, pid_of_port), kShortestWait);
}

std::vector<pid_t> Agent::MissingHere(const std::vector<rendezvous::StuckWait>& waits) const {
  const int first = MakeGroup().first_rank;
  const std::vector<pid_t> pids = group_->Pids();
  std::vector<pid_t> missing;
  for (const rendezvous::StuckWait& wait : waits) {
    for (const int rank : wait.missing) {
      const auto index = static_cast<size_t>(rank - first);
      if (rank < first || index >= pids.size() || pids[index] == 0) continue;
      if (std::find(missing.begin(), missing.end(), pids[index]) == missing.end() &&
          missing.size() < kMostAsked) {
        missing.push_back(pids[index]);
      }
    }
  }
  return missing;
}

void Agent::LookForWaits() {
  const auto waits = StuckWaits({});
  if (waits.empty()) return;
  const std::vector<pid_t> pids = MissingHere(waits);
  if (stacks_folder_.empty() || pids.empty()) return SayWaits(waits);
  if (missing_stacks_timer_ != 0) return;
  // The waiting ranks may have continued meanwhile, so they are checked again.
  AskStacks(pids, missing_stacks_timer_, [this](const Dumps& dumps) {
    Places places;
    for (const auto& [pid, dump] : dumps) {
      if (std::string place = PlaceInDump(dump); !place.empty()) places[pid] = std::move(place);
    }
    SayWaits(StuckWaits(places));
  });
}

void Agent::SayWaits(const std::vector<rendezvous::StuckWait>& waits) {
  for (const rendezvous::StuckWait& wait : waits) SayLater(wait.text);
}

}  // namespace launch
