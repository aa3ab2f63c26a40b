// The part of Agent that reports a rank of any node that holds the others up. The host's agent sees
// the ranks of all nodes, and judges; the others tell it what theirs do (node_news.h).
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>

#include "base/strings.h"
#include "launch/agent/agent.h"
#include "witness/stacks.h"

namespace launch {
namespace {

constexpr base::Duration kTurn = std::chrono::milliseconds(100);
constexpr int kMostTurns = 15;
constexpr size_t kMostPlaced = 3;
constexpr size_t kLongestHost = 200;
// Until the next look, once the ranks have answered.
constexpr base::Duration kBetweenLooks = kLook - kAnswer;

// The lines of all ranks come with the answers.
std::string NoLine(std::string_view, int) { return ""; }

}  // namespace

// In a pod of the embedded cluster the daemon sees the ranks of all pods.
bool Agent::SharesStalls() const {
  return rendezvous_ && assignment_ && assignment_->nodes.size() > 1 && !is_in_pod_;
}

bool Agent::IsJudge() const { return !SharesStalls() || rendezvous_->is_host(); }

// The host goes on when its own ranks have ended well: those of other nodes may wait for them.
bool Agent::LooksForStalls() const {
  if (!group_ || !stall_watch_) return false;
  const bool is_done =
      rendezvous_ && is_idle_ && ending_ == Ending::kSuccess && !end_ && !has_to_say_stopped_;
  if (is_done) return SharesStalls() && IsJudge();
  return !group_->IsStopping() && group_->running_count() > 0;
}

// It is the last that the host hears of them.
void Agent::TellOwnEnd() {
  if (!SharesStalls() || !stall_watch_) return;
  if (IsJudge()) return LookForStallsLater(kBetweenLooks);
  NodeNews news;
  news.looks = OwnLooks();
  TellNodes(news);
}

bool Agent::Told::HasEnded() const {
  return !looks.empty() &&
         std::all_of(looks.begin(), looks.end(),
                     [](const answers::RankLook& look) { return look.has_ended; });
}

void Agent::TellNodes(const NodeNews& news) {
  if (SharesStalls()) rendezvous_->Tell(assignment_->generation, EncodeNews(news));
}

// An old look again would seem to say that the rank has not moved since.
bool Agent::AddOthersLooks(std::vector<answers::RankLook>& looks) {
  if (!SharesStalls()) return true;
  for (int node = 0; node < static_cast<int>(assignment_->nodes.size()); ++node) {
    if (node == assignment_->self) continue;
    const auto told = told_.find(node);
    if (told == told_.end() || (!told->second.is_new && !told->second.HasEnded())) return false;
    looks.insert(looks.end(), told->second.looks.begin(), told->second.looks.end());
  }
  for (auto& [node, told] : told_) told.is_new = false;
  return true;
}

void Agent::AskOthers() {
  asked_pids_ = group_->Pids();
  for (auto& [node, told] : told_) told.testimony.reset();
  NodeNews question;
  question.question = ++question_;
  TellNodes(question);
}

// Without a node's answer its ranks would seem to be silent.
void Agent::JudgeWithOthers(answers::StallWatch::Testimony testimony, int turn) {
  if (!LooksForStalls()) return;
  const bool all_answered =
      !SharesStalls() || std::all_of(told_.begin(), told_.end(), [](const auto& each) {
        return each.second.testimony || (each.second.HasEnded() && !each.second.is_new);
      });
  if (!all_answered && turn < kMostTurns) {
    stall_timer_ = loop_->After(kTurn, [this, testimony = std::move(testimony), turn]() mutable {
      stall_timer_ = 0;
      JudgeWithOthers(std::move(testimony), turn + 1);
    });
    return;
  }
  if (!all_answered || group_->Pids() != asked_pids_) return LookForStallsLater(kBetweenLooks);
  for (auto& [node, told] : told_) {
    if (told.testimony) testimony.Add(std::move(*told.testimony));
  }
  // Only what is told from now on confirms the judgement.
  for (auto& [node, told] : told_) told.is_new = false;
  looks_since_judged_.clear();
  stall_watch_->Judge(asked_at_, testimony, SharesStalls() ? NoLine : witness::SourceLine);
  SayStall(testimony.dumps);
  TellStall();
  if (LooksForStalls()) LookForStallsLater(kBetweenLooks);
}

void Agent::SayToAll(const std::string& text, bool is_over) {
  SayLater(text);
  NodeNews news;
  news.line = text;
  news.is_over = is_over;
  TellNodes(news);
}

std::string Agent::SayWithNodes(const answers::Stall& stall) const {
  std::string said = answers::Say(stall, clock_.Steady());
  if (!SharesStalls()) return said;
  size_t placed = 0;
  for (const int rank : stall.missing) {
    for (const rendezvous::Node& node : assignment_->nodes) {
      if (rank < node.first_rank || rank >= node.first_rank + node.nproc) continue;
      if (++placed > kMostPlaced) return said;
      said += fmt::format("; rank {} is on {}", rank, base::OneLine(node.host, kLongestHost));
    }
  }
  return said;
}

// An answer may be late, and a question disturbs the rank. So a rank is only killed once two looks
// after the judgement have found that it does nothing.
void Agent::EndStalledOfNodes(const std::vector<answers::RankLook>& looks) {
  const auto& stall = stall_watch_->stall();
  const bool ends = options_.on_stall == OnStall::kRestart || options_.on_stall == OnStall::kStop;
  if (!ends || !said_stall_ || !stall || stall->kind != answers::Stall::Kind::kStalled) {
    return looks_since_judged_.clear();
  }
  const auto before = std::exchange(looks_since_judged_, looks);
  const auto rank = answers::RankToKill(*stall, before, looks);
  const std::string said = SayWithNodes(*stall);
  const bool is_final = options_.on_stall == OnStall::kStop;
  if (!rank || KillStalled(*rank, said, is_final)) return;
  NodeNews news;
  news.line = said;
  news.killed = *std::find_if(looks.begin(), looks.end(),
                              [rank](const auto& look) { return look.rank == *rank; });
  news.is_final = is_final;
  TellNodes(news);
}

bool Agent::KillStalled(int rank, const std::string& said, bool is_final) {
  const int index = rank - MakeGroup().first_rank;
  const std::vector<pid_t> pids = group_->Pids();
  if (index < 0 || static_cast<size_t>(index) >= pids.size()) return false;
  const pid_t pid = pids[static_cast<size_t>(index)];
  if (pid == 0) return false;
  stalled_ = {pid, said, is_final};
  // A stopped process reacts to no other signal.
  ::kill(pid, SIGKILL);
  return true;
}

void Agent::OnTold(int node_rank, const std::string& text) {
  auto news = DecodeNews(text);
  if (!news || !SharesStalls()) return;
  // Even before its own ranks run: those of the other may have ended by then.
  if (rendezvous_->is_host()) {
    if (static_cast<size_t>(node_rank) >= assignment_->nodes.size()) return;
    const rendezvous::Node& node = assignment_->nodes[static_cast<size_t>(node_rank)];
    if (!IsOf(*news, node.first_rank, node.nproc)) return;
    Told& told = told_[node_rank];
    if (news->testimony && news->question == question_) {
      told.testimony = std::move(news->testimony);
    }
    if (news->looks.empty()) return;
    told.looks = std::move(news->looks);
    told.is_new = true;
    return;
  }
  if (!group_ || !stall_watch_) return;
  if (news->killed) {
    const auto own = LooksForStalls() ? OwnLooks() : std::vector<answers::RankLook>();
    const bool is_there = std::any_of(own.begin(), own.end(), [&](const answers::RankLook& look) {
      return answers::StandsStill(*news->killed, look);
    });
    // A rank that prints may wait for whoever reads our console, where the stall has been said.
    if (is_there && output_->IsWritten()) {
      (void)KillStalled(news->killed->rank, news->line, news->is_final);
    }
    return;
  }
  if (!news->line.empty()) {
    SayLater(news->line);
    ended_stall_ = news->is_over ? ended_stall_ : news->line;
    stall_ended_ = news->is_over ? clock_.Steady() : std::chrono::steady_clock::time_point::max();
  }
  if (!news->question || !LooksForStalls()) return;
  loop_->Cancel(std::exchange(stall_timer_, 0));
  Testify(OwnLooks(), [this, question = news->question](answers::StallWatch::Testimony testimony) {
    NodeNews answer;
    answer.question = question;
    answer.testimony = std::move(testimony);
    TellNodes(answer);
    LookForStallsLater(kBetweenLooks);
  });
}

}  // namespace launch
