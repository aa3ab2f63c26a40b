// The one reconciler: a pure function from what exists to what is to be done
// (compat/pytorchjob.md 2). It does no I/O, keeps no state and knows no clock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/job/pytorch_job.h"
#include "api/resources.h"
#include "base/clock.h"
#include "text/json.h"

namespace reconcile {

struct Options {
  // Workers wait for the master's name in an init container (2.3). The embedded cluster needs none.
  bool init_container = true;
  std::string init_container_image = "alpine:3.10";
  int init_container_max_tries = 100;
  std::string init_container_template;  // YAML list with {{.MasterAddr}} ...; "" is the built-in
  // How workers wait for the master where the job does not say: by its name (`dns`, as v1), by its
  // port (`port`, in the job's own image), or not at all (`none`).
  std::string init_step = "dns";
  std::string gang_scheduler_name;  // "" is off (2.11)
  // Failed says which pod failed first and how, after v1's text.
  bool tells_first_failure = false;
  // What still runs of a failed job is ended where it is, whatever cleanPodPolicy says: the pods
  // stay with their logs until the job is deleted. So it is of one that has succeeded and has no
  // cleanPodPolicy. Needs a node that knows kEndAnnotation.
  bool ends_pods_in_place = false;
  // What still runs when the job has succeeded may end by itself that long before cleanPodPolicy
  // Running takes it: ranks rarely end in the same instant.
  base::Duration success_grace{0};
};

// Creations of one type in one plan, pods and services counted apart; the next passes make the
// rest. A plan is held in memory whole.
inline constexpr int kMaxCreationsPerPass = 250;

// A job that another one waits for.
struct Awaited {
  enum class Outcome { kOpen, kSucceeded, kFailed, kGone };
  std::string name;
  Outcome outcome = Outcome::kOpen;
  std::string reason;  // of a failure, one line; "" is not known
};

// What exists, borrowed for the call.
struct Observed {
  const text::Json* job = nullptr;
  std::vector<const text::Json*> pods;      // by the job's labels, with any controller or none
  std::vector<const text::Json*> services;  // by the job's labels
  const text::Json* autoscaler = nullptr;   // HorizontalPodAutoscaler of the job's name
  const text::Json* pod_group = nullptr;
  std::map<std::string, int32_t> priority_values;  // PriorityClass name -> value
  // Nodes that are gone, since when; asked for by jobs with kNodeLostAnnotation (node_loss.h).
  std::map<std::string, base::Time> lost_nodes;
  std::vector<Awaited> awaited;  // of a job that waits for others (wait_for.h)
  // Port of rank 0 when the cluster assigns one per job; replaces pytorchjob-port everywhere.
  std::optional<int> master_port;
  // At most kMaxCreationsPerPass, at least one: less where many jobs are planned at once.
  int most_creations = kMaxCreationsPerPass;
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
  text::Json object;       // kCreate, kUpdate; kPatch: the merge patch, of a pod or the job
  std::string uid;         // kDelete: precondition, so that a successor of the same name is spared
  bool is_forced = false;  // kDelete: at once, whatever still runs
  std::optional<Event> on_success;
  // Emitted with `: <error>` replaced by the error's text appended to the message.
  std::optional<Event> on_failure;
};

// What to add to the operator's counters.
enum class Counter { kCreated, kDeleted, kSucceeded, kFailed, kRestarted };

struct Plan {
  std::vector<Write> writes;  // may be carried out at once, in any order
  // Complete next status; absent when it is as stored. To be written after `writes`, also when some
  // of them failed: it says nothing that they have to bring about.
  std::optional<text::Json> status;
  std::vector<Event> events;  // best effort, after the writes
  std::vector<Counter> counters;
  std::optional<base::Time> look_again;  // deadline, TTL
  // There is more to be made than one plan may hold: look again once this one is carried out.
  bool has_more = false;
  // The job is finished or foreign, and no later pass can find work: its cache may be dropped.
  bool is_settled = false;
};

Plan Reconcile(const Observed& observed, const Options& options, base::Time now);

}  // namespace reconcile
