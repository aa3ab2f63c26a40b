// What the store keeps of finished runs: the last state of each deleted job and of each deleted pod
// of a job. Written in the deleting transaction, unless the disk is full, and removed only by
// Store::Forget.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "local/store/object.h"
#include "text/json.h"

namespace local::store {

struct Kept {
  std::string uid;
  std::string run;  // uid of the job: its own, or that of a pod's job
  std::string resource;
  std::string namespace_name;
  std::string name;
  int64_t created = 0;  // microseconds since the epoch
  int64_t deleted = 0;  // the same
  std::string json;     // without managedFields; of a pod's containers only name, image and
                        // resources
};

// Selects jobs, newest first; with `run`, the pods of that job, oldest first; with `uid`, the job
// or pod with that uid.
struct KeptQuery {
  std::string namespace_name = {};  // "": no restriction, here and below
  std::string name = {};
  std::string uid_prefix = {};
  std::string run = {};
  std::string uid = {};
  int64_t limit = 0;  // 0: no limit
};

// The row for an object that is being deleted; nullopt when the object does not belong to a run.
std::optional<Kept> ToKeep(const Key& key, const text::Json& object, int64_t created,
                           int64_t deleted);

}  // namespace local::store
