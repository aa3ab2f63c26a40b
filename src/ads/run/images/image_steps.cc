#include "ads/run/images/image_steps.h"

#include <fmt/format.h>

#include "ads/config/user_file.h"
#include "ads/terminal_input.h"
#include "base/file.h"

namespace ads {
namespace {

constexpr size_t kMaxIniBytes = 1 << 20;

base::Result<std::optional<std::string>> ReadImageIni() {
  auto text = base::ReadFile(kImageIniPath, kMaxIniBytes);
  if (text) return std::optional(std::move(*text));
  if (text.error().code == base::Code::kNotFound) return std::optional<std::string>();
  return base::Fail(text.error().Wrap("read ./config.ini"));
}

// A folder in which nothing can be written is no obstacle to an unchanged file.
base::Status WriteImageIni(const IniFile& file, const std::optional<std::string>& before) {
  const std::string text = file.Text();
  if (before == text) return {};
  const base::Status written = WriteUserFile(kImageIniPath, text);
  if (written) return {};
  return base::Fail(written.error().Wrap("write ./config.ini"));
}

}  // namespace

void DeclareImageFlags(cli::FlagSet& set, ImageFlags& flags) {
  set.String(&flags.tag, "tag", "", "Tag of the image.").Short('t');
  set.String(&flags.registry, "registry", "", "Registry and name of the image to push to.")
      .SingleDash("reg");
  set.String(&flags.dockerfile, "dockerfile", "", "Path of the Dockerfile, from here.")
      .SingleDash("df");
  set.String(&flags.source_folder, "source-folder", "",
             "Folder of the code that the image gets; below this one.")
      .Short('s');
  set.StringArray(&flags.build_args, "build-arg",
                  "NAME=VALUE for an ARG of the Dockerfile; may be given again.");
}

base::Result<ImageConfig> RefreshImageConfig(const ImageFlags& flags, const std::string& yaml_image,
                                             ImageNeed need, cli::Output* dry) {
  for (const std::string& argument : flags.build_args) {
    if (argument.find('=') != std::string::npos && !argument.starts_with('=')) continue;
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("ValueError: --build-arg {}: write NAME=VALUE", argument));
  }
  TRY_ASSIGN(const auto existing, ReadImageIni());
  TRY_ASSIGN(const IniFile file, UpdateImageIni(existing, kImageIniPath, flags, yaml_image, need));
  if (const base::Status written = WriteImageIni(file, existing); !written) {
    if (dry == nullptr) return base::Fail(written.error());
    TRY(dry->Write(fmt::format("WARNING:ads.opctl:{}\n", written.error().message)));
  }
  ImageConfig image = ReadImageConfig(file);
  image.build_args = flags.build_args;
  return image;
}

base::Status KeepTag(const std::string& tag) {
  TRY_ASSIGN(const auto existing, ReadImageIni());
  TRY_ASSIGN(IniFile file, IniFile::Parse(existing.value_or(""), kImageIniPath));
  file.Set("main", "tag", tag);
  return WriteImageIni(file, existing);
}

base::Status PushImage(const ContainerTool& tool, const std::string& image, cli::Output& out) {
  TRY(tool.Push(image));
  return out.Write(fmt::format("pushed {}\n", image));
}

base::Status VerifyImage(const ContainerTool& tool, const std::string& image, cli::Output& out) {
  TRY_ASSIGN(const bool is_there, tool.IsInRegistry(image));
  if (is_there) return {};
  TRY(
      out.Write(fmt::format("⚠ Image: {} does not exist in registry\n"
                            "In order to push the image to registry enter Y else N \n[Y/N]\n",
                            image)));
  if (ReadLine().value_or("") != "Y") {
    return base::Fail(
        base::Code::kNotFound,
        "RuntimeError: Stopping the execution as image doesn't exist in OCI registry");
  }
  TRY(out.Write("✅ pushing image to registry\n"));
  return PushImage(tool, image, out);
}

}  // namespace ads
