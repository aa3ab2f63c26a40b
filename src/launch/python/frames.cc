#include "launch/python/frames.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/strings.h"
#include "process/pidfd.h"
#include "process/spawn.h"

namespace launch {
namespace {

constexpr base::Duration kLongestQuestion = std::chrono::seconds(10);
constexpr size_t kLongestDump = 1 << 20;

std::string_view FileName(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

// "    load (train.py:30)" -> "load (train.py:30)"; files are shown by name. "" for other lines.
std::string FrameIn(std::string_view line) {
  if (!line.starts_with("    ")) return "";
  line = base::Trim(line);
  const size_t open = line.rfind(" (");
  const size_t colon = line.rfind(':');
  if (open == std::string_view::npos || colon == std::string_view::npos || colon < open ||
      !line.ends_with(')')) {
    return "";
  }
  return fmt::format("{} ({}", line.substr(0, open), FileName(line.substr(open + 2)));
}

bool IsOfFile(std::string_view frame, std::string_view script) {
  return frame.find(fmt::format(" ({}:", FileName(script))) != std::string_view::npos;
}

}  // namespace

std::string PlaceInDump(std::string_view dump, std::string_view script) {
  std::string innermost;
  bool is_main = false;
  for (const std::string& line : base::Split(dump, '\n')) {
    if (line.starts_with("Thread ")) {
      if (is_main) break;
      is_main = line.find("\"MainThread\"") != std::string::npos;
      continue;
    }
    const std::string frame = is_main ? FrameIn(line) : std::string();
    if (frame.empty()) continue;
    if (innermost.empty()) {
      innermost = frame;
      if (IsOfFile(frame, script)) return frame;
    } else if (IsOfFile(frame, script)) {
      return fmt::format("{}, called from {}", innermost, frame);
    }
  }
  return innermost;
}

struct PythonFrames::Question {
  pid_t pid = 0;
  base::Fd program;  // pidfd of py-spy; its end is reaped with the orphans
  base::Fd output;
  std::string dump;
};

PythonFrames::PythonFrames(process::EventLoop& loop, std::string script, Done done)
    : loop_(loop), script_(std::move(script)), done_(std::move(done)) {}

PythonFrames::~PythonFrames() {
  loop_.Cancel(timer_);
  for (const auto& question : questions_) {
    if (!question->output) continue;
    loop_.Unwatch(question->output.get());
    (void)process::SendSignal(question->program.get(), SIGKILL);
  }
}

bool PythonFrames::Ask(const std::vector<pid_t>& pids, const base::Environment& environment) {
  const auto program =
      process::FindProgram("py-spy", environment.GetOr("PATH", "/usr/local/bin:/usr/bin:/bin"));
  if (!program) return false;
  for (const pid_t pid : pids) (void)Start(*program, pid, environment);
  if (open_ == 0) return false;
  timer_ = loop_.After(kLongestQuestion, [this] { Finish(); });
  return true;
}

base::Status PythonFrames::Start(const std::string& program, pid_t pid,
                                 const base::Environment& environment) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return base::Fail(base::Errno(errno, "pipe"));
  auto question = std::make_unique<Question>();
  question->pid = pid;
  question->output.Reset(ends[0]);
  const base::Fd writer(ends[1]);
  ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  const base::Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  process::SpawnOptions spawn;
  spawn.path = program;
  spawn.argv = {"py-spy", "dump", "--nonblocking", "--pid", fmt::format("{}", pid)};
  spawn.env = environment.AsList();
  spawn.fds = {{null.get(), 0}, {writer.get(), 1}, {null.get(), 2}};
  spawn.dies_with_parent = true;
  TRY_ASSIGN(const pid_t child, process::Spawn(spawn));
  TRY_ASSIGN(question->program, process::OpenPidfd(child));
  Question& added = *question;
  TRY(loop_.Watch(added.output.get(), EPOLLIN, [this, &added](uint32_t) { OnOutput(added); }));
  questions_.push_back(std::move(question));
  ++open_;
  return {};
}

void PythonFrames::OnOutput(Question& question) {
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(question.output.get(), bytes.data(), bytes.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count > 0 && question.dump.size() < kLongestDump) {
    question.dump.append(bytes.data(), static_cast<size_t>(count));
    return;
  }
  loop_.Unwatch(question.output.get());
  question.output.Reset();
  if (--open_ == 0) Finish();
}

void PythonFrames::Finish() {
  loop_.Cancel(std::exchange(timer_, 0));
  std::map<pid_t, std::string> places;
  for (const auto& question : questions_) {
    std::string place = PlaceInDump(question->dump, script_);
    if (!place.empty()) places[question->pid] = std::move(place);
    if (!question->output) continue;
    loop_.Unwatch(question->output.get());
    question->output.Reset();
    (void)process::SendSignal(question->program.get(), SIGKILL);
  }
  std::exchange(done_, nullptr)(places);
}

}  // namespace launch
