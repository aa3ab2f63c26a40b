// How the keys of spec.infrastructure.spec may be spelt. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ads/yaml/value.h"

namespace ads {

// `snake`, in upper or lower case, is read as `camel`.
struct InfrastructureKey {
  std::string_view camel, snake;
};
std::span<const InfrastructureKey> InfrastructureKeys();

// Gives the members the names of the service, as the original does: what is renamed wins over what
// has the name already, and of several the last; the keys of a map that is renamed go the same way.
void NameInfrastructure(PyValue& spec);

// Where the size of the disk stands; the documentation's second spelling is for `50GB`, and the
// first wins.
inline constexpr std::string_view kStorageSizeKeys[] = {"blockStorageSize", "blockStorageSizeGB"};

// Gigabytes: 50, "50", 50GB; nullopt for what is not a whole number of them.
std::optional<int64_t> StorageSizeOf(const PyValue& size);

}  // namespace ads
