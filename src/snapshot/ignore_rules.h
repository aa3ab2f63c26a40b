// The rules of a .musterignore: gitignore's patterns, for folders that are not git work trees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace snapshot {

// One pattern per line: `*.ckpt`, `/data`, `logs/`, `a/**/b`, `!keep.ckpt`; # begins a comment. A
// pattern without a slash (except at its end) matches names in every folder; the last match
// decides.
class IgnoreRules {
 public:
  explicit IgnoreRules(std::string_view text);

  // `path` is relative to the folder that contains the file.
  bool Ignores(std::string_view path, bool is_folder) const;

 private:
  struct Rule {
    std::string pattern;
    bool is_kept = false;         // it begins with "!"
    bool is_of_folders = false;   // it ends with "/"
    bool is_of_any_name = false;  // it contains no "/"
  };
  std::vector<Rule> rules_;
};

}  // namespace snapshot
