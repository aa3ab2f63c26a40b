// The operator's metrics, in Prometheus' text format. They have the names that Kubeflow's operator
// and its libraries use (compat/pytorchjob.md 3.2), with the same meaning, and muster adds:
//   muster_requests_under_way, _limit, _waiting   what FlowControl allows and holds
//   muster_requests_refused_total                 answers 429
//   muster_request_seconds{method}                latency of requests to the API server
//   muster_jobs_active, muster_events_waiting, muster_events_dropped_total
//   muster_job_ready_seconds                      from the first news of a job to all its pods
//   created
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "controller/loop/work_queue.h"
#include "reconcile/reconcile.h"

namespace controller {

// The webhook's path; its requests are counted under it.
inline constexpr std::string_view kAdmissionPath = "/validate-kubeflow-org-v1-pytorchjob";

// Durations in buckets. Thread safe.
class Histogram {
 public:
  // Upper bounds in seconds; the last bucket has none.
  static constexpr std::array<double, 12> kBounds = {0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
                                                     0.1,   0.25,   0.5,   1,    5,     30};
  void Observe(base::Duration duration);
  // The lines of the histogram `name`; `labels` without braces, possibly empty.
  std::string Print(std::string_view name, std::string_view labels) const;

 private:
  std::array<std::atomic<int64_t>, kBounds.size() + 1> counts_{};
  std::atomic<int64_t> micros_{0};
};

// Thread safe.
class Metrics {
 public:
  void Count(reconcile::Counter counter, const std::string& namespace_name);
  void CountPass(bool is_success, base::Duration took, base::Duration waited);
  void CountRequest(std::string_view method, int status, base::Duration took);

  // Counts an answer of the webhook to the API server.
  void CountReview(int status, base::Duration took);

  std::atomic<int64_t> reviews_under_way{0};
  std::atomic<int64_t> certificate_looks{0}, failed_certificate_looks{0};
  std::atomic<int64_t> created_pods{0}, deleted_pods{0};
  std::atomic<int64_t> status_writes{0};  // of jobs
  std::atomic<int64_t> created_services{0}, failed_services{0};
  std::atomic<int64_t> created_pod_groups{0}, deleted_pod_groups{0};
  Histogram job_ready;

  // Values that are sampled when the metrics are scraped.
  struct Gauges {
    WorkQueue::View queue;
    size_t jobs_active = 0, events_waiting = 0;
    int64_t events_dropped = 0, requests_refused = 0, failed_pods = 0;
    int requests_under_way = 0, requests_limit = 0, requests_waiting = 0, workers = 0;
    bool is_leader = false;
    std::string lease_name;
  };
  std::string Print(const Gauges& gauges) const;

 private:
  std::string PrintPasses() const;
  std::string PrintWebhook() const;

  static constexpr size_t kCounters = 5;
  mutable std::mutex mutex_;
  std::map<std::string, std::array<int64_t, kCounters>> jobs_;  // by namespace
  std::map<std::pair<std::string, int>, int64_t> requests_;     // by method and status
  std::map<std::string, Histogram> request_seconds_;            // by method
  std::atomic<int64_t> passes_[2] = {};                         // failed, succeeded
  std::map<int, int64_t> reviews_;                              // by status
  Histogram pass_seconds_, wait_seconds_, review_seconds_;
};

}  // namespace controller
