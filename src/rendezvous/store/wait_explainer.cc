#include "rendezvous/store/wait_explainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include "base/strings.h"
#include "rendezvous/store/keys.h"

namespace rendezvous {
namespace {

using RankOfClient = std::map<StoreClientId, int>;

constexpr size_t kShownRanks = 8;

struct Meeting {
  StoreKeyName name;
  std::string key;  // one of the keys that are awaited
  std::set<StoreClientId> clients;
  std::set<int> waiting;
  std::set<int> awaited_group_ranks;
  int64_t barrier_size = 0;
  SteadyTime since = SteadyTime::max();
};

std::set<int> RanksOf(const std::vector<StoreClientId>& clients, const RankOfClient& ranks) {
  std::set<int> found;
  for (const StoreClientId client : clients) {
    if (const auto rank = ranks.find(client); rank != ranks.end()) found.insert(rank->second);
  }
  return found;
}

std::map<std::string, Meeting> MeetingsOf(const StoreSnapshot& snapshot, const RankOfClient& ranks,
                                          base::Duration at_least) {
  std::map<std::string, Meeting> meetings;
  for (const StoreData::Waiter& waiter : snapshot.waiters) {
    if (snapshot.at - waiter.since < at_least || waiter.keys.empty()) continue;
    for (const std::string& key : waiter.keys) {
      StoreKeyName name = ParseStoreKey(key, waiter.is_polling);
      // A client that polls a counter of its own once a second is not at a known barrier.
      if (waiter.is_polling && name.kind != StoreKeyName::Kind::kCounter) continue;
      Meeting& meeting = meetings[name.meeting];
      if (name.group_rank) meeting.awaited_group_ranks.insert(*name.group_rank);
      meeting.name = std::move(name);
      meeting.key = key;
      meeting.clients.insert(waiter.client);
      meeting.barrier_size = std::max(meeting.barrier_size, waiter.barrier_size);
      meeting.since = std::min(meeting.since, waiter.since);
      const auto rank = ranks.find(waiter.client);
      if (rank != ranks.end()) meeting.waiting.insert(rank->second);
    }
  }
  return meetings;
}

// The clients that have arrived, as far as the keys show: group rank -> writer (full mesh), or the
// writers of a counter.
struct Joined {
  size_t count = 0;
  std::set<int> ranks;
  std::map<int, int> global_of_group;
};

Joined JoinedOf(const Meeting& meeting, const StoreSnapshot& snapshot, const RankOfClient& ranks) {
  Joined joined;
  for (const StoreData::Key& key : snapshot.keys) {
    if (!key.key.starts_with(meeting.name.meeting)) continue;
    const StoreKeyName name = ParseStoreKey(key.key);
    const std::set<int> writers = RanksOf(key.writers, ranks);
    if (meeting.name.kind == StoreKeyName::Kind::kFullMesh && name.group_rank &&
        name.meeting == meeting.name.meeting) {
      joined.global_of_group.try_emplace(*name.group_rank, writers.empty() ? -1 : *writers.begin());
      joined.ranks.insert(writers.begin(), writers.end());
    } else if (key.key == meeting.name.meeting) {
      joined.count = key.writers.size();
      joined.ranks = writers;
    }
  }
  joined.count = std::max(joined.count, joined.global_of_group.size());
  return joined;
}

// The members of a group are sorted by rank, so the neighbours that have arrived limit which rank
// can be at `group_rank`.
std::vector<int> CandidatesFor(int group_rank, const Joined& joined,
                               const std::vector<RankInfo>& ranks, bool is_default) {
  int above = -1;
  int below = static_cast<int>(ranks.size());
  for (const auto& [group, global] : joined.global_of_group) {
    if (global < 0) continue;
    if (group < group_rank) above = std::max(above, global);
    if (group > group_rank) below = std::min(below, global);
  }
  std::vector<int> candidates;
  for (const RankInfo& info : ranks) {
    if (is_default ? info.rank == group_rank
                   : info.rank > above && info.rank < below && !joined.ranks.contains(info.rank)) {
      candidates.push_back(info.rank);
    }
  }
  return candidates;
}

std::string DescribeRank(int rank, const std::vector<RankInfo>& ranks,
                         const std::map<int, std::string>& elsewhere,
                         const std::set<int>& connected) {
  const auto info = std::find_if(ranks.begin(), ranks.end(),
                                 [&](const RankInfo& one) { return one.rank == rank; });
  std::vector<std::string> facts;
  if (info != ranks.end()) {
    if (!info->host.empty()) facts.push_back("host " + info->host);
    if (info->pid != 0) facts.push_back("pid " + std::to_string(info->pid));
    facts.push_back(info->is_alive ? "alive" : "dead");
  }
  if (const auto other = elsewhere.find(rank); other != elsewhere.end()) {
    facts.push_back("waiting in " + other->second);
  } else if (info != ranks.end() && info->is_alive && !connected.contains(rank)) {
    facts.push_back("not connected to the store");
  }
  if (info != ranks.end() && !info->doing.empty()) facts.push_back(info->doing);
  const std::string text = "rank " + std::to_string(rank);
  return facts.empty() ? text : text + " (" + base::Join(facts, ", ") + ")";
}

std::string NameOf(const Meeting& meeting) {
  using Kind = StoreKeyName::Kind;
  if (meeting.name.kind == Kind::kOther) {
    const std::string_view key = meeting.key;
    return std::string(key.starts_with('/') ? key.substr(1) : key);
  }
  if (meeting.name.group.empty()) return "default_pg init";
  return "process group " + meeting.name.group;
}

std::vector<int> MissingOf(const Meeting& meeting, const Joined& joined,
                           const std::vector<RankInfo>& ranks) {
  using Kind = StoreKeyName::Kind;
  std::set<int> missing;
  const bool is_default = meeting.name.group.empty();
  if (meeting.name.kind == Kind::kFullMesh && !is_default) {
    for (const int group_rank : meeting.awaited_group_ranks) {
      for (const int rank : CandidatesFor(group_rank, joined, ranks, false)) missing.insert(rank);
    }
  } else if (meeting.name.kind == Kind::kFirstWrites) {
    const int first_waiting = meeting.waiting.empty() ? 0 : *meeting.waiting.begin();
    for (const RankInfo& info : ranks) {
      if (is_default ? info.rank == 0 : info.rank < first_waiting) missing.insert(info.rank);
    }
  } else {
    for (const RankInfo& info : ranks) {
      if (!joined.ranks.contains(info.rank) && !meeting.waiting.contains(info.rank)) {
        missing.insert(info.rank);
      }
    }
  }
  return {missing.begin(), missing.end()};
}

// "missing: rank 2 (...), rank 5 (...) and 9 more"
std::string ListMissing(const StuckWait& stuck, const std::vector<RankInfo>& ranks,
                        const std::map<int, std::string>& elsewhere,
                        const std::set<int>& connected) {
  std::vector<std::string> shown;
  for (const int rank : stuck.missing) {
    if (shown.size() == kShownRanks) break;
    shown.push_back(DescribeRank(rank, ranks, elsewhere, connected));
  }
  std::string text = base::Join(shown, ", ");
  if (stuck.missing.size() > shown.size()) {
    text += fmt::format(" and {} more", stuck.missing.size() - shown.size());
  }
  return text;
}

StuckWait Explain(const Meeting& meeting, const StoreSnapshot& snapshot,
                  const std::vector<RankInfo>& ranks, const RankOfClient& rank_of_client) {
  using Kind = StoreKeyName::Kind;
  const Joined joined = JoinedOf(meeting, snapshot, rank_of_client);
  StuckWait stuck;
  stuck.name = NameOf(meeting);
  stuck.waiting.assign(meeting.waiting.begin(), meeting.waiting.end());
  stuck.missing = MissingOf(meeting, joined, ranks);
  stuck.waited = std::chrono::duration_cast<std::chrono::seconds>(snapshot.at - meeting.since);
  const bool is_counted = meeting.name.kind == Kind::kFullMesh ||
                          meeting.name.kind == Kind::kCounter ||
                          meeting.name.kind == Kind::kLastArrived || meeting.barrier_size > 0;
  stuck.joined = is_counted ? joined.count : meeting.clients.size();
  if (meeting.barrier_size > 0) {
    stuck.expected = static_cast<size_t>(meeting.barrier_size);
  } else if (is_counted && (meeting.name.group.empty() || meeting.name.kind != Kind::kFullMesh)) {
    stuck.expected = ranks.size();
  }
  return stuck;
}

std::string TextOf(const StuckWait& stuck, bool is_key) {
  if (is_key) {
    std::vector<std::string> waiting;
    for (const int rank : stuck.waiting) waiting.push_back(std::to_string(rank));
    return fmt::format("key \"{}\": nobody has set it; {} after {} s", stuck.name,
                       waiting.empty() ? fmt::format("{} connections wait", stuck.joined)
                                       : "rank " + base::Join(waiting, ", ") + " waits",
                       stuck.waited.count());
  }
  const std::string of = stuck.expected == 0 ? "" : fmt::format("/{}", stuck.expected);
  return fmt::format("barrier \"{}\": {}{} joined after {} s", stuck.name, stuck.joined, of,
                     stuck.waited.count());
}

// Whether each of `missing` waits at the same place, for keys of another form.
bool WaitForEachOther(const Meeting& meeting, const std::vector<int>& missing,
                      const std::map<std::string, Meeting>& meetings) {
  return std::all_of(missing.begin(), missing.end(), [&](int rank) {
    return std::any_of(meetings.begin(), meetings.end(), [&](const auto& each) {
      return each.first != meeting.name.meeting && NameOf(each.second) == NameOf(meeting) &&
             each.second.waiting.contains(rank);
    });
  });
}

}  // namespace

std::map<StoreClientId, int> RanksOfClients(const StoreSnapshot& snapshot,
                                            const std::vector<RankInfo>& ranks,
                                            const std::map<uint16_t, pid_t>& pid_of_port) {
  std::map<pid_t, std::optional<int>> rank_of_pid;  // nullopt: the pid occurs on two hosts
  for (const RankInfo& info : ranks) {
    const auto [place, is_new] = rank_of_pid.try_emplace(info.pid, info.rank);
    if (!is_new) place->second.reset();
  }
  RankOfClient found;
  for (const StoreClient& client : snapshot.clients) {
    auto pid = static_cast<pid_t>(client.nonce);
    const auto local = pid_of_port.find(client.peer.port);
    if (local != pid_of_port.end()) pid = local->second;
    const auto rank = rank_of_pid.find(pid);
    if (pid != 0 && rank != rank_of_pid.end() && rank->second) found[client.id] = *rank->second;
  }
  for (const StoreData::Key& key : snapshot.keys) {
    const StoreKeyName name = ParseStoreKey(key.key);
    if (!name.group_rank || !name.group.empty() || key.writers.size() != 1) continue;
    found.try_emplace(key.writers.front(), *name.group_rank);
  }
  return found;
}

std::vector<StuckWait> ExplainWaits(const StoreSnapshot& snapshot,
                                    const std::vector<RankInfo>& ranks,
                                    const RankOfClient& rank_of_client, base::Duration at_least) {
  const std::map<std::string, Meeting> meetings = MeetingsOf(snapshot, rank_of_client, at_least);
  std::map<int, std::string> waits_in;
  for (const auto& [id, meeting] : meetings) {
    for (const int rank : meeting.waiting) waits_in[rank] = fmt::format("\"{}\"", NameOf(meeting));
  }
  std::set<int> connected;
  for (const StoreClient& client : snapshot.clients) {
    const auto rank = rank_of_client.find(client.id);
    if (rank != rank_of_client.end()) connected.insert(rank->second);
  }
  std::vector<StuckWait> stuck;
  for (const auto& [id, meeting] : meetings) {
    StuckWait one = Explain(meeting, snapshot, ranks, rank_of_client);
    const bool is_key =
        meeting.name.kind == StoreKeyName::Kind::kOther && meeting.barrier_size == 0;
    one.text = TextOf(one, is_key);
    if (!one.missing.empty()) {
      const bool is_sure = one.expected == 0 || one.joined + one.missing.size() == one.expected;
      one.text += is_key    ? "; not there: "
                  : is_sure ? "; missing: "
                            : "; missing, one or more of: ";
      one.text += ListMissing(one, ranks, waits_in, connected);
      if (WaitForEachOther(meeting, one.missing, meetings)) {
        one.text += "; they wait for each other: is torch the same on every node?";
      }
    }
    stuck.push_back(std::move(one));
  }
  std::stable_sort(stuck.begin(), stuck.end(),
                   [](const StuckWait& a, const StuckWait& b) { return a.waited > b.waited; });
  return stuck;
}

}  // namespace rendezvous
