// The Data Science service: jobs and their runs (compat/opctl.md 5.5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ads/oci/api.h"
#include "base/clock.h"
#include "base/result.h"
#include "text/json.h"

namespace ads::oci {

struct JobRun {
  std::string id, job_id, name, compartment_id, project_id;
  std::string state;    // ACCEPTED, IN_PROGRESS, SUCCEEDED, FAILED, CANCELING, CANCELED, ...
  std::string details;  // lifecycleDetails
  std::optional<base::Time> accepted, started, finished;
  std::string log_id, log_group_id;  // "" until there is a log
  text::Json environment;            // environmentVariables of the run: an object or null
};
// Reads a run from an answer; missing fields stay empty.
JobRun ReadJobRun(const text::Json& value);
// SUCCEEDED, FAILED, CANCELED, DELETED: the final states.
bool IsTerminal(std::string_view state);

// The kind of an OCID, its second part: "datasciencejobrun"; "" when it is not an OCID.
std::string_view KindOfOcid(std::string_view ocid);

// Blocking; as thread safe as the Api that it borrows.
class DataScience {
 public:
  explicit DataScience(Api& api) : api_(api) {}
  // The same without retries, for callers that retry themselves.
  DataScience Once() const;

  // `body` as in compat/opctl.md 5.6. Carried out once, however often the network fails. The
  // results have an id; a run also has a name, the requested one if the answer has none.
  base::Result<text::Json> CreateJob(const text::Json& body);
  base::Result<JobRun> CreateJobRun(const text::Json& body);
  base::Result<text::Json> GetJob(const std::string& id);
  base::Result<JobRun> GetJobRun(const std::string& id);
  // Every run of the job, oldest first.
  base::Result<std::vector<JobRun>> ListJobRuns(const std::string& job_id,
                                                const std::string& compartment_id);
  base::Status CancelJobRun(const std::string& id);
  base::Status DeleteJobRun(const std::string& id);
  base::Status DeleteJob(const std::string& id);

 private:
  base::Result<text::Json> Create(const char* operation, const char* target,
                                  const text::Json& body);
  ApiRequest Bare(const char* operation, const char* method, std::string target) const;

  Api& api_;
  bool is_repeating_ = true;
};

}  // namespace ads::oci
