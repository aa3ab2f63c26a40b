#include "ads/config/ini_file.h"

#include <fmt/format.h>

#include "base/strings.h"

namespace ads {
namespace {

bool IsComment(std::string_view line) { return line.starts_with('#') || line.starts_with(';'); }

}  // namespace

base::Result<IniFile> IniFile::Parse(std::string_view text, const std::string& path, Keys keys) {
  IniFile file;
  Section* section = nullptr;
  size_t number = 0;
  const auto refuse = [&](std::string_view why) {
    return base::Fail(base::Code::kInvalidArgument,
                      fmt::format("{} line {}: {}", path, number, why));
  };
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  for (const std::string& raw : base::Split(text, '\n')) {
    ++number;
    const std::string_view line = base::Trim(raw);
    if (line.empty()) continue;
    if (IsComment(line)) {
      if (section != nullptr) section->entries.push_back({"", std::string(line)});
      continue;
    }
    const bool is_continued = raw[0] == ' ' || raw[0] == '\t';
    if (is_continued && section != nullptr && !section->entries.empty() &&
        !section->entries.back().key.empty()) {
      section->entries.back().value += "\n" + std::string(line);
      continue;
    }
    if (line[0] == '[') {
      const size_t close = line.find(']');
      if (close == std::string_view::npos) return refuse("a section's name ends with \"]\"");
      section = &file.Ensure(line.substr(1, close - 1));
      continue;
    }
    if (section == nullptr) return refuse("a [section] has to come before the first key");
    const size_t separator = line.find_first_of("=:");
    if (separator == std::string_view::npos || separator == 0) return refuse("no `key = value`");
    std::string key(base::Trim(line.substr(0, separator)));
    if (keys == Keys::kLowerCase) key = base::ToLower(key);
    file.Set(section->name, std::move(key), std::string(base::Trim(line.substr(separator + 1))));
    section = &file.Ensure(std::string(section->name));
  }
  return file;
}

std::vector<std::string> IniFile::Sections() const {
  std::vector<std::string> names;
  for (const Section& section : sections_) names.push_back(section.name);
  return names;
}

const IniFile::Section* IniFile::FindSection(std::string_view name) const {
  for (const Section& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

IniFile::Section& IniFile::Ensure(std::string_view name) {
  for (Section& section : sections_) {
    if (section.name == name) return section;
  }
  return sections_.emplace_back(Section{std::string(name), {}});
}

const std::string* IniFile::Find(std::string_view section, std::string_view key) const {
  const Section* found = FindSection(section);
  if (found == nullptr || key.empty()) return nullptr;
  for (const Entry& entry : found->entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

void IniFile::Set(std::string_view section, std::string key, std::string value) {
  Section& to = Ensure(section);
  for (Entry& entry : to.entries) {
    if (entry.key == key) {
      entry.value = std::move(value);
      return;
    }
  }
  to.entries.push_back({std::move(key), std::move(value)});
}

void IniFile::AddComment(std::string_view section, std::string line) {
  Ensure(section).entries.push_back({"", std::move(line)});
}

std::string IniFile::Text() const {
  std::string out;
  for (const Section& section : sections_) {
    out += fmt::format("[{}]\n", section.name);
    for (const Entry& entry : section.entries) {
      if (entry.key.empty()) {
        out += entry.value + "\n";
        continue;
      }
      out += entry.key + " = ";
      for (const char c : entry.value) out += c == '\n' ? std::string("\n\t") : std::string(1, c);
      out += "\n";
    }
    out += "\n";
  }
  return out;
}

}  // namespace ads
