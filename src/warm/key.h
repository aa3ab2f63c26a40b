// Which launches may share a resident interpreter: those whose Python, imports, environment and
// place on the machine would give the imports the same result. Pure, except for the place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warm {

// The program of the resident interpreter: python/resident.py with the modules that it imports.
extern const std::string_view kWarmResident;
extern const std::string_view kWarmEnding;
extern const std::string_view kWarmIdle;
extern const std::string_view kWarmImports;
extern const std::string_view kWarmMeeting;
extern const std::string_view kWarmMemory;
extern const std::string_view kWarmPod;
extern const std::string_view kWarmRank;
extern const std::string_view kWarmSettings;
extern const std::string_view kWarmRecorder;
extern const std::string_view kWarmStacks;

// Whether the launcher sets the variable differently for each rank, so that the resident
// interpreter must not have it.
bool IsOfOneRank(std::string_view name);

// Whether each value of the variable needs an interpreter of its own: libraries in C, the loader or
// the interpreter read it while they load, which cannot be observed, or it is read as widely as
// TMPDIR. The resident interpreter records what else Python modules read.
bool IsReadByLibraries(std::string_view name);

// `environment` ("NAME=value", complete) without the variables of a single rank.
std::vector<std::string> EnvironmentOfResident(const std::vector<std::string>& environment);

// If two launches have the same key, either can get ranks from the other's interpreter, unless the
// interpreter itself refuses. 32 hexadecimal digits. `option` is the interpreter's own: -u or none.
std::string Key(std::string_view python, std::string_view option, std::string_view preload,
                const std::vector<std::string>& environment, std::string_view place);

// Everything else that a child inherits and an import may see comes in two parts. This one is what
// pods do not change: cgroup, namespaces, limits, CPUs, rights, nice value, and which file `python`
// is.
base::Result<std::string> PlaceOutside(const std::string& python);
// This one is what a keeper that has entered a pod's namespaces has to find there, too.
std::string PlaceInside();

}  // namespace warm
