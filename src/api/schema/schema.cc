#include "api/schema/schema.h"

#include <cstdlib>
#include <map>
#include <memory>

#include "api/schema/definition.h"
#include "api/schema/schema_text.h"
#include "base/strings.h"

namespace api {
namespace {

using Types = std::map<std::string_view, std::unique_ptr<ObjectType>>;

std::string_view TakeWord(std::string_view& text) {
  text = base::Trim(text);
  const size_t end = text.find_first_of(" \n");
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  return word;
}

ObjectType* Named(Types& types, std::string_view name) {
  auto& type = types[name];
  if (!type) type = std::make_unique<ObjectType>(ObjectType{name, false, false, {}});
  return type.get();
}

// Reads the scalar or type of the elements of a list, a map or a field.
void ReadElement(Types& types, std::string_view word, Shape& shape) {
  if (word.size() == 1) {
    shape.scalar = word.front();
  } else if (word != "any") {
    shape.type = Named(types, word);
  }
}

Shape ReadShape(Types& types, std::string_view word) {
  Shape shape;
  if (word.starts_with('{')) {
    shape.kind = Shape::Kind::kMap;
    shape.is_atomic = word.ends_with('!');
    ReadElement(types, word.substr(1, word.find('}') - 1), shape);
    return shape;
  }
  if (word.starts_with('[')) {
    shape.kind = Shape::Kind::kList;
    std::string_view inner = word.substr(1, word.size() - 2);
    if (const size_t slash = inner.find('/'); slash != std::string_view::npos) {
      std::string_view keys = inner.substr(slash + 1);
      inner = inner.substr(0, slash);
      for (size_t comma = 0; comma != std::string_view::npos;) {
        comma = keys.find(',');
        shape.keys.push_back(keys.substr(0, comma));
        if (comma != std::string_view::npos) keys.remove_prefix(comma + 1);
      }
    } else if (inner.ends_with('=')) {
      shape.is_set = true;
      inner.remove_suffix(1);
    }
    shape.is_atomic = shape.keys.empty() && !shape.is_set;
    ReadElement(types, inner, shape);
    return shape;
  }
  ReadElement(types, word, shape);
  if (shape.scalar != 0) {
    shape.kind = Shape::Kind::kScalar;
  } else if (shape.type != nullptr) {
    shape.kind = Shape::Kind::kObject;
  }
  return shape;
}

void ReadType(Types& types, std::string_view text) {
  const size_t colon = text.find(':');
  std::string_view name = text.substr(0, colon);
  const bool is_atomic = name.ends_with('!');
  const bool keeps_unknown = name.ends_with('+');
  if (is_atomic || keeps_unknown) name.remove_suffix(1);
  ObjectType& type = *Named(types, name);
  type.is_atomic = is_atomic;
  type.keeps_unknown = keeps_unknown;
  text.remove_prefix(colon + 1);
  while (!text.empty()) {
    const size_t end = text.find(';');
    std::string_view field = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::string_view number = TakeWord(field);
    const std::string_view label = TakeWord(field);
    type.fields.push_back(
        {std::atoi(std::string(number).c_str()), label, ReadShape(types, TakeWord(field))});
  }
}

struct Words {
  std::string_view type;
  std::string_view field;
  std::string_view words;
};

constexpr Words kWords[] = {
    {"Pod", "", "One or more containers that run together on one node."},
    {"Pod", "spec", "What the pod runs."},
    {"Pod", "status", "The observed state of the pod; written by the node agent."},
    {"PodSpec", "containers", "The pod's containers; at least one."},
    {"PodSpec", "initContainers", "Containers that run, one after the other, before the others."},
    {"PodSpec", "volumes", "The volumes that containers may mount."},
    {"PodSpec", "nodeName", "The node that the pod runs on; set by the scheduler."},
    {"PodSpec", "restartPolicy", "When containers are restarted: Always, OnFailure or Never."},
    {"PodSpec", "terminationGracePeriodSeconds",
     "Time between the termination signal and the kill."},
    {"Container", "name", "The container's name, a DNS label, unique in its pod."},
    {"Container", "image", "The image that the container runs."},
    {"Container", "command", "The program and its first arguments; not run in a shell."},
    {"Container", "args", "Further arguments of the command."},
    {"Container", "env", "Environment variables, by name."},
    {"Container", "envFrom", "ConfigMaps and Secrets whose keys become environment variables."},
    {"Container", "ports", "Ports that the container listens on."},
    {"Container", "resources", "What the container requests, and its limits."},
    {"Container", "volumeMounts", "Where the pod's volumes are mounted."},
    {"Container", "workingDir", "The directory in which the command starts."},
    {"Service", "", "A name and a port for a set of pods."},
    {"ConfigMap", "", "Configuration as keys and values."},
    {"ConfigMap", "data", "Values that are UTF-8 text."},
    {"Secret", "", "Confidential keys and values."},
    {"Secret", "data", "Values in base64."},
    {"Secret", "stringData", "Values as text, for writing only; they become part of data."},
    {"Namespace", "", "A scope for names."},
    {"Event", "", "A report of something that happened to an object."},
    {"Node", "", "A machine that runs pods."},
    {"PersistentVolumeClaim", "", "A request for storage."},
    {"Deployment", "", "Keeps a number of equal pods running."},
    {"Lease", "", "A lock that expires unless it is renewed."},
    {"PriorityClass", "", "A name for a scheduling priority."},
    {"ObjectMeta", "name", "The object's name, unique of its kind in its namespace."},
    {"ObjectMeta", "namespace", "The namespace that the name is unique in."},
    {"ObjectMeta", "labels", "Keys and values that selectors match."},
    {"ObjectMeta", "annotations", "Keys and values that tools keep with the object."},
    {"ObjectMeta", "ownerReferences", "Owners; the object is deleted with them."},
    {"ObjectMeta", "finalizers", "Controllers that must act before the object is deleted."},
};

Types ReadTypes() {
  Types types;
  std::string_view text = kKubernetesTypes;
  text.remove_prefix(1);
  while (!text.empty()) {
    size_t end = text.find('\n');
    while (end + 1 < text.size() && text[end + 1] == ' ') end = text.find('\n', end + 1);
    ReadType(types, text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  for (const Words& words : kWords) {
    ObjectType& type = *types.at(words.type);
    if (words.field.empty()) type.description = words.words;
    for (TypeField& field : type.fields) {
      if (field.name == words.field) field.description = words.words;
    }
  }
  return types;
}

}  // namespace

Shape Shape::Element() const {
  Shape element;
  element.scalar = scalar;
  element.type = type;
  if (scalar != 0) {
    element.kind = Kind::kScalar;
  } else if (type != nullptr) {
    element.kind = Kind::kObject;
  }
  return element;
}

const TypeField* ObjectType::FindField(std::string_view field) const {
  for (const TypeField& candidate : fields) {
    if (candidate.name == field) return &candidate;
    if (candidate.name != "~") continue;
    if (const TypeField* found = candidate.shape.type->FindField(field)) return found;
  }
  return nullptr;
}

const Shape* ObjectType::Find(std::string_view field) const {
  const TypeField* const found = FindField(field);
  return found == nullptr ? nullptr : &found->shape;
}

const ObjectType* FindType(std::string_view name) {
  static const Types types = ReadTypes();
  const auto found = types.find(name);
  if (found != types.end()) return found->second.get();
  return name == kPyTorchJobs.kind ? &PyTorchJobType() : nullptr;
}

const ObjectType* TypeOf(const Resource& resource) { return FindType(resource.kind); }

Shape ShapeOf(const Resource& resource) {
  Shape shape;
  shape.type = TypeOf(resource);
  if (shape.type != nullptr) shape.kind = Shape::Kind::kObject;
  return shape;
}

bool IsCustom(const Resource& resource) {
  return resource.group.find('.') != std::string_view::npos &&
         (!resource.group.ends_with(".k8s.io") || resource.group == "scheduling.x-k8s.io");
}

}  // namespace api
