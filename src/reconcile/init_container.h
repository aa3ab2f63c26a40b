// The init container in which a worker waits for the master's name to resolve.
#pragma once

#include <string_view>

#include "api/pytorch_job.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace reconcile {

// Containers to put after the template's own initContainers: one, or what the operator's template
// says, for the workers of a job that has a master; else none. A template that is no list of
// containers yields the built-in one.
text::Array InitContainers(const api::PyTorchJob& job, std::string_view type,
                           const Options& options);

// Whether `init_container_template` can be used: for whoever reads it from a file.
bool IsInitContainerTemplate(std::string_view yaml);

}  // namespace reconcile
