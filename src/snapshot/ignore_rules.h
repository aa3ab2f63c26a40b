// What a .musterignore says: gitignore's patterns, for folders that are not git work trees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snapshot {

// One pattern a line: `*.ckpt`, `/data`, `logs/`, `a/**/b`, `!keep.ckpt`; # is a comment. One
// without a slash, but at its end, is of names in every folder; the last that matches decides.
class IgnoreRules {
 public:
  explicit IgnoreRules(std::string_view text);

  // `path` is relative to the folder that holds the file.
  bool Ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::string pattern;
    bool is_kept = false;         // with "!" before it
    bool is_of_folders = false;   // with "/" behind it
    bool is_of_any_name = false;  // without a "/" in it
  };
  std::vector<Rule> rules_;
};

}  // namespace snapshot
