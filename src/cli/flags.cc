#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/columns.h"

namespace cli {
namespace {

base::Result<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("strconv.ParseBool: parsing {}: invalid syntax", GoQuoted(text)));
}

bool IsDecimal(std::string_view text) {
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) text.remove_prefix(1);
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Go's Duration.String: 1h0m0s, 1.5s, 300ms.
std::string GoDuration(std::chrono::nanoseconds value) {
  const int64_t total = value.count();
  if (total == 0) return "0s";
  const std::string sign = total < 0 ? "-" : "";
  const auto magnitude = static_cast<uint64_t>(total < 0 ? -total : total);
  const auto decimal = [&](uint64_t unit, std::string_view suffix) {
    std::string fraction = fmt::format("{:09}", (magnitude % unit) * (1'000'000'000 / unit));
    while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
    return fmt::format("{}{}{}{}", magnitude / unit, fraction.empty() ? "" : ".", fraction, suffix);
  };
  if (magnitude < 1'000) return sign + decimal(1, "ns");
  if (magnitude < 1'000'000) return sign + decimal(1'000, "µs");
  if (magnitude < 1'000'000'000) return sign + decimal(1'000'000, "ms");
  const uint64_t seconds = magnitude / 1'000'000'000;
  std::string fraction = fmt::format("{:09}", magnitude % 1'000'000'000);
  while (!fraction.empty() && fraction.back() == '0') fraction.pop_back();
  const std::string rest =
      fmt::format("{}{}{}s", seconds % 60, fraction.empty() ? "" : ".", fraction);
  if (seconds >= 3600) {
    return fmt::format("{}{}h{}m{}", sign, seconds / 3600, seconds / 60 % 60, rest);
  }
  if (seconds >= 60) return fmt::format("{}{}m{}", sign, seconds / 60, rest);
  return sign + rest;
}

// A word in `backquotes` of the usage names the value, as in pflag.
struct Unquoted {
  std::string value_name;
  std::string usage;
};
Unquoted UnquoteUsage(const std::string& type, const std::string& usage) {
  const size_t open = usage.find('`');
  if (open != std::string::npos) {
    const size_t close = usage.find('`', open + 1);
    if (close != std::string::npos) {
      const std::string name = usage.substr(open + 1, close - open - 1);
      return {name, usage.substr(0, open) + name + usage.substr(close + 1)};
    }
  }
  return {type, usage};
}

}  // namespace

std::string GoQuoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

Flag& Flag::Short(char shorthand) {
  shorthand_ = shorthand;
  return *this;
}
Flag& Flag::Required(bool is_required) {
  is_required_ = is_required;
  return *this;
}
Flag& Flag::EndsFlags() {
  ends_flags_ = true;
  return *this;
}
Flag& Flag::Hidden() {
  is_hidden_ = true;
  return *this;
}
Flag& Flag::OldName(std::string name) {
  old_names_.push_back(std::move(name));
  return *this;
}
Flag& Flag::Choices(std::vector<std::string> choices) {
  complete_ = [choices = std::move(choices)](std::string_view) { return choices; };
  return *this;
}
Flag& Flag::Complete(Completer completer) {
  complete_ = std::move(completer);
  return *this;
}

Flag& Flag::SingleDash(std::string name) {
  single_dash_ = std::move(name);
  return *this;
}
Flag& Flag::OneOf(std::vector<std::string> choices) {
  choices_ = std::move(choices);
  return Choices(choices_);
}
Flag& Flag::OptionalValue(std::string otherwise) {
  optional_value_ = std::move(otherwise);
  return *this;
}

Flag& Flag::Eager() {
  is_eager_ = true;
  return *this;
}
Flag& Flag::Unabbreviated() {
  is_abbreviated_ = false;
  return *this;
}

bool Flag::Matches(std::string_view name) const {
  return name_ == name || std::find(old_names_.begin(), old_names_.end(), name) != old_names_.end();
}

bool Flag::IsSpelt(std::string_view word) const {
  if (word.starts_with("--")) return Matches(word.substr(2));
  if (word.size() < 2 || word[0] != '-') return false;
  return (word.size() == 2 && shorthand_ == word[1]) || word.substr(1) == single_dash_;
}

Flag& FlagSet::Add(std::string name, std::string type, std::string usage, Flag::Setter set) {
  auto flag = std::make_unique<Flag>();
  flag->name_ = std::move(name);
  flag->type_ = std::move(type);
  flag->usage_ = std::move(usage);
  flag->group_ = group_;
  flag->set_ = std::move(set);
  return *flags_.emplace_back(std::move(flag));
}

Flag& FlagSet::String(std::string* to, std::string name, std::string otherwise, std::string usage) {
  Flag& flag = Add(std::move(name), "string", std::move(usage), [to](std::string_view value) {
    *to = value;
    return base::Status();
  });
  if (!otherwise.empty()) flag.default_ = GoQuoted(otherwise);
  *to = std::move(otherwise);
  return flag;
}

Flag& FlagSet::StringArray(std::vector<std::string>* to, std::string name, std::string usage) {
  to->clear();
  return Add(std::move(name), "stringArray", std::move(usage), [to](std::string_view value) {
    to->emplace_back(value);
    return base::Status();
  });
}

Flag& FlagSet::Int(int64_t* to, std::string name, int64_t otherwise, std::string usage) {
  *to = otherwise;
  Flag& flag =
      Add(std::move(name), "int", std::move(usage), [to](std::string_view value) -> base::Status {
        const std::optional<int64_t> number = base::ParseInt(value);
        if (!number) {
          return base::Fail(
              base::Code::kInvalidArgument,
              fmt::format("strconv.ParseInt: parsing {}: {}", GoQuoted(value),
                          IsDecimal(value) ? "value out of range" : "invalid syntax"));
        }
        *to = *number;
        return {};
      });
  if (otherwise != 0) flag.default_ = std::to_string(otherwise);
  return flag;
}

Flag& FlagSet::Bool(bool* to, std::string name, bool otherwise, std::string usage) {
  *to = otherwise;
  Flag& flag =
      Add(std::move(name), "", std::move(usage), [to](std::string_view value) -> base::Status {
        TRY_ASSIGN(*to, ParseBool(value));
        return {};
      });
  if (otherwise) flag.default_ = "true";
  return flag;
}

Flag& FlagSet::Duration(std::chrono::nanoseconds* to, std::string name,
                        std::chrono::nanoseconds otherwise, std::string usage) {
  *to = otherwise;
  Flag& flag = Add(std::move(name), "duration", std::move(usage),
                   [to](std::string_view value) -> base::Status {
                     TRY_ASSIGN(*to, base::ParseGoDuration(value));
                     return {};
                   });
  if (otherwise.count() != 0) flag.default_ = GoDuration(otherwise);
  return flag;
}

Flag& FlagSet::Custom(std::string name, std::string type, std::string usage, Flag::Setter set) {
  return Add(std::move(name), std::move(type), std::move(usage), std::move(set));
}

Flag* FlagSet::Find(std::string_view name) const {
  for (const auto& flag : flags_) {
    if (flag->Matches(name)) return flag.get();
  }
  return nullptr;
}

// For a terminal of 80 columns.
constexpr ColumnLayout kUsages = {.gap = 3, .widest_left = 32, .width = 80};

std::string FlagUsages(std::vector<const Flag*> flags) {
  std::erase_if(flags, [](const Flag* flag) { return flag->is_hidden(); });
  std::sort(flags.begin(), flags.end(),
            [](const Flag* a, const Flag* b) { return a->name() < b->name(); });
  std::vector<std::pair<std::string, std::string>> rows;
  for (const Flag* flag : flags) {
    const auto [value_name, usage] = UnquoteUsage(flag->type(), flag->usage());
    std::string left = flag->shorthand() != 0
                           ? fmt::format("  -{}, --{}", flag->shorthand(), flag->name())
                           : fmt::format("      --{}", flag->name());
    if (!value_name.empty()) left += " " + value_name;
    std::string right = base::ReplaceAll(usage, "\n", " ");
    if (!flag->shown_default().empty()) {
      right += fmt::format(" (default {})", flag->shown_default());
    }
    rows.emplace_back(std::move(left), std::move(right));
  }
  return InColumns(rows, kUsages);
}

std::vector<std::string> CompleteFlagValue(const Flag& flag, std::string_view prefix) {
  if (flag.is_bool()) return {"true", "false"};
  return flag.complete_ ? flag.complete_(prefix) : std::vector<std::string>{};
}

}  // namespace cli
