// Maps images to directories of this machine that take the place of their WORKDIR: `images.json` in
// the state directory. Commands write it, and the daemon reads it each time.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace local::node {

// The image name that means the machine's own environment.
inline constexpr std::string_view kHostImage = "host";

struct MappedImage {
  std::string directory;  // absolute
  std::string workdir;    // where pods see it, absolute; "": at its own path
};

using ImageMap = std::map<std::string, MappedImage>;  // by image, as spelled by FindImage

std::string ImageMapPath(const std::string& state_directory);

// Adds the tag `latest` to a name without a tag: "mnist" becomes "mnist:latest".
std::string FullImageName(std::string_view image);
// nullptr when the image is not mapped.
const MappedImage* FindImage(const ImageMap& map, std::string_view image);

// Empty when there is no file; an error names the file when it cannot be read.
base::Result<ImageMap> LoadImageMap(const std::string& path);

// Changes the file atomically and keeps other commands' changes; blocks while another command
// writes. Returns the directory that was mapped before, or "".
base::Result<std::string> MapImage(const std::string& path, std::string_view image,
                                   const MappedImage& mapped);
// kNotFound names an image that is not mapped; nothing is changed then.
base::Status UnmapImages(const std::string& path, const std::vector<std::string>& images);

// A hint for a pod whose program is not found.
std::string UnmappedImageHint(std::string_view image);

}  // namespace local::node
