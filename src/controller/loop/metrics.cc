#include "controller/loop/metrics.h"

#include <fmt/format.h>

#include "api/names.h"
#include "controller/loop/metrics_text.h"
#include "controller/loop/process_metrics.h"

namespace controller {
namespace {

struct JobCounter {
  std::string_view name;
  std::string_view help;
};

// In the order of reconcile::Counter.
constexpr JobCounter kJobCounters[] = {
    {"training_operator_jobs_created_total", "Jobs that were seen for the first time."},
    {"training_operator_jobs_deleted_total", "Jobs deleted after their time to live."},
    {"training_operator_jobs_successful_total", "Jobs that have succeeded."},
    {"training_operator_jobs_failed_total", "Jobs that have failed."},
    {"training_operator_jobs_restarted_total", "Pods that were replaced after a failure."},
};

// Alerts exist for these metrics, and an alert whose metric has no value never clears.
constexpr std::string_view kNoPanics = "Always 0: this program does not panic.";

// The labels that controller-runtime and client-go put on metrics of the loop.
std::string Labels(std::string_view key) {
  return fmt::format("{{{}=\"{}\"}}", key, api::kControllerName);
}

std::string QueueMetrics(const WorkQueue::View& queue) {
  const std::string labels = Labels("name");
  const auto as_seconds = [](base::Duration time) {
    return std::chrono::duration<double>(time).count();
  };
  return One("workqueue_depth", labels, "gauge", "Jobs that wait to be reconciled.",
             queue.waiting) +
         One("workqueue_adds_total", labels, "counter", "Jobs put into the queue.", queue.added) +
         One("workqueue_retries_total", labels, "counter",
             "Jobs put back after a failed reconciliation.", queue.retried) +
         One("workqueue_unfinished_work_seconds", labels, "gauge",
             "Time spent so far on jobs being reconciled.", as_seconds(queue.unfinished)) +
         One("workqueue_longest_running_processor_seconds", labels, "gauge",
             "Longest time spent so far on a job being reconciled.", as_seconds(queue.longest)) +
         One("controller_runtime_active_workers", Labels("controller"), "gauge",
             "Jobs being reconciled.", queue.at_work);
}

std::string GaugeMetrics(const Metrics::Gauges& gauges) {
  std::string text = QueueMetrics(gauges.queue);
  text += One("controller_runtime_max_concurrent_reconciles", Labels("controller"), "gauge",
              "Jobs that may be reconciled at once.", gauges.workers);
  text += One("muster_jobs_active", "gauge", "Jobs with work left.", gauges.jobs_active);
  text += One("muster_events_waiting", "gauge", "Events not yet written.", gauges.events_waiting);
  text += One("muster_events_dropped_total", "counter", "Events dropped because too many waited.",
              gauges.events_dropped);
  text += One("muster_requests_under_way", "gauge", "Requests the API server is answering.",
              gauges.requests_under_way);
  text += One("muster_requests_waiting", "gauge", "Batches of requests that wait for their turn.",
              gauges.requests_waiting);
  text += One("muster_requests_limit", "gauge", "Requests that may run at once.",
              gauges.requests_limit);
  text += One("muster_requests_refused_total", "counter", "429 responses: the server was busy.",
              gauges.requests_refused);
  text += Head("leader_election_master_status", "gauge", "1 on the leader.") +
          fmt::format("leader_election_master_status{{name=\"{}\"}} {}\n", gauges.lease_name,
                      gauges.is_leader ? 1 : 0);
  return text;
}

}  // namespace

void Histogram::Observe(base::Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  size_t bucket = 0;
  while (bucket < kBounds.size() && seconds > kBounds[bucket]) ++bucket;
  ++counts_[bucket];
  micros_ += duration.count();
}

std::string Histogram::Print(std::string_view name, std::string_view labels) const {
  const std::string_view comma = labels.empty() ? "" : ",";
  std::string text;
  int64_t total = 0;
  for (size_t i = 0; i < counts_.size(); ++i) {
    total += counts_[i];
    const std::string bound = i < kBounds.size() ? fmt::format("{}", kBounds[i]) : "+Inf";
    text += fmt::format("{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bound, total);
  }
  const std::string braces = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  return text + fmt::format("{0}_sum{1} {2}\n{0}_count{1} {3}\n", name, braces,
                            static_cast<double>(micros_.load()) / 1e6, total);
}

void Metrics::Count(reconcile::Counter counter, const std::string& namespace_name) {
  const std::lock_guard lock(mutex_);
  ++jobs_[namespace_name][static_cast<size_t>(counter)];
}

void Metrics::CountPass(bool is_success, base::Duration took, base::Duration waited) {
  ++passes_[is_success ? 1 : 0];
  pass_seconds_.Observe(took);
  wait_seconds_.Observe(waited);
}

void Metrics::CountReview(int status, base::Duration took) {
  const std::lock_guard lock(mutex_);
  ++reviews_[status];
  review_seconds_.Observe(took);
}

void Metrics::CountRequest(std::string_view method, int status, base::Duration took) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(method), status}];
  request_seconds_[std::string(method)].Observe(took);
}

std::string Metrics::PrintPasses() const {
  const std::string label = fmt::format("controller=\"{}\"", api::kControllerName);
  const std::string name = fmt::format("name=\"{}\"", api::kControllerName);
  std::string text =
      Head("controller_runtime_reconcile_total", "counter", "Reconciliations of jobs.");
  text += fmt::format(
      "controller_runtime_reconcile_total{{{0},result=\"error\"}} {1}\n"
      "controller_runtime_reconcile_total{{{0},result=\"success\"}} {2}\n",
      label, passes_[0].load(), passes_[1].load());
  text += One("controller_runtime_reconcile_errors_total", Labels("controller"), "counter",
              "Reconciliations that failed.", passes_[0].load());
  text += One("controller_runtime_reconcile_panics_total", Labels("controller"), "counter",
              kNoPanics, 0);
  const auto print = [&text](std::string_view metric, std::string_view labels,
                             std::string_view help, const Histogram& histogram) {
    text += Head(metric, "histogram", help) + histogram.Print(metric, labels);
  };
  print("controller_runtime_reconcile_time_seconds", label, "Duration of a reconciliation.",
        pass_seconds_);
  print("workqueue_work_duration_seconds", name, "Duration of a reconciliation.", pass_seconds_);
  print("workqueue_queue_duration_seconds", name, "Time that a job waits in the queue.",
        wait_seconds_);
  return text;
}

std::string Metrics::PrintWebhook() const {
  constexpr std::string_view kTotal = "controller_runtime_webhook_requests_total";
  constexpr std::string_view kLatency = "controller_runtime_webhook_latency_seconds";
  const std::string label = fmt::format("webhook=\"{}\"", kAdmissionPath);
  std::string text = Head(kTotal, "counter", "Jobs that were checked.");
  const std::lock_guard lock(mutex_);
  for (const auto& [status, count] : reviews_) {
    text += fmt::format("{}{{code=\"{}\",{}}} {}\n", kTotal, status, label, count);
  }
  text +=
      Head(kLatency, "histogram", "Time to check a job.") + review_seconds_.Print(kLatency, label);
  text += One("controller_runtime_webhook_requests_in_flight", fmt::format("{{{}}}", label),
              "gauge", "Jobs that are being checked.", reviews_under_way.load());
  text += One("controller_runtime_webhook_panics_total", "counter", kNoPanics, 0);
  text += One("certwatcher_read_certificate_total", "counter",
              "Reads of the webhook's certificate.", certificate_looks.load());
  return text + One("certwatcher_read_certificate_errors_total", "counter",
                    "Reads of the webhook's certificate that failed.",
                    failed_certificate_looks.load());
}

std::string Metrics::Print(const Gauges& gauges) const {
  std::string text;
  {
    const std::lock_guard lock(mutex_);
    for (size_t i = 0; i < kCounters; ++i) {
      text += Head(kJobCounters[i].name, "counter", kJobCounters[i].help);
      for (const auto& [namespace_name, counts] : jobs_) {
        text += fmt::format("{}{{framework=\"pytorch\",job_namespace=\"{}\"}} {}\n",
                            kJobCounters[i].name, namespace_name, counts[i]);
      }
    }
    text += Head("rest_client_requests_total", "counter", "Responses of the API server.");
    for (const auto& [key, count] : requests_) {
      text +=
          fmt::format("rest_client_requests_total{{code=\"{}\",method=\"{}\"}} {}\n",
                      key.second == 0 ? "<error>" : std::to_string(key.second), key.first, count);
    }
    text += Head("muster_request_seconds", "histogram", "Latency of requests to the API server.");
    for (const auto& [method, histogram] : request_seconds_) {
      text += histogram.Print("muster_request_seconds", fmt::format("method=\"{}\"", method));
    }
  }
  const auto total = [&text](std::string_view name, std::string_view help, int64_t value) {
    text += One(name, "counter", help, value);
  };
  total("created_pods_total", "Pods made.", created_pods);
  total("deleted_pods_total", "Pods deleted.", deleted_pods);
  total("failed_pods_total", "Pods seen to fail.", gauges.failed_pods);
  total("succeeded_service_creation_total", "Services made.", created_services);
  total("failed_service_creation_total", "Services whose creation failed.", failed_services);
  total("created_pod_groups_total", "PodGroups made.", created_pod_groups);
  total("deleted_pod_groups_total", "PodGroups deleted.", deleted_pod_groups);
  total("muster_status_writes_total", "Writes of job statuses.", status_writes);
  text += PrintPasses() + PrintWebhook();
  text += Head("muster_job_ready_seconds", "histogram",
               "From the first news of a job to all its pods created.");
  text += job_ready.Print("muster_job_ready_seconds", "");
  return text + GaugeMetrics(gauges) + ProcessMetrics();
}

}  // namespace controller
