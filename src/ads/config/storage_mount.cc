#include "ads/config/storage_mount.h"

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <utility>

#include "base/strings.h"

namespace ads {
namespace {

constexpr size_t kMaxMounts = 5;  // the service's limit

tl::unexpected<base::Error> RefuseMount(const PyValue& at, std::string_view why) {
  return base::Fail(
      base::Code::kInvalidArgument,
      fmt::format("ValueError: spec.infrastructure.spec.storageMount (line {}): {}", at.line, why));
}

std::string_view Stripped(std::string_view text, char c) {
  while (text.ends_with(c)) text.remove_suffix(1);
  while (text.starts_with(c)) text.remove_prefix(1);
  return text;
}

// The mount point: /a/b is the folder b in /a; a bare name is a folder in the service's /mnt.
base::Status AddDestination(const PyValue& mount, std::string_view dest, text::Object& body) {
  while (dest.ends_with('/')) dest.remove_suffix(1);
  if (dest.empty()) return RefuseMount(mount, "dest names no folder: dest: /mnt/data");
  const size_t slash = dest.rfind('/');
  body["destinationDirectoryName"] =
      std::string(dest.substr(slash == std::string_view::npos ? 0 : slash + 1));
  if (slash == std::string_view::npos) return {};
  std::string_view path = dest.substr(0, slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  body["destinationPath"] = path.empty() ? "/" : std::string(path);
  return {};
}

base::Status AddBucket(const PyValue& mount, std::string_view src, text::Object& body) {
  const size_t at = src.find('@');
  const std::string_view place = Stripped(src.substr(at + 1), '/');
  const size_t slash = place.find('/');
  body["storageType"] = "OBJECT_STORAGE";
  body["bucket"] = std::string(src.substr(6, at - 6));
  body["namespace"] = std::string(place.substr(0, slash));
  if (at == 6 || place.empty()) {
    return RefuseMount(mount, fmt::format("src \"{}\" is not oci://bucket@namespace/prefix", src));
  }
  if (slash != std::string_view::npos) body["prefix"] = std::string(place.substr(slash + 1));
  return {};
}

base::Status AddExport(const PyValue& mount, std::string_view src, text::Object& body) {
  const size_t colon = src.find(':');
  const std::string_view target = src.substr(0, colon);
  const std::string_view path = colon == std::string_view::npos ? "" : src.substr(colon + 1);
  const bool is_target =
      target.starts_with("ocid") && base::ToLower(target).find("mounttarget") != std::string::npos;
  const bool is_export =
      path.starts_with("ocid") && base::ToLower(path).find("export") != std::string::npos;
  if (!is_target || !is_export) {
    return RefuseMount(
        mount, fmt::format("src \"{}\" is neither oci://bucket@namespace/prefix nor <OCID of a "
                           "mount target>:<OCID of an export>; addresses and paths of File Storage "
                           "are not looked up",
                           src));
  }
  body["storageType"] = "FILE_STORAGE";
  body["mountTargetId"] = std::string(target);
  body["exportId"] = std::string(path);
  return {};
}

base::Result<text::Json> MountBody(const PyValue& mount) {
  for (const PyValue::Member& member : mount.members) {
    if (member.key == "src" || member.key == "dest") continue;
    return RefuseMount(mount,
                       fmt::format("unknown key \"{}\": an entry has src and dest", member.key));
  }
  const PyValue* const src = mount.Find("src");
  const PyValue* const dest = mount.Find("dest");
  if (src == nullptr || dest == nullptr || !src->is_string() || !dest->is_string()) {
    return RefuseMount(mount, "an entry wants the texts `src` and `dest`");
  }
  text::Object body;
  const bool is_bucket =
      src->text.starts_with("oci://") && src->text.find('@') != std::string::npos;
  TRY(is_bucket ? AddBucket(mount, src->text, body) : AddExport(mount, src->text, body));
  TRY(AddDestination(mount, dest->text, body));
  return text::Json(std::move(body));
}

}  // namespace

base::Result<text::Json> StorageMountsBody(const PyValue& mounts) {
  if (!mounts.is_list()) {
    return RefuseMount(mounts, "it is a list: write \"- src: ...\" and below it \"dest: ...\"");
  }
  if (mounts.items.size() > kMaxMounts) {
    return RefuseMount(
        mounts, fmt::format("{} mounts; the service takes {}", mounts.items.size(), kMaxMounts));
  }
  text::Array list;
  for (const PyValue& mount : mounts.items) {
    TRY_ASSIGN(text::Json one, MountBody(mount));
    list.push_back(std::move(one));
  }
  return text::Json(std::move(list));
}

}  // namespace ads
