// A rule: texts that decide a class of failure, and the advice for it. Each is a file in rules/
// with samples that it decides (rule_text.h).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/verdict.h"

namespace answers {

// How much a finding says about the cause, the most first.
enum class Level {
  kDeciding,     // names the cause
  kSymptom,      // something did not come in time: the cause of the delay is elsewhere
  kUndecided,    // it failed by itself, without a reason
  kConsequence,  // somebody ended it on purpose
  kPeerLost,     // another rank failed first
};
constexpr bool IsConsequence(Level level) { return level >= Level::kConsequence; }

// Patterns are texts in which "*" stands for anything; "^" at the beginning is the beginning of the
// text, "$" at the end its end. They are written as the programs print them, never as people quote
// them.
struct Rule {
  std::string_view name;  // of its file
  std::string_view kind;  // the class, which several may have
  std::string_view title;
  Advice advice = Advice::kNone;
  std::string_view advice_text;
  Level level = Level::kDeciding;
  // For the exception that ended the program: "Type: message".
  std::vector<std::string_view> exceptions;
  // The same for its text without the folders of the paths in it (WithoutFolders).
  std::vector<std::string_view> files;
  // For an exception that no rule's `exceptions` know: what people write of such a failure in words
  // of their own.
  std::vector<std::string_view> words;
  // For a line at the end of a log, which no program catches.
  std::vector<std::string_view> lines;
  // For what the machine reported after the failure (Rank::witnesses). They decide only if the
  // program's own output gives one of the kinds in `overrules`; if both decide, this rule wins.
  std::vector<std::string_view> witnesses;
  std::vector<std::string_view> overrules;
  // For an exception together with the file, function and line of source that raised it
  // ("/x/torch/serialization.py load return f.read()"). Checked before the texts alone.
  struct RaisedIn {
    std::string_view text, place;
  };
  std::vector<RaisedIn> raised_in;

  bool Overrules(std::string_view other) const;
};

bool Matches(std::string_view text, std::string_view pattern);
bool MatchesAny(std::string_view text, const std::vector<std::string_view>& patterns);

// Leaves each path in the text its own name, and a numbered folder around it: "/checkpoint/a/b.tar"
// becomes "b.tar", and "/out/checkpoint-500/state.json" "checkpoint-500/state.json". Pure.
std::string WithoutFolders(std::string_view text);

// In the order in which they are checked: narrow rules first.
std::span<const Rule> AllRules();
// Whether a rule of `kind` overrules `other`, which says less about the same failure.
bool Overrules(std::string_view kind, std::string_view other);
// The first rule that matches; nullptr if none does.
const Rule* RuleForException(std::string_view text);
const Rule* RuleForOwnWords(std::string_view text);
const Rule* RuleForRaisedIn(std::string_view text, std::string_view place);
const Rule* RuleForLine(std::string_view text);
const Rule* RuleForWitness(std::string_view text);
// Returns one of the program's own rules, which must exist.
const Rule& RuleNamed(std::string_view name);

}  // namespace answers
