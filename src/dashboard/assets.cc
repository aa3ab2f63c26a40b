#include "dashboard/assets.h"

#include <algorithm>

namespace dashboard {

const Asset* FindAsset(std::string_view path) {
  if (path == "/") path = "/index.html";
  const auto found = std::find_if(kAssets.begin(), kAssets.end(),
                                  [path](const Asset& asset) { return asset.path == path; });
  return found == kAssets.end() ? nullptr : &*found;
}

}  // namespace dashboard
