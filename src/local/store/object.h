// The objects in the store, and the events about their changes.
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
  std::string namespace_name;  // "" for kinds without a namespace
  std::string name;

  auto operator<=>(const Key&) const = default;
};

// The fields that selectors use: metadata.name, namespace, labels, and those that field selectors
// know for any kind.
const text::Projection& SelectableParts();

struct Event {
  enum class Type { kAdded, kModified, kDeleted };
  Type type = Type::kAdded;
  Key key;
  int64_t version = 0;
  // The present state; kDeleted: the last state, with the deletion's resourceVersion.
  std::shared_ptr<const std::string> json;
  // The same, parsed, until the watchers have been notified; null later, unless one of them keeps
  // it.
  std::weak_ptr<const text::Json> object;
  // SelectableParts as JSON text: now, and (kModified) before the change.
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
  std::string owner;  // uid of the controller, otherwise of the first owner, otherwise ""
  std::shared_ptr<const std::string> json;
  text::Json object;  // the same, parsed
};

// The state as the write transaction sees it. Used on the writer thread while a mutation runs.
class View {
 public:
  virtual ~View() = default;
  virtual base::Result<std::optional<Record>> Get(const Key& key) = 0;
  virtual base::Result<std::optional<Record>> GetByUid(std::string_view uid) = 0;
  virtual base::Result<std::vector<Key>> OwnedBy(std::string_view uid) = 0;
  virtual base::Result<std::vector<Key>> InNamespace(std::string_view namespace_name) = 0;
  // Whether there is one, without reading them all.
  virtual base::Result<bool> OwnsAny(std::string_view uid) = 0;
  virtual base::Result<bool> HoldsAny(std::string_view namespace_name) = 0;
};

struct Mutation;

// The decision of a mutation.
struct Next {
  enum class Action { kNothing, kPut, kDelete };
  Action action = Action::kNothing;
  // kPut: the object; the store sets its metadata.resourceVersion. kDelete: its last state, or null
  // for the stored one.
  text::Json object;
  // Carried out next, in the same transaction: all or nothing.
  std::vector<Mutation> then;
};

struct Mutation {
  Key key;
  // Runs on the writer thread, several times if the transaction has to be repeated. An error undoes
  // this mutation only.
  std::function<base::Result<Next>(View& view, std::optional<Record> current)> apply;
  // If not "": while the store remembers a mutation with this id (kRememberedWrites), another one
  // is not carried out and gets the same outcome.
  std::string id = {};
  // Rolled back after it was tried. The outcome shows what would have been stored, under the
  // present version (without one for a new object).
  bool dry_run = false;
};

struct Outcome {
  Next::Action action = Next::Action::kNothing;
  int64_t version = 0;
  // The object after the write, the last state of a deleted one, or the unchanged one; nullptr when
  // there is none.
  std::shared_ptr<const std::string> json;
  std::shared_ptr<const text::Json> object = nullptr;  // the same, parsed, if it was written now
};

}  // namespace local::store
