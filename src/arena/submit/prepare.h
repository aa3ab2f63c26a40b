// What a submission asks of its cluster before anything is made.
#pragma once

#include "arena/app/app.h"
#include "arena/submit/creation.h"
#include "arena/submit/objects.h"
#include "cluster/client.h"

namespace arena {

struct Prepared {
  cluster::Client* client = nullptr;  // nullptr for --dry-run=client, which asks no cluster
  Submission submission;
};

struct Unprepared {
  base::Error error;
  bool is_misuse = false;  // it is the command line's: exit code 2
};

// Reaches the cluster, and checks what of the options only it knows: image, folders, priority
// class, claims.
tl::expected<Prepared, Unprepared> PrepareSubmission(Context& context,
                                                     const SubmitOptions& options);

// For Creation. Borrows both.
Creation::IsForeign IsOfAnother(cluster::Client& client, const Context& context);

}  // namespace arena
