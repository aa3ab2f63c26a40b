// INI files as Python's configparser reads and writes them; keeps comments and order. Pure.
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
  // nullptr when absent. No section inherits from another one.
  const std::string* Find(std::string_view section, std::string_view key) const;
  // Replaces or appends; creates the section if necessary.
  void Set(std::string_view section, std::string key, std::string value);
  // Adds a line at the end of the section: "; text".
  void AddComment(std::string_view section, std::string line);

  struct Entry {
    std::string key;  // "": a comment
    std::string value;
  };
  struct Section {
    std::string name;
    std::vector<Entry> entries;
  };
  // nullptr when absent.
  const Section* FindSection(std::string_view name) const;

  // `key = value` lines, with a blank line after each section.
  std::string Text() const;

 private:
  Section& Ensure(std::string_view name);

  std::vector<Section> sections_;
};

}  // namespace ads
