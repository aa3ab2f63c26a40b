// Which launches may share a resident interpreter: the ones whose Python, imports, environment and
// place on the machine would make the imports come out the same. Pure but for the place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace warm {

// The program of the resident interpreter: python/resident.py and the modules that it imports.
extern const std::string_view kWarmResident;
extern const std::string_view kWarmIdle;
extern const std::string_view kWarmImports;
extern const std::string_view kWarmMemory;
extern const std::string_view kWarmPod;
extern const std::string_view kWarmRank;
extern const std::string_view kWarmSettings;
extern const std::string_view kWarmStacks;

// Set by the launcher, another for each rank: the resident interpreter does not have it.
bool IsOfOneRank(std::string_view name);

// Libraries in C, the loader or the interpreter itself read it while they load, where nobody can
// watch them; or is read so widely, as TMPDIR is, that each value has an interpreter of its own.
// What else Python modules read is noted by the resident interpreter.
bool IsReadByLibraries(std::string_view name);

// `environment` ("NAME=value", complete) without what is of one rank.
std::vector<std::string> EnvironmentOfResident(const std::vector<std::string>& environment);

// Of two launches with one key, either can be given ranks of the other's interpreter, except where
// the interpreter itself says no. 32 hexadecimal digits.
// `option` is the interpreter's own: -u or none.
std::string Key(std::string_view python, std::string_view option, std::string_view preload,
                const std::vector<std::string>& environment, std::string_view place);

// Everything else that a child inherits and an import may see: cgroup, namespaces, limits, CPUs,
// rights, nice value; and which file `python` is. In two parts: what pods do not change, ...
base::Result<std::string> PlaceOutside(const std::string& python);
// ... and what a keeper that has entered a pod's namespaces has to find there too.
std::string PlaceInside();

}  // namespace warm
