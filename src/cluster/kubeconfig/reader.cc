#include "cluster/kubeconfig/reader.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace cluster {
namespace {

using base::Fail;

const text::Json kNull;

}  // namespace

const text::Json* KubeconfigReader::Find(std::string_view key) const {
  const text::Json* const found = text::Find(*value_, {key});
  return found != nullptr && !found->is_null() ? found : nullptr;
}

std::string KubeconfigReader::PathOf(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

base::Error KubeconfigReader::Wrong(std::string_view key, std::string_view what) const {
  return {base::Code::kInvalidArgument, fmt::format("{}: {}", PathOf(key), what), 0};
}

bool KubeconfigReader::Has(std::string_view key) const { return Find(key) != nullptr; }

std::vector<std::string> KubeconfigReader::Keys() const {
  std::vector<std::string> keys;
  if (const text::Object* const object = value_->if_object()) {
    for (const auto& member : *object) keys.emplace_back(member.key());
  }
  return keys;
}

text::Json KubeconfigReader::Value(std::string_view key) const {
  const text::Json* const found = Find(key);
  return found != nullptr ? *found : text::Json();
}

base::Result<std::string> KubeconfigReader::String(std::string_view key) const {
  const text::Json* const found = Find(key);
  if (found == nullptr) return std::string();
  if (const auto* const string = found->if_string()) {
    if (string->find('\0') == boost::json::string::npos) return std::string(*string);
    return Fail(Wrong(key, "holds a zero byte"));
  }
  // YAML reads an unquoted 12345 as a number; kubectl refuses it, too.
  return Fail(Wrong(key, "must be a string: quote it"));
}

base::Result<bool> KubeconfigReader::Bool(std::string_view key) const {
  const text::Json* const found = Find(key);
  if (found == nullptr) return false;
  if (found->is_bool()) return found->get_bool();
  return Fail(Wrong(key, "must be true or false"));
}

base::Result<std::vector<std::string>> KubeconfigReader::Strings(std::string_view key) const {
  std::vector<std::string> strings;
  const text::Json* const found = Find(key);
  if (found == nullptr) return strings;
  if (!found->is_array()) return Fail(Wrong(key, "must be a list of strings"));
  for (const text::Json& item : found->get_array()) {
    const auto* const string = item.if_string();
    if (string == nullptr || string->find('\0') != boost::json::string::npos) {
      return Fail(Wrong(key, "must be a list of strings: quote them"));
    }
    strings.emplace_back(*string);
  }
  return strings;
}

base::Result<std::string> KubeconfigReader::Base64(std::string_view key) const {
  TRY_ASSIGN(const std::string encoded, String(key));
  std::string compact;
  for (const char c : encoded) {
    if (c != '\n' && c != '\r' && c != ' ') compact += c;
  }
  auto decoded = base::Base64Decode(compact);
  if (!decoded) return Fail(Wrong(key, "is not base64"));
  return std::move(*decoded);
}

base::Result<std::string> KubeconfigReader::FilePath(std::string_view key) const {
  TRY_ASSIGN(const std::string path, String(key));
  return path.empty() ? path : Absolute(path);
}

std::string KubeconfigReader::Absolute(std::string_view path) const {
  if (path.starts_with('/')) return std::string(path);
  return fmt::format("{}/{}", directory_.empty() ? "." : directory_, path);
}

base::Result<KubeconfigReader> KubeconfigReader::Object(std::string_view key) const {
  const text::Json* const found = Find(key);
  if (found == nullptr) return KubeconfigReader(kNull, PathOf(key), directory_);
  if (!found->is_object()) return Fail(Wrong(key, "must be an object"));
  return KubeconfigReader(*found, PathOf(key), directory_);
}

base::Result<std::vector<KubeconfigReader>> KubeconfigReader::Items(std::string_view key) const {
  std::vector<KubeconfigReader> items;
  const text::Json* const found = Find(key);
  if (found == nullptr) return items;
  if (!found->is_array()) return Fail(Wrong(key, "must be a list"));
  for (const text::Json& item : found->get_array()) {
    const std::string path = fmt::format("{}[{}]", PathOf(key), items.size());
    if (!item.is_object()) {
      return Fail(base::Code::kInvalidArgument, fmt::format("{}: must be an object", path));
    }
    items.emplace_back(item, path, directory_);
  }
  return items;
}

}  // namespace cluster
