// Who watches the cluster from outside for the whole of a life.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/job/pytorch_job.h"
#include "cluster/client.h"
#include "cluster/reflector.h"
#include "machine.h"

namespace simulation {

// Nullopt of a job without one.
std::optional<api::JobStatus> StatusOf(const text::Json& job);

// Lists and watches, as a dashboard does, and checks what it receives: versions grow, nothing that
// is over runs again, nothing is missed.
class Watcher {
 public:
  Watcher(Machine& machine, const api::Resource& resource);
  // What it knows is what a list says.
  void CheckAgainstList();
  // Of everything that it has heard of.
  std::vector<std::string> Uids() const;
  // Whether it has heard of everything that a list says.
  bool IsUpToDate();

 private:
  void Take(const text::Json& object, bool is_listed);
  std::map<std::string, std::string> Listed();

  void CheckPod(const text::Json& pod);

  const api::Resource& resource_;
  Machine& machine_;
  cluster::Client client_;
  std::map<std::string, std::string> known_;     // name -> resourceVersion
  std::map<std::string, std::string> finished_;  // uid -> how
  std::map<std::string, int> phases_;            // of pods, by uid
  std::map<std::string, int> born_;              // how many, by name
  std::unique_ptr<cluster::Reflector> reflector_;
};

}  // namespace simulation
