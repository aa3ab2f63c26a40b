// What apply and diff do with an object before they ask the server about it, and with its answer.
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
  text::Json object;  // in its namespace, without managedFields
  const api::Resource* resource = nullptr;

  std::string Label() const;  // "pytorchjob.kubeflow.org/mnist", "configmap/settings"
};

// kInvalidArgument, naming the field, when apiVersion, kind or metadata.name is missing, the kind
// is unknown, or the namespace is another than the command line's. May ask the server for kinds.
base::Result<ManifestObject> PrepareObject(const Context& context, KindFinder& kinds,
                                           text::Json object);

// The object as it is on the server; nullopt when there is none.
base::Result<std::optional<text::Json>> FindLive(cluster::Client& client,
                                                 const ManifestObject& wanted);

// Whether an apply changed nothing that a user could have meant: all is the same but the
// bookkeeping of metadata and, where it is another's to write, the status.
bool IsSameContent(const api::Resource& resource, text::Json before, text::Json after);

// Server-side apply.
struct ApplyOptions {
  std::string field_manager;
  bool force_conflicts = false;
  bool is_dry_run = false;
  std::string_view field_validation = "";  // as cluster::Client::Apply takes it
};
struct AppliedObject {
  text::Json object;      // as the server has it now
  std::string_view verb;  // "created", "configured" or "unchanged"
};
// kConflict names the fields that are somebody else's, and --force-conflicts.
base::Result<AppliedObject> ApplyObject(cluster::Client& client, const ManifestObject& wanted,
                                        const ApplyOptions& options);

// Calls `visit` with each object that could be prepared, in order. An error is logged with the
// object's place, and the others still have their turn, unless the server is out of reach. False
// when there was any.
using VisitObject = std::function<base::Status(const ManifestObject&)>;
bool ForEachObject(const Context& context, KindFinder& kinds, std::vector<Manifest> manifests,
                   const VisitObject& visit);

}  // namespace arena
