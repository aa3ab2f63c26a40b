// What -f of apply and diff names: files, directories, standard input, URLs.
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

// Declares -f, -R, --force-conflicts and --field-manager on `verb`. `flags` outlives it.
void AddManifestFlags(cli::Command& verb, ManifestFlags& flags);
// For the verb's Check: something is named, and by -f alone.
base::Status CheckManifestFlags(const ManifestFlags& flags, const cli::Invocation& call);

// Everything that the flags name, in their order; of a directory its .yaml, .yml and .json files by
// name. All is read before anything is returned: one malformed file, and nothing is.
base::Result<std::vector<Manifest>> ReadManifests(const ManifestFlags& flags,
                                                  const base::Environment& environment);

}  // namespace arena
