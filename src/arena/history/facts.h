// The properties of a run as names and values, which `show` prints and `compare` compares.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "arena/app/app.h"
#include "arena/folder/run_note.h"
#include "arena/listing/records.h"

namespace arena {

// The chief's Python.
struct RunPython {
  std::string interpreter;            // "" if unknown
  std::vector<std::string> packages;  // "torch 2.1.0", sorted
};

struct RunFacts {
  std::string folder;  // on this machine; "" for none
  std::optional<RunNote> note;
  // of the variables whose values the object does not have (RunNote::environment)
  std::map<std::string, std::string> digests;
  RunPython python;
  // From the job's object: command, image, replicas, resources, and each variable as "env NAME",
  // set directly or by a secret's name.
  std::vector<std::pair<std::string, std::string>> spec;
};

RunFacts FactsOf(const RunRecord& run, const base::Environment& environment);

// The file with its note: in its folder on this machine, or what this machine remembers of a job
// that it made on another cluster. It may not exist.
std::string NotePathOf(const Context& context, const text::Json& job);
// How it was called; nullopt if that file has no note.
std::optional<RunNote> NoteOf(const Context& context, const text::Json& job);

}  // namespace arena
