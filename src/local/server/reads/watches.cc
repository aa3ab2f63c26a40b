#include "local/server/reads/watches.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "api/object.h"
#include "local/server/backend/initial_lists.h"
#include "local/server/backend/watch_budget.h"
#include "local/server/reads/event_lines.h"

namespace local::server {
namespace {

using store::EventPtr;

// One watch. Events come on the store's writer thread, initial events on the lists' thread,
// timeouts on the timers' thread, the end on any.
class WatchStream : public InitialLists::Watcher,
                    public WatchBudget::Stream,
                    public std::enable_shared_from_this<WatchStream> {
 public:
  WatchStream(Backend& backend, Call call, Selection selection, std::chrono::milliseconds timeout)
      : backend_(backend),
        timers_(backend.timers),
        timeout_(timeout),
        wants_bookmarks_(call.rest.Flag("allowWatchBookmarks")),
        wants_initial_(call.rest.target.Query("sendInitialEvents") == "true"),
        lines_(backend, *call.rest.resource, std::move(selection),
               FormOf(net::FindHeader(call.http.headers, "Accept")),
               IncludeObjectOf(call.rest.target.Query("includeObject"))),
        rest_(std::move(call.rest)),
        responder_(std::move(call.responder)) {}

  void Run() {
    responder_->OnClose([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->End();
    });
    const int64_t from = ParseVersion();
    if (from == 0) return AwaitList();
    Begin();
    Arrive(from, false);
  }

  net::Responder& responder() override { return *responder_; }

  void Begin() override {
    has_begun_ = true;
    backend_.watch_budget->Add(weak_from_this());
    responder_->Start(200, {{"Content-Type", "application/json"}});
  }

  void Write(const std::string& piece) override {
    responder_->Write(piece);
    backend_.watch_budget->Count(piece.size());
  }

  void Arrive(int64_t version, bool has_rows) override {
    {
      const std::lock_guard lock(write_mutex_);
      seen_ = sent_ = version;
      if (has_rows) lines_.ColumnsAreSent();
    }
    SetTimer(timeout_, &WatchStream::TimeOut);
    auto subscription = backend_.store->Watch(
        store::ResourceName(*rest_.resource), rest_.namespace_name, version,
        [self = shared_from_this()](std::span<const EventPtr> events, int64_t newest) {
          self->Deliver(events, newest);
        });
    if (!subscription) return Fail(FromError(subscription.error()));
    const std::lock_guard lock(end_mutex_);
    if (!is_over_) subscription_ = std::move(*subscription);
  }

  void Fail(const ApiError& error) override {
    const std::lock_guard lock(write_mutex_);
    if (is_over_) return;
    if (has_begun_) {
      responder_->CutShort(EventLines::Line("ERROR", text::ToJson(ToStatus(error))));
    } else {
      responder_->Send(ToResponse(error));
    }
    End();
  }

  size_t PendingBytes() const override { return responder_->PendingBytes(); }
  void PutOut() override {
    Fail(Expired("the client does not read the watch: watch again from the last event"));
  }

 private:
  int64_t ParseVersion() const {
    const auto version = rest_.Number("resourceVersion");
    const int64_t from = version ? version->value_or(0) : 0;
    // As in Kubernetes, an explicit request for initial events overrides the version.
    return wants_initial_ ? 0 : std::max<int64_t>(0, from);
  }

  // Existing objects come first, as ADDED.
  void AwaitList() {
    const bool wants_end = wants_initial_ && wants_bookmarks_;
    const std::string key =
        fmt::format("{}|{}|{}|{}|{}", lines_.Key(), rest_.namespace_name, wants_end,
                    net::PercentEncode(rest_.target.Query("labelSelector")),
                    net::PercentEncode(rest_.target.Query("fieldSelector")));
    const auto source = [&] {
      const auto lines = std::make_shared<EventLines>(lines_);
      return InitialLists::Source{
          lines_.selection().Narrow(rest_),
          [lines](const store::Row& row, std::string& out) { out += lines->Existing(row.json); },
          [lines, wants_end](int64_t version) {
            return wants_end ? lines->Bookmark(version, true) : std::string();
          }};
    };
    if (backend_.initial_lists->Join(key, source, shared_from_this())) return;
    responder_->Send(ToResponse(TooManyRequests("too many watches begin at once: try again")));
  }

  void Deliver(std::span<const EventPtr> events, int64_t version) {
    const size_t written = Send(events, version);
    if (written > 0) backend_.watch_budget->Count(written);
  }

  size_t Send(std::span<const EventPtr> events, int64_t version) {
    std::string lines;
    std::vector<net::ParsedLine> parsed;
    size_t bytes = 0;
    const bool takes_parsed = lines_.AreWhole() && responder_->TakesParsed();
    for (const EventPtr& event : events) {
      net::Parsed object = event->object.lock();
      const std::string_view type = lines_.TypeFor(*event, object.get());
      if (type.empty()) continue;
      if (object && takes_parsed) {
        bytes += event->json->size();
        parsed.push_back({lines.size(), std::move(object), event->json->size()});
        lines += EventLines::Line(type, "null");
      } else {
        lines += EventLines::Line(type, lines_.Render(*event->json));
      }
    }
    bytes += lines.size();
    if (bytes > 0 && responder_->PendingBytes() > kMaxWatchBacklogBytes) {
      PutOut();
      return 0;
    }
    const std::lock_guard lock(write_mutex_);
    if (is_over_) return 0;
    seen_ = version;
    if (bytes > 0) {
      sent_ = events.back()->version;
      responder_->WriteLines(std::move(lines), std::move(parsed));
    }
    if (wants_bookmarks_ && seen_ > sent_ && !is_bookmark_due_) {
      is_bookmark_due_ = true;
      SetTimer(kBookmarkDelay, &WatchStream::SendBookmark);
    }
    return bytes;
  }

  void SendBookmark() {
    const std::lock_guard lock(write_mutex_);
    is_bookmark_due_ = false;
    WriteBookmark();
  }

  // The caller holds the write lock.
  void WriteBookmark() {
    if (is_over_ || seen_ == sent_) return;
    sent_ = seen_;
    responder_->Write(lines_.Bookmark(seen_, false));
  }

  void TimeOut() {
    const std::lock_guard lock(write_mutex_);
    if (is_over_) return;
    if (wants_bookmarks_) WriteBookmark();
    Finish();
  }

  // The caller holds the write lock; End() does not.
  void Finish() {
    responder_->Finish();
    End();
  }

  void End() {
    std::unique_ptr<store::Subscription> subscription;
    std::vector<Timers::Id> ids;
    {
      const std::lock_guard lock(end_mutex_);
      is_over_ = true;
      subscription = std::move(subscription_);
      ids.swap(timer_ids_);
    }
    if (const auto timers = timers_.lock()) {
      for (const Timers::Id id : ids) timers->Cancel(id);
    }
  }

  void SetTimer(std::chrono::milliseconds wait, void (WatchStream::*task)()) {
    const auto timers = timers_.lock();
    if (!timers) return;
    const std::lock_guard lock(end_mutex_);
    if (is_over_) return;
    timer_ids_.push_back(timers->After(wait, [weak = weak_from_this(), task] {
      if (const auto self = weak.lock()) ((*self).*task)();
    }));
  }

  Backend& backend_;
  const std::weak_ptr<Timers> timers_;
  const std::chrono::milliseconds timeout_;
  const bool wants_bookmarks_;
  const bool wants_initial_;
  EventLines lines_;  // used by AwaitList and Arrive, then by Deliver
  const RestRequest rest_;
  const std::shared_ptr<net::Responder> responder_;

  std::atomic<bool> has_begun_ = false;
  std::atomic<bool> is_over_ = false;

  std::mutex write_mutex_;  // orders the output, and guards the members below
  bool is_bookmark_due_ = false;
  int64_t seen_ = 0;  // nothing up to this version is missing
  int64_t sent_ = 0;  // the version that the client knows

  std::mutex end_mutex_;  // guards the members below; no function is called under it
  std::vector<Timers::Id> timer_ids_;
  std::unique_ptr<store::Subscription> subscription_;
};

}  // namespace

void HandleWatch(Backend& backend, Call call) {
  auto selection = Selection::Of(call.rest);
  if (!selection) return call.responder->Send(ToResponse(selection.error()));
  const auto version = call.rest.Number("resourceVersion");
  if (!version) return call.responder->Send(ToResponse(version.error()));
  const auto seconds = call.rest.Number("timeoutSeconds");
  if (!seconds) return call.responder->Send(ToResponse(seconds.error()));
  std::chrono::seconds timeout = kDefaultWatchTimeout;
  if (seconds->value_or(0) > 0) timeout = std::min(timeout, std::chrono::seconds(**seconds));
  std::make_shared<WatchStream>(backend, std::move(call), std::move(*selection), timeout)->Run();
}

}  // namespace local::server
