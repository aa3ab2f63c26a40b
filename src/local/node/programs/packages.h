// Records which Python a pod runs with, and the installed packages.
#pragma once

#include <string>
#include <vector>

#include "base/environment.h"
#include "base/result.h"

namespace local::node {

// "torch 2.1.0", sorted, from the metadata in the package folders of the interpreter and the user,
// and of the system if a virtual environment includes those. Starts no Python.
std::vector<std::string> PackagesOf(const std::string& interpreter,
                                    const base::Environment& environment);

// Writes {"python": PATH, "packages": HASH} to `pod_directory`/python.json, and the list, unless it
// exists, to `state_directory`/packages/HASH, one package per line.
base::Status NotePython(const std::string& interpreter, const base::Environment& environment,
                        const std::string& state_directory, const std::string& pod_directory);

}  // namespace local::node
