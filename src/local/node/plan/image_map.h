// Which directories of this machine stand for the WORKDIR of which images: `images.json` in the
// state directory. Commands write it, the daemon reads it whenever it needs to know.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace local::node {

// The image name that stands for no image.
inline constexpr std::string_view kHostImage = "host";

struct MappedImage {
  std::string directory;  // absolute
  std::string workdir;    // where pods see it, absolute; "" is at its own path
};

using ImageMap = std::map<std::string, MappedImage>;  // by image, as FindImage spells it

std::string ImageMapPath(const std::string& state_directory);

// Without a tag it is `latest`, as everywhere: "mnist" is "mnist:latest".
std::string FullImageName(std::string_view image);
// nullptr when no directory stands for the image.
const MappedImage* FindImage(const ImageMap& map, std::string_view image);

// Empty when there is no file; an error names it when it cannot be read.
base::Result<ImageMap> LoadImageMap(const std::string& path);

// Changes the file in one step, other commands' changes kept; blocks while another one writes. The
// directory that stood for the image before, "" of none.
base::Result<std::string> MapImage(const std::string& path, std::string_view image,
                                   const MappedImage& mapped);
// kNotFound names the image for which no directory stands; then nothing is changed.
base::Status UnmapImages(const std::string& path, const std::vector<std::string>& images);

// What a pod whose program is not found should be told.
std::string UnmappedImageHint(std::string_view image);

}  // namespace local::node
