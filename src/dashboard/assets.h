// The files of web/, which the build embeds into the binary (cmake/EmbedAssets.cmake).
#pragma once

#include <span>
#include <string_view>

namespace dashboard {

struct Asset {
  std::string_view path;          // "/app.js"
  std::string_view content_type;  // "text/javascript; charset=utf-8"
  std::string_view gzipped;
  std::string_view etag;   // a hash of its content
  std::string_view style;  // of a page: the SHA-256 of the style sheet in it, 32 bytes
};

extern const std::span<const Asset> kAssets;

// "/" is the page itself. nullptr if there is no such file.
const Asset* FindAsset(std::string_view path);

}  // namespace dashboard
