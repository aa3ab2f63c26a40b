// The output of `run --dry-run` and `check --dry-run` (compat/opctl.md 4.1). Pure.
#pragma once

#include <string>
#include <vector>

#include "ads/config/job_spec.h"

namespace ads {

struct DryRunForm {
  size_t plus_width = 80;
  size_t tilde_width = 78;
  bool has_workers = true;  // include the section of the other runs
};

inline constexpr DryRunForm kCheckDryRun{200, 200, false};

// The job as YAML, then its runs.
std::string RenderDryRun(const JobSpec& job, const DryRunForm& form = {});

// The same for `kind: job`, the service's own format, which has no runs.
std::string RenderDryRunOfPlainJob(const PyValue& document);

// The same for new runs of an existing job.
std::string RenderDryRunOf(const std::string& job_ocid, const std::vector<JobRunSpec>& runs);

// Only the job: `kind: job` and everything below.
PyValue JobDocument(const JobSpec& job);

}  // namespace ads
