// Asks the driver about the GPUs of failed pods: what it has counted since they began to run, and
// what is wrong with the GPUs now. The result goes into the pod's annotation (api/gpu_troubles.h).
#pragma once

#include <memory>
#include <string_view>

#include "base/clock.h"
#include "cluster/client.h"
#include "gpu/inventory.h"
#include "text/json.h"

namespace local::daemon {

// A driver can hang, so the thread that asks is one for which nobody waits. Borrows the client and
// the clock, until it is destroyed.
class GpuWitness {
 public:
  GpuWitness(cluster::Client& client, base::Clock& clock, gpu::Places places);
  ~GpuWitness();

  // A listener of JobPods. Does not block.
  void OnPod(std::string_view uid, const text::Json* pod);

 private:
  struct State;
  static void Work(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace local::daemon
