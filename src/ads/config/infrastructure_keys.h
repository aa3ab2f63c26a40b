// Spellings of the keys of spec.infrastructure.spec. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "ads/yaml/value.h"

namespace ads {

// `snake`, in upper or lower case, means `camel`.
struct InfrastructureKey {
  std::string_view camel, snake;
};
std::span<const InfrastructureKey> InfrastructureKeys();

// Renames the members to the service's names, as the original does: a renamed key replaces one that
// has that name already, and the last of several wins; the keys of a renamed map are renamed as
// well.
void NameInfrastructure(PyValue& spec);

// Keys of the disk's size; the second spelling is the documentation's, for `50GB`. The first one
// wins.
inline constexpr std::string_view kStorageSizeKeys[] = {"blockStorageSize", "blockStorageSizeGB"};

// Gigabytes from 50, "50" or 50GB; nullopt when it is not an integer number of them.
std::optional<int64_t> StorageSizeOf(const PyValue& size);

}  // namespace ads
