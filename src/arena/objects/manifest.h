// The objects of a manifest, with their positions for error messages. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace arena {

struct Manifest {
  text::Json object;
  std::string place;  // "job.yaml: document 2 (line 14)"
};

// YAML or JSON, any number of documents; the objects of a `List` count one by one. In the order of
// the text. `source` is the name of the text in positions and errors. kInvalidArgument:
// `job.yaml:3:7: why` when malformed, or the position of a document that is not an object.
base::Result<std::vector<Manifest>> ParseManifests(std::string_view text,
                                                   const std::string& source);

}  // namespace arena
