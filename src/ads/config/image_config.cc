#include "ads/config/image_config.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace ads {
namespace {

constexpr const char* kSection = "main";
constexpr const char* kNoDockerfile = "DUMMY_PATH";
constexpr std::string_view kVersionMark = "_v_";

base::Status RefuseMissing(std::string_view what, std::string_view flags) {
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("ValueError: {} arg is missing; give {}, or keep it in ./config.ini", what,
                  flags));
}

}  // namespace

ImageName SplitImage(const std::string& image) {
  const size_t colon = image.rfind(':');
  if (colon == std::string::npos || image.find('/', colon) != std::string::npos) {
    return {image, "latest"};
  }
  return {image.substr(0, colon), image.substr(colon + 1)};
}

base::Result<IniFile> UpdateImageIni(const std::optional<std::string>& existing,
                                     const std::string& path, const ImageFlags& flags,
                                     const std::string& yaml_image, ImageNeed need) {
  IniFile file;
  if (existing) {
    TRY_ASSIGN(file, IniFile::Parse(*existing, path));
  }
  const auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) file.Set(kSection, key, value);
  };
  const auto has = [&](const char* key) {
    const std::string* value = file.Find(kSection, key);
    return value != nullptr && !value->empty();
  };
  ImageName of_yaml;
  if (!yaml_image.empty() && !yaml_image.starts_with('@')) of_yaml = SplitImage(yaml_image);
  set("tag", flags.tag.empty() ? of_yaml.tag : flags.tag);
  set("registry", flags.registry.empty() ? of_yaml.registry : flags.registry);
  set("dockerfile", flags.dockerfile);
  const bool is_named = need != ImageNeed::kNothing;
  if (!has("tag") && is_named) TRY(RefuseMissing("tag", "-t TAG"));
  if (!has("registry") && is_named) TRY(RefuseMissing("registry", "-reg REGISTRY"));
  const bool has_dockerfile =
      has("dockerfile") && *file.Find(kSection, "dockerfile") != kNoDockerfile;
  if (!has_dockerfile && need == ImageNeed::kNameAndDockerfile) {
    TRY(RefuseMissing("dockerfile", "-df DOCKERFILE"));
  }
  if (!has_dockerfile) file.Set(kSection, "dockerfile", kNoDockerfile);
  set("source_folder", flags.source_folder);
  if (!has("source_folder")) file.Set(kSection, "source_folder", ".");
  if (!has("oci_key_mnt")) {
    file.AddComment(kSection, "; mount oci keys for local testing");
    file.Set(kSection, "oci_key_mnt", "~/.oci:/home/oci_dist_training/.oci");
  }
  return file;
}

ImageConfig ReadImageConfig(const IniFile& file) {
  const auto get = [&](const char* key) {
    const std::string* value = file.Find(kSection, key);
    return value == nullptr ? std::string() : *value;
  };
  return {get("tag"), get("registry"), get("dockerfile"), get("source_folder")};
}

std::string IncrementTag(const std::string& tag) {
  const size_t mark = tag.rfind(kVersionMark);
  const std::string digits =
      mark == std::string::npos ? "" : tag.substr(mark + kVersionMark.size());
  const std::optional<int64_t> number = digits.find_first_not_of("0123456789") == std::string::npos
                                            ? base::ParseInt(digits)
                                            : std::nullopt;
  if (!number) return tag + "_v_1";
  return fmt::format("{}{:0{}}", tag.substr(0, mark + kVersionMark.size()), *number + 1,
                     digits.size());
}

}  // namespace ads
