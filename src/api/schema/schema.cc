#include "api/schema/schema.h"

#include <cstdlib>
#include <map>
#include <memory>

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

Types ReadTypes() {
  Types types;
  for (std::string_view text : {kKubernetesTypes, kJobTypes}) {
    text.remove_prefix(1);
    while (!text.empty()) {
      size_t end = text.find('\n');
      while (end + 1 < text.size() && text[end + 1] == ' ') end = text.find('\n', end + 1);
      ReadType(types, text.substr(0, end));
      text.remove_prefix(end + 1);
    }
  }
  return types;
}

const Types& AllTypes() {
  static const Types types = ReadTypes();
  return types;
}

struct Words {
  std::string_view type;
  std::string_view field;
  std::string_view words;
};

constexpr Words kWords[] = {
    {"PyTorchJob", "", "A distributed PyTorch training job."},
    {"PyTorchJob", "spec", "What the job runs."},
    {"PyTorchJob", "status", "The state of the job as the controller has observed it."},
    {"PyTorchJobSpec", "pytorchReplicaSpecs",
     "The job's replicas by type: Master (at most one) and Worker."},
    {"PyTorchJobSpec", "runPolicy", "How the job runs, retries and is cleaned up."},
    {"PyTorchJobSpec", "elasticPolicy", "Lets the number of workers vary between two bounds."},
    {"PyTorchJobSpec", "nprocPerNode",
     "Processes in each pod: a number, or auto, cpu or gpu for one per device."},
    {"ReplicaSpec", "replicas", "How many pods of this type run; 1 by default."},
    {"ReplicaSpec", "restartPolicy",
     "What happens when a pod's container ends: Always, OnFailure, Never or ExitCode."},
    {"ReplicaSpec", "template", "The template of each replica's pod."},
    {"RunPolicy", "activeDeadlineSeconds", "The job fails when it is active for longer."},
    {"RunPolicy", "backoffLimit", "The number of restarts after which the job fails."},
    {"RunPolicy", "cleanPodPolicy",
     "Which pods are deleted when the job has ended: All, Running or None."},
    {"RunPolicy", "managedBy", "The controller that manages the job."},
    {"RunPolicy", "schedulingPolicy", "How the pods are scheduled as a gang."},
    {"RunPolicy", "suspend", "While true, the job has no pods."},
    {"RunPolicy", "ttlSecondsAfterFinished", "A finished job is deleted after this time."},
    {"ElasticPolicy", "minReplicas", "The fewest workers that the job runs with."},
    {"ElasticPolicy", "maxReplicas", "The most workers that the job grows to."},
    {"ElasticPolicy", "maxRestarts", "How often the worker group may restart."},
    {"ElasticPolicy", "nProcPerNode", "Processes in each pod."},
    {"ElasticPolicy", "rdzvBackend", "The rendezvous backend, such as c10d."},
    {"JobStatus", "conditions", "Created, Running, Restarting, Suspended, Succeeded, Failed."},
    {"JobStatus", "replicaStatuses", "Active, succeeded and failed pods by replica type."},
    {"JobStatus", "startTime", "When the controller first saw the job."},
    {"JobStatus", "completionTime", "When the job ended."},
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

const Shape* ObjectType::Find(std::string_view field) const {
  for (const TypeField& candidate : fields) {
    if (candidate.name == field) return &candidate.shape;
    if (candidate.name != "~") continue;
    if (const Shape* found = candidate.shape.type->Find(field)) return found;
  }
  return nullptr;
}

const ObjectType* FindType(std::string_view name) {
  const auto found = AllTypes().find(name);
  return found == AllTypes().end() ? nullptr : found->second.get();
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

std::string_view Describe(std::string_view type, std::string_view field) {
  // The pods of a job are ordinary pods.
  if (type.starts_with("Job") && type != "JobStatus" && type != "JobCondition") {
    type.remove_prefix(3);
  }
  for (const Words& words : kWords) {
    if (words.type == type && words.field == field) return words.words;
  }
  return "";
}

}  // namespace api
