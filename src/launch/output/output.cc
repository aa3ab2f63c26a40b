#include "launch/output/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "answers/loss_watch.h"
#include "launch/output/log_folder.h"

namespace launch {
namespace {

// The text stays in the processor's cache from reading to writing.
constexpr size_t kReadBytes = 128 << 10;
constexpr int kPipeBytes = 1 << 20;
// A line longer than this is shown in pieces.
constexpr size_t kLongestHeld = 1 << 20;
constexpr size_t kTailBytes = 16 << 10;
// After this an unfinished line (a progress bar or, where lines have no prefix, a prompt) is shown
// as it is ...
constexpr base::Duration kHoldTime = std::chrono::milliseconds(100);
// ... and after this others may write after it. Nobody waits for a progress bar.
constexpr base::Duration kLongestPause = std::chrono::seconds(1);
// How often a moving bar is reported.
constexpr base::Duration kBarPause = std::chrono::milliseconds(500);
constexpr size_t kLongestBar = 300;
// The status line returns this long after other output.
constexpr base::Duration kStatusPause = std::chrono::milliseconds(50);
// More of a line is not shown, however wide the terminal.
constexpr size_t kLongestLastLine = 300;

// A line that its writer overwrites.
bool IsBar(std::string_view line) { return line.find('\r') != std::string_view::npos; }

void AppendUpTo(size_t limit, std::string_view text, std::string& to) {
  to += text.substr(0, limit - std::min(limit, to.size()));
}

}  // namespace

struct Output::Stream {
  uint64_t id = 0;
  base::Fd pipe;
  StreamPlan plan;
  base::Fd file;
  bool has_file_failed = false;
  std::string held;       // the unfinished line
  std::string postponed;  // lines that wait for the end of another stream's line
  std::string line;       // how the unfinished line begins, for the status
  std::string bar;        // that was reported last
  process::EventLoop::TimerId timer = 0;
  std::string tail;
  answers::LossWatch loss{};
};

base::Result<std::unique_ptr<Output>> Output::Start(base::Clock& clock) {
  TRY_ASSIGN(auto loop, process::EventLoop::Create(clock));
  base::Fd written(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!written) return base::Fail(base::Errno(errno, "eventfd"));
  std::unique_ptr<Output> output(new Output(std::move(loop), std::move(written), clock));
  // For a console that is a pipe: fewer switches between us and its reader. Best effort.
  for (const int fd : {1, 2}) ::fcntl(fd, F_SETPIPE_SZ, kPipeBytes);
  output->thread_ = std::thread([raw = output.get()] {
    ::pthread_setname_np(::pthread_self(), "output");
    (void)raw->loop_->Run();
  });
  return output;
}

Output::Output(std::unique_ptr<process::EventLoop> loop, base::Fd written, base::Clock& clock)
    : loop_(std::move(loop)), clock_(clock), written_(std::move(written)) {
  scratch_.resize(64 << 10);
  stdout_.OnFailure([this](int error) {
    stderr_.AppendLines(0, "",
                        fmt::format("muster-launch: standard output: {}; the job continues\n",
                                    std::strerror(error)));
    stderr_.Flush();
  });
}

Output::~Output() {
  loop_->Stop();
  if (thread_.joinable()) thread_.join();
}

base::Result<uint64_t> Output::Add(base::Fd pipe, StreamPlan plan) {
  auto stream = std::make_unique<Stream>();
  stream->id = next_id_++;
  if (!plan.file.empty()) {
    TRY_ASSIGN(stream->file, OpenLog(plan.file));
  }
  stream->pipe = std::move(pipe);
  stream->plan = std::move(plan);
  ::fcntl(stream->pipe.get(), F_SETFL, O_NONBLOCK);
  // Best effort: unprivileged users have a quota.
  if (stream->file) ::fcntl(stream->pipe.get(), F_SETPIPE_SZ, kPipeBytes);
  const uint64_t id = stream->id;
  auto shared = std::make_shared<std::unique_ptr<Stream>>(std::move(stream));
  loop_->Post([this, shared] {
    std::unique_ptr<Stream> added = std::move(*shared);
    Stream& ref = *added;
    streams_.emplace(ref.id, std::move(added));
    if (!loop_->Watch(ref.pipe.get(), EPOLLIN, [this, &ref](uint32_t) { OnReadable(ref); })) {
      End(ref.id);
    }
  });
  return id;
}

void Output::WhenDrained(std::function<void()> done) {
  loop_->Post([this, done = std::move(done)] {
    waiting_.push_back(done);
    NotifyDrained();
  });
}

void Output::WhenEnded(uint64_t id, std::function<void()> done) {
  loop_->Post([this, id, done = std::move(done)] {
    if (!streams_.contains(id)) return done();
    awaited_[id] = done;
  });
}

std::string Output::Tail(uint64_t id) {
  const std::scoped_lock lock(mutex_);
  const auto found = tails_.find(id);
  return found == tails_.end() ? std::string() : found->second;
}

// In the output's thread.
void Output::Ask(std::function<void()> write) {
  ++asked_;
  loop_->Post([this, write = std::move(write)] {
    write();
    ++done_;
    ::eventfd_write(written_.get(), 1);
  });
}

bool Output::AwaitWritten(std::initializer_list<int> others, std::optional<base::Duration> limit) {
  const auto began = clock_.Steady();
  std::vector<pollfd> fds = {{written_.get(), POLLIN, 0}};
  for (const int other : others) fds.push_back({other, POLLIN, 0});
  for (;;) {
    eventfd_t ignored = 0;
    (void)::eventfd_read(written_.get(), &ignored);
    if (IsWritten()) return true;
    int timeout = -1;
    if (limit) {
      const auto left = began + *limit - clock_.Steady();
      if (left <= left.zero()) return false;
      timeout = static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
    if (::poll(fds.data(), fds.size(), timeout) <= 0) continue;
    if (std::any_of(fds.begin() + 1, fds.end(), [](const pollfd& fd) { return fd.revents != 0; })) {
      return IsWritten();
    }
  }
}

void Output::Say(std::string text) {
  Ask([this, text = std::move(text)] {
    stderr_.AppendLines(0, "", text);
    stderr_.Flush();
  });
}

void Output::SetStatus(std::string text) {
  Ask([this, text = std::move(text)] {
    status_ = text;
    if (text.empty()) return status_line_.Erase();
    ShowStatusLater();
    for (LineSink* const sink : {&stdout_, &stderr_}) {
      sink->SetAround([this] { status_line_.Erase(); }, [this] { ShowStatusLater(); });
    }
  });
}

// Once for everything that is written meanwhile. A prompt or a progress bar keeps its place.
void Output::ShowStatusLater() {
  if (status_.empty() || status_timer_ != 0) return;
  status_timer_ = loop_->After(kStatusPause, [this] {
    status_timer_ = 0;
    if (status_.empty() || stdout_.has_open_line() || stderr_.has_open_line()) return;
    const std::string last = VisibleText(last_line_);
    status_line_.Draw(last.empty() ? status_ : status_ + " | " + last);
  });
}

LineSink* Output::SinkOf(const Stream& stream) {
  return stream.plan.console_fd == 1 ? &stdout_ : stream.plan.console_fd == 2 ? &stderr_ : nullptr;
}

void Output::OnReadable(Stream& stream) {
  // A stream with much output gets a large buffer.
  const ssize_t count = ::read(stream.pipe.get(), scratch_.data(), scratch_.size());
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return End(stream.id);
  Carry(stream, {scratch_.data(), static_cast<size_t>(count)});
  if (static_cast<size_t>(count) == scratch_.size() && scratch_.size() < kReadBytes) {
    scratch_.resize(kReadBytes);
  }
}

void Output::Carry(Stream& stream, std::string_view bytes) {
  if (stream.file) WriteFile(stream, bytes);
  stream.tail += bytes.substr(bytes.size() - std::min(bytes.size(), kTailBytes));
  if (stream.tail.size() > 2 * kTailBytes) {
    stream.tail.erase(0, stream.tail.size() - kTailBytes);
  }
  NoteLastLine(stream, bytes);
  if (stream.plan.on_lost_loss) {
    if (auto line = stream.loss.Add(bytes)) {
      std::exchange(stream.plan.on_lost_loss, nullptr)(std::move(*line));
    }
  }
  if (SinkOf(stream) == nullptr && stream.plan.filters.empty()) return;
  const size_t last = bytes.rfind('\n');
  if (last != std::string_view::npos) {
    const std::string_view whole = bytes.substr(0, last + 1);
    if (stream.held.empty()) {
      Show(stream, whole);
    } else {
      const size_t first = whole.find('\n');
      stream.held += whole.substr(0, first + 1);
      Show(stream, stream.held);
      stream.held.clear();
      if (first + 1 < whole.size()) Show(stream, whole.substr(first + 1));
    }
    bytes.remove_prefix(last + 1);
  }
  stream.held += bytes;
  if (stream.held.size() > kLongestHeld) ShowHeld(stream);
  if (LineSink* const sink = SinkOf(stream)) {
    sink->Flush();
    if (stream.plan.ends_with_console && sink->has_failed()) return End(stream.id);
  }
  if (stream.held.empty() || stream.timer != 0) return;
  // With a prefix, lines stay whole; but a progress bar is one line for a long time.
  const bool has_prefix = !stream.plan.prefix.empty();
  const bool is_bar = IsBar(stream.held);
  if (is_bar && stream.plan.reports_bars) {
    stream.timer = loop_->After(kBarPause, [this, &stream] {
      stream.timer = 0;
      ReportBar(stream);
    });
  } else if (!has_prefix || (is_bar && stream.plan.filters.empty())) {
    stream.timer = loop_->After(kHoldTime, [this, &stream, has_prefix] {
      stream.timer = 0;
      // The bar may have ended, and the next line have begun.
      if (!has_prefix || IsBar(stream.held)) ShowHeld(stream);
    });
  }
}

// The line itself is shown when it ends.
void Output::ReportBar(Stream& stream) {
  LineSink* const sink = SinkOf(stream);
  if (sink == nullptr || sink->has_open_line()) return;
  std::string_view held = stream.held;
  while (held.ends_with('\r')) held.remove_suffix(1);
  held.remove_prefix(held.rfind('\r') + 1);  // npos + 1: all of it
  std::string bar = FitToColumns(VisibleText(held), kLongestBar);
  if (bar.empty() || bar == stream.bar) return;
  std::string_view label = stream.plan.prefix;
  while (label.ends_with(':') || label.ends_with(' ')) label.remove_suffix(1);
  sink->AppendLines(stream.id, fmt::format("{}> ", label), bar + "\n");
  sink->Flush();
  stream.bar = std::move(bar);
}

// Python writes a line and its newline separately: the line may have come with an earlier read.
void Output::NoteLastLine(Stream& stream, std::string_view bytes) {
  const size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    const std::string_view lines = bytes.substr(0, end);
    const size_t before = lines.rfind('\n');
    if (before != std::string_view::npos) stream.line.clear();
    AppendUpTo(kLongestLastLine, lines.substr(before + 1), stream.line);
    if (!stream.line.empty()) last_line_ = std::exchange(stream.line, {});
    bytes.remove_prefix(end + 1);
  }
  AppendUpTo(kLongestLastLine, bytes, stream.line);
}

void Output::WriteFile(Stream& stream, std::string_view bytes) {
  while (!bytes.empty() && !stream.has_file_failed) {
    const ssize_t written = ::write(stream.file.get(), bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno != EINTR) {
      stream.has_file_failed = true;
      stderr_.AppendLines(0, "",
                          fmt::format("muster-launch: log \"{}\": {}; it ends here, the job "
                                      "continues\n",
                                      stream.plan.file, std::strerror(errno)));
      stderr_.Flush();
    }
  }
}

void Output::WriteFiltered(Stream& stream, std::string_view lines) {
  std::string matching;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n') + 1);
    const bool fits = std::any_of(
        stream.plan.filters.begin(), stream.plan.filters.end(),
        [&](const std::string& filter) { return line.find(filter) != std::string_view::npos; });
    if (fits) matching.append(stream.plan.prefix).append(line);
    lines.remove_prefix(line.size());
  }
  if (matching.empty()) return;
  base::Fd& file = filter_files_[stream.plan.filter_file];
  if (!file) {
    auto opened = OpenLog(stream.plan.filter_file);
    if (!opened) return;
    file = std::move(*opened);
  }
  [[maybe_unused]] const ssize_t written = ::write(file.get(), matching.data(), matching.size());
}

void Output::Show(Stream& stream, std::string_view lines) {
  if (!stream.plan.filters.empty()) WriteFiltered(stream, lines);
  LineSink* const sink = SinkOf(stream);
  if (sink == nullptr) return;
  if (MustWait(stream, *sink)) return Postpone(stream, lines);
  sink->AppendLines(stream.id, stream.plan.prefix, lines);
  if (!sink->has_open_line()) Resume(*sink);
}

void Output::ShowHeld(Stream& stream) {
  LineSink* const sink = SinkOf(stream);
  if (sink == nullptr || stream.held.empty()) return stream.held.clear();
  if (MustWait(stream, *sink)) {
    Postpone(stream, std::exchange(stream.held, ""));
  } else {
    sink->AppendPart(stream.id, stream.plan.prefix, stream.held);
    sink->Flush();
    stream.held.clear();
  }
}

bool Output::MustWait(const Stream& stream, const LineSink& sink) const {
  return sink.has_open_line() && sink.open_owner() != stream.id && !sink.is_overwritten() &&
         streams_.contains(sink.open_owner());
}

void Output::Postpone(Stream& stream, std::string_view lines) {
  stream.postponed += lines;
  // Its writer waits too, as with a console that is read slowly.
  loop_->Unwatch(stream.pipe.get());
  LineSink* const sink = SinkOf(stream);
  process::EventLoop::TimerId& timer = sink == &stdout_ ? stdout_pause_ : stderr_pause_;
  if (timer == 0) timer = loop_->After(kLongestPause, [this, sink] { Resume(*sink); });
}

void Output::Resume(LineSink& sink) {
  process::EventLoop::TimerId& timer = &sink == &stdout_ ? stdout_pause_ : stderr_pause_;
  if (timer == 0) return;
  loop_->Cancel(std::exchange(timer, 0));
  for (auto& [id, stream] : streams_) {
    if (SinkOf(*stream) != &sink || stream->postponed.empty()) continue;
    sink.AppendLines(id, stream->plan.prefix, std::exchange(stream->postponed, ""));
    (void)loop_->Watch(stream->pipe.get(), EPOLLIN,
                       [this, raw = stream.get()](uint32_t) { OnReadable(*raw); });
  }
  sink.Flush();
}

void Output::End(uint64_t id) {
  const auto found = streams_.find(id);
  if (found == streams_.end()) return;
  Stream& stream = *found->second;
  loop_->Unwatch(stream.pipe.get());
  loop_->Cancel(stream.timer);
  if (!stream.held.empty() && !stream.plan.filters.empty()) {
    WriteFiltered(stream, stream.held + '\n');
  }
  LineSink* const sink = SinkOf(stream);
  // Only another writer's unfinished line can hold this one back now.
  if (sink != nullptr && !stream.held.empty()) {
    sink->AppendPart(id, stream.plan.prefix, stream.held);
    sink->Flush();
  }
  if (stream.tail.size() > kTailBytes) {
    stream.tail.erase(0, stream.tail.find('\n', stream.tail.size() - kTailBytes) + 1);
  }
  {
    const std::scoped_lock lock(mutex_);
    tails_[id] = std::move(stream.tail);
  }
  streams_.erase(found);
  // Nobody waits for the end of a line whose writer is gone.
  if (sink != nullptr && sink->open_owner() == id) Resume(*sink);
  if (const auto awaited = awaited_.extract(id)) awaited.mapped()();
  NotifyDrained();
}

void Output::NotifyDrained() {
  if (!streams_.empty()) return;
  for (const auto& done : std::exchange(waiting_, {})) done();
}

}  // namespace launch
