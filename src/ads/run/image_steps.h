// The steps of an image's workflow as build-image, publish-image and run take them.
#pragma once

#include <string>

#include "ads/app.h"
#include "ads/config/image_config.h"
#include "ads/run/container_tool.h"
#include "base/result.h"
#include "cli/flags.h"

namespace ads {

inline constexpr const char* kImageIniPath = "config.ini";  // in the current directory

// -t, -reg, -df, -s.
void DeclareImageFlags(cli::FlagSet& set, ImageFlags& flags);

// Brings ./config.ini up to date and gives what it says.
base::Result<ImageConfig> RefreshImageConfig(const ImageFlags& flags, const std::string& yaml_image,
                                             bool is_building);
// Writes another tag to it.
base::Status KeepTag(const std::string& tag);

// `pushed <image>`, on `out`, after the push.
base::Status PushImage(const ContainerTool& tool, const std::string& image, cli::Output& out);
// --nopush: looks whether the registry has the image, and asks what to do if not.
base::Status VerifyImage(const ContainerTool& tool, const std::string& image, cli::Output& out);

}  // namespace ads
