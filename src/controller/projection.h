// What the controller keeps of an object: only what the reconciler reads, built anew so that no
// spare room of the parser's stays. Never to be written back. Pure.
#pragma once

#include "text/json.h"

namespace controller {

// Job: everything but managedFields and kubectl's copy of what was applied.
void ProjectJob(text::Json& job);
// Pod: identity, owner, the job's labels, node, phase, and what its containers came to.
void ProjectPod(text::Json& pod);
// Service: identity, owner, the job's labels.
void ProjectService(text::Json& service);
// PodGroup: whole, since it is updated as a whole, but for managedFields; null when no PyTorchJob
// controls it.
void ProjectPodGroup(text::Json& group);

}  // namespace controller
