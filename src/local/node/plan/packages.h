// Which Python a pod runs with, and the packages that lie beside it.
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace local::node {

// "torch 2.1.0", sorted: by the metadata in the interpreter's and the user's package folders, and
// in the system's where a virtual environment includes those. No Python is started.
std::vector<std::string> PackagesOf(const std::string& interpreter,
                                    const base::Environment& environment);

// Writes {"python": PATH, "packages": HASH} to `pod_directory`/python.json, and the list, once, to
// `state_directory`/packages/HASH, a line each.
base::Status NotePython(const std::string& interpreter, const base::Environment& environment,
                        const std::string& state_directory, const std::string& pod_directory);

}  // namespace local::node
