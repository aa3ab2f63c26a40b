#include "controller/operator/lease.h"

#include <utility>

namespace controller {
namespace {

// A Lease without a holder still needs a duration (its validation requires one).
constexpr int kReleasedSeconds = 1;

}  // namespace

LeaseRecord ReadLease(const text::Json& lease) {
  LeaseRecord record;
  record.holder = text::GetString(lease, {"spec", "holderIdentity"});
  record.duration =
      std::chrono::seconds(text::GetInt(lease, {"spec", "leaseDurationSeconds"}).value_or(0));
  record.acquired = text::GetString(lease, {"spec", "acquireTime"});
  record.renewed = text::GetString(lease, {"spec", "renewTime"});
  record.transitions = text::GetInt(lease, {"spec", "leaseTransitions"}).value_or(0);
  return record;
}

text::Object LeaseWatcher::Spec(const LeaseRecord& before, base::Time now) const {
  const std::string stamp = base::FormatRfc3339Micro(now);
  const bool is_ours = before.holder == identity_;
  text::Object spec;
  spec["holderIdentity"] = identity_;
  spec["leaseDurationSeconds"] = duration_.count();
  spec["acquireTime"] = is_ours && !before.acquired.empty() ? before.acquired : stamp;
  spec["renewTime"] = stamp;
  spec["leaseTransitions"] = before.transitions + (is_ours ? 0 : 1);
  return spec;
}

std::optional<text::Object> LeaseWatcher::Want(const text::Json& lease, base::Time now,
                                               Instant steady) {
  if (lease.is_null()) {
    text::Object spec = Spec({}, now);
    spec["leaseTransitions"] = 0;
    return spec;
  }
  LeaseRecord record = ReadLease(lease);
  if (seen_ != record) {
    seen_ = record;
    seen_at_ = steady;
  }
  const bool is_free = record.holder.empty() || record.holder == identity_;
  if (!is_free && steady < seen_at_ + record.duration) return std::nullopt;
  return Spec(record, now);
}

std::optional<LeaseWatcher::Instant> LeaseWatcher::FreeAt() const {
  if (!seen_ || seen_->holder.empty() || seen_->holder == identity_) return std::nullopt;
  return seen_at_ + seen_->duration;
}

std::optional<text::Object> LeaseWatcher::Release(const text::Json& lease, base::Time now) const {
  const LeaseRecord record = ReadLease(lease);
  if (record.holder != identity_) return std::nullopt;
  const std::string stamp = base::FormatRfc3339Micro(now);
  text::Object spec;
  spec["holderIdentity"] = "";
  spec["leaseDurationSeconds"] = kReleasedSeconds;
  spec["acquireTime"] = stamp;
  spec["renewTime"] = stamp;
  spec["leaseTransitions"] = record.transitions;
  return spec;
}

}  // namespace controller
