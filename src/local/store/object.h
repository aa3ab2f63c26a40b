// What the store keeps, and what it tells of changes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "base/result.h"
#include "text/json.h"
#include "text/projection.h"

namespace local::store {

// "pods", "pytorchjobs.kubeflow.org": plural.group, as the store and Kubernetes' messages name it.
std::string ResourceName(const api::Resource& resource);

struct Key {
  std::string resource;
  std::string namespace_name;  // "" for what has no namespace
  std::string name;

  auto operator<=>(const Key&) const = default;
};

// What selectors look at, as an object that holds nothing else: metadata.name, namespace, labels,
// and the fields that field selectors know of that kind.
text::Json SelectablePart(std::string_view resource, const text::Json& object);

// What that is taken from, of any kind.
const text::Projection& SelectableParts();

struct Event {
  enum class Type { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  Key key;
  int64_t version = 0;
  // The object, as it is now; kDeleted: as it was last, with the deletion's resourceVersion.
  std::shared_ptr<const std::string> json;
  // SelectablePart as JSON text: now, and (kModified) before the change.
  std::string selectable;
  std::string selectable_before;

  size_t Bytes() const {
    return sizeof(Event) + json->size() + selectable.size() + selectable_before.size();
  }
};
using EventPtr = std::shared_ptr<const Event>;

// An object inside the write transaction.
struct Record {
  Key key;
  std::string uid;
  int64_t version = 0;
  std::string owner;  // uid of the controller, else of the first owner, else ""
  std::shared_ptr<const std::string> json;
  text::Json object;  // the same, parsed
};

// The state as the write transaction sees it. On the writer thread, only while a mutation runs.
class View {
 public:
  virtual ~View() = default;
  virtual base::Result<std::optional<Record>> Get(const Key& key) = 0;
  virtual base::Result<std::optional<Record>> GetByUid(std::string_view uid) = 0;
  virtual base::Result<std::vector<Key>> OwnedBy(std::string_view uid) = 0;
  virtual base::Result<std::vector<Key>> InNamespace(std::string_view namespace_name) = 0;
};

struct Mutation;

// What a mutation decided.
struct Next {
  enum class Action { kNothing, kPut, kDelete };
  Action action = Action::kNothing;
  // kPut: the object, its metadata.resourceVersion is set by the store. kDelete: its last state,
  // null for the stored one.
  text::Json object;
  // Carried out right after, in the same transaction: all or nothing.
  std::vector<Mutation> then;
};

struct Mutation {
  Key key;
  // Runs on the writer thread, more than once when a transaction has to be repeated. An error
  // undoes this mutation and no other.
  std::function<base::Result<Next>(View& view, std::optional<Record> current)> apply;
  // Not "": as long as the store remembers a mutation of this id (kRememberedWrites), another one
  // is not carried out and has its outcome.
  std::string id = {};
  // Undone after it was tried; the outcome says what would have been, under the version that stays
  // (none of an object that is not there).
  bool dry_run = false;
};

struct Outcome {
  Next::Action action = Next::Action::kNothing;
  int64_t version = 0;
  // The object after the write, the last state of a deleted one, or what stands untouched; nullptr
  // when there is none.
  std::shared_ptr<const std::string> json;
};

}  // namespace local::store
