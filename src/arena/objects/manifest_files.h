// The sources of -f for apply and diff: files, directories, standard input, URLs.
#pragma once

#include <string>
#include <vector>

#include "arena/app/app.h"
#include "arena/objects/manifest.h"

namespace arena {

struct ManifestFlags {
  std::vector<std::string> files;
  bool is_recursive = false;
  bool force_conflicts = false;
  std::string field_manager;
};

// Declares -f, -R, --force-conflicts and --field-manager on `verb`. `flags` must outlive it.
void AddManifestFlags(cli::Command& verb, ManifestFlags& flags);
// For the verb's Check: there is a source, and only by -f.
base::Status CheckManifestFlags(const ManifestFlags& flags, const cli::Invocation& call);

// All objects of the sources, in their order; of a directory, its .yaml, .yml and .json files by
// name. Everything is read first: if one file is malformed, nothing is returned.
base::Result<std::vector<Manifest>> ReadManifests(const ManifestFlags& flags,
                                                  const base::Environment& environment);

}  // namespace arena
