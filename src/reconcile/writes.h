// The writes and events of a plan, with the texts that users and tests read (compat/pytorchjob.md
// 2.10).
#pragma once

#include <string>
#include <string_view>

#include "api/resources.h"
#include "reconcile/children.h"
#include "reconcile/reconcile.h"
#include "text/json.h"

namespace reconcile {

Event Normal(std::string_view reason, std::string message);
Event Warning(std::string_view reason, std::string message);

// metadata.ownerReferences of everything that the job controls.
text::Array OwnerReferences(const api::PyTorchJob& job);

// Creates a pod or a service, with its events.
Write CreateChild(const api::Resource& resource, text::Json object);
// Deletes a pod or a service, with its events.
Write DeleteChild(const api::Resource& resource, const Child& child);
// Asks the node to end the pod's processes (kEndAnnotation), with its event.
Write EndPod(const api::PyTorchJob& job, const Child& pod);
Write DeleteJob(const api::PyTorchJob& job);

// Without events.
Write Create(const api::Resource& resource, text::Json object);
Write Update(const api::Resource& resource, text::Json object);
Write Delete(const api::Resource& resource, const text::Json& object);

}  // namespace reconcile
