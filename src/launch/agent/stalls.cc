// The part of Agent that reports which rank holds the others up, while it does.
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <utility>

#include "base/file.h"
#include "base/strings.h"
#include "launch/agent/agent.h"
#include "launch/machine/process_tree.h"
#include "launch/shim/python_shim.h"
#include "launch/shim/stacks_hook.h"
#include "witness/native.h"
#include "witness/recorder.h"
#include "witness/unanswered.h"

namespace launch {
namespace {

// A rank on a busy machine gets no processor for a while.
constexpr base::Duration kLongestAnswer = 6 * kAnswer;
// By then the recorders have their answers ready, and reading them takes only a moment.
constexpr std::chrono::milliseconds kTake{30};
constexpr int kLooksBetweenPlaces = 4;
constexpr int kLongestPlaceLooks = 20;

}  // namespace

// Only for several ranks: a single rank waits for nobody. A pod has a folder already.
void Agent::PrepareStacks() {
  if (options_.on_stall == OnStall::kOff) return;
  if (options_.nproc_per_node * options_.max_nodes < 2) return;
  const auto given = environment_.Get(witness::kStacksVariable);
  watches_stalls_ = given != "off";
  if (options_.kind == ProgramKind::kProgram) return;
  if (given) {
    stacks_folder_ = *given == "off" ? "" : *given;
    is_in_pod_ = watches_stalls_;
    return;
  }
  // Best effort: the job does not depend on it.
  if (auto written = WriteHook(); !written) SayDetail(written.error().message);
}

base::Status Agent::WriteHook() {
  TRY_ASSIGN(const std::string folder, OwnFolder());
  TRY(WriteStacksHook(folder));
  stacks_folder_ = folder;
  environment_.Set(witness::kStacksVariable, folder);
  // A forked rank has no interpreter start of its own: its keeper gives it the folder.
  if (!warm_) environment_.Set("PYTHONPATH", StacksPythonPath(folder, environment_));
  return {};
}

void Agent::WatchStalls() {
  loop_->Cancel(std::exchange(stall_timer_, 0));
  loop_->Cancel(std::exchange(place_timer_, 0));
  straggler_looks_ = 0;
  snapshots_.reset();
  stall_watch_.reset();
  stall_teller_.reset();
  said_stall_.reset();
  ended_stall_.clear();
  stall_at_failure_.clear();
  stalled_.reset();
  if (!watches_stalls_) return;
  const Group group = MakeGroup();
  const bool sees_all = group.world_size == options_.nproc_per_node || SharesStalls();
  stall_watch_.emplace(options_.stall_after, sees_all, group.world_size);
  looks_since_judged_.clear();
  snapshots_.emplace(*loop_, clock_, stacks_folder_);
  LookForStallsLater(kLook);
}

void Agent::LookForStallsLater(base::Duration pause) {
  loop_->Cancel(stall_timer_);
  stall_timer_ = loop_->After(pause, [this] {
    stall_timer_ = 0;
    LookForStalls();
  });
}

std::vector<answers::RankLook> Agent::OwnLooks() const {
  const std::vector<pid_t> pids = group_->Pids();
  const int first = MakeGroup().first_rank;
  std::vector<answers::RankLook> looks;
  process::ProcessTree tree;
  for (size_t i = 0; i < pids.size(); ++i) {
    answers::RankLook& look = looks.emplace_back();
    look.rank = first + static_cast<int>(i);
    look.pid = pids[i];
    look.has_ended = pids[i] == 0;
    if (look.has_ended) continue;
    look.activity = stacks_folder_.empty() ? witness::NativeActivityOf(pids[i], tree)
                                           : witness::ActivityOf(stacks_folder_, pids[i], tree);
  }
  return looks;
}

void Agent::LookForStalls() {
  if (!LooksForStalls()) return;
  // A rank that prints may wait for whoever reads our console, and is not killed for that.
  if (options_.on_stall == OnStall::kRestart || options_.on_stall == OnStall::kStop) {
    if (!output_->IsWritten()) return LookForStallsLater(kLook);
    output_->Say("");
  }
  const std::vector<answers::RankLook> own = OwnLooks();
  std::vector<answers::RankLook> looks = own;
  bool asks = false;
  if (!IsJudge()) {
    NodeNews news;
    news.looks = own;
    TellNodes(news);
  } else if (AddOthersLooks(looks)) {
    asked_at_ = clock_.Steady();
    asks = stall_watch_->See(asked_at_, looks);
    if (SharesStalls()) EndStalledOfNodes(looks);
    if (!asks) {
      SayStall();
      TellStall();
    }
  }
  if (!asks) {
    snapshots_->Take(own, [this] { SayStraggler(); });
    return LookForStallsLater(kLook);
  }
  AskOthers();
  Testify(own, [this](answers::StallWatch::Testimony testimony) {
    JudgeWithOthers(std::move(testimony), 0);
  });
}

// Calls `then`, unless the group stops meanwhile or is another one.
void Agent::Testify(const std::vector<answers::RankLook>& looks,
                    std::function<void(answers::StallWatch::Testimony)> then) {
  const std::vector<pid_t> pids = group_->Pids();
  const int first = MakeGroup().first_rank;
  std::vector<pid_t> running;
  std::copy_if(pids.begin(), pids.end(), std::back_inserter(running),
               [](pid_t pid) { return pid != 0; });
  process::ProcessTree tree;
  answers::StallWatch::Testimony known;
  known.with_work = witness::RanksWithWork(looks, tree);
  const bool is_native = witness::ProcessesIn(stacks_folder_).empty();
  const auto unanswered_by =
      SharesStalls() ? witness::UnansweredOf(running) : std::map<pid_t, std::string>();
  for (const answers::RankLook& look : looks) {
    if (look.has_ended) continue;
    const auto unanswered = unanswered_by.find(look.pid);
    if (unanswered != unanswered_by.end()) known.unanswered[look.rank] = unanswered->second;
    if (!is_native) continue;
    if (auto sleep = witness::KernelSleepOf(look.pid, tree)) known.kernel[look.rank] = *sleep;
  }
  auto recorders =
      std::make_shared<witness::RecorderQuestion>(witness::PidsByFolder{{stacks_folder_, running}});
  AskStacks(running, stall_timer_,
            [this, recorders, pids, first, known, then = std::move(then)](Dumps answers) {
              if (!LooksForStalls() || group_->Pids() != pids) {
                return LookForStallsLater(kLook);
              }
              const auto rank_of = [&](pid_t pid) {
                const auto worker = std::find(pids.begin(), pids.end(), pid);
                return first + static_cast<int>(worker - pids.begin());
              };
              const auto by_rank = [&](Dumps by_pid) {
                std::map<int, std::string> ranks;
                for (auto& [pid, answer] : by_pid) ranks[rank_of(pid)] = std::move(answer);
                return ranks;
              };
              answers::StallWatch::Testimony testimony = known;
              testimony.dumps = by_rank(std::move(answers));
              testimony.traces = by_rank(recorders->Await(kTake));
              testimony.lacks_traces = recorders->LacksAnswers();
              // The host has other files.
              for (const auto& [rank, dump] : testimony.dumps) {
                if (!SharesStalls()) break;
                testimony.lines[rank] = answers::LineOfDump(dump, witness::SourceLine);
              }
              for (const pid_t pid : recorders->Mute()) testimony.mute.insert(rank_of(pid));
              then(std::move(testimony));
            });
}

void Agent::AskStacks(const std::vector<pid_t>& pids, process::EventLoop::TimerId& timer,
                      std::function<void(Dumps)> then) {
  const witness::PidsByFolder asked{{stacks_folder_, pids}};
  AwaitStacks(std::make_shared<witness::Question>(asked), kAnswer, timer, std::move(then));
}

void Agent::AwaitStacks(std::shared_ptr<witness::Question> question, base::Duration waited,
                        process::EventLoop::TimerId& timer, std::function<void(Dumps)> then) {
  timer = loop_->After(kAnswer, [this, question = std::move(question), waited, &timer,
                                 then = std::move(then)]() mutable {
    timer = 0;
    if (waited < kLongestAnswer && question->LacksAnswers()) {
      return AwaitStacks(std::move(question), waited + kAnswer, timer, std::move(then));
    }
    then(question->Answers());
  });
}

// Prints each stall once, again when more is known about it, and when it is over; the status line
// shows it all the time.
void Agent::SayStall(const std::map<int, std::string>& dumps) {
  const auto& stall = stall_watch_->stall();
  if (!stall) {
    if (!said_stall_) return;
    SayToAll(
        fmt::format("they continue after {} s", std::chrono::duration_cast<std::chrono::seconds>(
                                                    clock_.Steady() - said_stall_->since)
                                                    .count()),
        true);
    ended_stall_ = SayWithNodes(*said_stall_);
    stall_ended_ = clock_.Steady();
    said_stall_.reset();
    return ShowStatus("running");
  }
  const std::string said = SayWithNodes(*stall);
  const bool is_new =
      !said_stall_ || said_stall_->kind != stall->kind || said_stall_->missing != stall->missing;
  const bool says_more = !is_new && said_stall_->is_partial && said_stall_->text != stall->text;
  said_stall_ = stall;
  ShowStatus("running, " + said);
  if (is_new || says_more) SayToAll(said);
  if (!is_new) return;
  if (options_.on_stall == OnStall::kReport) return;
  if (!dumps.empty()) SayLater(answers::RenderStacks(stall_watch_->looks(), dumps));
  if (options_.on_stall == OnStall::kStacks || stall->kind != answers::Stall::Kind::kStalled) {
    return;
  }
  if (!SharesStalls()) EndStalled(*stall, said);
}

// Only if it sees all ranks, and not about a rank that it has just killed: the others stop, too.
void Agent::TellStall() {
  const std::vector<pid_t> pids = group_->Pids();
  const bool sees_all = MakeGroup().world_size == options_.nproc_per_node;
  if (!is_in_pod_ || !sees_all || stalled_ || group_->IsStopping()) return;
  if (!stall_teller_ && pids[0] != 0) stall_teller_.emplace(stacks_folder_, pids[0]);
  if (stall_teller_) stall_teller_->Tell({stall_watch_->stall()});
}

// A rank that waits in vain moves again to say so, and its process takes a while to end.
std::string Agent::StallNow() const {
  constexpr std::chrono::seconds kLongestEnd{10};
  if (said_stall_) return SayWithNodes(*said_stall_);
  const bool has_just_ended = clock_.Steady() - stall_ended_ < kLongestEnd;
  return has_just_ended ? ended_stall_ : "";
}

// Prints a straggler once, until another rank is one: when it is known where the rank mostly is, or
// that this cannot be seen. The status line shows it as long as it lasts.
void Agent::SayStraggler() {
  const auto straggler = snapshots_->Straggler();
  if (!straggler || said_stall_) {
    if (std::exchange(straggler_looks_, 0) > 0 && !said_stall_) ShowStatus("running");
    return;
  }
  if (snapshots_->IsNew(*straggler)) {
    straggler_looks_ = 0;
    has_said_straggler_ = false;
  }
  const std::string place = snapshots_->places().Say();
  std::string said = answers::Say(*straggler);
  if (!place.empty()) said += "; it is " + place;
  ShowStatus("running, " + said);
  if (!has_said_straggler_ && (!place.empty() || straggler_looks_ > kLongestPlaceLooks)) {
    has_said_straggler_ = true;
    SayLater(said);
  }
  // Rarely, because it wakes the rank up.
  if (straggler_looks_++ % kLooksBetweenPlaces == 0) LookWhere(straggler->rank);
}

void Agent::LookWhere(int rank) {
  const std::vector<pid_t> pids = group_->Pids();
  const auto index = static_cast<size_t>(rank - MakeGroup().first_rank);
  if (index >= pids.size() || pids[index] == 0) return;
  const pid_t pid = pids[index];
  loop_->Cancel(place_timer_);
  AskStacks({pid}, place_timer_, [this, pid](const Dumps& answers) {
    const auto answer = answers.find(pid);
    if (snapshots_ && answer != answers.end()) snapshots_->places().See(answer->second);
  });
}

// It ends as any failed rank does, here and for the other nodes. In a pod, where the missing rank
// may be one that this launcher does not see, it is the first that waits.
void Agent::EndStalled(const answers::Stall& stall, const std::string& said) {
  const bool is_final = options_.on_stall == OnStall::kStop;
  for (const int rank : stall.missing) {
    if (KillStalled(rank, said, is_final)) return;
  }
  (void)KillStalled(stall.waiting[0], said, is_final);
}

// Reports the first rank only, because the others lose their losses with it. With --stop-on-nan it
// ends as any failed rank does, and is not started again.
void Agent::OnLostLoss(int local_rank, const std::string& line) {
  if (lost_loss_ || !group_ || group_->IsStopping()) return;
  const std::string said = "a loss is not a number any more: " + base::OneLine(line, 200);
  if (!options_.stop_on_nan) {
    if (std::exchange(has_said_lost_loss_, true)) return;
    return SayLater(fmt::format("warning: rank {}: {}", MakeGroup().first_rank + local_rank, said));
  }
  const std::vector<pid_t> pids = group_->Pids();
  const auto index = static_cast<size_t>(local_rank);
  if (index >= pids.size() || pids[index] == 0) return;
  lost_loss_ = {pids[index], said};
  SayLater(fmt::format("rank {}: {}", MakeGroup().first_rank + local_rank, lost_loss_->second));
  ::kill(pids[index], SIGKILL);
}

}  // namespace launch
