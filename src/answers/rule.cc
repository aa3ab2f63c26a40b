#include "answers/rule.h"

#include <algorithm>
#include <utility>

#include "answers/rule_text.h"

namespace answers {
namespace {

// Returns a rule for the same class whose lines only hint at it.
Rule SymptomOf(const RuleFile& file) {
  Rule symptom;
  symptom.name = file.rule.name;
  symptom.kind = file.rule.kind;
  symptom.title = file.rule.title;
  symptom.advice = file.rule.advice;
  symptom.advice_text = file.rule.advice_text;
  symptom.level = Level::kSymptom;
  symptom.lines = file.symptom_lines;
  return symptom;
}

constexpr std::string_view kSlashes = "/\\";

bool IsNumbered(std::string_view folder) {
  const size_t name = folder.find_last_not_of("0123456789");
  return name != std::string_view::npos && name + 1 < folder.size() &&
         (folder[name] == '-' || folder[name] == '_');
}

std::string_view OwnName(std::string_view path) {
  const size_t end = path.find_last_not_of(kSlashes);
  const size_t slash = path.find_last_of(kSlashes, end);
  if (end == std::string_view::npos || slash == std::string_view::npos) return path;
  std::string_view folders = path.substr(0, slash);
  folders = folders.substr(0, folders.find_last_not_of(kSlashes) + 1);  // or two: "a\\\\b"
  const size_t above = folders.find_last_of(kSlashes);
  const size_t begin = above == std::string_view::npos ? 0 : above + 1;
  return path.substr(IsNumbered(folders.substr(begin)) ? begin : slash + 1);
}

}  // namespace

bool Matches(std::string_view text, std::string_view pattern) {
  const bool is_anchored = pattern.starts_with('^');
  if (is_anchored) pattern.remove_prefix(1);
  const bool ends = pattern.ends_with('$');
  if (ends) pattern.remove_suffix(1);
  size_t from = 0;
  bool is_first = true;
  while (true) {
    const size_t star = pattern.find('*');
    const std::string_view part = pattern.substr(0, star);
    const bool is_last = star == std::string_view::npos;
    const size_t found = is_last && ends ? text.rfind(part) : text.find(part, from);
    if (found == std::string_view::npos || found < from) return false;
    if (is_first && is_anchored && found != 0) return false;
    if (is_last) return !ends || found + part.size() == text.size();
    from = found + part.size();
    pattern.remove_prefix(star + 1);
    is_first = false;
  }
}

bool MatchesAny(std::string_view text, const std::vector<std::string_view>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [text](std::string_view pattern) { return Matches(text, pattern); });
}

std::string WithoutFolders(std::string_view text) {
  constexpr std::string_view kEnds = " '\"`,;()[]\n";
  std::string plain;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kEnds), text.size());
    plain.append(OwnName(text.substr(0, end))).append(text.substr(end, 1));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return plain;
}

std::span<const Rule> AllRules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
    for (const RuleText& text : RuleTexts()) {
      auto file = ReadRule(text);
      if (!file) continue;
      Rule symptom = SymptomOf(*file);
      all.push_back(std::move(file->rule));
      if (!symptom.lines.empty()) all.push_back(std::move(symptom));
    }
    return all;
  }();
  return rules;
}

bool Rule::Overrules(std::string_view other) const {
  return std::find(overrules.begin(), overrules.end(), other) != overrules.end();
}

bool Overrules(std::string_view kind, std::string_view other) {
  const std::span<const Rule> rules = AllRules();
  return std::any_of(rules.begin(), rules.end(),
                     [&](const Rule& rule) { return rule.kind == kind && rule.Overrules(other); });
}

const Rule* RuleForException(std::string_view text) {
  const Rule* undecided = nullptr;  // NCCL's name for a failure says less than the failure itself
  const std::string names = WithoutFolders(text);
  for (const Rule& rule : AllRules()) {
    if (!MatchesAny(text, rule.exceptions) && !MatchesAny(names, rule.files)) continue;
    if (rule.level != Level::kUndecided) return &rule;
    if (undecided == nullptr) undecided = &rule;
  }
  return undecided;
}

const Rule* RuleForOwnWords(std::string_view text) {
  for (const Rule& rule : AllRules()) {
    if (MatchesAny(text, rule.words)) return &rule;
  }
  return nullptr;
}

const Rule* RuleForLine(std::string_view text) {
  for (const Rule& rule : AllRules()) {
    if (MatchesAny(text, rule.lines)) return &rule;
  }
  return nullptr;
}

const Rule* RuleForRaisedIn(std::string_view text, std::string_view place) {
  for (const Rule& rule : AllRules()) {
    for (const Rule::RaisedIn& raised : rule.raised_in) {
      if (Matches(text, raised.text) && Matches(place, raised.place)) return &rule;
    }
  }
  return nullptr;
}

const Rule* RuleForWitness(std::string_view text) {
  for (const Rule& rule : AllRules()) {
    if (MatchesAny(text, rule.witnesses)) return &rule;
  }
  return nullptr;
}

const Rule& RuleNamed(std::string_view name) {
  const std::span<const Rule> rules = AllRules();
  return *std::find_if(rules.begin(), rules.end(),
                       [name](const Rule& rule) { return rule.name == name; });
}

}  // namespace answers
