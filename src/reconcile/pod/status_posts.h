// What a pod needs to post the progress of its program: variables, and files with its own token and
// the authority of the endpoint (api/status_posts.h). Kubeflow's training operator has no such
// thing.
#pragma once

#include "api/job/pytorch_job.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace reconcile {

// Changes the pod's main container. Leaves a pod as it is without an endpoint, and one that reports
// elsewhere or uses the names of the volume or its folder.
void AddStatusPosts(const StatusPosts& posts, const api::PyTorchJob& job, text::Json& pod);

}  // namespace reconcile
