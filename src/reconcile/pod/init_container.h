// The init container in which a worker waits for its master.
#pragma once

#include <optional>
#include <string_view>

#include "api/job/pytorch_job.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace reconcile {

// How the workers of a job wait: as the job's annotation muster.dev/init-step says, otherwise as
// the options say.
enum class InitStep {
  kDns,   // until the master's name resolves; in its own image, as in v1, or by the operator's
          // template
  kPort,  // until the master's port is open; in the job's image, with the least privileges
  kNone,
};
InitStep InitStepOf(const api::PyTorchJob& job, const Options& options);

// The containers to append to the template's own initContainers: one, or those of the operator's
// template, for the workers of a job that has a master; otherwise none. A template that is not a
// list of containers is replaced by the built-in one. `master_port` is as in Observed.
text::Array InitContainers(const api::PyTorchJob& job, std::string_view type,
                           const Options& options, std::optional<int> master_port = {});

// Whether the text is usable as `init_container_template`: for callers that read it from a file.
bool IsInitContainerTemplate(std::string_view yaml);

}  // namespace reconcile
