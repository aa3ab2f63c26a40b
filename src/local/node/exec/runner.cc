#include "local/node/exec/runner.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>
#include <limits>
#include <optional>
#include <set>

#include "base/log.h"
#include "local/node/exec/channel.h"
#include "process/event_loop.h"
#include "process/stream_ends.h"

namespace local::node {
namespace {

constexpr size_t kExecReadBytes = 32 << 10;
constexpr int kExecReadsPerTurn = 8;
// A command waits while its client is this far behind.
constexpr size_t kMaxPendingOutput = 1 << 20;
constexpr size_t kResumeOutput = 256 << 10;
// More than any pipe holds.
constexpr size_t kMaxLateOutput = 1 << 20;
// A client that asks for a terminal sends its size at once. The command waits this long for it, or
// for input, so that it never sees a terminal without a size.
constexpr std::chrono::milliseconds kSizeWait{1000};
// A process that the command leaves behind may keep its output open.
constexpr std::chrono::milliseconds kOutputWait{1000};

base::Result<base::Fd> OpenNull() {
  base::Fd fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!fd) return base::Fail(base::Errno(errno, "open /dev/null"));
  return fd;
}

}  // namespace

struct ExecRunner::Core {
  std::unique_ptr<process::EventLoop> loop;
  std::set<std::shared_ptr<Session>> sessions{};  // used in the loop's thread
};

// Used in the loop's thread, except for the methods of Exec. The core keeps it alive until it has
// finished or was hung up.
class ExecRunner::Session final : public Exec, public std::enable_shared_from_this<Session> {
 public:
  Session(const std::shared_ptr<Core>& core, ExecCommand command, ExecClient client)
      : weak_core_(core),
        core_(*core),
        loop_(core->loop.get()),
        command_(std::move(command)),
        client_(std::move(client)) {}

  void Begin() {
    Post([](Session& session) {
      session.core_.sessions.insert(session.shared_from_this());
      if (!session.command_.has_terminal) return session.Launch();
      session.size_timer_ = session.loop_->After(kSizeWait, [&session] { session.Launch(); });
    });
  }

  void WriteStdin(std::string bytes) override {
    Post([bytes = std::move(bytes)](Session& session) mutable { session.Put(std::move(bytes)); });
  }
  void CloseStdin() override {
    Post([](Session& session) { session.EndInput(); });
  }
  void Resize(int columns, int rows) override {
    Post([columns, rows](Session& session) { session.SetSize(columns, rows); });
  }
  void HangUp() override {
    Post([](Session& session) { session.Leave(); });
  }
  void Leave();

 private:
  enum class Stage { kNew, kStarting, kRunning, kEnded, kOver };
  struct Output {
    base::Fd fd;
    bool is_paused = false;
    size_t late_bytes = 0;  // read after the command's end
  };

  void Post(std::function<void(Session&)> task) {
    const auto core = weak_core_.lock();
    if (!core) return;
    core->loop->Post([self = shared_from_this(), task = std::move(task)] {
      if (self->stage_ != Stage::kOver) task(*self);
    });
  }

  void Launch();
  base::Result<ExecRequest> OpenStreams();
  void OnReply();
  void OnStarted();
  void OnEnded(int exit_code);
  void Put(std::string bytes);
  void EndInput();
  void FlushInput();
  void CloseInput();
  void SetSize(int columns, int rows);
  void Watch(size_t index);
  void OnReadable(size_t index);
  void Pause(size_t index);
  void CloseOutput(size_t index);
  void FinishIfDrained();
  void Finish(base::Result<int> exit_code);

  const std::weak_ptr<Core> weak_core_;
  Core& core_;  // used in the loop's thread, like the members below
  process::EventLoop* const loop_;
  ExecCommand command_;
  ExecClient client_;
  Stage stage_ = Stage::kNew;
  base::Fd shim_;
  base::Fd input_;     // a pipe, or a copy of the terminal
  base::Fd terminal_;  // to set its size
  std::array<Output, 2> outputs_;
  std::deque<std::string> unwritten_;
  size_t written_ = 0;  // of the first chunk
  bool is_input_ending_ = false;
  bool is_input_watched_ = false;
  std::optional<winsize> size_;
  int exit_code_ = 0;
  bool is_wait_over_ = false;  // for the end of the output
  process::EventLoop::TimerId size_timer_ = 0;
  process::EventLoop::TimerId output_timer_ = 0;
};

void ExecRunner::Session::Launch() {
  if (stage_ != Stage::kNew) return;
  loop_->Cancel(size_timer_);
  stage_ = Stage::kStarting;
  auto shim = ConnectToExecs(command_.pod_directory);
  if (!shim) return Finish(base::Fail(std::move(shim.error())));
  shim_ = std::move(*shim);
  auto request = OpenStreams();
  if (!request) return Finish(base::Fail(std::move(request.error())));
  if (const auto sent = SendRequest(shim_.get(), *request); !sent) {
    return Finish(base::Fail(sent.error().Wrap("ask the pod")));
  }
  const base::Status watched = loop_->Watch(shim_.get(), EPOLLIN, [this](uint32_t) { OnReply(); });
  if (!watched) Finish(base::Fail(watched.error()));
}

base::Result<ExecRequest> ExecRunner::Session::OpenStreams() {
  ExecRequest request{command_.container, command_.argv, command_.has_terminal};
  if (command_.has_terminal) {
    TRY_ASSIGN(process::StreamEnds terminal, process::OpenTerminal());
    if (size_) ::ioctl(terminal.ours.get(), TIOCSWINSZ, &*size_);
    // Each use needs a descriptor of its own, because the loop has one interest per descriptor.
    input_.Reset(::fcntl(terminal.ours.get(), F_DUPFD_CLOEXEC, 0));
    outputs_[0].fd.Reset(::fcntl(terminal.ours.get(), F_DUPFD_CLOEXEC, 0));
    if (!input_ || !outputs_[0].fd) return base::Fail(base::Errno(errno, "open a terminal"));
    terminal_ = std::move(terminal.ours);
    request.fds.push_back(std::move(terminal.theirs));
    return request;
  }
  if (command_.has_stdin) {
    TRY_ASSIGN(process::StreamEnds pipe, process::OpenPipe(true));
    input_ = std::move(pipe.ours);
    request.fds.push_back(std::move(pipe.theirs));
  } else {
    TRY_ASSIGN(base::Fd null, OpenNull());
    request.fds.push_back(std::move(null));
  }
  for (const bool is_wanted : {command_.has_stdout, command_.has_stderr}) {
    Output& output = outputs_[request.fds.size() - 1];
    if (is_wanted) {
      TRY_ASSIGN(process::StreamEnds pipe, process::OpenPipe(false));
      output.fd = std::move(pipe.ours);
      request.fds.push_back(std::move(pipe.theirs));
    } else {
      TRY_ASSIGN(base::Fd null, OpenNull());
      request.fds.push_back(std::move(null));
    }
  }
  return request;
}

void ExecRunner::Session::OnReply() {
  auto reply = ReceiveReply(shim_.get());
  if (!reply) {
    if (reply.error().code != base::Code::kUnavailable) Finish(base::Fail(reply.error()));
    return;
  }
  if (!*reply) {
    if (stage_ == Stage::kEnded) return loop_->Unwatch(shim_.get());
    return Finish(base::Fail(base::Code::kUnavailable, "the pod has ended"));
  }
  switch ((*reply)->kind) {
    case ExecReply::Kind::kStarted:
      return OnStarted();
    case ExecReply::Kind::kRefused:
      return Finish(base::Fail(base::Code::kInvalidArgument, (*reply)->error));
    case ExecReply::Kind::kEnded:
      return OnEnded((*reply)->exit_code);
  }
}

void ExecRunner::Session::OnStarted() {
  stage_ = Stage::kRunning;
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].fd) Watch(i);
  }
  FlushInput();
}

void ExecRunner::Session::OnEnded(int exit_code) {
  stage_ = Stage::kEnded;
  exit_code_ = exit_code;
  CloseInput();
  output_timer_ = loop_->After(kOutputWait, [this] {
    is_wait_over_ = true;
    for (size_t i = 0; i < outputs_.size() && stage_ != Stage::kOver; ++i) {
      if (outputs_[i].fd && !outputs_[i].is_paused) OnReadable(i);
    }
  });
  FinishIfDrained();
}

void ExecRunner::Session::Put(std::string bytes) {
  if (!command_.has_stdin || is_input_ending_ || stage_ == Stage::kEnded ||
      (stage_ == Stage::kRunning && !input_)) {
    return client_.stdin_used(bytes.size());
  }
  if (bytes.empty()) return;
  unwritten_.push_back(std::move(bytes));
  if (stage_ == Stage::kNew) Launch();
  if (stage_ == Stage::kRunning) FlushInput();
}

void ExecRunner::Session::EndInput() {
  if (is_input_ending_ || !command_.has_stdin) return;
  is_input_ending_ = true;
  if (stage_ == Stage::kRunning) FlushInput();
}

void ExecRunner::Session::FlushInput() {
  while (input_ && !unwritten_.empty()) {
    std::string& bytes = unwritten_.front();
    const ssize_t count = ::write(input_.get(), bytes.data() + written_, bytes.size() - written_);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (is_input_watched_) return;
      is_input_watched_ = true;
      if (!loop_->Watch(input_.get(), EPOLLOUT, [this](uint32_t) { FlushInput(); })) CloseInput();
      return;
    }
    if (count <= 0) return CloseInput();  // the command reads no more
    written_ += static_cast<size_t>(count);
    client_.stdin_used(static_cast<size_t>(count));
    if (written_ < bytes.size()) continue;
    unwritten_.pop_front();
    written_ = 0;
  }
  if (!input_) return;
  if (is_input_watched_) loop_->Unwatch(input_.get());
  is_input_watched_ = false;
  if (!is_input_ending_) return;
  termios settings{};
  if (terminal_ && ::tcgetattr(terminal_.get(), &settings) == 0 &&
      (settings.c_lflag & ICANON) != 0) {
    const char end = static_cast<char>(settings.c_cc[VEOF]);
    [[maybe_unused]] const ssize_t written = ::write(input_.get(), &end, 1);
  }
  CloseInput();
}

void ExecRunner::Session::CloseInput() {
  size_t dropped = 0;
  for (const std::string& bytes : unwritten_) dropped += bytes.size();
  dropped -= written_;
  unwritten_.clear();
  written_ = 0;
  if (input_ && is_input_watched_) loop_->Unwatch(input_.get());
  is_input_watched_ = false;
  input_.Reset();
  if (dropped > 0) client_.stdin_used(dropped);
}

void ExecRunner::Session::SetSize(int columns, int rows) {
  constexpr int kMax = std::numeric_limits<unsigned short>::max();
  winsize size{};
  size.ws_col = static_cast<unsigned short>(std::clamp(columns, 0, kMax));
  size.ws_row = static_cast<unsigned short>(std::clamp(rows, 0, kMax));
  size_ = size;
  if (terminal_) ::ioctl(terminal_.get(), TIOCSWINSZ, &size);
  if (command_.has_terminal) Launch();
}

void ExecRunner::Session::Watch(size_t index) {
  const base::Status watched = loop_->Watch(outputs_[index].fd.get(), EPOLLIN,
                                            [this, index](uint32_t) { OnReadable(index); });
  if (!watched) Finish(base::Fail(watched.error()));
}

void ExecRunner::Session::OnReadable(size_t index) {
  Output& output = outputs_[index];
  // Everything that the command wrote before it ended can be read now; its children may write for
  // ever.
  for (int i = 0; is_wait_over_ || i < kExecReadsPerTurn; ++i) {
    if (output.late_bytes > kMaxLateOutput) return CloseOutput(index);
    if (client_.pending() > kMaxPendingOutput) return Pause(index);
    std::string bytes(kExecReadBytes, '\0');
    const ssize_t count = ::read(output.fd.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) {
      if (is_wait_over_) CloseOutput(index);
      return;
    }
    // A terminal returns EIO when its last user has gone.
    if (count <= 0) return CloseOutput(index);
    bytes.resize(static_cast<size_t>(count));
    if (is_wait_over_) output.late_bytes += bytes.size();
    const bool is_wanted = !command_.has_terminal || command_.has_stdout;
    if (is_wanted) client_.output(index == 1, std::move(bytes));
  }
}

void ExecRunner::Session::Pause(size_t index) {
  Output& output = outputs_[index];
  if (std::exchange(output.is_paused, true)) return;
  loop_->Unwatch(output.fd.get());
  client_.when_taken(kResumeOutput, [weak = weak_from_this()] {
    const auto self = weak.lock();
    if (!self) return;
    self->Post([](Session& session) {
      for (size_t i = 0; i < session.outputs_.size(); ++i) {
        if (!std::exchange(session.outputs_[i].is_paused, false)) continue;
        session.Watch(i);
        if (session.is_wait_over_) session.OnReadable(i);
        if (session.stage_ == Stage::kOver) return;
      }
    });
  });
}

void ExecRunner::Session::CloseOutput(size_t index) {
  loop_->Unwatch(outputs_[index].fd.get());
  outputs_[index].fd.Reset();
  FinishIfDrained();
}

void ExecRunner::Session::FinishIfDrained() {
  if (stage_ != Stage::kEnded || outputs_[0].fd || outputs_[1].fd) return;
  Finish(exit_code_);
}

void ExecRunner::Session::Finish(base::Result<int> exit_code) {
  if (stage_ == Stage::kOver) return;
  const auto finish = std::move(client_.finish);
  CloseInput();
  Leave();
  finish(std::move(exit_code));
}

// The shim notices the end of its connection, and hangs up what still runs.
void ExecRunner::Session::Leave() {
  stage_ = Stage::kOver;
  // The running callback still has to return.
  loop_->Post([self = shared_from_this()] {});
  core_.sessions.erase(shared_from_this());
  loop_->Cancel(size_timer_);
  loop_->Cancel(output_timer_);
  if (input_ && is_input_watched_) loop_->Unwatch(input_.get());
  for (Output& output : outputs_) {
    if (output.fd) loop_->Unwatch(output.fd.get());
    output.fd.Reset();
  }
  if (shim_) loop_->Unwatch(shim_.get());
  input_.Reset();
  terminal_.Reset();
  shim_.Reset();
  unwritten_.clear();
  client_ = {};
}

ExecRunner::ExecRunner(std::shared_ptr<Core> core)
    : core_(std::move(core)), thread_([this] {
        // Writing to a command that no longer reads returns an error instead of SIGPIPE.
        sigset_t pipe;
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
        ::pthread_setname_np(::pthread_self(), "exec");
        if (const base::Status ran = core_->loop->Run(); !ran) {
          base::LogError("{}", ran.error().message);
        }
      }) {}

base::Result<std::unique_ptr<ExecRunner>> ExecRunner::Create() {
  auto core = std::make_shared<Core>();
  TRY_ASSIGN(core->loop, process::EventLoop::Create(base::SystemClock()));
  return std::unique_ptr<ExecRunner>(new ExecRunner(std::move(core)));
}

ExecRunner::~ExecRunner() {
  core_->loop->Stop();
  thread_.join();
  // Client and session refer to each other.
  for (const auto& session : std::set(core_->sessions)) session->Leave();
}

std::shared_ptr<Exec> ExecRunner::Start(ExecCommand command, ExecClient client) {
  auto session = std::make_shared<Session>(core_, std::move(command), std::move(client));
  session->Begin();
  return session;
}

}  // namespace local::node
