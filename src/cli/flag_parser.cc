#include <algorithm>
#include <array>

#include "base/nearest.h"
#include "base/strings.h"
#include "cli/flags.h"

namespace cli {
namespace {

using Kind = Refusal::Kind;

std::string WithUnderscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// argparse's rule for telling flags from values: a negative number is a value, and so is a word
// with a blank.
bool LooksLikeFlag(std::string_view word) {
  if (word.size() < 2 || word[0] != '-' || word.find(' ') != std::string_view::npos) return false;
  const std::string_view number = word.substr(1);
  const bool is_number = base::IsDigit(number.back()) &&
                         std::count(number.begin(), number.end(), '.') <= 1 &&
                         number.find_first_not_of("0123456789.") == std::string_view::npos;
  return !is_number;
}

}  // namespace

tl::unexpected<base::Error> FlagParser::Refuse(Kind kind, Refusal refusal) const {
  refusal.kind = kind;
  std::string message = dialect_.refuse(refusal);
  if (kind == Kind::kUnknown && may_be_anothers_ && !hint_.empty()) message += ": " + hint_;
  return base::Fail(base::Code::kInvalidArgument, std::move(message));
}

base::Status FlagParser::Set(Flag& flag, Refusal words, std::string_view value) {
  words.flag = &flag;
  words.value = value;
  const auto& choices = flag.choices_;
  if (!choices.empty() && std::find(choices.begin(), choices.end(), value) == choices.end()) {
    words.why = dialect_.refuse_choice(value, choices);
    return Refuse(Kind::kBadValue, std::move(words));
  }
  if (base::Status status = flag.set_(value); !status) {
    words.why = std::move(status.error().message);
    return Refuse(Kind::kBadValue, std::move(words));
  }
  flag.changed_ = true;
  flag.given_.emplace_back(value);
  has_ended_ = has_ended_ || flag.ends_flags_;
  is_over_ = is_over_ || flag.is_eager_;
  const auto& old = flag.old_names_;
  const std::string_view name = words.spelling.substr(words.spelling.starts_with("--") ? 2 : 1);
  if (notice_ && std::find(old.begin(), old.end(), name) != old.end()) {
    notice_("Flag --" + std::string(name) + " has been deprecated, please use --" + flag.name_ +
            " instead");
  }
  return {};
}

base::Status FlagParser::Take(Flag& flag, Refusal words, std::optional<std::string_view> attached) {
  words.flag = &flag;
  if (flag.is_bool()) {
    if (!attached) return Set(flag, std::move(words), "true");
    if (dialect_.bools_take_values) return Set(flag, std::move(words), *attached);
    words.value = *attached;
    return Refuse(Kind::kTakesNoValue, std::move(words));
  }
  if (attached) return Set(flag, std::move(words), *attached);
  const bool has_next = next_ < args_->size();
  if (flag.optional_value_ && (!has_next || (*args_)[next_].starts_with('-'))) {
    return Set(flag, std::move(words), *flag.optional_value_);
  }
  if (!has_next || (!dialect_.values_may_be_flags && LooksLikeFlag((*args_)[next_]))) {
    return Refuse(Kind::kNeedsValue, std::move(words));
  }
  return Set(flag, std::move(words), (*args_)[next_++]);
}

// nullptr if it is unknown. An abbreviation must match one spelling of one flag: --nproc matches
// two, --nproc- and --stan one.
base::Result<Flag*> FlagParser::FindLong(const Refusal& words, std::string_view name) const {
  for (Flag* flag : flags_) {
    if (flag->Matches(name)) return flag;
    if (dialect_.takes_underscores && name == WithUnderscores(flag->name_)) return flag;
  }
  if (!dialect_.abbreviates) return nullptr;
  Flag* match = nullptr;
  std::vector<std::string> matches;
  for (Flag* flag : flags_) {
    if (!flag->is_abbreviated_) continue;
    std::vector<std::string> spellings = {flag->name_};
    if (flag->name_.find('-') != std::string::npos) {
      spellings.push_back(WithUnderscores(flag->name_));
    }
    for (const std::string& spelling : spellings) {
      if (!spelling.starts_with(name)) continue;
      match = flag;
      matches.push_back("--" + spelling);
    }
  }
  if (matches.size() < 2) return match;
  Refusal refusal = words;
  refusal.names = std::move(matches);
  return Refuse(Kind::kAmbiguous, std::move(refusal));
}

base::Status FlagParser::ParseLong(std::string_view word) {
  const size_t equals = word.find('=');
  Refusal words{.word = word, .spelling = word.substr(0, equals)};
  std::optional<std::string_view> attached;
  if (equals != std::string_view::npos) attached = word.substr(equals + 1);
  if (!word.starts_with("--")) {
    const auto found = std::find_if(flags_.begin(), flags_.end(), [&](const Flag* flag) {
      return !flag->single_dash_.empty() && flag->single_dash_ == words.spelling.substr(1);
    });
    return found == flags_.end() ? ParseShorts(word) : Take(**found, std::move(words), attached);
  }
  const std::string_view name = words.spelling.substr(2);
  if (name.empty() || name[0] == '-') return Refuse(Kind::kBadSyntax, std::move(words));
  TRY_ASSIGN(Flag* const flag, FindLong(words, name));
  if (flag != nullptr) return Take(*flag, std::move(words), attached);
  if (dialect_.has_implied_help && name == "help") {
    is_over_ = true;
    return {};
  }
  std::vector<std::string_view> names;
  for (const Flag* known : flags_) {
    if (!known->is_hidden()) names.push_back(known->name());
  }
  words.why = base::Nearest(name, names);
  return Refuse(Kind::kUnknown, std::move(words));
}

base::Status FlagParser::ParseShorts(std::string_view word) {
  for (size_t at = 1; at < word.size(); ++at) {
    const std::array<char, 2> spelling = {'-', word[at]};
    Refusal words{
        .word = word, .spelling = {spelling.data(), spelling.size()}, .shorts = word.substr(at)};
    const auto found = std::find_if(flags_.begin(), flags_.end(),
                                    [&](const Flag* flag) { return flag->shorthand_ == word[at]; });
    if (found == flags_.end()) {
      is_over_ = dialect_.has_implied_help && word[at] == 'h';
      if (is_over_) return {};
      return Refuse(Kind::kUnknown, std::move(words));
    }
    Flag& flag = **found;
    std::string_view rest = word.substr(at + 1);
    const bool has_equals = dialect_.shorts_take_equals && rest.size() > 1 && rest[0] == '=';
    if (has_equals) rest.remove_prefix(1);
    if (rest.empty() || (flag.is_bool() && !has_equals)) {
      TRY(Take(flag, std::move(words), std::nullopt));
      if (is_over_ || rest.empty()) return {};
      continue;
    }
    return Take(flag, std::move(words), rest);
  }
  return {};
}

base::Result<ParsedArgs> FlagParser::Parse(const std::vector<std::string>& args,
                                           bool interspersed) {
  ParsedArgs parsed;
  args_ = &args;
  next_ = 0;
  const auto take_rest = [&] {
    parsed.positionals.insert(parsed.positionals.end(),
                              args.begin() + static_cast<ptrdiff_t>(next_), args.end());
    next_ = args.size();
  };
  may_be_anothers_ = !interspersed;
  while (next_ < args.size() && !is_over_) {
    const std::string& word = args[next_++];
    if (word.size() < 2 || word[0] != '-' || has_ended_) {
      parsed.positionals.push_back(word);
      may_be_anothers_ = true;
      if (!interspersed || has_ended_) take_rest();
    } else if (word == "--") {
      parsed.dash = parsed.positionals.size();
      take_rest();
    } else {
      TRY(ParseLong(word));
    }
  }
  parsed.help = is_over_;
  return parsed;
}

base::Status FlagParser::CheckRequired() const {
  Refusal refusal;
  for (const Flag* flag : flags_) {
    if (!flag->is_required() || flag->changed()) continue;
    if (refusal.flag == nullptr) refusal.flag = flag;
    refusal.names.push_back(flag->name());
  }
  if (refusal.flag == nullptr) return {};
  return Refuse(Kind::kMissing, std::move(refusal));
}

}  // namespace cli
