// What `run --dry-run` and `check --dry-run` print (compat/opctl.md 4.1). Pure.
#pragma once

#include <string>

#include "ads/config/job_spec.h"

namespace ads {

struct DryRunForm {
  size_t plus_width = 80;
  size_t tilde_width = 78;
  bool has_workers = true;  // the section of the runs beside the main one
};

inline constexpr DryRunForm kCheckDryRun{200, 200, false};

// The job as YAML, then its runs.
std::string RenderDryRun(const JobSpec& job, const DryRunForm& form = {});

// The job alone: `kind: job` and what is below it.
PyValue JobDocument(const JobSpec& job);

}  // namespace ads
