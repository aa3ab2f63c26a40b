// Checks a submission with its cluster before anything is created.
#pragma once

#include "arena/app/app.h"
#include "arena/submit/creation.h"
#include "arena/submit/job/objects.h"
#include "cluster/client.h"

namespace arena {

struct Prepared {
  cluster::Client* client = nullptr;  // nullptr for --dry-run=client, which asks no cluster
  Submission submission;
};

struct Unprepared {
  base::Error error;
  bool is_misuse = false;  // the command line is wrong: exit code 2
};

// Connects to the cluster, and checks the options that depend on it: image, folders, priority
// class, claims.
tl::expected<Prepared, Unprepared> PrepareSubmission(Context& context,
                                                     const SubmitOptions& options);

// Whether the cluster has that priority class, "" for none, as far as the user may know.
base::Status CheckPriorityClass(cluster::Client& client, const Context& context,
                                const std::string& name);

// Logs a warning if the namespace has no such object, which Kubernetes' pods wait for. Does nothing
// if the user may not read it.
void WarnIfAbsent(cluster::Client& client, const api::Resource& kind,
                  const std::string& namespace_name, const std::string& name);

// For Creation. Borrows both.
Creation::IsForeign IsOfAnother(cluster::Client& client, const Context& context);

}  // namespace arena
