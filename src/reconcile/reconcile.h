// The reconciler: a pure function from what exists to what has to be done (compat/pytorchjob.md 2).
// It does no I/O, keeps no state and reads no clock.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/job/pytorch_job.h"
#include "api/resources.h"
#include "base/clock.h"
#include "text/json.h"

namespace reconcile {

// Where the programs of jobs post their progress (api/status_posts.h).
struct StatusPosts {
  std::string base_url;     // "https://operator.namespace.svc:9444"; "": pods get no address
  std::string authorities;  // certificates by which pods recognise it, in PEM
};

struct Options {
  StatusPosts status_posts;
  // Workers wait for the master's name in an init container (2.3). Off in the embedded cluster.
  bool init_container = true;
  std::string init_container_image = "alpine:3.10";
  int init_container_max_tries = 100;
  std::string init_container_template;  // YAML list with {{.MasterAddr}} ...; "": the built-in one
  // How workers wait for the master when the job does not say: for its name (`dns`, as v1), for its
  // port (`port`, in the job's own image), or not at all (`none`).
  std::string init_step = "dns";
  std::string gang_scheduler_name;  // "": gang scheduling is off (2.11)
  // The message of Failed says, after v1's text, which pod failed first and how, if that is more
  // than an exit code.
  bool reports_first_failure = false;
  // The running pods of a failed job are ended where they are, whatever cleanPodPolicy says: they
  // stay, with their logs, until the job is deleted. The same happens to a succeeded job that has
  // no cleanPodPolicy. Needs nodes that understand kEndAnnotation.
  bool ends_pods_in_place = false;
  // How long after the job's success running pods may end by themselves before cleanPodPolicy
  // Running deletes them: ranks rarely end at the same instant.
  base::Duration success_grace{0};
};

// The most creations of one type in one plan, with pods and services counted apart; later
// reconciliations create the rest. A plan is held in memory as a whole.
inline constexpr int kMaxCreationsPerPlan = 250;

// A job that another one waits for.
struct Awaited {
  enum class Outcome { kOpen, kSucceeded, kFailed, kGone };
  std::string name;
  Outcome outcome = Outcome::kOpen;
  std::string reason;  // of a failure, one line; "": not known
};

// What exists, borrowed for the call.
struct Observed {
  const text::Json* job = nullptr;
  std::vector<const text::Json*> pods;      // matched by the job's labels, whoever controls them
  std::vector<const text::Json*> services;  // matched by the job's labels
  const text::Json* autoscaler = nullptr;   // the HorizontalPodAutoscaler named like the job
  const text::Json* pod_group = nullptr;
  std::map<std::string, int32_t> priority_values;  // PriorityClass name -> value
  // Nodes that are gone, and since when; needed for jobs with kNodeLostAnnotation (node_loss.h).
  std::map<std::string, base::Time> lost_nodes;
  std::vector<Awaited> awaited;  // of a job that waits for others (wait_for.h)
  // Troubles that have been announced since this process began (Plan::troubles); nullptr before the
  // first of the job (abnormal_pods.h).
  const std::set<size_t>* announced = nullptr;
  // Port of rank 0 when the cluster assigns one for each job; it replaces pytorchjob-port
  // everywhere.
  std::optional<int> master_port;
  // Between 1 and kMaxCreationsPerPlan: smaller when many jobs are planned at once.
  int max_creations = kMaxCreationsPerPlan;
};

struct Event {
  bool is_warning = false;
  std::string reason;
  std::string message;

  bool operator==(const Event&) const = default;
};

struct Write {
  enum class Verb { kCreate, kUpdate, kPatch, kDelete };
  Verb verb = Verb::kCreate;
  const api::Resource* resource = nullptr;
  std::string name;
  text::Json object;       // kCreate, kUpdate; kPatch: merge patch of a pod or the job
  std::string uid;         // kDelete: precondition, which spares a successor of the same name
  bool is_forced = false;  // kDelete: without a grace period
  std::optional<Event> on_success;
  // Emitted with the error's text appended to the message.
  std::optional<Event> on_failure;
};

// Counters of the operator to increment.
enum class Counter { kCreated, kDeleted, kSucceeded, kFailed, kRestarted };

struct Plan {
  std::vector<Write> writes;  // may be written at the same time, in any order
  // The complete next status; absent when it equals the stored one. It is written after `writes`,
  // even when some of them failed, because it only states what does not depend on them.
  std::optional<text::Json> status;
  std::vector<Event> events;  // emitted after the writes, best effort
  std::vector<Counter> counters;
  std::set<size_t> troubles;             // what the job's pods suffer from now, as hashes
  std::optional<base::Time> look_again;  // when to reconcile again: a deadline or a TTL
  // One plan could not hold all creations: reconcile again once this one has been applied.
  bool has_more = false;
  // The job is finished or managed by somebody else, and no later reconciliation will find work:
  // its cache may be dropped.
  bool is_settled = false;
};

Plan Reconcile(const Observed& observed, const Options& options, base::Time now);

}  // namespace reconcile
