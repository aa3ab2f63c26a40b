#include "rendezvous/nodes/membership.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/strings.h"

namespace rendezvous {
namespace {

constexpr size_t kMostNamed = 8;

int64_t InSeconds(base::Duration duration) {
  return std::chrono::duration_cast<std::chrono::seconds>(duration).count();
}

Decision ProgressFor(NodeId node, std::string text) {
  Decision decision;
  decision.kind = Decision::Kind::kProgress;
  decision.node = node;
  decision.text = std::move(text);
  return decision;
}

Decision DropOf(NodeId node) {
  Decision drop;
  drop.kind = Decision::Kind::kDrop;
  drop.node = node;
  return drop;
}

Decision EndFor(NodeId node, End end) {
  Decision decision;
  decision.kind = Decision::Kind::kEnd;
  decision.node = node;
  decision.end = std::move(end);
  return decision;
}

End ErrorEnd(base::Code code, std::string message) {
  End end;
  end.kind = EndKind::kError;
  end.error = {code, std::move(message), 0};
  return end;
}

}  // namespace

Membership::Membership(NodeRequest job, MembershipTimes times, Moment now)
    : job_(std::move(job)), times_(times), began_(now), join_deadline_(now + times.join_timeout) {
  if (job_.former) Continue(*job_.former);
}

std::string Membership::Place(const Member& member) const {
  return job_.is_static && member.request.node_rank
             ? fmt::format("{} (node rank {})", member.request.host, *member.request.node_rank)
             : member.request.host;
}

// "waiting for node rank 1, 2" when the missing nodes are known.
std::string Membership::Awaited() const {
  std::vector<std::string> ranks;
  for (int rank = 0; job_.is_static && rank < job_.max_nodes && ranks.size() < kMostNamed; ++rank) {
    const bool is_here = std::any_of(members_.begin(), members_.end(), [&](const auto& entry) {
      return entry.second.request.node_rank == rank;
    });
    if (!is_here) ranks.push_back(fmt::format("{}", rank));
  }
  return ranks.empty() ? "waiting for the others"
                       : "waiting for node rank " + base::Join(ranks, ", ");
}

size_t Membership::Count(State state) const {
  return static_cast<size_t>(
      std::count_if(members_.begin(), members_.end(),
                    [&](const auto& entry) { return entry.second.state == state; }));
}

Membership::Member* Membership::Of(NodeId node, uint64_t generation) {
  const auto found = members_.find(node);
  return found == members_.end() || generation != generation_ ? nullptr : &found->second;
}

std::optional<int> Membership::NodeRankOf(NodeId node) const {
  const auto found = members_.find(node);
  const bool runs = found != members_.end() &&
                    (found->second.state == State::kRunning || found->second.state == State::kDone);
  return runs ? std::optional(found->second.last_rank) : std::nullopt;
}

void Membership::Progress(const std::string& line, Decisions& out) {
  for (const auto& [node, member] : members_) {
    if (member.state != State::kLost && !member.is_gone) out.push_back(ProgressFor(node, line));
  }
}

std::optional<std::string> Membership::Disagreement(const NodeRequest& request) const {
  if (auto why = DisagreementOf(job_, request)) return why;
  if (!job_.is_static) return std::nullopt;
  if (!request.node_rank || *request.node_rank < 0 || *request.node_rank >= job_.max_nodes) {
    return fmt::format("{} has no --node-rank from 0 to {}, which the static backend needs",
                       request.host, job_.max_nodes - 1);
  }
  // Later it may have been started again, and have come before the loss of the one before it is
  // noticed.
  const Member* const holder = generation_ == 0 ? HolderOf(*request.node_rank) : nullptr;
  if (holder == nullptr) return std::nullopt;
  return fmt::format("{} has --node-rank {}, which {} has already: give each node a different one",
                     request.host, *request.node_rank, holder->request.host);
}

// The member that has a static node rank; null if none has it.
const Membership::Member* Membership::HolderOf(int node_rank) const {
  const auto found = std::find_if(members_.begin(), members_.end(), [&](const auto& entry) {
    return entry.second.state != State::kLost && entry.second.request.node_rank == node_rank;
  });
  return found == members_.end() ? nullptr : &found->second;
}

// Before the first start, the job would wait in vain for a node that disagrees, so all nodes are
// told and end. A node of another job does not affect this one.
void Membership::Refuse(NodeId node, bool is_stranger, const std::string& why, Decisions& out) {
  const End end = ErrorEnd(base::Code::kConflict, "the nodes disagree: " + why);
  out.push_back(EndFor(node, end));
  if (generation_ == 0 && !is_stranger) {
    EndAll(end, out);
  } else {
    Progress("a node was refused: " + why, out);
  }
}

Decisions Membership::Join(NodeId node, const NodeRequest& request, bool is_host, Moment now) {
  Decisions out;
  if (phase_ == Phase::kEnded) {
    if (!end_) {
      out.push_back(DropOf(node));
      return out;
    }
    // A node that joins after a disagreement, such as the host itself, is told too.
    const bool is_over = end_->kind != EndKind::kError;
    out.push_back(EndFor(
        node, is_over ? ErrorEnd(base::Code::kCancelled, "the job has ended already") : *end_));
    return out;
  }
  const auto known = members_.find(node);
  if (known != members_.end()) {
    // It lost the connection, stopped its workers, and is back.
    Member& member = known->second;
    const bool was_running = member.state == State::kRunning;
    member.heard = now;
    member.is_gone = false;
    if (member.state == State::kDone) return out;
    member.state = State::kWaiting;
    if (phase_ == Phase::kRunning && was_running) {
      Shrink({request.host, -1, -1, 1, Place(member) + " lost its connection and is back"},
             StopReason::kNodeLost, now, out);
    } else if (phase_ == Phase::kRunning) {
      JoinRunning(node, now, out);
    } else if (phase_ == Phase::kStopping) {
      AfterStop(now, out);
    } else {
      StartIfReady(now, out);
    }
    return out;
  }
  if (const auto why = Disagreement(request)) {
    Refuse(node, request.run_id != job_.run_id, *why, out);
    return out;
  }
  const bool has_former = request.former && request.former->generation > 0;
  if (has_former && phase_ == Phase::kGathering) Continue(*request.former);
  Member member;
  member.request = request;
  member.is_host = is_host;
  if (has_former && IsOfFormer(request)) member.last_rank = request.former->node_rank;
  member.order = next_order_++;
  member.heard = now;
  members_.emplace(node, member);
  if (phase_ == Phase::kRunning) {
    JoinRunning(node, now, out);
  } else if (phase_ == Phase::kGathering) {
    const size_t waiting = Chosen().size();
    if (static_cast<int>(waiting) < job_.max_nodes) {
      Progress(fmt::format("{} of {} nodes have joined; {} is here; {}", waiting, NnodesOf(job_),
                           Place(member), Awaited()),
               out);
    }
    StartIfReady(now, out);
  }
  return out;
}

Decisions Membership::Announce(const std::string& line) {
  Decisions out;
  if (phase_ != Phase::kEnded) Progress(line, out);
  return out;
}

void Membership::JoinRunning(NodeId node, Moment now, Decisions& out) {
  const size_t members = Count(State::kRunning) + Count(State::kDone);
  if (static_cast<int>(members) >= job_.max_nodes || Count(State::kDone) > 0) {
    std::string why = fmt::format("the job runs on its {} nodes", members);
    if (job_.is_static)
      why += fmt::format(", one of which has --node-rank {}", *members_.at(node).request.node_rank);
    out.push_back(ProgressFor(node, why + "; this one is on standby"));
    return;
  }
  StopAll(StopReason::kNodeJoined, std::nullopt, now, out);
}

void Membership::Heard(NodeId node, Moment now) {
  const auto found = members_.find(node);
  if (found != members_.end() && found->second.state != State::kLost) found->second.heard = now;
}

Decisions Membership::Succeeded(NodeId node, uint64_t generation, Moment now) {
  Decisions out;
  Member* const member = Of(node, generation);
  if (member == nullptr || phase_ != Phase::kRunning || member->state != State::kRunning)
    return out;
  member->heard = now;
  member->state = State::kDone;
  if (Count(State::kRunning) == 0) EndAll(End{}, out);
  return out;
}

Decisions Membership::Failed(NodeId node, uint64_t generation, const Failure& failure, Moment now) {
  Decisions out;
  Member* const member = Of(node, generation);
  if (member == nullptr || phase_ != Phase::kRunning || member->state != State::kRunning)
    return out;
  member->heard = now;
  if (failure.is_final || restart_count_ >= job_.max_restarts) {
    FailAll(failure, out);
    return out;
  }
  ++restart_count_;
  StopAll(StopReason::kWorkerFailed, failure, now, out);
  return out;
}

Decisions Membership::Stopped(NodeId node, uint64_t generation, Moment now) {
  Decisions out;
  Member* const member = Of(node, generation);
  if (member == nullptr || member->state != State::kStopping) return out;
  member->heard = now;
  member->state = State::kWaiting;
  if (phase_ == Phase::kStopping) AfterStop(now, out);
  return out;
}

Decisions Membership::Leave(NodeId node, const std::string& why, Moment now) {
  Decisions out;
  const auto found = members_.find(node);
  if (found == members_.end()) return out;
  const Member member = found->second;
  members_.erase(found);
  const Failure failure{member.request.host, -1, -1, 1, Place(member) + " has left: " + why};
  if (phase_ == Phase::kEnded || member.state == State::kDone) return out;
  if (member.is_host && CanReplaceHost()) {
    // All of them, wherever they run: each stops its workers and joins the next host.
    phase_ = Phase::kEnded;
    Progress(failure.text + "; another launcher of its machine takes its place", out);
    for (const auto& [other, unused] : members_) out.push_back(DropOf(other));
  } else if (member.is_host) {
    FailAll(failure, out);
  } else if (phase_ == Phase::kRunning && member.state == State::kRunning) {
    if (IsFixed()) {
      FailAll(failure, out);
    } else {
      Shrink(failure, StopReason::kNodeLeft, now, out);
    }
  } else if (phase_ == Phase::kStopping) {
    AfterStop(now, out);
  } else if (phase_ == Phase::kGathering) {
    Progress(failure.text, out);
    StartIfReady(now, out);
  }
  return out;
}

Decisions Membership::Disconnected(NodeId node, bool has_died, Moment now) {
  Decisions out;
  const auto found = members_.find(node);
  if (found == members_.end()) return out;
  const Moment fenced_at =
      has_died ? now + times_.death_grace : found->second.heard + SilenceLimit();
  Lose({node}, fenced_at, has_died ? "its agent has died" : "its connection broke", now, out);
  return out;
}

// Marks all of them before anything follows, so that no generation starts with one that is lost,
// too.
void Membership::Lose(const std::vector<NodeId>& nodes, Moment fenced_at, const std::string& how,
                      Moment now, Decisions& out) {
  std::optional<Failure> first;  // of those whose workers may run
  bool has_left = false;
  for (const NodeId node : nodes) {
    Member& member = members_.at(node);
    const Failure failure{member.request.host, -1, -1, 1,
                          fmt::format("{} was lost: {}", Place(member), how)};
    switch (member.state) {
      case State::kLost:
        break;
      case State::kDone:
        member.is_gone = true;
        break;
      case State::kWaiting:
        members_.erase(node);
        has_left = true;
        if (phase_ == Phase::kGathering) Progress(failure.text, out);
        break;
      case State::kRunning:
      case State::kStopping:
        member.state = State::kLost;
        member.fenced_at = fenced_at;
        if (!first) first = failure;
        break;
    }
  }
  if (first && phase_ == Phase::kRunning) {
    Shrink(*first, StopReason::kNodeLost, now, out);
  } else if (first && phase_ == Phase::kStopping) {
    lost_ = first;
    AfterStop(now, out);
  } else if (has_left && phase_ == Phase::kGathering) {
    StartIfReady(now, out);
  }
}

void Membership::Shrink(const Failure& failure, StopReason reason, Moment now, Decisions& out) {
  if (IsFixed()) {
    if (restart_count_ >= job_.max_restarts) {
      FailAll(failure, out);
      return;
    }
    ++restart_count_;
  }
  lost_ = failure;
  StopAll(reason, failure, now, out);
}

void Membership::StopAll(StopReason reason, std::optional<Failure> failure, Moment now,
                         Decisions& out) {
  phase_ = Phase::kStopping;
  stop_deadline_ = now + times_.stop_timeout;
  std::erase_if(members_, [](const auto& entry) { return entry.second.is_gone; });
  for (auto& [node, member] : members_) {
    if (member.state != State::kRunning && member.state != State::kDone) continue;
    member.state = State::kStopping;
    Decision stop;
    stop.kind = Decision::Kind::kStop;
    stop.node = node;
    stop.generation = generation_;
    stop.reason = reason;
    stop.failure = failure;
    out.push_back(std::move(stop));
  }
  AfterStop(now, out);
}

void Membership::AfterStop(Moment now, Decisions& out) {
  std::erase_if(members_, [&](const auto& entry) {
    return entry.second.state == State::kLost && entry.second.fenced_at <= now;
  });
  const bool all_have_stopped =
      std::all_of(members_.begin(), members_.end(),
                  [](const auto& entry) { return entry.second.state == State::kWaiting; });
  if (!all_have_stopped) return;
  Gather(now, out);
}

void Membership::Gather(Moment now, Decisions& out) {
  phase_ = Phase::kGathering;
  join_deadline_ = now + times_.join_timeout;
  last_call_.reset();
  if (static_cast<int>(Chosen().size()) < job_.min_nodes) {
    Progress(fmt::format("{}; waiting for another node for at most {} s",
                         lost_ ? lost_->text : "a node is missing", InSeconds(times_.join_timeout)),
             out);
  }
  StartIfReady(now, out);
}

// A host that took the place of another counts on from what the nodes remember. The loss of the
// host of a fixed job counts as a failure.
void Membership::Continue(const Former& former) {
  const bool has_started_here = generation_ > 0 && !former_;
  if (has_started_here) return;
  const auto age = [](const Former& of) { return std::pair(of.generation, of.is_last); };
  if (former_ && former_->generation > 0 && former.authority != former_->authority) {
    has_two_formers_ = true;
  }
  if (former_ && age(former) < age(*former_)) return;
  former_ = former;
  generation_ = former.generation;
  restart_count_ = former.generation == 0 ? 0 : former.restart_count + (IsFixed() ? 1 : 0);
}

// Whether the node was in the last generation that is known of the host before.
bool Membership::IsOfFormer(const NodeRequest& request) const {
  return former_ && request.former && request.former->generation == former_->generation &&
         request.former->authority == former_->authority;
}

// When the workers of the former generation are gone at the latest: its authority's port was free
// when this one began. Each node that joins has stopped its own, and its host's guardian ended
// those of the host.
Moment Membership::FormerEnd() const {
  const auto here = std::count_if(members_.begin(), members_.end(), [this](const auto& entry) {
    return IsOfFormer(entry.second.request);
  });
  const bool are_all_here = !has_two_formers_ && former_->is_last && here >= former_->guests;
  return began_ + (are_all_here ? times_.death_grace : SilenceLimit());
}

void Membership::StartIfReady(Moment now, Decisions& out) {
  if (former_ && now < FormerEnd()) {
    last_call_.reset();
    return;
  }
  former_.reset();
  const std::vector<NodeId> chosen = Chosen();
  const int count = static_cast<int>(chosen.size());
  if (count < job_.min_nodes || count == 0) {
    last_call_.reset();
    return;
  }
  // Nodes that have run before do not wait for others again: later ones are admitted when they
  // come.
  if (count >= job_.max_nodes || generation_ > 0 || (last_call_ && *last_call_ <= now)) {
    Start(chosen, out);
  } else if (!last_call_) {
    last_call_ = now + times_.last_call_timeout;
    Progress(fmt::format("{} enough; starting in {} s, or as soon as all {} have joined",
                         count == 1 ? "1 node is" : fmt::format("{} nodes are", count),
                         InSeconds(times_.last_call_timeout), job_.max_nodes),
             out);
  }
}

// Sorted by rank: the requested rank first, then the previous one, then the host, then the order of
// joining. Of nodes with the same static rank, the first.
std::vector<NodeId> Membership::Chosen() const {
  constexpr int kLast = std::numeric_limits<int>::max();
  std::vector<std::pair<std::tuple<int, int, bool, uint64_t>, NodeId>> order;
  for (const auto& [node, member] : members_) {
    if (member.state != State::kWaiting) continue;
    const int before = member.last_rank < 0 ? kLast : member.last_rank;
    order.push_back(
        {{member.request.node_rank.value_or(kLast), before, !member.is_host, member.order}, node});
  }
  std::sort(order.begin(), order.end());
  if (job_.is_static) {
    const auto rank_of = [](const auto& entry) { return std::get<0>(entry.first); };
    const auto have_one_rank = [&](const auto& a, const auto& b) {
      return rank_of(a) == rank_of(b);
    };
    order.erase(std::unique(order.begin(), order.end(), have_one_rank), order.end());
  }
  if (static_cast<int>(order.size()) > job_.max_nodes) {
    // Nodes of the previous generation stay in, and so does the host.
    std::stable_partition(order.begin(), order.end(), [&](const auto& entry) {
      const Member& member = members_.at(entry.second);
      return member.last_rank >= 0 || member.is_host;
    });
    order.resize(static_cast<size_t>(job_.max_nodes));
    std::sort(order.begin(), order.end());
  }
  std::vector<NodeId> chosen;
  for (const auto& [key, node] : order) chosen.push_back(node);
  return chosen;
}

void Membership::Start(const std::vector<NodeId>& chosen, Decisions& out) {
  phase_ = Phase::kRunning;
  ++generation_;
  last_call_.reset();
  lost_.reset();
  for (auto& [node, member] : members_) member.last_rank = -1;
  std::vector<const NodeRequest*> requests;
  for (const NodeId node : chosen) {
    Member& member = members_.at(node);
    member.state = State::kRunning;
    member.last_rank = static_cast<int>(requests.size());
    requests.push_back(&member.request);
  }
  Assignment assignment = MakeAssignment(generation_, restart_count_, requests);
  for (const auto& [node, member] : members_) {
    if (member.is_host) assignment.authority = node;
  }
  assignment.guests = static_cast<int>(std::count_if(
      chosen.begin(), chosen.end(), [this](NodeId node) { return !members_.at(node).is_host; }));
  Decision store;
  store.kind = Decision::Kind::kNewStore;
  out.push_back(std::move(store));
  for (const NodeId node : chosen) {
    Decision start;
    start.kind = Decision::Kind::kStart;
    start.node = node;
    start.assignment = assignment;
    start.assignment.self = members_.at(node).last_rank;
    out.push_back(std::move(start));
  }
}

// Whether the nodes that remain when the host leaves can go on without it.
bool Membership::CanReplaceHost() const {
  int reachable = 0;
  bool has_next = false;
  for (const auto& [node, member] : members_) {
    if (member.state == State::kLost || member.is_gone) continue;
    ++reachable;
    has_next = has_next || member.request.can_host;
  }
  return !IsFixed() && has_next && reachable >= job_.min_nodes;
}

void Membership::FailAll(const Failure& failure, Decisions& out) {
  End end;
  end.kind = EndKind::kFailed;
  end.failure = failure;
  EndAll(end, out);
}

void Membership::EndAll(const End& end, Decisions& out) {
  phase_ = Phase::kEnded;
  end_ = end;
  for (const auto& [node, member] : members_) {
    if (member.state != State::kLost && !member.is_gone) out.push_back(EndFor(node, end));
  }
}

void Membership::NoteSilence(Moment now, Decisions& out) {
  std::vector<NodeId> silent;
  for (const auto& [node, member] : members_) {
    if (member.state != State::kLost && !member.is_gone && member.heard + SilenceLimit() <= now) {
      silent.push_back(node);
    }
  }
  for (const NodeId node : silent) {
    out.push_back(DropOf(node));
  }
  Lose(silent, now, fmt::format("it has not been heard from for {} s", InSeconds(SilenceLimit())),
       now, out);
}

void Membership::NoteStopTimeout(Moment now, Decisions& out) {
  if (phase_ != Phase::kStopping || now < stop_deadline_) return;
  stop_deadline_ = Moment::max();
  for (auto& [node, member] : members_) {
    if (member.state != State::kStopping) continue;
    member.state = State::kLost;
    member.fenced_at = now + times_.death_grace;
    out.push_back(
        EndFor(node, ErrorEnd(base::Code::kTimeout,
                              fmt::format("{} did not stop its workers within {} s",
                                          member.request.host, InSeconds(times_.stop_timeout)))));
  }
}

Decisions Membership::Tick(Moment now) {
  Decisions out;
  if (phase_ == Phase::kEnded) return out;
  NoteSilence(now, out);
  NoteStopTimeout(now, out);
  if (phase_ == Phase::kStopping) AfterStop(now, out);
  if (phase_ != Phase::kGathering) return out;
  StartIfReady(now, out);
  if (phase_ != Phase::kGathering || now < join_deadline_) return out;
  std::vector<std::string> here;
  for (const auto& [node, member] : members_) here.push_back(Place(member));
  const std::string hint =
      fmt::format("start the others with the same {}, or raise join_timeout in --rdzv-conf",
                  job_.is_static ? "address and port of node 0" : "--rdzv-endpoint and --rdzv-id");
  if (lost_) {
    Failure failure = *lost_;
    failure.text +=
        fmt::format("; no node replaced it within {} s", InSeconds(times_.join_timeout));
    FailAll(failure, out);
  } else {
    EndAll(ErrorEnd(base::Code::kTimeout,
                    fmt::format("{} of {} nodes have joined within {} s ({}): {}", here.size(),
                                NnodesOf(job_), InSeconds(times_.join_timeout),
                                base::Join(here, ", "), hint)),
           out);
  }
  return out;
}

std::optional<Moment> Membership::NextDeadline() const {
  if (phase_ == Phase::kEnded) return std::nullopt;
  std::optional<Moment> next;
  const auto consider = [&](Moment when) { next = next ? std::min(*next, when) : when; };
  for (const auto& [node, member] : members_) {
    if (member.state == State::kLost) {
      consider(member.fenced_at);
    } else if (!member.is_gone) {
      consider(member.heard + SilenceLimit());
    }
  }
  if (phase_ == Phase::kStopping && stop_deadline_ != Moment::max()) consider(stop_deadline_);
  if (phase_ == Phase::kGathering) {
    consider(join_deadline_);
    if (last_call_) consider(*last_call_);
    if (former_) consider(FormerEnd());
  }
  return next;
}

}  // namespace rendezvous
