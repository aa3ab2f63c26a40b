// What is typed at a terminal in raw mode, as keys. Pure.
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
  char letter = 0;  // of kChar: ASCII, control characters too (^C is 3)
  bool operator==(const Key&) const = default;
};

class KeyReader {
 public:
  // Keys of these bytes. Of an escape sequence that is not whole the beginning waits for more:
  // Flush tells that nothing comes, and it was the Escape key.
  std::vector<Key> Feed(std::string_view bytes);
  std::vector<Key> Flush();
  bool is_waiting() const { return !rest_.empty(); }

 private:
  bool TakeSequence(std::vector<Key>& keys);

  std::string rest_;
};

}  // namespace watch
