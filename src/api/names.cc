#include "api/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/strings.h"

namespace api {

std::string ReplicaName(std::string_view job, std::string_view type, int index) {
  std::string name = fmt::format("{}-{}-{}", job, base::ToLower(type), index);
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

}  // namespace api
