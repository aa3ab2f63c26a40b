// The cloud's job runs and their logs, as the source of a watch.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ads/run/log_watch.h"
#include "ads/storage/oci_cloud.h"
#include "base/result.h"

namespace ads {

// One thread; borrows the cloud.
class CloudRuns final : public RunSource {
 public:
  explicit CloudRuns(OciCloud& cloud) : cloud_(cloud) {}

  base::Result<oci::JobRun> Look(const std::string& run_id) override;
  base::Result<std::vector<oci::LogLine>> Read(const oci::JobRun& run, base::Time from,
                                               base::Time to) override;

 private:
  std::string LogCompartment(const oci::JobRun& run);

  OciCloud& cloud_;
  std::map<std::string, std::string> compartments_;  // of logs
};

}  // namespace ads
