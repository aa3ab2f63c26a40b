#include "ads/run/cloud_runs.h"

#include "ads/oci/service_error.h"

namespace ads {

base::Result<oci::JobRun> CloudRuns::Look(const std::string& run_id) {
  TRY_ASSIGN(oci::DataScience jobs, cloud_.Jobs());
  return jobs.GetJobRun(run_id);
}

base::Result<std::vector<oci::LogLine>> CloudRuns::Read(const oci::JobRun& run, base::Time from,
                                                        base::Time to) {
  TRY_ASSIGN(oci::Api* const logging, cloud_.At(oci::Service::kLogging));
  const oci::LogPlace place{LogCompartment(run), run.log_group_id, run.log_id};
  return oci::SearchLog(*logging, place, run.id, from, to);
}

// A log may be in another compartment than its run; without permission to look, the run's is used.
std::string CloudRuns::LogCompartment(const oci::JobRun& run) {
  if (const auto known = compartments_.find(run.log_id); known != compartments_.end()) {
    return known->second;
  }
  const auto management = cloud_.At(oci::Service::kLogManagement);
  if (!management) return run.compartment_id;
  const auto found = oci::CompartmentOfLog(**management, run.log_group_id, run.log_id);
  // There was no answer: it is tried again.
  if (!found && oci::IsPassing(found.error())) return run.compartment_id;
  return compartments_[run.log_id] = found && !found->empty() ? *found : run.compartment_id;
}

}  // namespace ads
