// What `muster operator` is made of, and the order in which it starts and stops.
#pragma once

#include <functional>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "cluster/flow_control.h"
#include "cluster/kubernetes.h"
#include "controller/loop/controller.h"
#include "controller/operator/leader.h"
#include "controller/operator/webhook.h"

namespace controller {

struct OperatorOptions {
  Options controller;
  // Listening addresses, ":8080"; "0" is none.
  std::string metrics_address;
  std::string probe_address;
  cluster::KubernetesChoice cluster;
  cluster::FlowControl::Options flow;
  bool elects_leader = false;
  LeaderOptions leader;
  WebhookOptions webhook;
  std::string pod_name;  // our own, "" outside a cluster
};

// Runs until SIGTERM or SIGINT. Errors are those of starting. To be called from the main thread
// before it has made others.
base::Status RunOperator(OperatorOptions options, const base::Environment& environment,
                         base::Clock& clock, const std::function<void(base::Duration)>& pause);

}  // namespace controller
