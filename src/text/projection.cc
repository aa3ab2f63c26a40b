#include "text/projection.h"

#include <algorithm>
#include <utility>

#include "text/json_builder.h"
#include "text/scanner.h"

namespace text {
namespace {

// Copies the parts of a text that a projection keeps.
class Reduction {
 public:
  Reduction(std::string_view text, const Projection& parts, std::string& out)
      : scanner_(text), parts_(parts), out_(out) {}

  base::Status Run() && {
    TRY(Copy(0, 1));
    if (scanner_.Peek() != '\0') return scanner_.Broken("text after the end of the value");
    return {};
  }

 private:
  // Copies the next value; `node` says which of its parts are kept.
  base::Status Copy(size_t node, size_t depth) {
    const char first = scanner_.Peek();
    const bool is_container = first == '{' || first == '[';
    if (!is_container || parts_.node(node).is_whole) {
      TRY_ASSIGN(const std::string_view value, scanner_.Value());
      out_ += value;
      return {};
    }
    if (depth > kMaxJsonDepth) return scanner_.Broken("too deep");
    return first == '{' ? CopyObject(node, depth) : CopyArray(node, depth);
  }

  base::Status CopyObject(size_t node, size_t depth) {
    scanner_.Take('{');
    out_ += '{';
    if (!scanner_.Take('}')) {
      bool is_first = true;
      do {
        TRY_ASSIGN(const std::string_view key, scanner_.String());
        if (!scanner_.Take(':')) return scanner_.Broken("a colon is missing");
        TRY_ASSIGN(const size_t child, ChildOf(node, key));
        if (child == 0) {
          TRY(scanner_.Value());
          continue;
        }
        if (!std::exchange(is_first, false)) out_ += ',';
        out_ += key;
        out_ += ':';
        TRY(Copy(child, depth + 1));
      } while (scanner_.Take(','));
      if (!scanner_.Take('}')) return scanner_.Broken("a comma or brace is missing");
    }
    out_ += '}';
    return {};
  }

  base::Status CopyArray(size_t node, size_t depth) {
    scanner_.Take('[');
    out_ += '[';
    if (!scanner_.Take(']')) {
      bool is_first = true;
      do {
        if (!std::exchange(is_first, false)) out_ += ',';
        TRY(Copy(node, depth + 1));
      } while (scanner_.Take(','));
      if (!scanner_.Take(']')) return scanner_.Broken("a comma or bracket is missing");
    }
    out_ += ']';
    return {};
  }

  // `key` with its quotes.
  base::Result<size_t> ChildOf(size_t node, std::string_view key) {
    const Projection::Node& parent = parts_.node(node);
    if (key.find('\\') == std::string_view::npos) {
      return parent.Child(key.substr(1, key.size() - 2));
    }
    TRY_ASSIGN(const Json plain, ParseJson(key));
    return parent.Child(plain.get_string());
  }

  Scanner scanner_;
  const Projection& parts_;
  std::string& out_;
};

}  // namespace

void Projection::Add(std::initializer_list<Path> paths) {
  for (const Path& path : paths) {
    size_t at = 0;
    for (const std::string_view key : path) {
      auto& children = nodes_[at].children;
      const auto known = std::find_if(children.begin(), children.end(),
                                      [&](const auto& child) { return child.first == key; });
      if (known != children.end()) {
        at = known->second;
        continue;
      }
      children.emplace_back(key, nodes_.size());
      at = nodes_.size();
      nodes_.emplace_back();
    }
    nodes_[at].is_whole = true;
  }
}

size_t Projection::Node::Child(std::string_view key) const {
  size_t any = 0;
  for (const auto& [name, index] : children) {
    if (name == key) return index;
    if (name == "*") any = index;
  }
  return any;
}

base::Result<Json> ParsePart(std::string_view text, const Projection& parts) {
  std::string kept;
  kept.reserve(text.size() / 2);
  return ParsePart(text, parts, kept, {});
}

base::Result<Json> ParsePart(std::string_view text, const Projection& parts, std::string& scratch,
                             const boost::json::storage_ptr& storage) {
  scratch.clear();
  TRY(AppendPart(text, parts, scratch));
  return ParseWith<ValueBuilder>(scratch, storage);
}

base::Status AppendPart(std::string_view text, const Projection& parts, std::string& out) {
  return Reduction(text, parts, out).Run();
}

std::string_view FindText(std::string_view text, Path path) {
  Scanner scanner(text);
  for (const std::string_view wanted : path) {
    if (!scanner.Take('{')) return "";
    for (;;) {
      const auto key = scanner.String();
      if (!key || !scanner.Take(':')) return "";
      if (key->substr(1, key->size() - 2) == wanted) break;
      if (!scanner.Value() || !scanner.Take(',')) return "";
    }
  }
  return scanner.Value().value_or("");
}

base::Status VisitMembers(
    std::string_view text,
    const std::function<base::Status(std::string_view key, std::string_view value)>& visit) {
  Scanner scanner(text);
  if (!scanner.Take('{')) return scanner.Broken("an object is missing");
  if (!scanner.Take('}')) {
    do {
      TRY_ASSIGN(const std::string_view key, scanner.String());
      if (!scanner.Take(':')) return scanner.Broken("a colon is missing");
      TRY_ASSIGN(const std::string_view value, scanner.Value());
      TRY(visit(key.substr(1, key.size() - 2), value));
    } while (scanner.Take(','));
    if (!scanner.Take('}')) return scanner.Broken("a comma or brace is missing");
  }
  if (scanner.Peek() != '\0') return scanner.Broken("text after the end of the value");
  return {};
}

}  // namespace text
