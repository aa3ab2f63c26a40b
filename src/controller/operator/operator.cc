#include "controller/operator/operator.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>
#include <unistd.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "base/log.h"
#include "controller/operator/http.h"
#include "controller/operator/kubeflow_takeover.h"
#include "controller/operator/own_image.h"

namespace controller {
namespace {

using Priority = cluster::FlowControl::Priority;

// glibc gives each thread an arena of its own, but few threads here allocate much at once.
constexpr int kMaxArenas = 2;
// How long work under way may take when the operator has to end; a kubelet kills after 30 s.
constexpr std::chrono::seconds kEndingPatience{20};

// The signals that end the operator, blocked in every thread but the one that waits for them.
class EndSignals {
 public:
  EndSignals() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGTERM);
    sigaddset(&signals_, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }
  int Await() const {
    int number = 0;
    while (::sigwait(&signals_, &number) != 0) {
    }
    return number;
  }

 private:
  sigset_t signals_{};
};

// Whether jobs have to be worked on here and now, decided from the reports of several parts.
class WorkState {
 public:
  void SetLeads(bool leads) {
    Change([&] { leads_ = leads; });
  }
  void SetKubeflowPod(std::string pod) {
    Change([&] { kubeflow_pod_ = std::move(pod); });
  }
  // The certificates by which pods recognise the status endpoint; "": pods do not get its address.
  void SetAuthorities(std::string authorities) {
    Change([&] {
      is_renewed_ = is_renewed_ || authorities_.has_value();
      authorities_ = std::move(authorities);
    });
  }
  std::string authorities() const {
    const std::lock_guard lock(mutex_);
    return authorities_.value_or("");
  }
  // The running controller has to be replaced.
  void Renew() {
    Change([&] { is_renewed_ = true; });
  }
  void End() {
    Change([&] { is_over_ = true; });
  }
  bool leads() const {
    const std::lock_guard lock(mutex_);
    return leads_;
  }
  // False when the operator ends.
  bool Rest(base::Duration duration) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, duration, [&] { return is_over_; });
  }
  // Blocks until the answer differs from `works`, or a new controller is needed; nullopt at the
  // end.
  std::optional<bool> AwaitChange(bool works) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_over_ || Works() != works || (works && is_renewed_); });
    is_renewed_ = false;
    return is_over_ ? std::nullopt : std::optional(Works());
  }

 private:
  template <typename F>
  void Change(F change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  bool Works() const { return leads_ && authorities_ && kubeflow_pod_ && kubeflow_pod_->empty(); }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool leads_ = false;
  bool is_over_ = false;
  bool is_renewed_ = false;
  // Nullopt: not known yet.
  std::optional<std::string> kubeflow_pod_, authorities_;
};

// Kills the process when it does not end by itself in time.
class EndingDeadline {
 public:
  EndingDeadline()
      : thread_([this](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          ended_.wait_for(lock, stop, kEndingPatience, [] { return false; });
          if (stop.stop_requested()) return;
          base::LogError("the API server does not answer: ending without waiting for it");
          ::_exit(0);
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any ended_;
  std::jthread thread_;
};

class Operator {
 public:
  Operator(OperatorOptions options, base::Clock& clock,
           std::shared_ptr<cluster::Transport> transport)
      : options_(std::move(options)),
        clock_(clock),
        flow_(clock, FlowOptions()),
        term_(clock),
        // The term is checked last, after a write has waited for its turn.
        client_(FlowControlled(BoundToTerm(transport, term_), flow_, Priority::kCritical)),
        event_client_(FlowControlled(BoundToTerm(transport, term_), flow_, Priority::kBackground)),
        lease_client_(SharedTransport(transport, kLeaseRequestDeadline)),
        other_client_(SharedTransport(std::move(transport))) {
    options_.controller.is_operator = true;
    options_.controller.event_client = &event_client_;
    options_.controller.metrics = &metrics_;
    options_.controller.history_lost = [this] {
      base::LogWarn("the API server was restored to an older state of the cluster: starting again");
      work_state_.Renew();
    };
  }

  base::Status Run(const EndSignals& end_signals);

 private:
  cluster::FlowControl::Options FlowOptions() {
    cluster::FlowControl::Options flow = options_.flow;
    flow.on_answer = [this](std::string_view method, int status, base::Duration took) {
      metrics_.CountRequest(method, status, took);
    };
    return flow;
  }
  std::string PrintMetrics() const;
  base::Status IsReady() const;
  base::Result<std::unique_ptr<StatusEndpoint>> OpenStatus();
  void WorkWhenCalled();
  void NoteKubeflowOperator(const std::string& pod);

  OperatorOptions options_;
  base::Clock& clock_;
  Metrics metrics_;
  cluster::FlowControl flow_;
  LeaseTerm term_;
  cluster::Client client_, event_client_, lease_client_, other_client_;
  WorkState work_state_;
  std::string status_url_;  // set before work begins
  mutable std::mutex controller_mutex_;
  std::unique_ptr<Controller> controller_;
};

std::string Operator::PrintMetrics() const {
  Metrics::Gauges gauges;
  const cluster::FlowControl::View flow = flow_.Look();
  gauges.requests_under_way = flow.under_way;
  gauges.requests_limit = flow.limit;
  gauges.requests_waiting = flow.waiting;
  gauges.requests_refused = flow.refused;
  gauges.workers = options_.controller.workers;
  gauges.is_leader = work_state_.leads();
  gauges.lease_name = options_.leader.lease_name;
  const std::lock_guard lock(controller_mutex_);
  if (controller_) {
    gauges.queue = controller_->worker().LookAtQueue();
    gauges.jobs_active = controller_->worker().ActiveJobs();
    gauges.failed_pods = controller_->worker().FailedPods();
    gauges.events_waiting = controller_->events().Waiting();
    gauges.events_dropped = controller_->events().Dropped();
  }
  return metrics_.Print(gauges);
}

base::Status Operator::IsReady() const {
  const std::lock_guard lock(controller_mutex_);
  return controller_ ? controller_->IsReady() : base::Status();
}

void Operator::NoteKubeflowOperator(const std::string& pod) {
  if (!pod.empty()) {
    base::LogWarn(
        "Kubeflow's training operator runs on this cluster (pod {}): two operators would fight "
        "over "
        "each job, so this one waits until that one is gone. To hand over, scale its Deployment to "
        "0 replicas",
        pod);
  }
  work_state_.SetKubeflowPod(pod);
}

void Operator::WorkWhenCalled() {
  std::string& init_image = options_.controller.reconcile.init_container_image;
  if (init_image.empty()) {
    init_image =
        FindOwnImage(client_, options_.webhook.namespace_name, options_.pod_name,
                     [this](base::Duration duration) { return work_state_.Rest(duration); });
  }
  bool works = false;
  while (const auto next = work_state_.AwaitChange(works)) {
    if (works && *next) {
      // The old controller must have stopped writing before the new one reads.
      std::unique_ptr<Controller> old;
      {
        const std::lock_guard lock(controller_mutex_);
        old = std::move(controller_);
      }
    }
    works = *next;
    reconcile::StatusPosts& posts = options_.controller.reconcile.status_posts;
    posts.authorities = work_state_.authorities();
    posts.base_url = posts.authorities.empty() ? "" : status_url_;
    auto made =
        works ? std::make_unique<Controller>(client_, clock_, options_.controller) : nullptr;
    base::LogInfo("{}", works ? "working on jobs" : "standing by");
    {
      const std::lock_guard lock(controller_mutex_);
      controller_.swap(made);
    }
    // Ends once its work under way has ended.
    made.reset();
    ::malloc_trim(0);
  }
  const std::lock_guard lock(controller_mutex_);
  controller_.reset();
}

// Null when it is not wanted.
base::Result<std::unique_ptr<StatusEndpoint>> Operator::OpenStatus() {
  const StatusOptions& status = options_.status;
  if (!status.IsWanted()) {
    work_state_.SetAuthorities("");
    return std::unique_ptr<StatusEndpoint>();
  }
  const std::string& namespace_name = options_.webhook.namespace_name;
  const std::string host = fmt::format("{}.{}.svc", status.service_name, namespace_name);
  TRY_ASSIGN(status_url_, StatusBaseUrl(status, host));
  return StatusEndpoint::Start(
      other_client_, clock_, status, namespace_name, host,
      [this](const std::string& authorities) { work_state_.SetAuthorities(authorities); });
}

base::Status Operator::Run(const EndSignals& end_signals) {
  Readiness readiness;
  TRY_ASSIGN(const auto probes,
             OperatorServer::Start("health-probe-bind-address", options_.probe_address,
                                   ProbeHandler(readiness)));
  TRY_ASSIGN(const auto metrics,
             OperatorServer::Start("metrics-bind-address", options_.metrics_address,
                                   MetricsHandler([this] { return PrintMetrics(); })));
  readiness.Add("pytorchjobs", [this] { return IsReady(); });
  // Before the controller, and on every replica, leader or not.
  const Webhook webhook(other_client_, clock_, options_.webhook, metrics_);
  readiness.Add("webhook", [&webhook] { return webhook.Readiness(); });
  readiness.AddNote("webhook", [&webhook] { return webhook.Care(); });

  TRY_ASSIGN(const std::unique_ptr<StatusEndpoint> status, OpenStatus());
  if (status) readiness.AddNote("status", [&status] { return status->Care(); });

  std::optional<Leader> leader;
  if (options_.elects_leader) {
    leader.emplace(lease_client_, clock_, options_.leader, term_, [this](bool leads) {
      base::LogInfo("{} lease {}/{}", leads ? "leading by" : "no longer leading: lost",
                    options_.leader.namespace_name, options_.leader.lease_name);
      work_state_.SetLeads(leads);
    });
  } else {
    term_.ExtendTo(LeaseTerm::Instant::max());
    work_state_.SetLeads(true);
  }
  std::optional<KubeflowOperatorWatch> kubeflow_watch;
  kubeflow_watch.emplace(other_client_, options_.controller.namespace_name, options_.pod_name,
                         [this](const std::string& pod) { NoteKubeflowOperator(pod); });
  std::jthread worker([this] { WorkWhenCalled(); });

  base::LogInfo("ending because of {}", ::strsignal(end_signals.Await()));
  const EndingDeadline deadline;
  work_state_.End();
  worker.join();
  kubeflow_watch.reset();
  flow_.Stop();
  leader.reset();
  return {};
}

}  // namespace

base::Status RunOperator(OperatorOptions options, const base::Environment& environment,
                         base::Clock& clock, const std::function<void(base::Duration)>& pause) {
  const EndSignals end_signals;
  ::signal(SIGPIPE, SIG_IGN);
  ::mallopt(M_ARENA_MAX, kMaxArenas);
  TRY_ASSIGN(const cluster::KubeSelection selection,
             cluster::FindKubernetes(options.cluster, environment));
  TRY_ASSIGN(
      std::shared_ptr<cluster::Transport> transport,
      cluster::OpenKubernetes(selection, {environment, clock, pause, {}, false, true, true}));
  base::LogInfo("muster operator v" MUSTER_VERSION " at {}", selection.cluster.server);
  Operator service(std::move(options), clock, std::move(transport));
  return service.Run(end_signals);
}

}  // namespace controller
