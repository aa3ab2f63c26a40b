#include "cli/flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/clock.h"
#include "base/strings.h"
#include "cli/table.h"

namespace cli {
namespace {

// Go's %q for text of a command line.
std::string Quoted(std::string_view text) {
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

base::Result<bool> ParseBool(std::string_view text) {
  for (const std::string_view yes : {"1", "t", "T", "TRUE", "true", "True"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"0", "f", "F", "FALSE", "false", "False"}) {
    if (text == no) return false;
  }
  return base::Fail(base::Code::kInvalidArgument,
                    fmt::format("strconv.ParseBool: parsing {}: invalid syntax", Quoted(text)));
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

base::Error Usage(std::string message) {
  return base::Error{base::Code::kInvalidArgument, std::move(message), 0};
}

}  // namespace

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

bool Flag::Matches(std::string_view name) const {
  return name_ == name || std::find(old_names_.begin(), old_names_.end(), name) != old_names_.end();
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
  if (!otherwise.empty()) flag.default_ = Quoted(otherwise);
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
              fmt::format("strconv.ParseInt: parsing {}: {}", Quoted(value),
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

Flag* FlagParser::Find(std::string_view name) const {
  for (Flag* flag : flags_) {
    if (flag->Matches(name)) return flag;
  }
  return nullptr;
}

Flag* FlagParser::FindShort(char shorthand) const {
  for (Flag* flag : flags_) {
    if (flag->shorthand() == shorthand) return flag;
  }
  return nullptr;
}

std::string FlagParser::Suggest(std::string_view name) const {
  constexpr size_t kFarthest = 2;
  std::string best;
  size_t best_distance = kFarthest + 1;
  for (const Flag* flag : flags_) {
    if (flag->is_hidden()) continue;
    size_t distance = base::EditDistance(base::ToLower(name), base::ToLower(flag->name()));
    // "--share-mem" for "--share-memory"
    if (name.size() >= 3 && flag->name().starts_with(name))
      distance = std::min<size_t>(distance, 1);
    if (distance < best_distance) {
      best_distance = distance;
      best = flag->name();
    }
  }
  return best.empty() ? "" : fmt::format("\n\nDid you mean this?\n\t--{}\n", best);
}

base::Status FlagParser::Set(Flag& flag, std::string_view spelling, std::string_view value) {
  if (base::Status status = flag.set_(value); !status) {
    const std::string shown = flag.shorthand_ != 0
                                  ? fmt::format("-{}, --{}", flag.shorthand_, flag.name_)
                                  : fmt::format("--{}", flag.name_);
    return base::Fail(Usage(fmt::format("invalid argument {} for {} flag: {}", Quoted(value),
                                        Quoted(shown), status.error().message)));
  }
  flag.changed_ = true;
  flag.given_.emplace_back(value);
  has_ended_ = has_ended_ || flag.ends_flags_;
  if (spelling.size() > 1 && spelling != flag.name_) {
    notice_(fmt::format("Flag --{} has been deprecated, please use --{} instead", spelling,
                        flag.name_));
  }
  return {};
}

// Both return whether help was asked for.
base::Result<bool> FlagParser::ParseLong(std::string_view text,
                                         const std::vector<std::string>& args, size_t* next) {
  const std::string_view body = text.substr(2);
  if (body.empty() || body[0] == '-' || body[0] == '=') {
    return base::Fail(Usage(fmt::format("bad flag syntax: {}", text)));
  }
  const size_t equals = body.find('=');
  const std::string_view name = body.substr(0, equals);
  Flag* flag = Find(name);
  if (flag == nullptr) {
    if (name == "help") return true;
    return base::Fail(Usage(fmt::format("unknown flag: --{}{}", name, Suggest(name))));
  }
  if (equals != std::string_view::npos) {
    TRY(Set(*flag, name, body.substr(equals + 1)));
  } else if (flag->is_bool()) {
    TRY(Set(*flag, name, "true"));
  } else if (*next < args.size()) {
    TRY(Set(*flag, name, args[(*next)++]));
  } else {
    return base::Fail(Usage(fmt::format("flag needs an argument: --{}", name)));
  }
  return false;
}

base::Result<bool> FlagParser::ParseShorts(std::string_view text,
                                           const std::vector<std::string>& args, size_t* next) {
  std::string_view shorts = text.substr(1);
  while (!shorts.empty()) {
    const std::string_view name = shorts.substr(0, 1);
    Flag* flag = FindShort(name[0]);
    if (flag == nullptr) {
      if (name == "h") return true;
      return base::Fail(Usage(fmt::format("unknown shorthand flag: '{}' in -{}", name, shorts)));
    }
    if (shorts.size() > 2 && shorts[1] == '=') {
      TRY(Set(*flag, name, shorts.substr(2)));
      return false;
    }
    if (flag->is_bool()) {
      TRY(Set(*flag, name, "true"));
      shorts.remove_prefix(1);
      continue;
    }
    if (shorts.size() > 1) {
      TRY(Set(*flag, name, shorts.substr(1)));
    } else if (*next < args.size()) {
      TRY(Set(*flag, name, args[(*next)++]));
    } else {
      return base::Fail(Usage(fmt::format("flag needs an argument: '{}' in -{}", name, shorts)));
    }
    return false;
  }
  return false;
}

base::Result<ParsedArgs> FlagParser::Parse(const std::vector<std::string>& args,
                                           bool interspersed) {
  ParsedArgs parsed;
  for (size_t next = 0; next < args.size();) {
    const std::string& text = args[next++];
    if (text.size() < 2 || text[0] != '-' || has_ended_) {
      parsed.positionals.push_back(text);
      if (interspersed && !has_ended_) continue;
      parsed.positionals.insert(parsed.positionals.end(),
                                args.begin() + static_cast<ptrdiff_t>(next), args.end());
      break;
    }
    if (text == "--") {
      parsed.dash = parsed.positionals.size();
      parsed.positionals.insert(parsed.positionals.end(),
                                args.begin() + static_cast<ptrdiff_t>(next), args.end());
      break;
    }
    const auto help =
        text[1] == '-' ? ParseLong(text, args, &next) : ParseShorts(text, args, &next);
    if (!help) {
      const bool is_unknown = help.error().message.starts_with("unknown ");
      const bool may_be_anothers = !parsed.positionals.empty() || !interspersed;
      const bool is_hinted = is_unknown && may_be_anothers && !hint_.empty();
      return base::Fail(Usage(help.error().message + (is_hinted ? ": " + hint_ : "")));
    }
    parsed.help = *help;
    if (parsed.help) break;
  }
  return parsed;
}

std::string FlagUsages(std::vector<const Flag*> flags) {
  std::erase_if(flags, [](const Flag* flag) { return flag->is_hidden(); });
  std::sort(flags.begin(), flags.end(),
            [](const Flag* a, const Flag* b) { return a->name() < b->name(); });
  std::vector<std::pair<std::string, std::string>> lines;
  size_t widest = 0;
  for (const Flag* flag : flags) {
    const auto [value_name, usage] = UnquoteUsage(flag->type_, flag->usage_);
    std::string left = flag->shorthand_ != 0
                           ? fmt::format("  -{}, --{}", flag->shorthand_, flag->name_)
                           : fmt::format("      --{}", flag->name_);
    if (!value_name.empty()) left += " " + value_name;
    widest = std::max(widest, left.size());
    std::string right = usage;
    if (!flag->default_.empty()) right += fmt::format(" (default {})", flag->default_);
    lines.emplace_back(std::move(left), std::move(right));
  }
  std::string out;
  for (const auto& [left, right] : lines) {
    std::string body = right;
    const std::string continuation = "\n" + std::string(widest + 3, ' ');
    for (size_t at = 0; (at = body.find('\n', at)) != std::string::npos;
         at += continuation.size()) {
      body.replace(at, 1, continuation);
    }
    out += fmt::format("{:<{}}   {}\n", left, widest, body);
  }
  return out;
}

std::vector<std::string> CompleteFlagValue(const Flag& flag, std::string_view prefix) {
  if (flag.is_bool()) return {"true", "false"};
  return flag.complete_ ? flag.complete_(prefix) : std::vector<std::string>{};
}

}  // namespace cli
