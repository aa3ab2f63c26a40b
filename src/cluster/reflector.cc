#include "cluster/reflector.h"

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string_view>
#include <utility>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/defer.h"
#include "base/log.h"
#include "base/strings.h"

namespace cluster {
namespace {

constexpr base::Duration kFirstPause = std::chrono::milliseconds(100);
constexpr base::Duration kLongestPause = std::chrono::seconds(10);
// A watch that ends sooner and without an event counts as failed.
constexpr std::chrono::seconds kShortWatch{1};
// After so many of them in a row, or that were not answered although lists are, it lists: what
// changed would not be seen otherwise.
constexpr int kShortWatches = 2;
// A starting API server briefly refuses what it will allow: about three seconds of attempts.
constexpr int kRefusals = 6;
// The server ends a watch after this, so that a hanging connection is noticed.
constexpr int64_t kWatchSeconds = 300;
// Objects per page (client-go's number), which are read before they are trimmed.
constexpr int64_t kPageObjects = 500;

constexpr std::string_view kNameSelector = "metadata.name=";

// Compares two versions as numbers, which every current API server uses.
bool IsBefore(std::string_view version, std::string_view other) {
  const auto a = base::ParseInt(version);
  const auto b = base::ParseInt(other);
  return a && b && *a < *b;
}

}  // namespace

class Reflector::Impl {
 public:
  Impl(Client& client, const api::Resource& resource, ListOptions options, ReflectorHandler handler)
      : client_(client),
        resource_(resource),
        options_(std::move(options)),
        handler_(std::move(handler)),
        thread_([this](const std::stop_token& stop) { Run(stop); }) {}

  ~Impl() {
    thread_.request_stop();
    const std::lock_guard lock(mutex_);
    if (watch_) watch_->Cancel();
  }

 private:
  void Run(const std::stop_token& stop);
  base::Result<std::string> Replace(const std::stop_token& stop);
  base::Result<bool> HasHistoryGoneBack(const std::string& version);
  base::Status WatchFrom(std::string& version, const std::stop_token& stop);
  base::Status GiveOut(Watch& watch, std::string& version, const std::stop_token& stop);
  void Count(const base::Error& error);
  void Pause(const std::stop_token& stop);

  Client& client_;
  const api::Resource& resource_;
  const ListOptions options_;
  const ReflectorHandler handler_;
  base::Backoff backoff_{kFirstPause, kLongestPause};
  bool has_watched_ = false;     // since the last list
  bool has_broken_ = false;      // the last watch; the server may have changed
  int short_watches_ = 0;        // in a row, since the last list
  std::string newest_;           // the newest version seen
  int refusals_ = 0;             // in a row
  bool is_unreachable_ = false;  // and the handler knows it

  std::mutex mutex_;
  std::condition_variable_any stopped_;
  std::unique_ptr<Watch> watch_;  // set while one is open, for the destructor to cancel

  std::jthread thread_;  // last: uses all of the above
};

void Reflector::Impl::Run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    base::Result<std::string> version = Replace(stop);
    if (!version) {
      base::LogDebug("list {}: {}", resource_.plural, version.error().message);
      Count(version.error());
      Pause(stop);
      continue;
    }
    has_watched_ = has_broken_ = false;
    short_watches_ = 0;
    while (!stop.stop_requested()) {
      const base::Status watched = WatchFrom(*version, stop);
      newest_ = *version;
      has_broken_ = !watched.has_value();
      if (watched || stop.stop_requested()) continue;
      base::LogDebug("watch {}: {}", resource_.plural, watched.error().message);
      Count(watched.error());
      const bool is_expired = watched.error().code == base::Code::kExpired;
      // A version that is too old as soon as it is listed would cause a busy loop.
      if (!is_expired || !has_watched_) Pause(stop);
      if (is_expired || short_watches_ >= kShortWatches) break;
    }
  }
}

base::Result<std::string> Reflector::Impl::Replace(const std::stop_token& stop) {
  ListOptions options = options_;
  options.limit = kPageObjects;
  // A list of hundreds of pages is given up when the reflector ends.
  const ObjectReader& read = options_.read_listed ? options_.read_listed : options_.read;
  options.read_listed = [&](const text::Document& object) -> base::Result<text::Json> {
    if (stop.stop_requested()) return base::Fail(base::Code::kCancelled, "stopped");
    return read ? read(object) : object.Whole();
  };
  TRY_ASSIGN(ObjectList list, client_.List(resource_, options));
  if (IsBefore(list.resource_version, newest_) && handler_.history_lost) handler_.history_lost();
  newest_ = list.resource_version;
  handler_.replace(std::move(list.items));
  return std::move(list.resource_version);
}

base::Result<bool> Reflector::Impl::HasHistoryGoneBack(const std::string& version) {
  ListOptions options;
  options.namespace_name = options_.namespace_name;
  // An empty list is enough, because only its version is needed. The permission may be for one name
  // only.
  const bool is_named = options_.field_selector.starts_with(kNameSelector);
  options.field_selector =
      is_named ? options_.field_selector : fmt::format("{}none", kNameSelector);
  TRY_ASSIGN(const ObjectList list, client_.List(resource_, options));
  return IsBefore(list.resource_version, version);
}

// Success: the watch ended normally, and `version` is where to go on.
base::Status Reflector::Impl::WatchFrom(std::string& version, const std::stop_token& stop) {
  const auto begin = base::SystemClock().Steady();
  ListOptions options = options_;
  options.resource_version = version;
  options.limit = 0;
  options.timeout_seconds = kWatchSeconds;
  if (has_broken_) {
    TRY_ASSIGN(const bool has_gone_back, HasHistoryGoneBack(version));
    if (has_gone_back)
      return base::Fail(base::Code::kExpired, "the server's history has gone back");
  }
  auto opened = client_.OpenWatch(resource_, options);
  if (!opened) {
    // A server that restarts answers no list, either: to list all again would cost it much.
    const bool has_listed = has_broken_;
    if (has_listed && opened.error().code == base::Code::kUnavailable) ++short_watches_;
    return base::Fail(opened.error());
  }
  const bool was_refused = std::exchange(refusals_, 0) >= kRefusals;
  if ((std::exchange(is_unreachable_, false) || was_refused) && handler_.recovered) {
    handler_.recovered();
  }
  Watch& watch = **opened;
  {
    const std::lock_guard lock(mutex_);
    watch_ = std::move(*opened);
  }
  const base::Defer forget([this] {
    const std::lock_guard lock(mutex_);
    watch_.reset();
  });
  const std::string first_version = version;
  const base::Status given = GiveOut(watch, version, stop);
  if (version != first_version || base::SystemClock().Steady() - begin > kShortWatch) {
    has_watched_ = true;
    short_watches_ = 0;
    backoff_.Reset();
  } else {
    ++short_watches_;
    if (given && !stop.stop_requested()) {
      return base::Fail(base::Code::kUnavailable, "the watch ended as soon as it began");
    }
  }
  return given;
}

base::Status Reflector::Impl::GiveOut(Watch& watch, std::string& version,
                                      const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    TRY_ASSIGN(std::optional<WatchEvent> event, watch.Next());
    if (!event) return {};
    const auto seen = text::GetString(event->object, {"metadata", "resourceVersion"});
    if (IsBefore(seen, version)) {
      return base::Fail(base::Code::kExpired, "the server's history has gone back");
    }
    if (!seen.empty()) version = seen;
    if (event->type == WatchEvent::Type::kBookmark) continue;
    if (options_.trim) options_.trim(event->object);
    handler_.apply(std::move(*event));
  }
  return {};
}

void Reflector::Impl::Count(const base::Error& error) {
  using base::Code;
  const bool is_refused = error.code == Code::kPermissionDenied ||
                          error.code == Code::kUnauthenticated || error.code == Code::kNotFound ||
                          error.code == Code::kInvalidArgument;
  refusals_ = is_refused ? refusals_ + 1 : 0;
  if (refusals_ >= kRefusals && handler_.refused) handler_.refused(error);
  const bool is_answer =
      is_refused || error.code == Code::kExpired || error.code == Code::kCancelled;
  if (is_answer || !handler_.unreachable) return;
  is_unreachable_ = true;
  handler_.unreachable(error);
}

void Reflector::Impl::Pause(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  stopped_.wait_for(lock, stop, backoff_.Next(), [] { return false; });
}

Reflector::Reflector(Client& client, const api::Resource& resource, ListOptions options,
                     ReflectorHandler handler)
    : impl_(std::make_unique<Impl>(client, resource, std::move(options), std::move(handler))) {}
Reflector::~Reflector() = default;

}  // namespace cluster
