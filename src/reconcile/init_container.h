// The init container in which a worker waits for its master.
#pragma once

#include <optional>
#include <string_view>

#include "api/job/pytorch_job.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace reconcile {

// How workers of a job wait: the job's annotation muster.dev/init-step, else the options'.
enum class InitStep {
  kDns,   // until the master's name resolves, in an image of its own; v1's, and an operator's
          // template
  kPort,  // until the master's port is open, in the job's own image and with the least privileges
  kNone,
};
InitStep InitStepOf(const api::PyTorchJob& job, const Options& options);

// Containers to put after the template's own initContainers: one, or what the operator's template
// says, for the workers of a job that has a master; else none. A template that is not a list of
// containers yields the built-in one. `master_port` is as in Observed.
text::Array InitContainers(const api::PyTorchJob& job, std::string_view type,
                           const Options& options, std::optional<int> master_port = {});

// Whether `init_container_template` can be used: for callers that read it from a file.
bool IsInitContainerTemplate(std::string_view yaml);

}  // namespace reconcile
