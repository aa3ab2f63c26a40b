// JobSpec: the job and its runs that a TrainConfig describes (compat/opctl.md 3.2). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ads/config/train_config.h"
#include "base/clock.h"
#include "base/environment.h"
#include "base/result.h"
#include "text/json.h"

namespace ads {

struct JobRunSpec {
  std::string name;  // before substitution
  OrderedEnv env;    // overrides the job's
};

struct JobSpec {
  std::optional<std::string> name;  // cluster name, displayName, --job-name
  PyValue infrastructure;           // camelCase keys, including unknown ones
  OrderedEnv env;                   // without substitution
  std::string image;
  std::vector<std::string> entrypoint;  // both set by `check`
  std::optional<std::string> command;
  std::vector<JobRunSpec> runs;  // main, workers, parameter servers
  std::optional<std::string> work_dir;
};

// `image` is that of ./config.ini; `job_name` is --job-name, "": none.
JobSpec MakeJobSpec(const TrainConfig& config, const std::string& image,
                    const std::string& job_name);

// The values as sent: ${NAME} becomes the value of another of them, whose references are replaced
// too, and $$ a dollar; after an unknown ${NAME} the rest of that value is unchanged. A value that
// CheckReferences refuses stays as it is.
OrderedEnv SubstituteEnv(const OrderedEnv& env);
// kInvalidArgument, `InterpolationDepthError: <path>: ...`, names a variable whose value refers to
// itself, or through more than ten others, or becomes longer than a MiB. `path` is the file's.
base::Status CheckReferences(const OrderedEnv& env, std::string_view path);
// The text with $NAME and ${NAME} of both environments replaced, and $$ by a dollar; unknown names
// stay.
std::string SubstituteName(const std::string& name, const OrderedEnv& job, const OrderedEnv& run);
// The names as sent, which may refer to the job's variables, and a run's also to its own. nullopt:
// the backend chooses one.
std::optional<std::string> SentName(const JobSpec& job);
std::string SentRunName(const JobSpec& job, const JobRunSpec& run);

struct Placement {
  std::string project_id, compartment_id;  // including the environment's defaults
};
// kInvalidArgument: `ValueError: Specify compartment ID for data science job.` and similar
// messages, and everything that CreateJobBody refuses. Contacts nobody.
base::Result<Placement> CheckPlacement(const JobSpec& job, const base::Environment& environment);

// Bodies of POST /jobs and POST /jobRuns (compat/opctl.md 5.6). `name` is never empty in them.
// kInvalidArgument names the key of spec.infrastructure.spec that the service would refuse.
base::Result<text::Json> CreateJobBody(const JobSpec& job, const Placement& placement,
                                       const std::string& name);
text::Json CreateJobRunBody(const JobSpec& job, const JobRunSpec& run, const Placement& placement,
                            const std::string& job_id);

// <adjective>-<animal>-YYYY-mm-dd-HH:MM.SS, for a job without a name.
std::string RandomJobName(base::Clock& clock);

}  // namespace ads
