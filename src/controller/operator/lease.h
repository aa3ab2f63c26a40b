// Leader election among operators by a Lease of coordination.k8s.io, with client-go's rules: the
// holder renews it; others take it when it is free, or when it has not changed for as long as its
// holder promised, measured by their own clocks. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "base/clock.h"
#include "text/json.h"

namespace controller {

struct LeaseRecord {
  std::string holder;  // "": nobody
  std::chrono::seconds duration{0};
  std::string acquired, renewed;  // MicroTime, as written
  int64_t transitions = 0;

  bool operator==(const LeaseRecord&) const = default;
};

LeaseRecord ReadLease(const text::Json& lease);

// What this operator remembers of the Lease between two reads.
class LeaseWatcher {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  LeaseWatcher(std::string identity, std::chrono::seconds duration)
      : identity_(std::move(identity)), duration_(duration) {}

  // `lease` is the Lease as it is now, null when there is none. Returns the spec to write, in a new
  // Lease or in place of the present one; nullopt while another holds it.
  std::optional<text::Object> Want(const text::Json& lease, base::Time now, Instant steady);
  // When another's Lease runs out unless it is renewed; nullopt when nobody else holds it, or
  // before the first read.
  std::optional<Instant> FreeAt() const;
  // The spec that releases the Lease; nullopt when it is not ours.
  std::optional<text::Object> Release(const text::Json& lease, base::Time now) const;

 private:
  text::Object Spec(const LeaseRecord& before, base::Time now) const;

  const std::string identity_;
  const std::chrono::seconds duration_;
  std::optional<LeaseRecord> seen_;
  Instant seen_at_{};
};

}  // namespace controller
