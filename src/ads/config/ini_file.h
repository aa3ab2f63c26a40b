// INI files as Python's configparser reads and writes them; comments and order stay. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ads {

class IniFile {
 public:
  enum class Keys { kLowerCase, kAsWritten };

  // `path` is for messages: kInvalidArgument, with path and line.
  static base::Result<IniFile> Parse(std::string_view text, const std::string& path,
                                     Keys keys = Keys::kLowerCase);

  std::vector<std::string> Sections() const;
  // nullptr when there is none. No section inherits from another one.
  const std::string* Find(std::string_view section, std::string_view key) const;
  // Replaces or appends; makes the section.
  void Set(std::string_view section, std::string key, std::string value);
  // A line of its own at the section's end: "; text".
  void AddComment(std::string_view section, std::string line);

  struct Entry {
    std::string key;  // "" for a comment
    std::string value;
  };
  struct Section {
    std::string name;
    std::vector<Entry> entries;
  };
  // nullptr when there is none.
  const Section* FindSection(std::string_view name) const;

  // `key = value` lines, a blank one after each section.
  std::string Text() const;

 private:
  Section& Ensure(std::string_view name);

  std::vector<Section> sections_;
};

}  // namespace ads
