#include "controller/operator/leader.h"

#include <algorithm>
#include <utility>

#include "api/resources.h"
#include "base/log.h"

namespace controller {
namespace {

constexpr std::chrono::milliseconds kShortestRest{50};

}  // namespace

Leader::Leader(cluster::Client& client, base::Clock& clock, LeaderOptions options, LeaseTerm& term,
               std::function<void(bool leads)> changed)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      changed_(std::move(changed)),
      watcher_(options_.identity, options_.duration),
      term_(term),
      watch_thread_([this](const std::stop_token& stop) { WatchTerm(stop); }),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

Leader::~Leader() {
  for (std::jthread* const thread : {&thread_, &watch_thread_}) {
    thread->request_stop();
    thread->join();
  }
  term_.End();
  Release();
}

void Leader::Run(const std::stop_token& stop) {
  std::string complaint;
  while (!stop.stop_requested()) {
    Instant tried_at = clock_.Steady();
    base::Result<bool> held = Try();
    // Somebody else has changed it: the Lease is not necessarily lost.
    if (held && !*held && term_.Lasts()) {
      tried_at = clock_.Steady();
      held = Try();
    }
    if (held) {
      complaint.clear();
      Take(*held, tried_at);
    } else if (std::exchange(complaint, held.error().message) != complaint) {
      const bool is_missing = held.error().code == base::Code::kNotFound;
      base::LogWarn("lease {}/{}: {}; will try again{}", options_.namespace_name,
                    options_.lease_name, complaint,
                    is_missing ? " (--leader-election-namespace names another namespace)" : "");
    }
    std::chrono::steady_clock::duration rest = options_.retry;
    if (held && !*held) {
      rest = options_.standby_retry;
      // The Lease of a dead holder is taken as soon as it has run out.
      if (const auto free_at = watcher_.FreeAt()) {
        rest = std::clamp<std::chrono::steady_clock::duration>(*free_at - clock_.Steady(),
                                                               kShortestRest, rest);
      }
    }
    std::unique_lock lock(mutex_);
    woken_.wait_for(lock, stop, rest, [] { return false; });
  }
}

void Leader::Take(bool is_held, Instant tried_at) {
  const std::lock_guard lock(mutex_);
  if (is_held) {
    ends_at_ = tried_at + options_.renew_deadline;
    term_.ExtendTo(ends_at_);
    // An answer that comes too late belongs to a term that is over.
    if (!leads_ && term_.Lasts()) changed_(leads_ = true);
  } else if (leads_) {
    term_.End();
    changed_(leads_ = false);
  }
  woken_.notify_all();
}

void Leader::WatchTerm(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    if (!leads_) {
      woken_.wait(lock, stop, [this] { return leads_; });
    } else if (clock_.Steady() < ends_at_) {
      const Instant end = ends_at_;
      woken_.wait_for(lock, stop, end - clock_.Steady(),
                      [&] { return !leads_ || ends_at_ != end; });
    } else {
      term_.End();
      changed_(leads_ = false);
    }
  }
}

base::Result<bool> Leader::Try() {
  auto lease = client_.Get(api::kLeases, options_.namespace_name, options_.lease_name);
  if (!lease && lease.error().code != base::Code::kNotFound) return base::Fail(lease.error());
  auto spec = watcher_.Want(lease ? *lease : text::Json(), clock_.Now(), clock_.Steady());
  if (!spec) return false;
  base::Result<text::Json> written = text::Json();
  if (lease) {
    text::Set(*lease, {"spec"}, std::move(*spec));
    written = client_.Update(api::kLeases, *lease);
  } else {
    text::Json made = text::Object{{"apiVersion", api::kLeases.api_version()},
                                   {"kind", api::kLeases.kind},
                                   {"metadata", text::Object{{"name", options_.lease_name}}},
                                   {"spec", std::move(*spec)}};
    written = client_.Create(api::kLeases, options_.namespace_name, made);
  }
  if (written) return true;
  // Another process was faster; the next attempt shows whether the Lease is ours.
  const base::Code code = written.error().code;
  if (code == base::Code::kConflict || code == base::Code::kAlreadyExists) return false;
  return base::Fail(written.error());
}

void Leader::Release() {
  auto lease = client_.Get(api::kLeases, options_.namespace_name, options_.lease_name);
  if (!lease) return;
  auto spec = watcher_.Release(*lease, clock_.Now());
  if (!spec) return;
  text::Set(*lease, {"spec"}, std::move(*spec));
  const auto written = client_.Update(api::kLeases, *lease);
  if (!written) base::LogDebug("lease not released: {}", written.error().message);
}

}  // namespace controller
