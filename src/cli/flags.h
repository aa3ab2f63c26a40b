// Flags with pflag's behaviour, declared once: parsing, help and completion come from the
// declaration.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace cli {

// One flag. Created by a FlagSet, refined in place:
//   flags.String(&options.dir, "working-dir", "/root", "where").OldName("workingDir");
class Flag {
 public:
  using Setter = std::function<base::Status(std::string_view)>;
  using Completer = std::function<std::vector<std::string>(std::string_view prefix)>;

  Flag& Short(char shorthand);  // 0: none
  Flag& Required(bool is_required = true);
  // Everything after its value is a positional, whatever it looks like: python's -m.
  Flag& EndsFlags();
  Flag& Hidden();
  // Another spelling of the flag. It works, with a message on stderr: `Flag --x has been
  // deprecated, please use --<name> instead`.
  Flag& OldName(std::string name);
  // Offered by completion; not enforced.
  Flag& Choices(std::vector<std::string> choices);
  Flag& Complete(Completer completer);
  // For Click's style only (cli/click.h): another name with one dash (-reg); enforced values; the
  // value of the flag when none follows it.
  Flag& SingleDash(std::string name);
  Flag& OneOf(std::vector<std::string> choices);
  Flag& OptionalValue(std::string otherwise);

  const std::string& name() const { return name_; }
  char shorthand() const { return shorthand_; }
  const std::string& usage() const { return usage_; }
  // The heading under which help shows it; "": the general one.
  const std::string& group() const { return group_; }
  bool is_required() const { return is_required_; }
  bool is_hidden() const { return is_hidden_; }
  bool is_bool() const { return type_.empty(); }
  // Whether the command line set it.
  bool changed() const { return changed_; }
  // The values given, in order.
  const std::vector<std::string>& given() const { return given_; }
  bool Matches(std::string_view name) const;
  const std::string& type() const { return type_; }
  const std::string& shown_default() const { return default_; }  // "": not shown
  const std::string& single_dash() const { return single_dash_; }
  const std::vector<std::string>& choices() const { return choices_; }

 private:
  friend class FlagSet;
  friend class FlagParser;
  friend class ClickParser;
  friend std::string FlagUsages(std::vector<const Flag*> flags);
  friend std::vector<std::string> CompleteFlagValue(const Flag& flag, std::string_view prefix);

  std::string name_;
  std::string type_;     // "string", "int", "stringArray", "duration"; "": bool
  std::string default_;  // as shown in help; "": not shown
  std::string usage_;
  std::string group_;
  std::vector<std::string> old_names_;
  std::string single_dash_;
  std::vector<std::string> choices_;
  std::optional<std::string> optional_value_;
  Setter set_;
  Completer complete_;
  char shorthand_ = 0;
  bool is_required_ = false;
  bool is_hidden_ = false;
  bool ends_flags_ = false;
  bool changed_ = false;
  std::vector<std::string> given_;
};

// The flags that one command declares. Variables get their defaults at once, are written by
// parsing, and must outlive the set. Not thread safe.
class FlagSet {
 public:
  Flag& String(std::string* to, std::string name, std::string otherwise, std::string usage);
  // Repeatable; a comma is part of the value.
  Flag& StringArray(std::vector<std::string>* to, std::string name, std::string usage);
  Flag& Int(int64_t* to, std::string name, int64_t otherwise, std::string usage);
  Flag& Bool(bool* to, std::string name, bool otherwise, std::string usage);
  // Go's durations: 1h30m.
  Flag& Duration(std::chrono::nanoseconds* to, std::string name, std::chrono::nanoseconds otherwise,
                 std::string usage);
  // A flag with its own parser; help shows `type` for its value.
  Flag& Custom(std::string name, std::string type, std::string usage, Flag::Setter set);
  // Help shows the flags declared from here on under this heading.
  void BeginGroup(std::string title) { group_ = std::move(title); }

  const std::vector<std::unique_ptr<Flag>>& flags() const { return flags_; }
  // nullptr when absent; also finds old spellings.
  Flag* Find(std::string_view name) const;

 private:
  Flag& Add(std::string name, std::string type, std::string usage, Flag::Setter set);

  std::vector<std::unique_ptr<Flag>> flags_;
  std::string group_;
};

struct ParsedArgs {
  std::vector<std::string> positionals;
  std::optional<size_t> dash;  // how many positionals preceded `--`
  bool help = false;           // -h or --help was given: the rest was ignored
};

// Parses as pflag does: --x v, --x=v, -xv, -x=v, -x v, combined shorts, --, interspersed
// positionals. Errors have pflag's texts, with a suggestion for a misspelt flag.
class FlagParser {
 public:
  using Notice = std::function<void(std::string_view line)>;

  // `flags` in order of precedence. `notice` gets the deprecation messages. `hint` is added to the
  // error about an unknown flag that follows a positional, or may belong to a later one.
  FlagParser(std::vector<Flag*> flags, Notice notice, std::string hint = "")
      : flags_(std::move(flags)), notice_(std::move(notice)), hint_(std::move(hint)) {}

  // With `interspersed` false the first positional ends the flags.
  base::Result<ParsedArgs> Parse(const std::vector<std::string>& args, bool interspersed = true);

 private:
  base::Result<bool> ParseLong(std::string_view text, const std::vector<std::string>& args,
                               size_t* next);
  base::Result<bool> ParseShorts(std::string_view text, const std::vector<std::string>& args,
                                 size_t* next);
  base::Status Set(Flag& flag, std::string_view spelling, std::string_view value);
  Flag* Find(std::string_view name) const;
  Flag* FindShort(char shorthand) const;
  std::string Suggest(std::string_view name) const;

  std::vector<Flag*> flags_;
  Notice notice_;
  std::string hint_;
  bool has_ended_ = false;  // a flag ended the flags
};

// The flags section of a help text, sorted by name, without hidden ones; each line ends with \n.
// Called once for each heading.
std::string FlagUsages(std::vector<const Flag*> flags);

std::vector<std::string> CompleteFlagValue(const Flag& flag, std::string_view prefix);

}  // namespace cli
