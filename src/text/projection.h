// Reading a part of a JSON text: what nobody will look at is passed over and costs no memory.
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

// Which members are kept: {{"metadata", "name"}, {"status"}} keeps of the metadata the name, and
// the whole status. Arrays are looked through: a key that follows one is of its elements.
// "*" is every key that is not named beside it.
class Projection {
 public:
  Projection(std::initializer_list<Path> paths) { Add(paths); }
  // All that `other` keeps, and these.
  Projection(const Projection& other, std::initializer_list<Path> paths) : Projection(other) {
    Add(paths);
  }

  struct Node {
    std::vector<std::pair<std::string, size_t>> children;  // key, index of its node
    bool is_whole = false;                                 // with all that lies below

    // Index of the key's node, else of "*", 0 when it is not kept.
    size_t Child(std::string_view key) const;
  };
  const Node& node(size_t index) const { return nodes_[index]; }  // 0 is the root

 private:
  void Add(std::initializer_list<Path> paths);

  std::vector<Node> nodes_{1};
};

// ParseJson, less what `parts` does not name: of that only the ends are looked for, so that a
// mistake in it goes unnoticed.
base::Result<Json> ParsePart(std::string_view text, const Projection& parts);

// The same for many texts, few of which outlive the next: `scratch` is theirs by turns, and the
// memory of the value is `storage`'s.
base::Result<Json> ParsePart(std::string_view text, const Projection& parts, std::string& scratch,
                             const boost::json::storage_ptr& storage);

// The text of that part, appended to `out`; what was appended before a mistake stays there.
base::Status AppendPart(std::string_view text, const Projection& parts, std::string& out);

// The text of the value at `path`, as it is written; "" when there is none. What lies behind it is
// not looked at, and of what lies before it only the ends: it costs as little as the value is near.
// Keys with escapes are not found.
std::string_view FindText(std::string_view text, Path path);

// Calls `visit` with each member of the object `text`, key and value as they are written (a key
// without its quotes), until it fails. kInvalidArgument when their ends cannot be found; what is
// between them is not checked.
base::Status VisitMembers(
    std::string_view text,
    const std::function<base::Status(std::string_view key, std::string_view value)>& visit);

}  // namespace text
