// Reduces an object to what the reconciler reads. It is rebuilt, so that no spare capacity of the
// parser's remains, and must never be written back. Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "text/document.h"
#include "text/json.h"

namespace controller {

// Job: all but managedFields and kubectl's copy of the applied configuration.
void ProjectJob(text::Json& job);
// Job: the same, and only its identity stays as values. The rest is kept as packed text, which
// takes a tenth of the memory.
void PackJob(text::Json& job);
// The job's text as ObjectPacking packs it, whether or not PackJob was called.
std::string PackedTextOfJob(const text::Json& job);
// Pod: identity, owner, the job's labels, node, phase, and how its containers ended.
void ProjectPod(text::Json& pod);
// Service: identity, owner, the job's labels.
void ProjectService(text::Json& service);
// A projected pod or service that is stored with its job: drops the fields that only say which job
// that is.
void ProjectFiled(text::Json& child);
// Parse only those parts of a pod's or a service's text that the projections keep, and its kind.
base::Result<text::Json> ReadPod(const text::Document& pod);
base::Result<text::Json> ReadService(const text::Document& service);
// Parses only the name and the conditions of a node.
base::Result<text::Json> ReadNode(const text::Document& node);
// PodGroup: whole, except for managedFields, because updates replace the whole object; null when no
// PyTorchJob controls it.
void ProjectPodGroup(text::Json& group);

}  // namespace controller
