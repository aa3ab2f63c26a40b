#include "controller/operator.h"

#include <fmt/format.h>
#include <malloc.h>
#include <signal.h>

#include <cstring>

#include "base/log.h"
#include "controller/operator_http.h"

namespace controller {
namespace {

// glibc gives each thread an arena of its own; few threads here do much at once.
constexpr int kMaxArenas = 2;

// The signals that end the operator, kept from every thread but the one that waits for them.
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

std::string Metrics(const Controller& controller) {
  return fmt::format(
      "# HELP training_operator_jobs_created_total Jobs seen for the first time.\n"
      "# TYPE training_operator_jobs_created_total counter\n"
      "training_operator_jobs_created_total{{framework=\"pytorch\"}} {}\n",
      controller.counters().created.load());
}

}  // namespace

base::Status RunOperator(OperatorOptions options, const base::Environment& environment,
                         base::Clock& clock, const std::function<void(base::Duration)>& pause) {
  const EndSignals end_signals;
  ::signal(SIGPIPE, SIG_IGN);
  ::mallopt(M_ARENA_MAX, kMaxArenas);

  TRY_ASSIGN(const cluster::KubeSelection selection,
             cluster::FindKubernetes(options.cluster, environment));
  TRY_ASSIGN(const auto client,
             cluster::ConnectToKubernetes(selection, {environment, clock, pause, {}, false}));

  Readiness readiness;
  TRY_ASSIGN(const auto probes,
             OperatorServer::Start("health-probe-bind-address", options.probe_address,
                                   ProbeHandler(readiness)));
  // Before the controller and on every replica, leader or not.
  const Webhook webhook(*client, clock, std::move(options.webhook));
  readiness.Add("webhook", [&webhook] { return webhook.Readiness(); });

  const Controller controller(*client, clock, std::move(options.controller));
  readiness.Add("lists", [&controller]() -> base::Status {
    if (controller.HasLists()) return {};
    return base::Fail(base::Code::kUnavailable, "the first lists are not complete yet");
  });
  TRY_ASSIGN(const auto metrics,
             OperatorServer::Start("metrics-bind-address", options.metrics_address,
                                   MetricsHandler([&controller] { return Metrics(controller); })));
  base::LogInfo("operator v" MUSTER_VERSION " at {}", selection.cluster.server);

  base::LogInfo("ending on {}", ::strsignal(end_signals.Await()));
  return {};
}

}  // namespace controller
