#include "text/patch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/strings.h"

namespace text {
namespace {

using base::Code;
using base::Fail;
using base::Result;
using base::Status;

constexpr size_t kMaxOperations = 10'000;
// Limits the steps of a patch that its own bytes do not account for: values that move up in a list,
// and bytes that are copied from one place to another. Well under a second.
constexpr size_t kMaxSteps = 128 << 20;

using Tokens = std::vector<std::string>;

// RFC 6902 4.6: compares numbers by value, and objects regardless of order.
bool IsEqual(const Json& a, const Json& b) {
  if (a.is_double() != b.is_double() && a.is_number() && b.is_number()) {
    return a.to_number<double>() == b.to_number<double>();
  }
  if (const Array* const array = a.if_array()) {
    const Array* const other = b.if_array();
    return other != nullptr &&
           std::equal(array->begin(), array->end(), other->begin(), other->end(), IsEqual);
  }
  if (const Object* const object = a.if_object()) {
    const Object* const other = b.if_object();
    if (other == nullptr || other->size() != object->size()) return false;
    return std::all_of(object->begin(), object->end(), [other](const auto& member) {
      const Json* const found = other->if_contains(member.key());
      return found != nullptr && IsEqual(member.value(), *found);
    });
  }
  return a == b;
}

// RFC 6901: "/a~1b/0" -> {"a/b", "0"}; "" is the whole document.
Result<Tokens> ParsePointer(std::string_view pointer) {
  if (pointer.empty()) return Tokens();
  if (!pointer.starts_with('/')) {
    return Fail(Code::kInvalidArgument,
                fmt::format("pointer \"{}\" does not begin with /", pointer));
  }
  Tokens tokens = base::Split(pointer.substr(1), '/');
  for (std::string& token : tokens) {
    std::string plain;
    for (size_t i = 0; i < token.size(); ++i) {
      if (token[i] != '~') {
        plain += token[i];
        continue;
      }
      ++i;
      if (i == token.size() || (token[i] != '0' && token[i] != '1')) {
        return Fail(Code::kInvalidArgument,
                    fmt::format("pointer \"{}\": ~ is written ~0", pointer));
      }
      plain += token[i] == '0' ? '~' : '/';
    }
    token = std::move(plain);
  }
  return tokens;
}

// Below `end`; no sign, no leading zero.
std::optional<size_t> ParseIndex(std::string_view token, size_t end) {
  if (token.empty() || token.size() > 9 || (token.size() > 1 && token[0] == '0')) {
    return std::nullopt;
  }
  size_t index = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return std::nullopt;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  return index < end ? std::optional(index) : std::nullopt;
}

Json* Child(Json& value, std::string_view token) {
  if (Object* const object = value.if_object()) return object->if_contains(token);
  Array* const array = value.if_array();
  if (array == nullptr) return nullptr;
  const std::optional<size_t> index = ParseIndex(token, array->size());
  return index ? &(*array)[*index] : nullptr;
}

// The value at the first `count` tokens, or nullptr.
Json* Walk(Json& document, const Tokens& tokens, size_t count) {
  Json* at = &document;
  for (size_t i = 0; i < count && at != nullptr; ++i) at = Child(*at, tokens[i]);
  return at;
}

class Patcher {
 public:
  explicit Patcher(Json& document)
      : document_(document),
        bytes_(MeasureJson(document).bytes),
        max_bytes_(std::max(bytes_, kMaxPatchedBytes)) {}

  Status Apply(const Json& operation);

 private:
  Status Add(const Tokens& path, Json value);
  Status Replace(const Tokens& path, const Json& value);
  // Moves the removed value into `removed`.
  Status Remove(const Tokens& path, Json& removed);
  Status MoveOrCopy(const Json& operation, const Tokens& path, bool is_move);
  // The value at `path`, which must exist.
  Result<Json*> Existing(const Tokens& path);
  // To be called before `value` is put at `path`.
  Status Count(const Tokens& path, const Json& value);
  Status CountSteps(size_t steps);

  Json& document_;
  size_t bytes_;  // of the document
  const size_t max_bytes_;
  size_t copied_ = 0;
  size_t steps_ = 0;
};

tl::unexpected<base::Error> NoSuch(const Tokens& path) {
  return Fail(Code::kInvalidArgument,
              fmt::format("nothing at \"{}{}\"", path.empty() ? "" : "/", base::Join(path, "/")));
}

tl::unexpected<base::Error> TooLarge() {
  return Fail(Code::kInvalidArgument, fmt::format("makes more than {} bytes", kMaxPatchedBytes));
}

Result<Json*> Patcher::Existing(const Tokens& path) {
  Json* const found = Walk(document_, path, path.size());
  if (found == nullptr) return NoSuch(path);
  return found;
}

Status Patcher::CountSteps(size_t steps) {
  steps_ += steps;
  if (steps_ <= kMaxSteps) return {};
  return Fail(Code::kInvalidArgument, "moves too many values about: patch in smaller parts");
}

Status Patcher::Count(const Tokens& path, const Json& value) {
  const JsonExtent extent = MeasureJson(value);
  if (path.size() + extent.height > kMaxJsonDepth) {
    return Fail(Code::kInvalidArgument, fmt::format("more than {} levels deep", kMaxJsonDepth));
  }
  bytes_ += extent.bytes;
  if (bytes_ > max_bytes_) return TooLarge();
  return {};
}

Status Patcher::Add(const Tokens& path, Json value) {
  if (path.empty()) {
    bytes_ = 0;
    TRY(Count(path, value));
    document_ = std::move(value);
    return {};
  }
  Json* const parent = Walk(document_, path, path.size() - 1);
  const std::string& last = path.back();
  if (parent != nullptr && parent->is_object()) {
    Object& object = parent->get_object();
    const Json* const old = object.if_contains(last);
    if (old != nullptr) bytes_ -= MeasureJson(*old).bytes;
    TRY(Count(path, value));
    if (old == nullptr) bytes_ += last.size();
    object[last] = std::move(value);
    return {};
  }
  if (parent == nullptr || !parent->is_array()) return NoSuch({path.begin(), path.end() - 1});
  Array& array = parent->get_array();
  const std::optional<size_t> index =
      last == "-" ? std::optional(array.size()) : ParseIndex(last, array.size() + 1);
  if (!index) return NoSuch(path);
  TRY(Count(path, value));
  TRY(CountSteps(array.size() - *index));
  array.insert(array.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return {};
}

Status Patcher::Replace(const Tokens& path, const Json& value) {
  Json* const parent = path.empty() ? nullptr : Walk(document_, path, path.size() - 1);
  if (parent != nullptr && parent->is_object()) return Add(path, value);
  TRY_ASSIGN(Json* const existing, Existing(path));
  bytes_ -= MeasureJson(*existing).bytes;
  TRY(Count(path, value));
  *existing = value;
  return {};
}

Status Patcher::Remove(const Tokens& path, Json& removed) {
  TRY_ASSIGN(Json* const existing, Existing(path));
  if (path.empty()) {
    return Fail(Code::kInvalidArgument, "the whole document cannot be removed");
  }
  bytes_ -= MeasureJson(*existing).bytes;
  removed = std::move(*existing);
  Json& parent = *Walk(document_, path, path.size() - 1);
  if (Object* const object = parent.if_object()) {
    TRY(CountSteps(object->size()));
    object->stable_erase(object->find(path.back()));
  } else {
    Array& array = parent.get_array();
    const size_t index = *ParseIndex(path.back(), array.size());
    TRY(CountSteps(array.size() - index));
    array.erase(array.begin() + static_cast<std::ptrdiff_t>(index));
  }
  return {};
}

Status Patcher::MoveOrCopy(const Json& operation, const Tokens& path, bool is_move) {
  const Json* const pointer = Find(operation, {"from"});
  if (pointer == nullptr || !pointer->is_string()) {
    return Fail(Code::kInvalidArgument, "\"from\" is missing");
  }
  TRY_ASSIGN(const Tokens from, ParsePointer(pointer->get_string()));
  TRY_ASSIGN(Json* const source, Existing(from));
  const size_t bytes = MeasureJson(*source).bytes;
  TRY(CountSteps(bytes));
  if (!is_move) {
    copied_ += bytes;
    if (copied_ > kMaxPatchedBytes) return TooLarge();
    return Add(path, *source);
  }
  if (from == path) return {};
  if (from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin())) {
    return Fail(Code::kInvalidArgument, "a value cannot move into itself");
  }
  Json moved;
  TRY(Remove(from, moved));
  return Add(path, std::move(moved));
}

Status Patcher::Apply(const Json& operation) {
  const std::string_view op = GetString(operation, {"op"});
  const Json* const pointer = Find(operation, {"path"});
  if (pointer == nullptr || !pointer->is_string()) {
    return Fail(Code::kInvalidArgument, "\"path\" is missing");
  }
  TRY_ASSIGN(const Tokens path, ParsePointer(pointer->get_string()));
  if (op == "remove") {
    Json removed;
    return Remove(path, removed);
  }
  if (op == "move" || op == "copy") return MoveOrCopy(operation, path, op == "move");
  if (op != "add" && op != "replace" && op != "test") {
    return Fail(Code::kInvalidArgument, fmt::format("unknown op \"{}\"", op));
  }
  const Json* const value = Find(operation, {"value"});
  if (value == nullptr) return Fail(Code::kInvalidArgument, "\"value\" is missing");
  if (op == "add") return Add(path, *value);
  if (op == "replace") return Replace(path, *value);
  TRY_ASSIGN(Json* const existing, Existing(path));
  if (IsEqual(*existing, *value)) return {};
  return Fail(Code::kInvalidArgument, "the value is another one");
}

}  // namespace

void MergePatch(Json& target, const Json& patch) {
  const Object* const members = patch.if_object();
  if (members == nullptr) {
    target = patch;
    return;
  }
  if (!target.is_object()) target.emplace_object();
  Object& object = target.get_object();
  std::vector<std::string> gone;
  for (const auto& [key, value] : *members) {
    if (value.is_null()) {
      gone.emplace_back(key);
    } else {
      MergePatch(object[key], value);
    }
  }
  EraseKeys(object, gone);
}

Json MakeMergePatch(const Json& from, const Json& to) {
  if (!from.is_object() || !to.is_object()) return to;
  const Object& before = from.get_object();
  Object patch;
  for (const auto& [key, value] : to.get_object()) {
    const Json* const old = before.if_contains(key);
    if (old == nullptr) {
      patch[key] = value;
    } else if (*old != value) {
      patch[key] = MakeMergePatch(*old, value);
    }
  }
  for (const auto& [key, value] : before) {
    if (!to.get_object().contains(key)) patch[key] = nullptr;
  }
  return patch;
}

Status JsonPatch(Json& target, const Json& patch) {
  const Array* const operations = patch.if_array();
  if (operations == nullptr) {
    return Fail(Code::kInvalidArgument, "JSON patch: not a list of operations");
  }
  if (operations->size() > kMaxOperations) {
    return Fail(Code::kInvalidArgument,
                fmt::format("JSON patch: more than {} operations", kMaxOperations));
  }
  Json patched = target;
  Patcher patcher(patched);
  for (size_t i = 0; i < operations->size(); ++i) {
    const Json& operation = (*operations)[i];
    if (Status applied = patcher.Apply(operation); !applied) {
      return Fail(applied.error().Wrap(fmt::format("JSON patch: operation {} ({} {})", i,
                                                   GetString(operation, {"op"}),
                                                   GetString(operation, {"path"}))));
    }
  }
  target = std::move(patched);
  return {};
}

}  // namespace text
