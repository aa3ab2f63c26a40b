#include "arena/run/sweep_runner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <memory>
#include <thread>

#include "api/rank_label.h"
#include "arena/run/sweep.h"
#include "arena/run/sweep_files.h"
#include "arena/run/trial_events.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/file.h"
#include "base/log.h"
#include "base/machine/disk.h"
#include "base/strings.h"
#include "net/socket/tcp.h"
#include "process/event_loop.h"
#include "process/pidfd.h"
#include "process/signals.h"
#include "process/spawn.h"
#include "text/metrics.h"

namespace arena {
namespace {

using base::Code;
using base::Fail;

constexpr std::chrono::seconds kDrainTime{1};
constexpr size_t kMaxLine = 64 << 10;
constexpr size_t kMaxLastLine = 500;
constexpr size_t kMaxMetrics = 100;
constexpr size_t kShownFailures = 20;

int64_t NowMillis() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             base::SystemClock().Now().time_since_epoch())
      .count();
}

std::vector<std::string> GpusOf(const base::Environment& environment) {
  std::vector<std::string> gpus;
  for (std::string& gpu : base::Split(environment.GetOr("CUDA_VISIBLE_DEVICES", ""), ',')) {
    if (!gpu.empty()) gpus.push_back(std::move(gpu));
  }
  return gpus;
}

// A port that was free a moment ago; "" when there is none.
std::string FreePort() {
  const base::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (!socket || ::bind(socket.get(), raw, sizeof address) != 0) return "";
  return fmt::to_string(net::LocalPort(socket.get()));
}

// `stand_in` is the program that forks a warm Python, if the pod may use one; otherwise "".
std::string Warmed(const std::string& command, const std::string& stand_in) {
  constexpr std::string_view kPython = "exec python ";
  if (stand_in.empty() || !command.starts_with(kPython)) return command;
  return fmt::format("exec {} {}", base::ShellQuote(stand_in), command.substr(5));
}

class Runner {
 public:
  Runner(std::string files, std::vector<Trial> trials, const base::Environment& environment,
         cli::Output& out)
      : files_(std::move(files)),
        environment_(environment),
        stand_in_(environment.GetOr("MUSTER_WARM_PYTHON", "")),
        out_(out) {
    for (Trial& trial : trials) waiting_.push_back(std::move(trial));
  }

  base::Status Run(int64_t parallel) {
    TRY_ASSIGN(loop_, process::EventLoop::Create(base::SystemClock()));
    TRY(TakeSignals());
    results_ = base::Fd(
        ::open((files_ + "/trials.jsonl").c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!results_) return Fail(base::WriteErrno(errno, "open", files_ + "/trials.jsonl"));
    TRY(EndTornLine());
    slots_.resize(static_cast<size_t>(parallel), nullptr);
    Fill();
    if (running_ > 0) TRY(loop_->Run());
    (void)::fsync(results_.get());
    return failure_;
  }
  bool was_stopped() const { return is_stopping_; }

 private:
  struct Running {
    Trial trial;
    size_t slot = 0;
    base::Fd process;
    pid_t pid = 0;
    base::Fd output;
    base::Fd log;
    std::string line;
    TrialResult result;
    std::map<std::string, int> printed_by;  // the lowest rank that has printed a metric
    std::optional<int> status;              // as waitpid returned it
  };

  std::string FolderOf(const Trial& trial) const { return FolderOfTrial(files_, trial.index); }

  base::Status TakeSignals() {
    TRY_ASSIGN(signals_, process::OpenSignalFd({SIGTERM, SIGINT, SIGHUP}));
    return loop_->Watch(signals_.get(), EPOLLIN, [this](uint32_t) {
      const auto signal = process::ReadSignal(signals_.get());
      if (!signal) return;
      is_stopping_ = true;
      waiting_.clear();
      for (const auto& running : slots_) {
        if (running) ::kill(-running->pid, static_cast<int>(signal->ssi_signo));
      }
      EndIfDone();
    });
  }

  // Ends a line that an earlier runner left incomplete when it was killed.
  base::Status EndTornLine() const {
    char last = '\n';
    const off_t size = ::lseek(results_.get(), 0, SEEK_END);
    if (size <= 0 || ::pread(results_.get(), &last, 1, size - 1) != 1 || last == '\n') return {};
    return base::WriteAll(results_.get(), "\n", files_ + "/trials.jsonl");
  }

  void Fill() {
    for (size_t slot = 0; slot < slots_.size() && !waiting_.empty() && failure_; ++slot) {
      if (slots_[slot]) continue;
      Trial trial = std::move(waiting_.front());
      waiting_.pop_front();
      if (base::Status begun = Begin(std::move(trial), slot); !begun) Abort(begun.error());
    }
    EndIfDone();
  }

  // Stops the sweep if trials cannot be run or recorded at all, for example because the disk is
  // full.
  void Abort(base::Error error) {
    failure_ = Fail(std::move(error));
    waiting_.clear();
    for (const auto& running : slots_) {
      if (running) ::kill(-running->pid, SIGTERM);
    }
  }

  void EndIfDone() {
    if (running_ == 0 && waiting_.empty()) loop_->Stop();
  }

  std::vector<std::string> EnvironmentOf(const Trial& trial, const std::string& folder,
                                         size_t slot) const {
    base::Environment made = environment_;
    made.Set("SWEEP_INDEX", fmt::to_string(trial.index));
    for (const auto& [name, value] : trial.values) made.Set("SWEEP_" + base::ToUpper(name), value);
    made.Set("MUSTER_RUN_DIR", folder + "/files");
    made.Set("MUSTER_BARS", "");  // they are not recognised behind a label
    const std::string port = FreePort();
    for (const char* prefix : {"", "PET_"}) {  // torchrun reads PET_*
      made.Set(fmt::format("{}MASTER_ADDR", prefix), "127.0.0.1");
      made.Set(fmt::format("{}MASTER_PORT", prefix), port);
    }
    const std::vector<std::string> gpus = GpusOf(environment_);
    if (!gpus.empty()) {
      const size_t share = std::max<size_t>(1, gpus.size() / slots_.size());
      std::vector<std::string> own;
      for (size_t i = 0; i < share; ++i) own.push_back(gpus[(slot * share + i) % gpus.size()]);
      made.Set("CUDA_VISIBLE_DEVICES", base::Join(own, ","));
    }
    return made.AsList();
  }

  base::Status Begin(Trial trial, size_t slot) {
    const std::string folder = FolderOf(trial);
    TRY(base::MakeDirs(folder + "/files", 0777 & ~process::CurrentUmask()));
    auto running = std::make_shared<Running>();
    running->slot = slot;
    running->log = base::Fd(
        ::open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    if (!running->log) return Fail(base::WriteErrno(errno, "open", folder + "/log"));
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return Fail(base::Errno(errno, "pipe"));
    running->output = base::Fd(ends[0]);
    const base::Fd written(ends[1]);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    const base::Fd null(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    process::SpawnOptions options;
    options.path = "/bin/sh";
    options.argv = {"sh", "-c", Warmed(trial.command, stand_in_)};
    options.env = EnvironmentOf(trial, folder, slot);
    options.fds = {{null.get(), 0}, {written.get(), 1}, {written.get(), 2}};
    options.group = process::SpawnOptions::Group::kProcessGroup;
    TRY_ASSIGN(running->pid, process::Spawn(options));
    TRY_ASSIGN(running->process, process::OpenPidfd(running->pid));
    running->result.index = trial.index;
    running->result.started = NowMillis();
    running->trial = std::move(trial);
    slots_[slot] = running;
    ++running_;
    TRY(loop_->Watch(running->output.get(), EPOLLIN, [this, running](uint32_t) { Read(running); }));
    return loop_->Watch(running->process.get(), EPOLLIN,
                        [this, running](uint32_t) { Reap(running); });
  }

  void Read(const std::shared_ptr<Running>& running) {
    char buffer[64 << 10];
    const ssize_t count = ::read(running->output.get(), buffer, sizeof buffer);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
      return CloseOutput(running);
    }
    const std::string_view bytes(buffer, static_cast<size_t>(count));
    const std::string path = FolderOf(running->trial) + "/log";
    if (base::Status written = base::WriteAll(running->log.get(), bytes, path); !written) {
      Abort(written.error());
    }
    for (const char c : bytes) {
      if (c != '\n') running->line += c;
      if (c == '\n' || running->line.size() >= kMaxLine) TakeLine(*running);
    }
  }

  void CloseOutput(const std::shared_ptr<Running>& running) {
    loop_->Unwatch(running->output.get());
    running->output.Reset();
    if (!running->line.empty()) TakeLine(*running);
    Finish(running);
  }

  void TakeLine(Running& running) {
    std::string line = std::exchange(running.line, "");
    // Only the last state of a progress bar is kept.
    if (line.ends_with('\r')) line.pop_back();
    if (const size_t again = line.rfind('\r'); again != std::string::npos) {
      line = line.substr(again + 1);
    }
    (void)out_.Write(fmt::format("[{}] {}\n", TrialLabel(running.trial.values), line));
    TakeMetricsOfLine(running, line);
    if (const std::string_view words = base::Trim(line); !words.empty()) {
      running.result.last_line = words.substr(0, kMaxLastLine);
    }
  }

  // If several ranks print the same metric, the lowest rank counts, because it is chance which
  // prints last.
  void TakeMetricsOfLine(Running& running, std::string_view line) {
    const auto label = api::ReadRankLabel(line);
    const int rank = label ? label->number : 0;
    auto metrics = text::MetricsOf(label ? label->text : line);
    std::erase_if(metrics, [&](const auto& metric) {
      int& lowest = running.printed_by.try_emplace(metric.first, rank).first->second;
      lowest = std::min(lowest, rank);
      return lowest < rank;
    });
    TakeMetrics(running, metrics);
  }

  template <typename Metrics>
  void TakeMetrics(Running& running, const Metrics& metrics) {
    for (const auto& [name, value] : metrics) {
      const bool is_known = running.result.metrics.contains(name);
      if (is_known || running.result.metrics.size() < kMaxMetrics) {
        running.result.metrics[name] = value;
      }
    }
  }

  void Reap(const std::shared_ptr<Running>& running) {
    int status = 0;
    if (::waitpid(running->pid, &status, WNOHANG) != running->pid) return;
    loop_->Unwatch(running->process.get());
    running->status = status;
    // Processes that the trial left behind may keep its output open.
    ::kill(-running->pid, SIGKILL);
    loop_->After(kDrainTime, [this, running] {
      if (running->output) CloseOutput(running);
    });
    Finish(running);
  }

  void Finish(const std::shared_ptr<Running>& running) {
    if (!running->status || running->output) return;
    const int status = *running->status;
    running->result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    running->result.ended = NowMillis();
    TakeMetrics(*running, LoggedScalars(FolderOf(running->trial) + "/files"));
    // A trial that was stopped is not recorded, so that it is run again.
    const bool is_over = !is_stopping_ || running->result.exit_code == 0;
    if (is_over && failure_) {
      const base::Status written =
          base::WriteAll(results_.get(), ToLine(running->result), files_ + "/trials.jsonl");
      if (!written) Abort(written.error());
    }
    slots_[running->slot] = nullptr;
    --running_;
    Fill();
  }

  const std::string files_;
  const base::Environment& environment_;
  const std::string stand_in_;
  cli::Output& out_;
  std::unique_ptr<process::EventLoop> loop_;
  base::Fd signals_;
  base::Fd results_;
  std::deque<Trial> waiting_;
  std::vector<std::shared_ptr<Running>> slots_;
  size_t running_ = 0;
  bool is_stopping_ = false;
  base::Status failure_;
};

std::string Summary(const std::vector<Trial>& trials,
                    const std::map<int64_t, TrialResult>& results) {
  std::vector<std::string> failures;
  size_t ended = 0;
  for (const Trial& trial : trials) {
    const auto found = results.find(trial.index);
    if (found == results.end()) continue;
    ++ended;
    if (found->second.exit_code == 0) continue;
    const std::string& last_line = found->second.last_line;
    failures.push_back(fmt::format("{} exited with code {}{}{}", TrialLabel(trial.values),
                                   found->second.exit_code, last_line.empty() ? "" : ": ",
                                   last_line));
  }
  std::string text = fmt::format("{} of {} trial{} ended, {} of them failed\n", ended,
                                 trials.size(), trials.size() == 1 ? "" : "s", failures.size());
  for (size_t i = 0; i < failures.size() && i < kShownFailures; ++i) {
    text += fmt::format("  {}\n", failures[i]);
  }
  if (failures.size() > kShownFailures) {
    text += fmt::format("  and {} more\n", failures.size() - kShownFailures);
  }
  // The sweep's exit code is that of the first failure, and its last line becomes the reason of the
  // job's failure.
  if (failures.size() > 1) text += fmt::format("the first of them: {}\n", failures.front());
  return text;
}

// Returns the trials that have not ended. If all have ended, this is a retry of the job (--retry),
// and the failed trials are run again.
std::vector<Trial> TrialsToRun(const std::vector<Trial>& trials,
                               const std::map<int64_t, TrialResult>& results) {
  std::vector<Trial> left, failed;
  for (const Trial& trial : trials) {
    const auto found = results.find(trial.index);
    if (found == results.end()) left.push_back(trial);
    if (found != results.end() && found->second.exit_code != 0) failed.push_back(trial);
  }
  return left.empty() ? failed : left;
}

}  // namespace

base::Result<int> RunTrials(const std::string& folder, int64_t parallel,
                            const base::Environment& environment, cli::Output& out) {
  TRY_ASSIGN(const std::string text, base::ReadFile(folder + "/sweep.jsonl"));
  TRY_ASSIGN(const std::vector<Trial> trials, ParseTrials(text));
  const std::string files = folder + "/files";
  const auto results = [&files] {
    return ParseResults(base::ReadFile(files + "/trials.jsonl").value_or(""));
  };
  const std::map<int64_t, TrialResult> before = results();
  std::vector<Trial> left = TrialsToRun(trials, before);
  if (parallel == 0) parallel = static_cast<int64_t>(GpusOf(environment).size());
  if (parallel == 0) parallel = std::max(1u, std::thread::hardware_concurrency());
  Runner runner(files, std::move(left), environment, out);
  TRY(runner.Run(parallel));
  const std::map<int64_t, TrialResult> after = results();
  TRY(out.Write(Summary(trials, after)));
  if (runner.was_stopped()) return 128 + SIGTERM;
  for (const Trial& trial : trials) {
    const auto found = after.find(trial.index);
    if (found != after.end() && found->second.exit_code != 0) return found->second.exit_code;
  }
  return 0;
}

std::string RunTrialsCommand(int64_t parallel) {
  std::error_code failed;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  return fmt::format("exec {} {} --parallel={}", base::ShellQuote(self), kRunTrials, parallel);
}

void AddRunTrials(cli::Command& root, Context& context) {
  auto parallel = std::make_shared<int64_t>(0);
  cli::Command& verb = root.Add(kRunTrials, "").Hidden().Args(cli::NoArgs());
  verb.flags().Int(parallel.get(), "parallel", 0, "");
  verb.Run([parallel, &context](cli::Invocation& call) -> base::Result<int> {
    const std::string files = context.environment.GetOr("MUSTER_RUN_DIR", "");
    if (files.empty()) return Fail(Code::kInvalidArgument, "MUSTER_RUN_DIR is not set");
    return RunTrials(base::DirectoryOf(files), *parallel, context.environment, call.out);
  });
}

}  // namespace arena
