#include "local/server/watches.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "api/object.h"
#include "local/server/selection.h"
#include "local/server/tables.h"

namespace local::server {
namespace {

using store::Event;
using store::EventPtr;

std::string Line(std::string_view type, std::string_view object) {
  return fmt::format("{{\"type\":\"{}\",\"object\":{}}}\n", type, object);
}

// One watch. Events come on the store's writer thread, timeouts on the timers', the end on any.
class WatchStream : public std::enable_shared_from_this<WatchStream> {
 public:
  WatchStream(Backend& backend, Call call, Selection selection)
      : backend_(backend),
        timers_(backend.timers),
        resource_(*call.rest.resource),
        selection_(std::move(selection)),
        form_(FormOf(net::FindHeader(call.http.headers, "Accept"))),
        include_(IncludeObjectOf(call.rest.target.Query("includeObject"))),
        wants_bookmarks_(call.rest.Flag("allowWatchBookmarks")),
        rest_(std::move(call.rest)),
        responder_(std::move(call.responder)) {
    const std::string_view initial = rest_.target.Query("sendInitialEvents");
    wants_initial_end_ = initial == "true" && wants_bookmarks_;
  }

  void Run(std::chrono::milliseconds timeout) {
    responder_->OnClose([weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->End();
    });
    responder_->Start(200, {{"Content-Type", "application/json"}});
    int64_t from = ParseVersion();
    if (from == 0 && !SendExisting(from)) return;
    {
      const std::lock_guard lock(write_mutex_);
      seen_ = told_ = from;
    }
    SetTimer(timeout, &WatchStream::TimeOut);
    auto subscription = backend_.store->Watch(
        store::ResourceName(resource_), rest_.namespace_name, from,
        [self = shared_from_this()](std::span<const EventPtr> events, int64_t version) {
          self->Deliver(events, version);
        });
    if (!subscription) return Fail(FromError(subscription.error()));
    const std::lock_guard lock(end_mutex_);
    if (!is_over_) subscription_ = std::move(*subscription);
  }

 private:
  int64_t ParseVersion() const {
    const auto version = rest_.Number("resourceVersion");
    const int64_t from = version ? version->value_or(0) : 0;
    // As Kubernetes: an explicit wish for what exists overrides the version.
    return rest_.target.Query("sendInitialEvents") == "true" ? 0 : std::max<int64_t>(0, from);
  }

  // What exists as ADDED. `from` becomes the version that it is of. False when it has failed.
  bool SendExisting(int64_t& from) {
    // Rendered afterwards: a table's row may need to read the store again.
    std::vector<std::string> objects;
    const auto version = backend_.store->List(selection_.Narrow(rest_), [&](const store::Row& row) {
      if (selection_.MatchesText(row.json)) objects.emplace_back(row.json);
      return true;
    });
    if (!version) {
      Fail(FromError(version.error()));
      return false;
    }
    from = *version;
    std::string lines;
    for (const std::string& json : objects) lines += Line("ADDED", Render(json));
    if (wants_initial_end_) lines += Bookmark(from, true);
    if (!lines.empty()) responder_->Write(std::move(lines));
    return true;
  }

  void Deliver(std::span<const EventPtr> events, int64_t version) {
    std::string lines;
    for (const EventPtr& event : events) lines += Show(*event);
    const std::lock_guard lock(write_mutex_);
    if (is_over_) return;
    seen_ = version;
    if (!lines.empty()) {
      if (responder_->PendingBytes() > kMaxWatchBacklogBytes) return Finish();
      told_ = events.back()->version;
      responder_->Write(std::move(lines));
    }
    if (wants_bookmarks_ && seen_ > told_ && !is_bookmark_due_) {
      is_bookmark_due_ = true;
      SetTimer(kBookmarkDelay, &WatchStream::SendBookmark);
    }
  }

  // The event as this watcher sees it: what a selector takes in or leaves out comes and goes.
  std::string Show(const Event& event) {
    if (selection_.IsAll()) return Line(TypeName(event.type), Render(*event.json));
    const bool is_in = selection_.MatchesText(event.selectable);
    const bool was_in =
        event.type == Event::Type::kModified && selection_.MatchesText(event.selectable_before);
    switch (event.type) {
      case Event::Type::kAdded:
        return is_in ? Line("ADDED", Render(*event.json)) : "";
      case Event::Type::kDeleted:
        return is_in ? Line("DELETED", Render(*event.json)) : "";
      case Event::Type::kModified:
        break;
    }
    if (!is_in && !was_in) return "";
    const std::string_view type = is_in ? (was_in ? "MODIFIED" : "ADDED") : "DELETED";
    return Line(type, Render(*event.json));
  }

  static std::string_view TypeName(Event::Type type) {
    switch (type) {
      case Event::Type::kAdded:
        return "ADDED";
      case Event::Type::kModified:
        return "MODIFIED";
      case Event::Type::kDeleted:
        break;
    }
    return "DELETED";
  }

  std::string Render(std::string_view json) {
    if (form_ == Form::kObject) return std::string(json);
    const auto object = text::ParseJson(json);
    if (!object) return "null";
    if (form_ == Form::kPartial) return PartialObject(*object);
    TableBuilder table(resource_, include_, backend_.clock->Now());
    std::optional<JobRow> row;
    if (&resource_ == &api::kPyTorchJobs) {
      auto found = backend_.summaries->Get(
          *backend_.store, {std::string(api::Namespace(*object)), std::string(api::Name(*object))});
      if (found) row = std::move(*found);
    }
    if (row) {
      table.Add(*row, json);
    } else {
      table.Add(*object);
    }
    const text::Object metadata{{"resourceVersion", api::ResourceVersion(*object)}};
    return table.Finish(text::ToJson(metadata), std::exchange(needs_columns_, false));
  }

  std::string Bookmark(int64_t version, bool is_initial_end) const {
    text::Object metadata{{"resourceVersion", std::to_string(version)}};
    if (is_initial_end) {
      metadata["annotations"] = text::Object{{"k8s.io/initial-events-end", "true"}};
    }
    metadata["creationTimestamp"] = nullptr;
    text::Object object{{"kind", resource_.kind}, {"apiVersion", resource_.api_version()}};
    if (form_ == Form::kTable) {
      object = {{"kind", "Table"}, {"apiVersion", "meta.k8s.io/v1"}};
      object["columnDefinitions"] = nullptr;
      object["rows"] = text::Array{};
    } else if (form_ == Form::kPartial) {
      object = {{"kind", "PartialObjectMetadata"}, {"apiVersion", "meta.k8s.io/v1"}};
    }
    object["metadata"] = std::move(metadata);
    return Line("BOOKMARK", text::ToJson(object));
  }

  void SendBookmark() {
    const std::lock_guard lock(write_mutex_);
    is_bookmark_due_ = false;
    WriteBookmark();
  }

  // The write lock is held.
  void WriteBookmark() {
    if (is_over_ || seen_ == told_) return;
    told_ = seen_;
    responder_->Write(Bookmark(seen_, false));
  }

  void TimeOut() {
    const std::lock_guard lock(write_mutex_);
    if (is_over_) return;
    if (wants_bookmarks_) WriteBookmark();
    Finish();
  }

  void Fail(const ApiError& error) {
    const std::lock_guard lock(write_mutex_);
    if (is_over_) return;
    responder_->Write(Line("ERROR", text::ToJson(ToStatus(error))));
    Finish();
  }

  // The write lock is held; End() does without it.
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
  const api::Resource& resource_;
  const Selection selection_;
  const Form form_;
  const IncludeObject include_;
  const bool wants_bookmarks_;
  bool wants_initial_end_ = false;
  bool needs_columns_ = true;  // Run, then Deliver
  const RestRequest rest_;
  const std::shared_ptr<net::Responder> responder_;

  std::atomic<bool> is_over_ = false;

  std::mutex write_mutex_;  // orders what is written, guards what follows
  bool is_bookmark_due_ = false;
  int64_t seen_ = 0;  // the version up to which nothing is missing
  int64_t told_ = 0;  // the version that the client knows

  std::mutex end_mutex_;  // guards what follows; nothing is called under it
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
  std::make_shared<WatchStream>(backend, std::move(call), std::move(*selection))->Run(timeout);
}

}  // namespace local::server
