// Prepares an object for apply and diff before a request, and handles the answer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "arena/objects/kind_finder.h"
#include "arena/objects/manifest_files.h"

namespace arena {

// An object that is ready to be sent.
struct ManifestObject {
  text::Json object;  // with its namespace, without managedFields
  const api::Resource* resource = nullptr;

  std::string Label() const;  // "pytorchjob.kubeflow.org/mnist", "configmap/settings"
};

// kInvalidArgument names the field when apiVersion, kind or metadata.name is missing, the kind is
// unknown, or the namespace differs from that of the command line. May ask the server for kinds.
base::Result<ManifestObject> PrepareObject(const Context& context, KindFinder& kinds,
                                           text::Json object);

// The present object on the server; nullopt when it does not exist.
base::Result<std::optional<text::Json>> FindLive(cluster::Client& client,
                                                 const ManifestObject& wanted);

// Whether an apply made no change that a user could have intended: everything is equal except for
// metadata that the server maintains and, if others write it, the status.
bool IsSameContent(const api::Resource& resource, text::Json before, text::Json after);

// Server-side apply.
struct ApplyOptions {
  std::string field_manager;
  bool force_conflicts = false;
  bool is_dry_run = false;
  std::string_view field_validation = "";  // as in cluster::Client::Apply
};
struct AppliedObject {
  text::Json object;      // as stored by the server
  std::string_view verb;  // "created", "configured" or "unchanged"
};
// kConflict names the fields that others own, and --force-conflicts.
base::Result<AppliedObject> ApplyObject(cluster::Client& client, const ManifestObject& wanted,
                                        const ApplyOptions& options);

// Calls `visit` with each object that could be prepared, in order. Logs an error with the object's
// position and continues, unless the server cannot be reached. False when there was an error.
using VisitObject = std::function<base::Status(const ManifestObject&)>;
bool ForEachObject(const Context& context, KindFinder& kinds, std::vector<Manifest> manifests,
                   const VisitObject& visit);

}  // namespace arena
