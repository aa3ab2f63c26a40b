// The logs of all of a job's instances as one (logs --all), a prefix to each line, in time order.
#pragma once

#include <string>

#include "arena/app/app.h"
#include "arena/jobs/jobs.h"
#include "cluster/client.h"

namespace arena {

struct AllLogsRequest {
  const TrainingJob& job;
  cluster::LogOptions options;  // of each instance; timestamps: they are printed
  bool has_colours = false;     // a prefix's colour is its instance's
  bool is_gone = false;         // the job was deleted: logs of the pods that it had
};

// The container whose log an instance has now: `wanted`, else the last init container's that has
// begun while the instance is initialised, else its own ("" is that). kInvalidArgument, saying why,
// before there is any.
base::Result<std::string> ContainerToRead(const TrainingJob& job, const std::string& instance,
                                          const std::string& wanted);

// What there is of them. Instances without a log are named on stderr; an error when none has any.
base::Status PrintAllLogs(cluster::Client& client, const AllLogsRequest& request, cli::Output& out);

// The same, and goes on: instances that come, and come again, join in. A line is printed at most
// LogMerge::kWindow after it came. Returns when the job has ended and so have its instances (or
// will not, by its cleanPodPolicy), or is gone; kUnavailable when the server stays away.
base::Status FollowAllLogs(cluster::Client& client, const Context& context,
                           const AllLogsRequest& request, cli::Output& out);

// "[pt-master-0] " before each line; colours are given out in the order of the instances.
class LinePrefixes {
 public:
  explicit LinePrefixes(bool has_colours) : has_colours_(has_colours) {}
  const std::string& Of(const std::string& instance);

 private:
  bool has_colours_;
  std::map<std::string, std::string> prefixes_;
};

}  // namespace arena
