// What the controller keeps of an object: only what the reconciler reads, built anew so that no
// spare room of the parser's stays. Never to be written back. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "text/json.h"

namespace controller {

// Job: everything but managedFields and kubectl's copy of what was applied.
void ProjectJob(text::Json& job);
// Job: as above, and only its identity left as values: the rest is its packed text, which takes a
// tenth of the room.
void PackJob(text::Json& job);
// A job's text as ObjectPacking packs it, whether PackJob was called or not.
std::string PackedTextOfJob(const text::Json& job);
// Pod: identity, owner, the job's labels, node, phase, and what its containers came to.
void ProjectPod(text::Json& pod);
// Service: identity, owner, the job's labels.
void ProjectService(text::Json& service);
// A projected pod or service that has been put with its job: without what says only which job that
// is.
void ProjectFiled(text::Json& child);
// The parts of a pod's or a service's text from which the above keep theirs, and its kind.
base::Result<text::Json> ReadPod(std::string_view text);
base::Result<text::Json> ReadService(std::string_view text);
// Of a node its name and its conditions.
base::Result<text::Json> ReadNode(std::string_view text);
// PodGroup: whole, since it is updated as a whole, but for managedFields; null when no PyTorchJob
// controls it.
void ProjectPodGroup(text::Json& group);

}  // namespace controller
