#include "local/node/plan/image_map.h"

#include <fmt/format.h>

#include "base/file.h"
#include "process/file_lock.h"
#include "text/json.h"

namespace local::node {
namespace {

constexpr size_t kMaxImageMapBytes = 4 << 20;

base::Result<ImageMap> ParseImageMap(std::string_view content) {
  TRY_ASSIGN(const text::Json json, text::ParseJson(content));
  if (!json.is_object()) return base::Fail(base::Code::kInvalidArgument, "is not a JSON object");
  ImageMap map;
  for (const auto& [image, entry] : json.get_object()) {
    MappedImage mapped{std::string(text::GetString(entry, {"directory"})),
                       std::string(text::GetString(entry, {"workdir"}))};
    if (!mapped.directory.starts_with('/')) {
      return base::Fail(
          base::Code::kInvalidArgument,
          fmt::format("\"{}\" is not mapped to a directory", std::string_view(image)));
    }
    map.emplace(image, std::move(mapped));
  }
  return map;
}

base::Status StoreImageMap(const std::string& path, const ImageMap& map) {
  text::Object json;
  for (const auto& [image, mapped] : map) {
    json[image] = text::Object{{"directory", mapped.directory}, {"workdir", mapped.workdir}};
  }
  return base::WriteFileAtomic(path, text::ToJson(json) + "\n", 0600, base::Durability::kSync);
}

}  // namespace

std::string ImageMapPath(const std::string& state_directory) {
  return state_directory + "/images.json";
}

std::string FullImageName(std::string_view image) {
  const size_t slash = image.rfind('/');
  const std::string_view name = slash == std::string_view::npos ? image : image.substr(slash + 1);
  return name.find_first_of(":@") == std::string_view::npos ? fmt::format("{}:latest", image)
                                                            : std::string(image);
}

const MappedImage* FindImage(const ImageMap& map, std::string_view image) {
  const auto it = map.find(FullImageName(image));
  return it == map.end() ? nullptr : &it->second;
}

base::Result<ImageMap> LoadImageMap(const std::string& path) {
  const auto content = base::ReadFile(path, kMaxImageMapBytes);
  if (!content) {
    if (content.error().code == base::Code::kNotFound) return ImageMap();
    return base::Fail(content.error());
  }
  auto map = ParseImageMap(*content);
  if (!map) return base::Fail(map.error().Wrap(path));
  return map;
}

base::Result<std::string> MapImage(const std::string& path, std::string_view image,
                                   const MappedImage& mapped) {
  TRY_ASSIGN(const base::Fd lock, process::LockFile(path + ".lock"));
  TRY_ASSIGN(ImageMap map, LoadImageMap(path));
  MappedImage& entry = map[FullImageName(image)];
  std::string before = std::move(entry.directory);
  entry = mapped;
  TRY(StoreImageMap(path, map));
  return before;
}

base::Status UnmapImages(const std::string& path, const std::vector<std::string>& images) {
  TRY_ASSIGN(const base::Fd lock, process::LockFile(path + ".lock"));
  TRY_ASSIGN(ImageMap map, LoadImageMap(path));
  for (const std::string& image : images) {
    if (map.erase(FullImageName(image)) == 0) {
      return base::Fail(
          base::Code::kNotFound,
          fmt::format("the image {} is not mapped to a directory; `muster image list` "
                      "shows the mapped images",
                      image));
    }
  }
  return StoreImageMap(path, map);
}

std::string UnmappedImageHint(std::string_view image) {
  return fmt::format(
      "the image {} is not used on this machine: if it contains the program, `muster image map {} "
      "DIR` maps it to a directory",
      image, image);
}

}  // namespace local::node
