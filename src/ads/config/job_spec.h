// JobSpec: the one job and its runs that a TrainConfig stands for (compat/opctl.md 3.2). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ads/config/train_config.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "text/json.h"

namespace ads {

struct JobRunSpec {
  std::string name;  // before substitution
  OrderedEnv env;    // over the job's
};

struct JobSpec {
  std::optional<std::string> name;  // cluster name, displayName, --job-name; nothing: the service's
  PyValue infrastructure;           // camelCase keys, unknown ones among them
  OrderedEnv env;                   // not substituted
  std::string image;
  std::vector<std::string> entrypoint;  // `check` sets these two
  std::optional<std::string> command;
  std::vector<JobRunSpec> runs;  // main, workers, parameter servers
  std::optional<std::string> work_dir;
};

// `image` is the one of ./config.ini; `job_name` is --job-name, "" is none.
JobSpec MakeJobSpec(const TrainConfig& config, const std::string& image,
                    const std::string& job_name);

// The values as they are sent: ${NAME} becomes the value of another of them, $$ a dollar; at an
// unknown ${NAME} the rest of that value stays as it is.
OrderedEnv SubstituteEnv(const OrderedEnv& env);
// A run's name: $NAME and ${NAME} of the job's and the run's environment; unknown ones stay.
std::string SubstituteName(const std::string& name, const OrderedEnv& job, const OrderedEnv& run);

struct Placement {
  std::string project_id, compartment_id;  // with the environment's defaults
};
// kInvalidArgument: `ValueError: Specify compartment ID for data science job.` and its like; also
// all that CreateJobBody refuses. Nothing is contacted.
base::Result<Placement> CheckPlacement(const JobSpec& job, const base::Environment& environment);

// Bodies of POST /jobs and POST /jobRuns (compat/opctl.md 5.6). `name` is never empty there.
// kInvalidArgument names the key of spec.infrastructure.spec that the service would not take.
base::Result<text::Json> CreateJobBody(const JobSpec& job, const Placement& placement,
                                       const std::string& name);
text::Json CreateJobRunBody(const JobSpec& job, const JobRunSpec& run, const Placement& placement,
                            const std::string& job_id);

// <adjective>-<animal>-YYYY-mm-dd-HH:MM.SS, for a job without a name.
std::string RandomJobName(base::Clock& clock);

}  // namespace ads
