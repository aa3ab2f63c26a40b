// Assembles `muster operator`, and defines the order in which its parts start and stop.
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
#include "controller/operator/status_endpoint.h"
#include "controller/operator/webhook.h"

namespace controller {

struct OperatorOptions {
  Options controller;
  // Listening addresses, ":8080"; "0": none.
  std::string metrics_address;
  std::string probe_address;
  cluster::KubernetesChoice cluster;
  cluster::FlowControl::Options flow;
  bool elects_leader = false;
  LeaderOptions leader;
  WebhookOptions webhook;
  StatusOptions status;
  std::string pod_name;  // our own, "" outside of a cluster
};

// Runs until SIGTERM or SIGINT. Returns only errors of starting. Call it from the main thread
// before other threads exist.
base::Status RunOperator(OperatorOptions options, const base::Environment& environment,
                         base::Clock& clock, const std::function<void(base::Duration)>& pause);

}  // namespace controller
