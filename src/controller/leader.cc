#include "controller/leader.h"

#include <utility>

#include "api/resources.h"
#include "base/log.h"

namespace controller {

Leader::Leader(cluster::Client& client, base::Clock& clock, LeaderOptions options,
               std::function<void(bool leads)> changed)
    : client_(client),
      clock_(clock),
      options_(std::move(options)),
      changed_(std::move(changed)),
      watcher_(options_.identity, options_.duration),
      thread_([this](const std::stop_token& stop) { Run(stop); }) {}

Leader::~Leader() {
  thread_.request_stop();
  thread_.join();
  Release();
}

void Leader::Run(const std::stop_token& stop) {
  bool leads = false;
  std::string complaint;
  auto renewed = clock_.Steady();
  while (!stop.stop_requested()) {
    const auto tried_at = clock_.Steady();
    base::Result<bool> held = Try();
    // Somebody else has touched it: that need not mean that it is gone.
    if (held && !*held && leads) held = Try();
    if (held) {
      complaint.clear();
      if (*held) renewed = tried_at;
      if (*held != leads) changed_(leads = *held);
    } else {
      if (std::exchange(complaint, held.error().message) != complaint) {
        base::LogWarn("lease {}/{}: {}; trying on", options_.namespace_name, options_.lease_name,
                      complaint);
      }
      if (leads && clock_.Steady() - renewed > options_.renew_deadline) changed_(leads = false);
    }
    std::unique_lock lock(mutex_);
    stopped_.wait_for(lock, stop, options_.retry, [] { return false; });
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
  // Another was faster; whether it is ours still shows at the next look.
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
