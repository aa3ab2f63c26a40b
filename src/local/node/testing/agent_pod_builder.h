// For tests: builds pods briefly.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "text/json.h"

namespace local::node {

class PodBuilder {
 public:
  explicit PodBuilder(std::string name) {
    const std::string uid = "uid-" + name;
    pod_ = text::Object{{"apiVersion", "v1"},
                        {"kind", "Pod"},
                        {"metadata", {{"name", name}, {"namespace", "default"}, {"uid", uid}}},
                        {"spec", {{"nodeName", "here"}, {"containers", text::Array()}}}};
    Container("pytorch");
    Command({"train"});
  }
  PodBuilder& Set(text::Path path, text::Json value) {
    text::Set(pod_, path, std::move(value));
    return *this;
  }
  PodBuilder& Uid(std::string_view uid) { return Set({"metadata", "uid"}, text::Json(uid)); }
  PodBuilder& Label(std::string_view key, std::string_view value) {
    return Set({"metadata", "labels", key}, text::Json(value));
  }
  PodBuilder& Annotation(std::string_view key, std::string_view value) {
    return Set({"metadata", "annotations", key}, text::Json(value));
  }
  // A pod of a job, as the reconciler creates it.
  PodBuilder& OfJob(std::string_view job, std::string_view role = "") {
    Label("training.kubeflow.org/job-name", job);
    if (!role.empty()) Label("training.kubeflow.org/job-role", role);
    const std::string uid = "uid-job-" + std::string(job);
    return Set({"metadata", "ownerReferences"},
               text::Array{text::Object{{"apiVersion", "kubeflow.org/v1"},
                                        {"kind", "PyTorchJob"},
                                        {"name", job},
                                        {"uid", uid},
                                        {"controller", true}}});
  }
  // The calls that follow are about this container.
  PodBuilder& Container(std::string_view name) { return Add("containers", name); }
  PodBuilder& InitContainer(std::string_view name) { return Add("initContainers", name); }
  PodBuilder& Command(std::initializer_list<std::string_view> words) {
    return SetWords("command", words);
  }
  PodBuilder& Args(std::initializer_list<std::string_view> words) {
    return SetWords("args", words);
  }
  PodBuilder& With(text::Path path, text::Json value) {
    text::Set(Current(), path, std::move(value));
    return *this;
  }
  PodBuilder& Env(std::string_view name, std::string_view value) {
    return Append("env", text::Object{{"name", name}, {"value", value}});
  }
  PodBuilder& EnvFrom(std::string_view name, text::Json source) {
    return Append("env", text::Object{{"name", name}, {"valueFrom", std::move(source)}});
  }
  PodBuilder& Append(std::string_view list, text::Json item) {
    text::Json& array = text::Ensure(Current(), {list});
    if (!array.is_array()) array = text::Array();
    array.get_array().push_back(std::move(item));
    return *this;
  }
  PodBuilder& Mount(std::string_view volume, std::string_view path) {
    return Append("volumeMounts", text::Object{{"name", volume}, {"mountPath", path}});
  }
  PodBuilder& Volume(std::string_view name, std::string_view kind, text::Json source) {
    text::Json& volumes = text::Ensure(pod_, {"spec", "volumes"});
    if (!volumes.is_array()) volumes = text::Array();
    volumes.get_array().push_back(text::Object{{"name", name}, {kind, std::move(source)}});
    return *this;
  }
  operator text::Json() const { return pod_; }

 private:
  PodBuilder& Add(std::string_view list, std::string_view name) {
    list_ = list;
    text::Json& containers = text::Ensure(pod_, {"spec", list});
    if (!containers.is_array()) containers = text::Array();
    containers.get_array().push_back(text::Object{{"name", name}, {"image", "image"}});
    return *this;
  }
  PodBuilder& SetWords(std::string_view key, std::initializer_list<std::string_view> words) {
    text::Array array;
    for (const std::string_view word : words) array.emplace_back(word);
    return With({key}, std::move(array));
  }
  text::Json& Current() { return text::Ensure(pod_, {"spec", list_}).get_array().back(); }

  text::Json pod_;
  std::string_view list_;
};

}  // namespace local::node
