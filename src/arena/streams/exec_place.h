// Where a user's command runs: an instance of a job, and a container of it.
#pragma once

#include <string>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "base/result.h"
#include "cluster/client.h"

namespace arena {

struct ExecWish {
  std::string job;
  std::string type;                   // as --type gives it
  std::string instance, container{};  // "": the chief, or the first; the one that trains
};

struct ExecPlace {
  std::string namespace_name, instance, container;
};

// The instance of that name; "": the chief, otherwise the first. The job has instances; they own
// the result.
base::Result<const text::Json*> ChooseInstance(const Context& context, const TrainingJob& job,
                                               const std::string& wanted);

// The error says what is missing, or that the instance does not run.
base::Result<ExecPlace> FindExecPlace(cluster::Client& client, const Context& context,
                                      const ExecWish& wish);

}  // namespace arena
