#include "local/node/logs/follower.h"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/guarded.h"
#include "base/log.h"
#include "local/node/logs/reader.h"
#include "local/node/pod/report_file.h"
#include "local/node/pod/shim_client.h"
#include "local/node/pod/shim_files.h"
#include "process/event_loop.h"
#include "process/inotify.h"

namespace local::node {
namespace {

constexpr size_t kChunk = 256 << 10;
// A receiver that is this far behind gets no more until it has caught up.
constexpr size_t kMaxPending = 4 << 20;

using Phase = ContainerState::Phase;

enum class RunState { kNotStarted, kRunning, kEnded, kEndedForGood };

// The state of run number `restart` of a container, from the report.
RunState StateOfRun(const ContainerReport& report, bool is_pod_finished, int restart) {
  if (report.restart_count > restart) return RunState::kEnded;
  if (report.restart_count < restart) {
    return is_pod_finished ? RunState::kEndedForGood : RunState::kNotStarted;
  }
  switch (report.state.phase) {
    case Phase::kTerminated:
      return RunState::kEndedForGood;
    case Phase::kRunning:
      return is_pod_finished ? RunState::kEndedForGood : RunState::kRunning;
    case Phase::kWaiting:
      if (is_pod_finished) return RunState::kEndedForGood;
      return report.last_termination ? RunState::kEnded : RunState::kNotStarted;
  }
  return RunState::kNotStarted;
}

}  // namespace

// Used in the follower's thread, except for Add and the loop's Stop.
class LogFollower::Streams {
 public:
  struct Stream {
    std::string directory;
    std::string container;
    LogQuery query;
    LogReceiver receiver;

    LogReader::Format format;
    int restart = 0;
    std::optional<LogReader> reader;
    PodReport report;
    bool has_report = false;
    bool is_report_stale = true;
    std::optional<ShimHandle> shim;
    bool is_shim_gone = false;
    bool is_first_run = true;
    std::set<int> watches;
    bool is_waiting_for_receiver = false;
    bool is_finished = false;
  };
  using Ref = std::shared_ptr<Stream>;

  Streams(std::shared_ptr<process::EventLoop> event_loop, process::Inotify inotify)
      : loop(std::move(event_loop)), inotify_(std::move(inotify)) {}

  base::Status Start() {
    return loop->Watch(inotify_.fd(), EPOLLIN, [this](uint32_t) { OnEvents(); });
  }

  // Callable from any thread.
  void Add(Ref stream) {
    incoming_.Lock()->push_back(std::move(stream));
    loop->Post([this] { TakeIncoming(); });
  }

  void FinishAll() {
    for (Ref& stream : std::exchange(*incoming_.Lock(), {})) streams_.push_back(std::move(stream));
    while (!streams_.empty()) {
      Finish(streams_.front(), base::Fail(base::Code::kCancelled, "the log server is stopping"));
    }
  }

  const std::shared_ptr<process::EventLoop> loop;

 private:
  void TakeIncoming() {
    for (const Ref& stream : std::exchange(*incoming_.Lock(), {})) {
      streams_.push_back(stream);
      if (const base::Status begun = Begin(*stream); !begun) {
        Finish(stream, begun);
      } else {
        Advance(stream);
      }
    }
  }

  base::Status Begin(Stream& stream) {
    if (stream.query.follow) TRY(WatchFiles(stream));
    UpdateReport(stream);
    const ContainerReport* const report = ReportOf(stream);
    stream.format = {stream.query.has_timestamps, stream.query.limit_bytes};
    stream.restart = report == nullptr ? 0 : report->restart_count;
    if (stream.query.previous) {
      if (stream.restart == 0) {
        return base::Fail(
            base::Code::kNotFound,
            fmt::format("previous terminated container \"{}\" not found", stream.container));
      }
      --stream.restart;
    } else if (!stream.query.follow && !HasStarted(report)) {
      return base::Fail(
          base::Code::kNotFound,
          fmt::format("container \"{}\" is waiting to start: {}", stream.container,
                      report == nullptr ? "ContainerCreating" : report->state.reason));
    }
    return {};
  }

  static bool HasStarted(const ContainerReport* report) {
    return report != nullptr && (report->state.phase != ContainerState::Phase::kWaiting ||
                                 report->restart_count > 0 || report->last_termination);
  }

  base::Status WatchFiles(Stream& stream) {
    TRY_ASSIGN(const int directory,
               inotify_.Watch(stream.directory, IN_MOVED_TO | IN_DELETE_SELF | IN_ONLYDIR));
    AddWatch(stream, directory);
    const std::string logs = stream.directory + "/logs/" + stream.container;
    TRY(base::MakeDirs(logs, 0700));
    TRY_ASSIGN(const int files,
               inotify_.Watch(logs, IN_CREATE | IN_MODIFY | IN_DELETE_SELF | IN_ONLYDIR));
    AddWatch(stream, files);
    return {};
  }

  void AddWatch(Stream& stream, int watch) {
    stream.watches.insert(watch);
    by_watch_[watch].insert(&stream);
  }

  void OnEvents() {
    std::set<Stream*> woken;
    for (const process::Inotify::Event& event : inotify_.Read()) {
      const bool is_overflow = (event.mask & IN_Q_OVERFLOW) != 0;
      for (const auto& [watch, streams] : by_watch_) {
        if (!is_overflow && watch != event.watch) continue;
        for (Stream* const stream : streams) {
          woken.insert(stream);
          if (is_overflow || event.name == kReportFile) stream->is_report_stale = true;
          if ((event.mask & IN_DELETE_SELF) != 0) stream->is_shim_gone = true;
        }
      }
    }
    for (const Ref& stream : std::vector<Ref>(streams_.begin(), streams_.end())) {
      if (woken.contains(stream.get())) Advance(stream);
    }
  }

  // Writes one chunk, then lets the other streams have their turn.
  void Advance(const Ref& ref) {
    Stream& stream = *ref;
    if (stream.is_finished) return;
    if (stream.receiver.pending && stream.receiver.pending() > kMaxPending) {
      return AwaitReceiver(ref);
    }
    UpdateReport(stream);
    const RunState state = CurrentState(stream);
    std::string text;
    if (const base::Status read = ReadMore(stream, text); !read) return Finish(ref, read);
    if (!text.empty()) {
      const bool is_heard = stream.receiver.write(std::move(text));
      if (!is_heard) return Finish(ref, base::Fail(base::Code::kCancelled, "receiver closed"));
      if (stream.format.limit_bytes && *stream.format.limit_bytes <= 0) return Finish(ref, {});
      loop->Post([this, ref] { Advance(ref); });
      return;
    }
    // The state was read before the file, so everything that the run wrote before its end has been
    // shown.
    const bool is_whole = !stream.query.follow || stream.query.previous;
    if (is_whole || state == RunState::kEndedForGood) return FinishWhole(ref);
    if (state != RunState::kEnded) return;
    ++stream.restart;
    stream.reader.reset();
    stream.is_first_run = false;
    loop->Post([this, ref] { Advance(ref); });
  }

  void AwaitReceiver(const Ref& ref) {
    if (std::exchange(ref->is_waiting_for_receiver, true)) return;
    // A receiver may outlive the follower and its loop.
    const std::weak_ptr<process::EventLoop> weak = loop;
    ref->receiver.when_taken(kMaxPending, [this, weak, ref] {
      const auto alive = weak.lock();
      if (!alive) return;
      alive->Post([this, ref] {
        ref->is_waiting_for_receiver = false;
        Advance(ref);
      });
    });
  }

  // Output that the disk had no room for is noted at the place where it is missing.
  void FinishWhole(const Ref& ref) {
    const ContainerReport* const report = ReportOf(*ref);
    const bool is_latest = report != nullptr && report->restart_count == ref->restart;
    if (is_latest && !report->log_loss.empty() && !ref->format.limit_bytes) {
      ref->receiver.write("muster: " + report->log_loss + "\n");
    }
    Finish(ref, {});
  }

  base::Status ReadMore(Stream& stream, std::string& text) {
    if (!stream.reader) {
      auto opened = LogReader::Open(
          fmt::format("{}/logs/{}/{}.log", stream.directory, stream.container, stream.restart));
      if (!opened) {
        // Nothing was printed, or not yet.
        if (opened.error().code == base::Code::kNotFound) return {};
        return base::Fail(opened.error());
      }
      stream.reader.emplace(std::move(*opened));
      if (stream.is_first_run && stream.query.tail_lines) {
        TRY(stream.reader->SeekToTail(*stream.query.tail_lines));
      }
      if (stream.is_first_run && stream.query.since) {
        TRY(stream.reader->SkipTo(*stream.query.since));
      }
    }
    TRY(stream.reader->Read(stream.format, kChunk, text));
    return {};
  }

  RunState CurrentState(Stream& stream) {
    if (stream.query.follow) LookForShim(stream);
    const ContainerReport* const report = ReportOf(stream);
    const RunState state = report == nullptr
                               ? RunState::kNotStarted
                               : StateOfRun(*report, stream.report.is_finished, stream.restart);
    // A shim that is gone reports no end, and writes no more.
    const bool may_go_on = state == RunState::kRunning || state == RunState::kNotStarted;
    return stream.is_shim_gone && may_go_on ? RunState::kEndedForGood : state;
  }

  void UpdateReport(Stream& stream) {
    if (!stream.is_report_stale) return;
    stream.is_report_stale = false;
    if (auto report = ReadReport(stream.directory)) {
      stream.report = std::move(*report);
      stream.has_report = true;
    }
  }

  // Watches for the shim's end, too: a killed shim writes no report.
  void LookForShim(Stream& stream) {
    if (stream.shim || stream.is_shim_gone || (stream.has_report && stream.report.is_finished)) {
      return;
    }
    auto shim = AdoptShim(stream.directory);
    if (shim && !shim->has_value()) {
      stream.is_shim_gone = ReadIdentity(stream.directory).has_value();
      // It may have reported between the two checks.
      if (stream.is_shim_gone) stream.is_report_stale = true;
      UpdateReport(stream);
      return;
    }
    if (!shim) return;
    stream.shim.emplace(std::move(**shim));
    const auto watched =
        loop->Watch(stream.shim->pidfd(), EPOLLIN, [this, raw = &stream](uint32_t) {
          loop->Unwatch(raw->shim->pidfd());
          raw->is_shim_gone = true;
          raw->is_report_stale = true;
          for (const Ref& ref : std::vector<Ref>(streams_.begin(), streams_.end())) {
            if (ref.get() == raw) Advance(ref);
          }
        });
    if (!watched) base::LogWarn("{}", watched.error().message);
  }

  static const ContainerReport* ReportOf(const Stream& stream) {
    for (const auto* const list : {&stream.report.containers, &stream.report.init_containers}) {
      for (const ContainerReport& report : *list) {
        if (report.name == stream.container) return &report;
      }
    }
    return nullptr;
  }

  // By value, because the reference may be to the list's own entry.
  void Finish(const Ref stream, base::Status status) {
    if (stream->is_finished) return;
    stream->is_finished = true;
    for (const int watch : stream->watches) {
      auto& users = by_watch_[watch];
      users.erase(stream.get());
      if (!users.empty()) continue;
      by_watch_.erase(watch);
      inotify_.Unwatch(watch);
    }
    if (stream->shim) loop->Unwatch(stream->shim->pidfd());
    streams_.remove(stream);
    stream->receiver.finish(std::move(status));
    stream->receiver = {};
  }

  process::Inotify inotify_;
  base::Guarded<std::vector<Ref>> incoming_;
  std::list<Ref> streams_;
  std::map<int, std::set<Stream*>> by_watch_;
};

base::Result<std::unique_ptr<LogFollower>> LogFollower::Create() {
  TRY_ASSIGN(auto loop, process::EventLoop::Create(base::SystemClock()));
  TRY_ASSIGN(process::Inotify inotify, process::Inotify::Create());
  auto streams = std::make_unique<Streams>(std::move(loop), std::move(inotify));
  TRY(streams->Start());
  return std::unique_ptr<LogFollower>(new LogFollower(std::move(streams)));
}

LogFollower::LogFollower(std::unique_ptr<Streams> streams)
    : streams_(std::move(streams)), thread_([this] {
        if (const base::Status ran = streams_->loop->Run(); !ran) {
          base::LogError("{}", ran.error().message);
        }
        streams_->FinishAll();
      }) {}

LogFollower::~LogFollower() {
  streams_->loop->Stop();
  thread_.join();
}

void LogFollower::Open(std::string pod_directory, std::string container, LogQuery query,
                       LogReceiver receiver) {
  auto stream = std::make_shared<Streams::Stream>();
  stream->directory = std::move(pod_directory);
  stream->container = std::move(container);
  stream->query = query;
  stream->receiver = std::move(receiver);
  streams_->Add(std::move(stream));
}

}  // namespace local::node
