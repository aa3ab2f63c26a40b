// The steps of an image's workflow, shared by build-image, publish-image and run.
#pragma once

#include <string>

#include "ads/app.h"
#include "ads/config/image_config.h"
#include "ads/run/images/container_tool.h"
#include "base/result.h"
#include "cli/flags.h"

namespace ads {

inline constexpr const char* kImageIniPath = "config.ini";  // in the current directory

// -t, -reg, -df, -s.
void DeclareImageFlags(cli::FlagSet& set, ImageFlags& flags);

// Updates ./config.ini and returns its settings. With `dry`, a file that cannot be written is only
// reported there.
base::Result<ImageConfig> RefreshImageConfig(const ImageFlags& flags, const std::string& yaml_image,
                                             ImageNeed need, cli::Output* dry = nullptr);
// Stores another tag in it.
base::Status KeepTag(const std::string& tag);

// Pushes the image, then prints `pushed <image>` on `out`.
base::Status PushImage(const ContainerTool& tool, const std::string& image, cli::Output& out);
// --nopush: checks whether the registry has the image; if not, asks what to do.
base::Status VerifyImage(const ContainerTool& tool, const std::string& image, cli::Output& out);

}  // namespace ads
