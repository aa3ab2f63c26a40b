// The pods and services of a job, found by their labels. Read once in a reconciliation; borrows
// from Observed.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "api/job/pytorch_job.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace reconcile {

enum class Phase { kPending, kRunning, kSucceeded, kFailed };

// A pod or a service.
struct Child {
  const text::Json* object = nullptr;
  std::string_view name;
  std::string_view uid;
  int index = -1;               // -1: the label is missing or not a number
  bool is_own = false;          // the job is its controller
  bool is_terminating = false;  // its deletion has been requested
  // A pod whose node is gone (node_loss.h): it counts as failed, and as terminating only once it
  // has been deleted by force.
  bool is_lost = false;
};

struct Pod : Child {
  Phase phase = Phase::kPending;  // Unknown and unset count as Pending
  // Something other than its program ends it: an eviction, a preemption, the loss of its node.
  bool is_disrupted = false;
  // It is being deleted and belongs to an earlier run of the job, or was made before a restart of
  // its scope: its end says nothing about the job.
  bool is_left_over = false;

  // Exit code of the container `pytorch`; nullopt while it has not terminated.
  std::optional<int> ExitCode() const;
};

// The replicas of one type: the wanted number, and the ones that exist. Pods and services are
// sorted by index, with at most one of each for an index: if two claim it, the one with the right
// name is listed.
struct Replicas {
  std::string_view type;                   // "Master", "Worker"
  std::string_view label;                  // "master", "worker"
  const api::ReplicaSpec* spec = nullptr;  // nullptr: the job has no replicas of this type (any
                                           // more)
  std::vector<Pod> pods;                   // that the job controls
  std::vector<Child> services;             // that the job controls, and others that hold the
                                           // right name

  int32_t Wanted() const { return spec != nullptr ? spec->Replicas() : 0; }
  bool IsWanted(const Child& child) const { return child.index < Wanted(); }
};

struct Children {
  Replicas master;
  Replicas worker;
  // Controlled by the job, but with an unknown type or index, or with an index that another pod
  // holds. Only clean-up touches them.
  std::vector<Pod> stray_pods;
  std::vector<Child> stray_services;
  std::optional<base::Time> next_loss;  // when the next pod will count as lost
};

// Borrows `job` too.
Children ReadChildren(const Observed& observed, const api::PyTorchJob& job, base::Time now);

// Whether `object` names `uid` as its controller.
bool IsControlledBy(const text::Json& object, std::string_view uid);

}  // namespace reconcile
