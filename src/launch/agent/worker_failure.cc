// The part of Agent that finds out why workers failed, and reports it.
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/file.h"
#include "base/strings.h"
#include "launch/agent/agent.h"
#include "launch/failure/report_file.h"
#include "launch/machine/process_tree.h"
#include "rendezvous/sockets/resolve.h"
#include "witness/stacks.h"

namespace launch {
namespace {

constexpr size_t kErrorFileLimit = 16 << 20;
constexpr size_t kHostsLimit = 1 << 20;
constexpr off_t kTailOfFile = 16 << 10;

// The end of a log that the worker wrote itself.
std::string TailOfFile(const std::string& path) {
  const base::Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat info{};
  if (!fd || ::fstat(fd.get(), &info) != 0) return "";
  const off_t begin = std::max<off_t>(0, info.st_size - kTailOfFile);
  std::string text(static_cast<size_t>(info.st_size - begin), '\0');
  const ssize_t count = ::pread(fd.get(), text.data(), text.size(), begin);
  text.resize(count > 0 ? static_cast<size_t>(count) : 0);
  if (begin > 0) text.erase(0, text.find('\n') + 1);
  return text;
}

}  // namespace

// As torchrun names the machine (socket.getfqdn()), though from /etc/hosts alone: no report waits
// for a name server. With several nodes, none is called localhost.
std::string Agent::ReportedHost() const {
  const auto hosts = base::ReadFile("/etc/hosts", kHostsLimit);
  if (!hosts) return host_;
  const std::string name = rendezvous::FullName(*hosts, host_);
  return name == "localhost" && !options_.is_single_node ? host_ : name;
}

Failure Agent::FailureOf(const WorkerEnd& end) const {
  Failure failure;
  failure.local_rank = end.local_rank;
  failure.rank = MakeGroup().first_rank + end.local_rank;
  failure.pid = end.pid;
  failure.exit_code = end.exit_code;
  failure.time = end.time;
  failure.was_stopped_by_us = end.was_stopped_by_us;
  failure.host = ReportedHost();
  return failure;
}

// Of a job of several pods, the daemon sees all ranks, and kills the one that holds the others up.
std::string Agent::StallKillOf(const WorkerEnd& end) const {
  constexpr size_t kLongest = 4096;
  const auto folder = environment_.Get(witness::kStacksVariable);
  if (end.exit_code != -SIGKILL || end.was_stopped_by_us || !folder) return "";
  const auto text = base::ReadFile(witness::StallKillFileOf(*folder, end.pid), kLongest);
  return text ? *text : "";
}

void Agent::CollectFailure(const WorkerEnd& end) {
  Failure failure = FailureOf(end);
  failure.was_out_of_memory =
      end.exit_code == -SIGKILL && !end.was_stopped_by_us && OutOfMemoryKills() > kills_before_;
  if (stalled_ && stalled_->pid == end.pid) {
    failure.standstill = stalled_->said;
    failure.has_stalled = true;
  }
  if (const std::string stall = StallKillOf(end); !stall.empty()) {
    failure.standstill = stall;
    failure.has_stalled = true;
    failure.was_out_of_memory = false;
  }
  if (lost_loss_ && lost_loss_->first == end.pid) {
    failure.standstill = lost_loss_->second;
    failure.has_lost_loss = true;
  }
  failures_.push_back(std::move(failure));
  SayDetail(fmt::format("failed (exitcode: {}) local_rank: {} (pid: {}) of binary: {}",
                        end.exit_code, end.local_rank, end.pid, executable_));
}

std::string Agent::TailOf(const WorkerRecord& record) {
  if (record.stderr_stream) {
    std::string tail = output_->Tail(*record.stderr_stream);
    if (!record.stdout_stream || !FindTraceback(tail).empty()) return tail;
    // Some print the traceback to stdout, as their last words.
    const std::string out = output_->Tail(*record.stdout_stream);
    const std::string traceback = FindTraceback(out);
    const bool is_last = !traceback.empty() && base::Trim(out).ends_with(base::Trim(traceback));
    return is_last ? tail + out : tail;
  }
  return record.files.stderr_file.empty() ? "" : TailOfFile(record.files.stderr_file);
}

void Agent::CompleteFailures() {
  for (Failure& failure : failures_) {
    const WorkerRecord& record = workers_[static_cast<size_t>(failure.local_rank)];
    failure.stderr_tail = TailOf(record);
    if (failure.IsSignal() && !failure.was_stopped_by_us && !stacks_folder_.empty()) {
      if (auto crash = witness::CrashOf(stacks_folder_, failure.pid)) failure.crash = crash->text;
    }
    auto text = base::ReadFile(record.files.error_file, kErrorFileLimit);
    if (!text) continue;
    failure.error_file = record.files.error_file;
    failure.error_file_text = std::move(*text);
    if (auto report = answers::ParseErrorFile(failure.error_file_text)) {
      failure.report = std::move(*report);
    } else {
      Say(fmt::format("warning: error file \"{}\": {}", failure.error_file,
                      report.error().message));
    }
  }
  AddStuckWorker();
}

void Agent::ReportFailure() {
  const Failure& root = failures_[FindRootCause(failures_)];
  const Group group = MakeGroup();
  FailureContext context{
      TitleOf(options_), executable_, group.world_size, restarts_, options_.max_restarts, "", ""};
  context.ended_early = ended_early_;
  context.stall = stall_at_failure_;
  if (!root.is_elsewhere) {
    context.stderr_file = workers_[static_cast<size_t>(root.local_rank)].files.stderr_file;
  }
  const std::string report_file = folder_->run_path() + "/failure.json";
  for (const std::string& path : {report_file, options_.failure_file}) {
    if (path.empty()) continue;
    const auto written = WriteReport(path, FailureJson(failures_, context));
    if (written) {
      context.report_file = path;
    } else {
      const int reason = written.error().os_errno;
      if (path == report_file) context.is_log_disk_full = reason == ENOSPC || reason == EDQUOT;
      Say(fmt::format("warning: failure report: {}", written.error().message));
    }
  }
  WriteAgentErrorFile(root);
  const std::string last = snapshots_ ? snapshots_->LastOf(root) : "";
  if (!last.empty()) Say(last);
  SayPosted(root);
  std::string text = FailureTable(context.title, failures_);
  if (options_.explains) text += ExplainText(failures_, context);
  output_->Say(text);
}

void Agent::WriteAgentErrorFile(const Failure& root) {
  const auto path = environment_.Get("TORCHELASTIC_ERROR_FILE");
  if (!path || root.error_file_text.empty()) return;
  auto text = WithErrorCode(root.error_file_text, root.exit_code);
  if (!text) return;
  if (auto written = WriteReport(*path, *text); !written) {
    Say(fmt::format("warning: TORCHELASTIC_ERROR_FILE: {}", written.error().message));
  }
}

}  // namespace launch
