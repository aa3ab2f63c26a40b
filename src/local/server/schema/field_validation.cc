#include "local/server/schema/field_validation.h"

#include <fmt/format.h>

#include <algorithm>

#include "api/schema/schema.h"
#include "api/schema/type_fault.h"
#include "api/schema/unknown_fields.h"
#include "base/strings.h"

namespace local::server {
namespace {

// The text has been parsed before, so only its names matter here.
class DuplicateScan {
 public:
  explicit DuplicateScan(std::string_view text) : text_(text) {}

  std::vector<std::string> Run() && {
    Value();
    return std::move(found_);
  }

 private:
  char Next() {
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) <= ' ') ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  void Value() {
    switch (Next()) {
      case '{':
        return Members();
      case '[':
        return Items();
      case '"':
        (void)Text();
        return;
      default:
        at_ = std::min(text_.find_first_of(",]} \t\r\n", at_), text_.size());
    }
  }

  // The text between the quotes.
  std::string_view Text() {
    const size_t start = ++at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const std::string_view text = text_.substr(start, at_ - start);
    if (at_ < text_.size()) ++at_;
    return text;
  }

  void Members() {
    ++at_;
    const size_t length = path_.size();
    std::vector<std::string_view> names;
    while (Next() == '"' || Next() == ',') {
      if (Next() == ',') {
        ++at_;
        continue;
      }
      names.push_back(Text());
      if (Next() != ':') break;
      ++at_;
      Enter(names.back());
      Value();
      path_.resize(length);
    }
    if (Next() == '}') ++at_;
    std::sort(names.begin(), names.end());
    for (auto it = names.begin(); (it = std::adjacent_find(it, names.end())) != names.end();) {
      Enter(*it);
      found_.push_back(path_);
      path_.resize(length);
      it = std::upper_bound(it, names.end(), *it);
    }
  }

  void Items() {
    ++at_;
    const size_t length = path_.size();
    for (size_t i = 0; at_ < text_.size() && Next() != ']'; ++i) {
      path_ += fmt::format("[{}]", i);
      const size_t before = at_;
      Value();
      path_.resize(length);
      if (Next() == ',') ++at_;
      if (at_ == before) return;
    }
    if (Next() == ']') ++at_;
  }

  void Enter(std::string_view name) {
    if (!path_.empty()) path_ += '.';
    path_ += name;
  }

  const std::string_view text_;
  size_t at_ = 0;
  std::string path_;
  std::vector<std::string> found_;
};

std::vector<std::string> TakeUnknown(const api::Resource& resource, text::Json& object,
                                     api::PathStyle style) {
  std::vector<std::string> paths;
  for (auto& field : api::TakeUnknownFields(object, api::ShapeOf(resource), style)) {
    paths.push_back(std::move(field.path));
  }
  return paths;
}

// Whether a member may occur twice: in JSON bodies. Our YAML parser refuses duplicates itself.
bool MayHaveDuplicates(const net::HttpRequest& http) {
  const std::string type = base::ToLower(net::FindHeader(http.headers, "Content-Type"));
  const std::string_view media = base::Trim(std::string_view(type).substr(0, type.find(';')));
  return (media.empty() || media.ends_with("json")) && media != "application/json-patch+json";
}

bool IsIn(std::string_view path, std::string_view field) {
  return path.starts_with(field) &&
         (path.size() == field.size() || path[field.size()] == '.' || path[field.size()] == '[');
}

std::string StrictWords(const std::vector<std::string>& faults) {
  return fmt::format("strict decoding error: {}", fmt::join(faults, ", "));
}

}  // namespace

std::vector<std::string> TakeUnknownFields(const api::Resource& resource, text::Json& object) {
  std::vector<std::string> paths = TakeUnknown(resource, object, api::PathStyle::kJson);
  // An object of a CRD's kind is pruned after its metadata has been read.
  if (api::IsCustom(resource)) {
    const auto rest = std::stable_partition(
        paths.begin(), paths.end(), [](const auto& path) { return path.starts_with("metadata."); });
    std::sort(rest, paths.end());
  }
  return paths;
}

std::vector<std::string> DuplicateFields(std::string_view json) {
  return DuplicateScan(json).Run();
}

std::vector<std::string> TakeFieldFaults(FieldValidation mode, const api::Resource& resource,
                                         const net::HttpRequest& http, text::Json& object) {
  const std::vector<std::string> unknown = TakeUnknownFields(resource, object);
  std::vector<std::string> faults;
  if (mode == FieldValidation::kIgnore) return faults;
  if (MayHaveDuplicates(http)) {
    for (const std::string& path : DuplicateFields(http.body)) {
      // Inside of fields that a built-in kind does not have, nothing is checked.
      const bool is_unknown = !api::IsCustom(resource) &&
                              std::any_of(unknown.begin(), unknown.end(),
                                          [&](const auto& field) { return IsIn(path, field); });
      if (!is_unknown) faults.push_back(fmt::format("duplicate field \"{}\"", path));
    }
  }
  for (const std::string& path : unknown)
    faults.push_back(fmt::format("unknown field \"{}\"", path));
  return faults;
}

Check CheckTypes(const api::Resource& resource, const text::Json& object) {
  if (api::IsCustom(resource)) return {};
  const std::string fault = api::TypeFault(object, api::ShapeOf(resource));
  if (fault.empty()) return {};
  return Refuse(BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}",
                                       resource.kind, resource.version, resource.kind, fault)));
}

ApiError StrictDecoding(const api::Resource& resource, const std::vector<std::string>& faults) {
  return BadRequest(fmt::format("{} in version \"{}\" cannot be handled as a {}: {}", resource.kind,
                                resource.version, resource.kind, StrictWords(faults)));
}

ApiError StrictPatch(const text::Json& patched, const std::vector<std::string>& faults) {
  const std::string why =
      fmt::format("Invalid value: {}: {}", text::ToJson(text::Json(text::ToJson(patched))),
                  StrictWords(faults));
  return {422, "Invalid", fmt::format(" \"\" is invalid: patch: {}", why),
          text::Object{{"causes", text::Array{text::Object{{"reason", "FieldValueInvalid"},
                                                           {"message", why},
                                                           {"field", "patch"}}}}}};
}

std::string UndeclaredFields(const api::Resource& resource, const text::Json& applied) {
  text::Json copy = applied;
  const std::vector<std::string> paths = TakeUnknown(resource, copy, api::PathStyle::kTyped);
  std::string why = paths.size() > 1 ? "errors:" : "";
  for (const std::string& path : paths) {
    why += fmt::format("{}{}: field not declared in schema", paths.size() > 1 ? "\n  " : "", path);
  }
  return why;
}

}  // namespace local::server
