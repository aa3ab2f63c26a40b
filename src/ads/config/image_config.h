// The image's name, tag and Dockerfile as stored in ./config.ini (compat/opctl.md 2.2). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ads/config/ini_file.h"
#include "base/result.h"

namespace ads {

// As typed; "" for a flag that was not given.
struct ImageFlags {
  std::string tag, registry, dockerfile, source_folder;
  std::vector<std::string> build_args = {};  // NAME=VALUE each
};

struct ImageName {
  std::string registry, tag;
};
// Splits at the last colon, unless it precedes a port; "latest" without a tag.
ImageName SplitImage(const std::string& image);

// What has to be known of the image: a run on this machine does not use it.
enum class ImageNeed { kNothing, kName, kNameAndDockerfile };

// The new contents of config.ini. `existing` is its present text, if the file exists; `yaml_image`
// the YAML's image, "" or "@..." when the YAML does not set one. kInvalidArgument: `ValueError: tag
// arg is missing` and similar messages, if what is needed is missing.
base::Result<IniFile> UpdateImageIni(const std::optional<std::string>& existing,
                                     const std::string& path, const ImageFlags& flags,
                                     const std::string& yaml_image, ImageNeed need);

// The settings in an updated file.
struct ImageConfig {
  std::string tag, registry, dockerfile, source_folder;
  std::vector<std::string> build_args = {};  // from flags; not stored in the file
  std::string Image() const { return registry + ":" + tag; }
};
ImageConfig ReadImageConfig(const IniFile& file);

// mytag -> mytag_v_1, mytag_v_09 -> mytag_v_10.
std::string IncrementTag(const std::string& tag);

}  // namespace ads
