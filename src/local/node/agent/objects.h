// The objects that a pod names: Secrets, ConfigMaps and volume claims of its namespace.
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "api/resources.h"
#include "text/json.h"

namespace local::node {

struct Reference {
  const api::Resource* resource = nullptr;  // kSecrets, kConfigMaps or kPersistentVolumeClaims
  std::string name;

  auto operator<=>(const Reference&) const = default;
};

// Why a pod does not start yet, as kubelet words it: its containers wait with this.
struct NotReady {
  std::string reason;  // CreateContainerConfigError, CreateContainerError, ...
  std::string message;
  std::vector<Reference> missing;  // it is tried again when one of them appears
  // Otherwise: never, at increasing intervals, or every two seconds.
  enum class Retry { kNever, kLater, kSoon };
  Retry retry = Retry::kNever;
};

template <typename T>
using OrNotReady = tl::expected<T, NotReady>;

inline tl::unexpected<NotReady> ConfigError(std::string message,
                                            std::vector<Reference> missing = {}) {
  return tl::unexpected<NotReady>(NotReady{"CreateContainerConfigError", std::move(message),
                                           std::move(missing), NotReady::Retry::kNever});
}

using PodObjects = std::map<Reference, text::Json>;  // the ones that exist

// Every object that the pod's volumes and environment name, each once; optional ones too.
std::vector<Reference> ReferencesOf(const text::Json& pod);

// The decoded value of `key` in the Secret or ConfigMap. `is_optional`: absent is "nothing".
OrNotReady<std::optional<std::string>> ValueOf(const PodObjects& objects,
                                               const Reference& reference, std::string_view key,
                                               std::string_view namespace_name, bool is_optional);

// Every key with its decoded value; nothing when the object is absent and optional.
OrNotReady<std::map<std::string, std::string>> ValuesOf(const PodObjects& objects,
                                                        const Reference& reference,
                                                        bool is_optional);

}  // namespace local::node
