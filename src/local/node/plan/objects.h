// The objects that a pod refers to: Secrets, ConfigMaps and volume claims of its namespace.
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

// Why a pod cannot start yet, in kubelet's words, which become the waiting reason of its
// containers.
struct NotReady {
  std::string reason;  // CreateContainerConfigError, CreateContainerError, ...
  std::string message;
  std::vector<Reference> missing;  // the start is tried again when one of them appears
  // When else to try again: never, at increasing intervals, or every two seconds.
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

using PodObjects = std::map<Reference, text::Json>;  // only existing objects

// Every object that the pod's volumes and environment refer to, each once, including optional ones.
std::vector<Reference> ReferencesOf(const text::Json& pod);

// The decoded value of `key` in the Secret or ConfigMap. With `is_optional`, an absent one is
// nullopt.
OrNotReady<std::optional<std::string>> ValueOf(const PodObjects& objects,
                                               const Reference& reference, std::string_view key,
                                               std::string_view namespace_name, bool is_optional);

// Every key with its decoded value; nullopt when the object is absent and optional.
OrNotReady<std::map<std::string, std::string>> ValuesOf(const PodObjects& objects,
                                                        const Reference& reference,
                                                        bool is_optional);

}  // namespace local::node
