// Reads a part of a JSON text: values that nobody needs are skipped and take no memory.
#pragma once

#include <boost/json/storage_ptr.hpp>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "text/json.h"

namespace text {

// Which members are kept: {{"metadata", "name"}, {"status"}} keeps the name in the metadata, and
// the whole status. Arrays are transparent: a key that follows one applies to its elements. "*" is
// every key that is not named beside it.
class Projection {
 public:
  Projection(std::initializer_list<Path> paths) { Add(paths); }
  // Keeps all that `other` keeps, and these.
  Projection(const Projection& other, std::initializer_list<Path> paths) : Projection(other) {
    Add(paths);
  }

  struct Node {
    std::vector<std::pair<std::string, size_t>> children;  // key, index of its node
    bool is_whole = false;                                 // including everything below

    // Index of the key's node, otherwise of "*"; 0 when it is not kept.
    size_t Child(std::string_view key) const;
  };
  const Node& node(size_t index) const { return nodes_[index]; }  // 0 is the root

 private:
  void Add(std::initializer_list<Path> paths);

  std::vector<Node> nodes_{1};
};

// ParseJson restricted to `parts`: for all other values only their ends are found, so errors in
// them go unnoticed.
base::Result<Json> ParsePart(std::string_view text, const Projection& parts);

// The same for many texts in turn: all use `scratch`, and the values are allocated in `storage`.
base::Result<Json> ParsePart(std::string_view text, const Projection& parts, std::string& scratch,
                             const boost::json::storage_ptr& storage);

// Appends the text of that part to `out`; on an error, what was appended before stays.
base::Status AppendPart(std::string_view text, const Projection& parts, std::string& out);

// The text of the value at `path` as written; "" when there is none. Skips what precedes it and
// does not read what follows, so it is fast for values near the start. Keys with escapes are not
// found.
std::string_view FindText(std::string_view text, Path path);

// Calls `visit` with each member of the object `text`, key and value as written (the key without
// quotes), until it fails. kInvalidArgument when the end of a value cannot be found; the values
// themselves are not checked.
base::Status VisitMembers(
    std::string_view text,
    const std::function<base::Status(std::string_view key, std::string_view value)>& visit);

}  // namespace text
