// The shims as an interface for the node agent, so that its tests can model them. shim.h is the
// real one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "local/node/pod/pod_spec.h"

namespace local::node {

class RunningShim {
 public:
  virtual ~RunningShim() = default;
  virtual pid_t pid() const = 0;
  // Readable once the shim has ended.
  virtual int pidfd() const = 0;
  // Like ShimHandle::Terminate.
  virtual base::Status Terminate(std::chrono::seconds grace) = 0;
  // Like ShimHandle::Kill.
  virtual base::Status Kill() = 0;
};

// Thread safe.
class ShimLauncher {
 public:
  virtual ~ShimLauncher() = default;
  virtual base::Result<std::unique_ptr<RunningShim>> Start(const PodSpec& spec,
                                                           const std::vector<int>& locks) = 0;
  // Whether a shim was ever started there: the pod is then never started again.
  virtual bool WasStarted(const std::string& directory) = 0;
  // nullptr when none runs there any more.
  virtual base::Result<std::unique_ptr<RunningShim>> Adopt(const std::string& directory) = 0;
  virtual bool IsFromEarlierBoot(const std::string& directory) = 0;
  virtual base::Result<PodReport> ReadReport(const std::string& directory) = 0;
  virtual base::Status KillStrays(const std::string& directory, std::string_view pod_uid) = 0;
};

// Shims as processes: `<executable> shim`.
std::unique_ptr<ShimLauncher> ProcessShims(std::string executable);

}  // namespace local::node
