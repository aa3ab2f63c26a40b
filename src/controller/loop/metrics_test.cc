#include "controller/loop/metrics.h"

#include <gtest/gtest.h>

#include <ctime>
#include <string>

namespace controller {
namespace {

using std::chrono::milliseconds;

bool Has(const std::string& text, std::string_view line) {
  return ("\n" + text).find("\n" + std::string(line) + "\n") != std::string::npos;
}

TEST(Metrics, HaveKubeflowsNamesAndOurs) {
  Metrics metrics;
  metrics.Count(reconcile::Counter::kCreated, "team");
  metrics.Count(reconcile::Counter::kCreated, "team");
  metrics.Count(reconcile::Counter::kSucceeded, "team");
  metrics.CountPass(true, milliseconds(3), milliseconds(1));
  metrics.CountPass(false, milliseconds(3), milliseconds(1));
  metrics.CountRequest("POST", 201, milliseconds(7));
  metrics.CountRequest("POST", 0, milliseconds(7));
  metrics.created_pods = 4;
  Metrics::Gauges gauges;
  gauges.queue = {5, 2, 40, 3, milliseconds(1500), milliseconds(1000)};
  gauges.workers = 8;
  metrics.CountReview(200, milliseconds(1));
  gauges.is_leader = true;
  gauges.lease_name = "lease";
  const std::string text = metrics.Print(gauges);
  for (const char* const line :
       {"# TYPE training_operator_jobs_created_total counter",
        "training_operator_jobs_created_total{framework=\"pytorch\",job_namespace=\"team\"} 2",
        "training_operator_jobs_successful_total{framework=\"pytorch\",job_namespace=\"team\"} 1",
        "training_operator_jobs_failed_total{framework=\"pytorch\",job_namespace=\"team\"} 0",
        "created_pods_total 4",
        "failed_service_creation_total 0",
        "controller_runtime_reconcile_total{controller=\"pytorchjob-controller\",result=\"error\"} "
        "1",
        "workqueue_depth{name=\"pytorchjob-controller\"} 5",
        "workqueue_adds_total{name=\"pytorchjob-controller\"} 40",
        "workqueue_retries_total{name=\"pytorchjob-controller\"} 3",
        "workqueue_unfinished_work_seconds{name=\"pytorchjob-controller\"} 1.5",
        "workqueue_longest_running_processor_seconds{name=\"pytorchjob-controller\"} 1",
        "workqueue_work_duration_seconds_count{name=\"pytorchjob-controller\"} 2",
        "controller_runtime_active_workers{controller=\"pytorchjob-controller\"} 2",
        "controller_runtime_max_concurrent_reconciles{controller=\"pytorchjob-controller\"} 8",
        "controller_runtime_reconcile_errors_total{controller=\"pytorchjob-controller\"} 1",
        "controller_runtime_webhook_requests_total{code=\"200\","
        "webhook=\"/validate-kubeflow-org-v1-pytorchjob\"} 1",
        "controller_runtime_reconcile_panics_total{controller=\"pytorchjob-controller\"} 0",
        "controller_runtime_webhook_panics_total 0",
        "rest_client_requests_total{code=\"201\",method=\"POST\"} 1",
        "rest_client_requests_total{code=\"<error>\",method=\"POST\"} 1",
        "leader_election_master_status{name=\"lease\"} 1"}) {
    EXPECT_TRUE(Has(text, line)) << line << "\nin\n" << text;
  }
}

TEST(Metrics, ReportTheProcessAsPrometheusLibrariesDo) {
  const std::string text = Metrics().Print({});
  const auto value = [&text](const std::string& name) {
    const size_t at = text.find("\n" + name + " ");
    return at == std::string::npos ? -1.0 : std::stod(text.substr(at + name.size() + 2));
  };
  EXPECT_GT(value("process_resident_memory_bytes"), 0);
  EXPECT_GT(value("process_virtual_memory_bytes"), value("process_resident_memory_bytes"));
  EXPECT_GT(value("process_virtual_memory_max_bytes"), 0);
  EXPECT_GE(value("process_open_fds"), 3);
  EXPECT_GE(value("process_max_fds"), value("process_open_fds"));
  EXPECT_GT(value("process_start_time_seconds"), 0);
  // The clock may have been set since.
  EXPECT_LE(value("process_start_time_seconds"), static_cast<double>(::time(nullptr)) + 60);
}

TEST(Histogram, CountsWhatIsNotLongerThanABound) {
  Histogram histogram;
  histogram.Observe(milliseconds(1));
  histogram.Observe(milliseconds(2));
  histogram.Observe(std::chrono::seconds(100));
  const std::string text = histogram.Print("x", "a=\"b\"");
  EXPECT_TRUE(Has(text, "x_bucket{a=\"b\",le=\"0.001\"} 1")) << text;
  EXPECT_TRUE(Has(text, "x_bucket{a=\"b\",le=\"0.0025\"} 2")) << text;
  EXPECT_TRUE(Has(text, "x_bucket{a=\"b\",le=\"30\"} 2")) << text;
  EXPECT_TRUE(Has(text, "x_bucket{a=\"b\",le=\"+Inf\"} 3")) << text;
  EXPECT_TRUE(Has(text, "x_sum{a=\"b\"} 100.003")) << text;
  EXPECT_TRUE(Has(histogram.Print("x", ""), "x_count 3"));
}

}  // namespace
}  // namespace controller
