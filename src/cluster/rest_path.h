// Paths of the Kubernetes REST API. Pure.
#pragma once

#include <string>
#include <string_view>

#include "api/resources.h"
#include "base/result.h"
#include "cluster/client.h"

namespace cluster {

// "/apis/kubeflow.org/v1/namespaces/team/pytorchjobs"; without the namespace if that is "" or the
// resource has none.
std::string CollectionPath(const api::Resource& resource, std::string_view namespace_name);

// The path of one object, or of its `subresource` unless that is "". kInvalidArgument if the name
// or a needed namespace is missing.
base::Result<std::string> ObjectPath(const api::Resource& resource, std::string_view namespace_name,
                                     std::string_view name, std::string_view subresource = "");

// Builds "?a=b&c=d"; "" when nothing was added.
class QueryString {
 public:
  // Does nothing if `value` is "".
  QueryString& Add(std::string_view key, std::string_view value);
  QueryString& AddEvenIfEmpty(std::string_view key, std::string_view value);
  // Adds "key=true" if it is true.
  QueryString& AddFlag(std::string_view key, bool value) { return Add(key, value ? "true" : ""); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace cluster
