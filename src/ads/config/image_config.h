// The image's name, tag and Dockerfile as ./config.ini keeps them (compat/opctl.md 2.2). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ads/config/ini_file.h"
#include "base/result.h"

namespace ads {

// As typed; "" where a flag was not given.
struct ImageFlags {
  std::string tag, registry, dockerfile, source_folder;
  std::vector<std::string> build_args = {};  // NAME=VALUE each
};

struct ImageName {
  std::string registry, tag;
};
// At the last colon, unless it is a port's; "latest" without a tag.
ImageName SplitImage(const std::string& image);

// What config.ini is to hold now. `existing` is its text, if there is a file; `yaml_image` the
// YAML's image, "" or "@..." where it has no say. Without `is_building` no Dockerfile is wanted.
// kInvalidArgument: `ValueError: tag arg is missing` and its like.
base::Result<IniFile> UpdateImageIni(const std::optional<std::string>& existing,
                                     const std::string& path, const ImageFlags& flags,
                                     const std::string& yaml_image, bool is_building);

// What an updated file says.
struct ImageConfig {
  std::string tag, registry, dockerfile, source_folder;
  std::vector<std::string> build_args = {};  // of the flags; the file does not keep them
  std::string Image() const { return registry + ":" + tag; }
};
ImageConfig ReadImageConfig(const IniFile& file);

// mytag -> mytag_v_1, mytag_v_09 -> mytag_v_10.
std::string IncrementTag(const std::string& tag);

}  // namespace ads
