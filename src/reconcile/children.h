// What exists of a job, seen through its labels. Read once a pass; borrows from Observed.
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
  int index = -1;               // -1: the label is missing or no number
  bool is_own = false;          // the job is its controller
  bool is_terminating = false;  // somebody has asked for its deletion
  // A pod whose node is gone (node_loss.h): it counts as failed, and as terminating only once it
  // has been deleted by force.
  bool is_lost = false;
};

struct Pod : Child {
  Phase phase = Phase::kPending;  // Unknown and unset count as Pending
  // Somebody else than its program ends it: an eviction, a preemption, its node.
  bool is_disrupted = false;
  // It is going and is of an earlier run of the job or of before a restart of its scope: how it
  // ends says nothing about the job.
  bool is_left_over = false;

  // Of the container `pytorch`, when it has terminated.
  std::optional<int> ExitCode() const;
};

// The replicas of one type: what is wanted, and what there is. Pods and services are in the order
// of their indexes, at most one of each an index: of two that claim it, the one with the right
// name.
struct Replicas {
  std::string_view type;                   // "Master", "Worker"
  std::string_view label;                  // "master", "worker"
  const api::ReplicaSpec* spec = nullptr;  // nullptr: the job has none of this type (any more)
  std::vector<Pod> pods;                   // own ones only
  std::vector<Child> services;             // own ones, and strangers that hold the right name

  int32_t Wanted() const { return spec != nullptr ? spec->Replicas() : 0; }
  bool IsWanted(const Child& child) const { return child.index < Wanted(); }
};

struct Children {
  Replicas master;
  Replicas worker;
  // The job's own, but of no type or index that we know, or of one that is held by another: touched
  // by clean-up only.
  std::vector<Pod> stray_pods;
  std::vector<Child> stray_services;
  std::optional<base::Time> next_loss;  // when the next pod will count as lost
};

// `job` is borrowed too.
Children ReadChildren(const Observed& observed, const api::PyTorchJob& job, base::Time now);

// Whether `object` names `uid` as its controller.
bool IsControlledBy(const text::Json& object, std::string_view uid);

}  // namespace reconcile
