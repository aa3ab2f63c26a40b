// What `muster operator` is made of, and the order in which it starts and stops.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "cluster/kubernetes.h"
#include "controller/controller.h"
#include "controller/webhook.h"

namespace controller {

struct OperatorOptions {
  Options controller;
  // Listening addresses, ":8080"; "0" is none.
  std::string metrics_address;
  std::string probe_address;
  cluster::KubernetesChoice cluster;
  WebhookOptions webhook;
};

// Runs until SIGTERM or SIGINT, which the caller has not blocked. Errors are those of starting.
// To be called from the main thread before it has made others.
base::Status RunOperator(OperatorOptions options, const base::Environment& environment,
                         base::Clock& clock, const std::function<void(base::Duration)>& pause);

}  // namespace controller
