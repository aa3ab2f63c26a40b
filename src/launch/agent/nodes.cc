// The part of Agent that runs this node's share of a job on several nodes.
//
//   OnStart -> workers run -> Succeeded, or Failed, or OnStop -> all gone -> Stopped ... OnEnd
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/file.h"
#include "base/machine/signal_name.h"
#include "launch/agent/agent.h"
#include "witness/meetings.h"
#include "witness/stacks.h"

namespace launch {
namespace {

constexpr base::Duration kNodeGrace = std::chrono::seconds(5);
// The wait for a worker's last output, if a process that it left behind keeps its stderr open.
constexpr base::Duration kLongestLastWords = std::chrono::milliseconds(200);
constexpr size_t kLastWords = 4 << 10;

std::string WhyStopped(rendezvous::StopReason reason,
                       const std::optional<rendezvous::Failure>& failure) {
  std::string text = failure ? failure->text : std::string();
  switch (reason) {
    case rendezvous::StopReason::kWorkerFailed:
      return failure ? fmt::format("rank {} on {} failed, {}", failure->rank, failure->host, text)
                     : "a worker failed";
    case rendezvous::StopReason::kNodeLost:
    case rendezvous::StopReason::kNodeLeft:
    case rendezvous::StopReason::kHostLost:
      return text.empty() ? "a node was lost" : text;
    case rendezvous::StopReason::kNodeJoined:
      return "a node joins";
  }
  return text;
}

std::string PlainEnd(int exit_code) {
  return exit_code < 0 ? base::SignalName(-exit_code) : fmt::format("exit code {}", exit_code);
}

rendezvous::RendezvousConfig ConfigOf(const Options& options, const std::string& host) {
  rendezvous::RendezvousConfig config;
  config.node.run_id = options.run_id;
  config.node.min_nodes = options.min_nodes;
  config.node.max_nodes = options.max_nodes;
  config.node.nproc = options.nproc_per_node;
  config.node.role = options.role;
  config.node.max_restarts = options.max_restarts;
  config.node.host = options.local_addr.empty() ? host : options.local_addr;
  config.node.is_static = options.is_static;
  if (options.is_static || options.has_node_rank) config.node.node_rank = options.node_rank;
  config.endpoint_host = options.endpoint_host;
  config.endpoint_port = static_cast<uint16_t>(options.endpoint_port);
  config.endpoint_flag = options.endpoint_flag;
  config.is_host = options.conf.is_host;
  config.token = options.conf.token;
  const auto set = [](const std::optional<base::Duration>& from, base::Duration& to) {
    if (from) to = *from;
  };
  if (options.is_static) config.last_call_timeout = {};
  set(options.conf.join_timeout, config.join_timeout);
  set(options.conf.last_call_timeout, config.last_call_timeout);
  set(options.conf.keep_alive_interval, config.heartbeat_interval);
  set(options.conf.heartbeat_timeout, config.heartbeat_timeout);
  set(options.conf.stop_timeout, config.stop_timeout);
  return config;
}

}  // namespace

base::Status Agent::JoinNodes() {
  if (!options_.local_addr.empty()) host_ = options_.local_addr;
  AwaitOthers();
  TRY_ASSIGN(rendezvous_,
             rendezvous::Rendezvous::Join(*loop_, clock_, ConfigOf(options_, host_), *this));
  return {};
}

void Agent::AwaitOthers() { awaits_since_ = {clock_.Now(), clock_.Steady()}; }

// For the ledger of the job to which this pod belongs.
void Agent::NoteMeeting() {
  const std::string folder = environment_.GetOr(witness::kStacksVariable, "off");
  if (folder == "off") return;
  const auto& [since, steady] = awaits_since_;
  witness::NoteMeeting(
      folder, since, since + std::chrono::duration_cast<base::Duration>(clock_.Steady() - steady));
}

void Agent::OnStart(const rendezvous::Assignment& assignment) {
  NoteMeeting();
  // A host that takes the place of another one counts from 1 again.
  attempt_ = std::max(assignment_ ? attempt_ + 1 : 0, static_cast<int>(assignment.generation) - 1);
  assignment_ = assignment;
  told_.clear();
  restarts_ = assignment.restart_count;
  is_idle_ = false;
  has_to_say_stopped_ = false;
  const Group group = MakeGroup();
  Say(fmt::format("node {} of {}: ranks {} to {} of {}, start {}", group.group_rank,
                  group.group_world_size, group.first_rank,
                  group.first_rank + options_.nproc_per_node - 1, group.world_size,
                  assignment.generation));
  Begin();
}

// Once its last lines have arrived.
void Agent::SendFailureLater(const WorkerEnd& end) {
  const uint64_t generation = assignment_->generation;
  const auto& stream = workers_[static_cast<size_t>(end.local_rank)].stderr_stream;
  if (!stream) return SendFailure(end, generation);
  if (failure_timer_ != 0) return;  // there was one before it
  const auto send = [this, end, generation] {
    if (failure_timer_ == 0) return;
    loop_->Cancel(std::exchange(failure_timer_, 0));
    SendFailure(end, generation);
  };
  failure_timer_ = loop_->After(kLongestLastWords, send);
  output_->WhenEnded(*stream, [this, send] { loop_->Post(send); });
}

void Agent::SendFailure(const WorkerEnd& end, uint64_t generation) {
  rendezvous::Failure failure;
  failure.host = host_;
  failure.rank = MakeGroup().first_rank + end.local_rank;
  failure.local_rank = end.local_rank;
  failure.exit_code = end.exit_code;
  failure.text = PlainEnd(end.exit_code);
  failure.pid = end.pid;
  const WorkerRecord& record = workers_[static_cast<size_t>(end.local_rank)];
  failure.last_lines = TailOf(record);
  if (failure.last_lines.size() > kLastWords) {
    failure.last_lines.erase(0, failure.last_lines.size() - kLastWords);
    failure.last_lines.erase(0, failure.last_lines.find('\n') + 1);
  }
  const auto known = std::find_if(failures_.begin(), failures_.end(), [&](const Failure& each) {
    return each.local_rank == end.local_rank;
  });
  if (known != failures_.end()) {
    failure.has_stalled = known->has_stalled;
    failure.has_lost_loss = known->has_lost_loss;
    failure.was_out_of_memory = known->was_out_of_memory;
    if (!known->standstill.empty()) failure.text = known->standstill;
  }
  failure.is_final =
      failure.has_lost_loss || (stalled_ && stalled_->pid == end.pid && stalled_->is_final);
  const auto text = base::ReadFile(record.files.error_file, 1 << 20);
  if (text) {
    if (const auto report = answers::ParseErrorFile(*text)) failure.text = report->message;
  }
  rendezvous_->Failed(generation, failure);
}

void Agent::OnStop(uint64_t generation, rendezvous::StopReason reason,
                   const std::optional<rendezvous::Failure>& failure, base::Duration within) {
  if (!assignment_ || generation != assignment_->generation) return;
  if (!has_to_say_stopped_) {
    SayLater(fmt::format("{}: {}", WhyStopped(reason, failure),
                         reason == rendezvous::StopReason::kHostLost ? "the ranks here stop"
                                                                     : "all stop and start again"));
  }
  has_to_say_stopped_ = true;
  if (is_idle_) return OnNodeIdle();
  // After this time the others go on.
  loop_->After(within, [this, generation] {
    if (!is_idle_ && assignment_->generation == generation && group_->IsStopping()) {
      group_->Stop(SIGKILL, {}, nullptr);
    }
  });
  StopGroup(
      Ending::kFailure, SIGTERM,
      std::min<base::Duration>(options_.shutdown_timeout.value_or(
                                   std::chrono::duration_cast<std::chrono::seconds>(kNodeGrace)),
                               within));
}

void Agent::OnEnd(const rendezvous::End& end) {
  end_ = end;
  if (is_idle_) return FinishWithOthers();
  StopGroup(Ending::kFailure, SIGTERM,
            options_.shutdown_timeout.value_or(
                std::chrono::duration_cast<std::chrono::seconds>(kNodeGrace)));
}

void Agent::OnLease(std::optional<base::Duration> left) {
  if (side_.lease) side_.lease->Set(left, clock_);
}

void Agent::OnProgress(const std::string& line) { SayLater(line); }

// The workers are gone, and their output is written.
void Agent::OnNodeIdle() {
  const bool was_running = !std::exchange(is_idle_, true);
  if (ending_ == Ending::kSignal) {
    rendezvous_->Leave("it got " + base::SignalName(end_signal_));
    SayEndedBySignal();
    return Finish(128 + end_signal_);
  }
  if (!end_ && group_ && group_->has_given_up()) {
    ending_ = Ending::kCannotStart;
    start_error_ = "processes of the previous start do not end";
  }
  if (ending_ == Ending::kCannotStart) {
    rendezvous_->Leave(start_error_);
    SayError(start_error_);
    return Finish(1);
  }
  if (end_) return FinishWithOthers();
  if (std::exchange(has_to_say_stopped_, false)) {
    AwaitOthers();
    loop_->Cancel(std::exchange(stall_timer_, 0));
    return rendezvous_->Stopped(assignment_->generation);
  }
  if (!was_running || ending_ != Ending::kSuccess) return;
  TellOwnEnd();
  rendezvous_->Succeeded(assignment_->generation);
}

void Agent::FinishWithOthers() {
  switch (end_->kind) {
    case rendezvous::EndKind::kSucceeded:
      PrintLastEvents(true);
      return Finish(0);
    case rendezvous::EndKind::kError:
      SayError(end_->error.message);
      return Finish(1);
    case rendezvous::EndKind::kFailed:
      PrintLastEvents(false);
      return Finish(end_->failure ? ReportOthersFailure(*end_->failure) : 1);
  }
}

int Agent::ReportOthersFailure(const rendezvous::Failure& failure) {
  if (failure.rank < 0) {
    // A rank here may have failed just before; the others have not heard of it.
    const Failure* const own = failures_.empty() ? nullptr : &failures_[FindRootCause(failures_)];
    const bool is_apart = own != nullptr && !own->was_stopped_by_us && !WaitedForPeers(*own);
    if (is_apart) ReportFailure();
    SayError(failure.text);
    return is_apart ? ExitCodeOf(*own) : 1;
  }
  const bool is_ours = failure.host == host_ &&
                       std::any_of(failures_.begin(), failures_.end(), [&](const Failure& known) {
                         return known.rank == failure.rank;
                       });
  if (!is_ours) {
    Failure root;
    root.rank = failure.rank;
    root.local_rank = failure.local_rank;
    root.exit_code = failure.exit_code;
    root.pid = failure.pid;
    root.is_elsewhere = true;
    root.stderr_tail = failure.last_lines;
    root.host = failure.host;
    root.has_stalled = failure.has_stalled;
    root.has_lost_loss = failure.has_lost_loss;
    root.was_out_of_memory = failure.was_out_of_memory;
    if (failure.has_stalled || failure.has_lost_loss) {
      root.standstill = failure.text;
    } else if (failure.text != PlainEnd(failure.exit_code)) {
      root.report = answers::ErrorReport{failure.text, "", std::nullopt};
    }
    root.time = clock_.Now();
    for (const Failure& known : failures_) root.time = std::min(root.time, known.ReportedTime());
    failures_.insert(failures_.begin(), std::move(root));
  }
  ReportFailure();
  return ExitCodeOf(failures_[FindRootCause(failures_)]);
}

}  // namespace launch
