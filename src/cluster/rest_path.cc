#include "cluster/rest_path.h"

#include <fmt/format.h>

#include "net/http/types.h"

namespace cluster {

std::string CollectionPath(const api::Resource& resource, std::string_view namespace_name) {
  std::string path = resource.group.empty() ? "/api/" : fmt::format("/apis/{}/", resource.group);
  path += resource.version;
  if (resource.namespaced && !namespace_name.empty()) {
    path += "/namespaces/" + net::PercentEncode(namespace_name);
  }
  return path.append("/").append(resource.plural);
}

base::Result<std::string> ObjectPath(const api::Resource& resource, std::string_view namespace_name,
                                     std::string_view name, std::string_view subresource) {
  if (resource.namespaced && namespace_name.empty()) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} \"{}\": no namespace given", resource.singular, name));
  }
  // "." and ".." would change the path.
  if (name.empty() || name == "." || name == "..") {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("\"{}\" is not a name of a {}", name, resource.singular));
  }
  std::string path = CollectionPath(resource, namespace_name);
  path += "/" + net::PercentEncode(name);
  if (!subresource.empty()) path.append("/").append(subresource);
  return path;
}

QueryString& QueryString::Add(std::string_view key, std::string_view value) {
  return value.empty() ? *this : AddEvenIfEmpty(key, value);
}

QueryString& QueryString::AddEvenIfEmpty(std::string_view key, std::string_view value) {
  text_ += text_.empty() ? '?' : '&';
  text_.append(key).append("=").append(net::PercentEncode(value));
  return *this;
}

}  // namespace cluster
