// What the store keeps of runs that are over: each deleted job, and each deleted pod of a job, as
// it was last. Written in the transaction that deletes, unless the disk is full; forgotten by
// Store::Forget alone.
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
  std::string run;  // uid of the job: its own, or that of the job that a pod was of
  std::string resource;
  std::string namespace_name;
  std::string name;
  int64_t created = 0;  // microseconds since the epoch
  int64_t deleted = 0;  // the same
  std::string json;     // without managedFields; of a pod's containers name, image and resources
};

// Jobs, the newest first; with `run` the pods of that job, the oldest first; with `uid` the one of
// that uid, job or pod.
struct KeptQuery {
  std::string namespace_name = {};  // "" is no restriction, here and below
  std::string name = {};
  std::string uid_prefix = {};
  std::string run = {};
  std::string uid = {};
  int64_t limit = 0;  // 0 is none
};

// The row of an object that is deleted now; nullopt for what is not a run's.
std::optional<Kept> ToKeep(const Key& key, const text::Json& object, int64_t created,
                           int64_t deleted);

}  // namespace local::store
