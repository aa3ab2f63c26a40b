// Parses what a terminal in raw mode sends into keys. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace watch {

struct Key {
  enum class Kind {
    kChar,
    kEnter,
    kEscape,
    kBackspace,
    kUp,
    kDown,
    kPageUp,
    kPageDown,
    kHome,
    kEnd
  };
  Kind kind = Kind::kChar;
  char letter = 0;  // for kChar: ASCII, including control characters (^C is 3)
  bool operator==(const Key&) const = default;
};

class KeyReader {
 public:
  // The keys in these bytes. Keeps an incomplete escape sequence until more comes, or until Flush
  // says that nothing will, so that it was the Escape key.
  std::vector<Key> Feed(std::string_view bytes);
  std::vector<Key> Flush();
  bool is_waiting() const { return !rest_.empty(); }

 private:
  bool TakeSequence(std::vector<Key>& keys);

  std::string rest_;
};

}  // namespace watch
