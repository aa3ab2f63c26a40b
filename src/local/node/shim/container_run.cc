#include "local/node/shim/container_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

#include "answers/witness_line.h"
#include "api/names.h"
#include "api/stop_on_nan.h"
#include "base/file.h"
#include "base/strings.h"
#include "local/node/code/code_sync.h"
#include "local/node/pod/cgroup.h"
#include "local/node/pod/container_process.h"
#include "local/node/pod/pod_processes.h"
#include "local/node/pod/shim_files.h"
#include "local/node/programs/warm_command.h"
#include "local/node/shim/memory_use.h"
#include "process/child_command.h"
#include "process/spawn.h"
#include "process/stream_ends.h"

namespace local::node {
namespace {

constexpr size_t kReadSize = 64 << 10;
constexpr int kReadsPerTurn = 8;
// Exit code of a container whose program could not be started (containerd's).
constexpr int kStartErrorCode = 128;

// For `tty: true`; leaves newlines as they are.
base::Result<process::StreamEnds> OpenLogTerminal() {
  TRY_ASSIGN(process::StreamEnds terminal, process::OpenTerminal());
  termios settings{};
  if (::tcgetattr(terminal.theirs.get(), &settings) == 0) {
    settings.c_oflag &= ~static_cast<tcflag_t>(ONLCR);
    ::tcsetattr(terminal.theirs.get(), TCSANOW, &settings);
  }
  return terminal;
}

// Judged by the messages of shells, Python and launchers.
bool IsNotFound(int exit_code, std::string_view words) {
  constexpr int kShellFoundNone = 127;
  constexpr std::array<std::string_view, 4> kWords = {
      "No such file or directory", "No module named", "not found", " is not here"};
  return exit_code == kShellFoundNone ||
         std::any_of(kWords.begin(), kWords.end(), [words](std::string_view each) {
           return words.find(each) != std::string_view::npos;
         });
}

std::string LogPath(const ContainerSpec& spec, int restart) {
  // Relative to the pod's directory, which is the shim's current one, so that it is reachable in
  // any view.
  return fmt::format("logs/{}/{}.log", spec.name, restart);
}

// Removes the file, which says nothing about the next end.
std::string TakeStallKill(const ContainerSpec& spec) {
  constexpr size_t kLongest = 4096;
  if (spec.name != api::kContainerName) return "";
  const auto note = base::ReadFile(kStallKillFile, kLongest);
  ::unlink(kStallKillFile);
  return note ? *note : "";
}

}  // namespace

ContainerRun::ContainerRun(process::EventLoop& loop, base::Clock& clock, const PodSpec& pod,
                           const ContainerSpec& spec, int restart, Callbacks callbacks)
    : loop_(loop),
      clock_(clock),
      pod_(pod),
      spec_(spec),
      callbacks_(std::move(callbacks)),
      log_(LogPath(spec, restart), pod.log_limit),
      witnesses_(pod, spec),
      oom_kills_before_(OomKillsOf(spec.cgroup)) {
  stops_on_nan_ = std::any_of(spec.env.begin(), spec.env.end(), [](const auto& variable) {
    return variable.first == api::kStopOnNanVariable && variable.second == "1";
  });
}

ContainerRun::~ContainerRun() {
  for (Output& output : outputs_) {
    if (output.fd) loop_.Unwatch(output.fd.get());
    loop_.Cancel(output.partial_timer);
  }
  loop_.Cancel(drain_timer_);
}

base::Status ContainerRun::Start() {
  state_.started_at = clock_.Now();
  process::StreamEnds out;
  process::StreamEnds err;
  base::Fd in;
  if (spec_.tty) {
    TRY_ASSIGN(out, OpenLogTerminal());
  } else {
    TRY_ASSIGN(out, process::OpenPipe(false));
    TRY_ASSIGN(err, process::OpenPipe(false));
    in.Reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!in) return base::Fail(base::Errno(errno, "open /dev/null"));
  }
  const int out_fd = out.theirs.get();
  const int err_fd = spec_.tty ? out_fd : err.theirs.get();
  const int in_fd = spec_.tty ? out_fd : in.get();
  base::Status started = spec_.kind == ContainerSpec::Kind::kProgram
                             ? StartProgram(out_fd, err_fd, in_fd)
                             : StartBuiltIn(out_fd, err_fd, in_fd);
  if (!started) {
    state_.phase = ContainerState::Phase::kTerminated;
    state_.reason = "StartError";
    state_.message = started.error().message;
    state_.exit_code = kStartErrorCode;
    AddImageHint(started.error().code == base::Code::kNotFound);
    state_.finished_at = clock_.Now();
    return started;
  }
  OutputOf(LogStream::kStdout).fd = std::move(out.ours);
  OutputOf(LogStream::kStderr).fd = std::move(err.ours);
  for (const LogStream stream : {LogStream::kStdout, LogStream::kStderr}) {
    const int fd = OutputOf(stream).fd.get();
    if (fd < 0) continue;
    TRY(loop_.Watch(fd, EPOLLIN, [this, stream](uint32_t) { OnReadable(stream); }));
  }
  return {};
}

base::Status ContainerRun::StartProgram(int out, int err, int in) {
  if (spec_.argv.empty()) return base::Fail(base::Code::kInvalidArgument, "no command");
  process::SpawnOptions options;
  options.argv = spec_.argv;
  options.env = ContainerEnvironment(pod_, spec_);
  TRY_ASSIGN(options.path, process::FindProgram(spec_.argv[0], process::PathOf(options.env)));
  if (auto warm =
          spec_.warm_python.empty() ? std::nullopt : WarmCommand(spec_.argv, spec_.warm_python)) {
    if (warm->front() == spec_.warm_python) options.path = spec_.warm_python;
    options.argv = std::move(*warm);
    is_stood_in_for_ = true;
  }
  options.cwd = spec_.cwd.empty() ? "/" : spec_.cwd;
  options.fds = {{in, 0}, {out, 1}, {err, 2}};
  options.group = process::SpawnOptions::Group::kSession;
  options.has_terminal = spec_.tty;
  options.dies_with_parent = true;
  options.umask = pod_.umask;
  options.cgroup = spec_.cgroup;
  options.rights = RightsHere(spec_.rights);
  if (options.rights.user) {
    // So that it can open /dev/stdout, which is one of these.
    for (const int stream : {out, err}) (void)::fchown(stream, *options.rights.user, -1U);
  }
  TRY_ASSIGN(pid_, process::Spawn(options));
  return {};
}

// Code sync is our own code: it needs only a fork of this small single-threaded process, no exec.
base::Status ContainerRun::StartBuiltIn(int out, int err, int in) {
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return base::Fail(base::Errno(errno, "fork"));
  if (child > 0) {
    pid_ = child;
    return {};
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);
  ::setsid();
  ::umask(pod_.umask);
  if (::dup2(in, 0) < 0 || ::dup2(out, 1) < 0 || ::dup2(err, 2) < 0) ::_exit(1);
  ::close_range(3, ~0U, 0);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::_exit(RunCodeSync(pod_, spec_));
}

void ContainerRun::OnReadable(LogStream stream) {
  Output& output = OutputOf(stream);
  static char buffer[kReadSize];
  bool is_closed = false;
  for (int i = 0; i < kReadsPerTurn; ++i) {
    const ssize_t count = ::read(output.fd.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count <= 0) {  // a terminal returns EIO when its last user has gone
      is_closed = true;
      break;
    }
    const std::string_view text(buffer, static_cast<size_t>(count));
    tail_.Append(text);
    log_.Append(stream, text, clock_.Now());
    if (stops_on_nan_) LookForLostLoss(output, text);
    // A program that prints why it gives up is still using the memory or GPU for which it is
    // killed.
    if (!has_exited_) witnesses_.Look(pid_, clock_);
    if (text.size() < sizeof buffer && !has_exited_) break;
  }
  loop_.Cancel(output.partial_timer);
  output.partial_timer = 0;
  if (is_closed) {
    Close(stream);
  } else if (log_.HasPartial(stream)) {
    output.partial_timer =
        loop_.After(kPartialLineWait, [this, stream] { log_.FlushPartial(stream, clock_.Now()); });
  }
  // At the first loss, and whenever it has doubled: each report has a cost.
  if (log_.lost_bytes() > 2 * reported_loss_) {
    reported_loss_ = log_.lost_bytes();
    callbacks_.on_loss();
  }
  if (is_closed) EndIfDrained();
}

void ContainerRun::Close(LogStream stream) {
  Output& output = OutputOf(stream);
  if (!output.fd) return;
  loop_.Unwatch(output.fd.get());
  loop_.Cancel(output.partial_timer);
  output.fd.Reset();
  log_.End(stream, clock_.Now());
}

void ContainerRun::OnExit(int wait_status, bool is_killed_by_us) {
  has_exited_ = true;
  is_killed_by_us_ = is_killed_by_us;
  const bool is_sigkill = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) == SIGKILL
                                                   : WEXITSTATUS(wait_status) == 128 + SIGKILL;
  const std::string stall_kill = TakeStallKill(spec_);
  const bool is_for_stall = is_sigkill && kill_note_.empty() && !stall_kill.empty();
  if (is_for_stall) kill_note_ = stall_kill;
  // A shell that waited for the killed process exits with 137 too, and a stand-in dies as its
  // program did: another process was killed then.
  const bool is_oom =
      is_sigkill && !is_killed_by_us && !is_for_stall &&
      oom_watch_.HasKilled(WIFSIGNALED(wait_status) && !is_stood_in_for_ ? std::optional(pid_)
                                                                         : std::nullopt);
  if (is_sigkill && kill_note_.empty() && OomKillsOf(spec_.cgroup) > oom_kills_before_) {
    kill_note_ = fmt::format("it used more memory than its limit of {}",
                             FormatMemory(spec_.memory_limit.value_or(0)));
  }
  const bool is_podmans = spec_.memory_limit && !spec_.podman_name.empty();
  if (is_oom && kill_note_.empty() && !is_podmans) kill_note_ = answers::kNoMemoryAround;
  const auto started_at = state_.started_at;
  const bool is_for_memory = is_sigkill && !kill_note_.empty() && !has_lost_loss_ && !is_for_stall;
  state_ = DescribeEnd(wait_status, is_oom || is_for_memory);
  state_.started_at = started_at;
  state_.finished_at = clock_.Now();
  EndIfDrained();
}

void ContainerRun::ExceedsMemory(int64_t used) {
  kill_note_ = fmt::format("it used {} of memory, but its limit is {}", FormatMemory(used),
                           FormatMemory(spec_.memory_limit.value_or(0)));
}

void ContainerRun::LookForLostLoss(Output& output, std::string_view text) {
  const auto line = output.loss.Add(text);
  if (!line || has_lost_loss_ || has_exited_) return;
  has_lost_loss_ = true;
  kill_note_ = "a loss is not a number any more: " + base::OneLine(*line, 200);
  callbacks_.on_lost_loss();
}

void ContainerRun::LimitDrain() {
  if (has_ended_ || drain_timer_ != 0) return;
  drain_timer_ = loop_.After(kDrainWait, [this] {
    Close(LogStream::kStdout);
    Close(LogStream::kStderr);
    EndIfDrained();
  });
}

void ContainerRun::AddToLog(std::string_view lines) {
  log_.End(LogStream::kStderr, clock_.Now());  // a line of the program may be unfinished
  log_.Append(LogStream::kStderr, lines, clock_.Now());
}

// The program needs a file of an image that is not used here: the hint is added where its output is
// shown.
void ContainerRun::AddImageHint(bool is_not_found) {
  if (!is_not_found || spec_.image_hint.empty()) return;
  const base::Time now = clock_.Now();
  if (state_.reason == "StartError") log_.Append(LogStream::kStderr, state_.message + "\n", now);
  log_.Append(LogStream::kStderr, spec_.image_hint + "\n", now);
  state_.message += (state_.message.empty() ? "" : "; ") + spec_.image_hint;
}

// Added last, where the most telling lines are read.
void ContainerRun::AddKillNote() {
  if (kill_note_.empty()) return;
  const std::string note = fmt::format("container {} was killed: {}", spec_.name, kill_note_);
  log_.Append(LogStream::kStderr, note + "\n", clock_.Now());
  state_.message += (state_.message.empty() ? "" : "\n") + note;
}

// For `explain`: the message, which people read, does not contain them.
void ContainerRun::AddWitnesses() {
  for (const std::string& line :
       witnesses_.Lines(pid_, state_.exit_code, state_.message,
                        state_.started_at.value_or(base::Time{}), clock_.Now())) {
    log_.Append(LogStream::kStderr, line + "\n", clock_.Now());
  }
}

void ContainerRun::EndIfDrained() {
  if (!has_exited_ || has_ended_ || outputs_[0].fd || outputs_[1].fd) return;
  has_ended_ = true;
  loop_.Cancel(drain_timer_);
  if (state_.exit_code != 0) {
    state_.message = tail_.Text();
    AddImageHint(IsNotFound(state_.exit_code, state_.message));
    AddKillNote();
    if (!is_killed_by_us_) AddWitnesses();
  }
  if (const std::string note = log_.LossNote(); !note.empty()) {
    if (!state_.message.empty()) state_.message += '\n';
    state_.message += note;
  }
  callbacks_.on_end();
}

}  // namespace local::node
