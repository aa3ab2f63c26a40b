// What a run was, as a list of names and values: what `show` prints and `compare` compares.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arena/app/app.h"
#include "arena/folder/run_note.h"
#include "arena/jobs/records.h"

namespace arena {

// Which Python the chief had.
struct RunPython {
  std::string interpreter;            // "" is not known
  std::vector<std::string> packages;  // "torch 2.1.0", sorted
};

struct RunFacts {
  std::string folder;  // on this machine; "" of none
  std::optional<RunNote> note;
  RunPython python;
  // Of the job's object: command, image, replicas, resources, each variable as "env NAME", whether
  // given in clear or by a secret's name.
  std::vector<std::pair<std::string, std::string>> spec;
};

RunFacts FactsOf(const RunRecord& run, const base::Environment& environment);

}  // namespace arena
