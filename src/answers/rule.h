// What a rule is: texts that decide a class of failure, and what is to be done about it. Each is a
// file in rules/ with texts that it decides (rule_text.h).
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "answers/verdict.h"

namespace answers {

// How much a finding says of the cause, the most first.
enum class Level {
  kDeciding,     // names the cause
  kSymptom,      // something did not come in time: what held it up is elsewhere
  kUndecided,    // it failed of itself, and does not say why
  kConsequence,  // somebody ended it on purpose
  kPeerLost,     // somebody else went first
};
constexpr bool IsConsequence(Level level) { return level >= Level::kConsequence; }

// Patterns are texts in which "*" stands for anything; "^" at the beginning: where the text begins.
// "$" at the end: where it ends. As the programs' sources print them, never as people quote them.
struct Rule {
  std::string_view name;  // of its file
  std::string_view kind;  // the class, which several may have
  std::string_view title;
  Advice advice = Advice::kNone;
  std::string_view advice_text;
  Level level = Level::kDeciding;
  // Of the exception that ended the program: "Type: message".
  std::vector<std::string_view> exceptions;
  // Of a line of the log's end, which no program catches.
  std::vector<std::string_view> lines;
  // Of what the machine told when the program had failed (Rank::witnesses). They decide only where
  // the program's own words give one of the kinds `overrules`; of words of both kinds, this one's.
  std::vector<std::string_view> witnesses;
  std::vector<std::string_view> overrules;
  // Of an exception, and of the file and function that raised it ("/x/torch/serialization.py
  // load"). They are asked before the texts alone.
  struct RaisedIn {
    std::string_view text, place;
  };
  std::vector<RaisedIn> raised_in;

  bool Overrules(std::string_view other) const;
};

bool Matches(std::string_view text, std::string_view pattern);
bool MatchesAny(std::string_view text, const std::vector<std::string_view>& patterns);

// In the order in which they are asked: the narrow ones first.
std::span<const Rule> AllRules();
// Whether a rule of `kind` overrules `other`, which says less of the same failure.
bool Overrules(std::string_view kind, std::string_view other);
// The first that fits; nullptr when none does.
const Rule* RuleForException(std::string_view text);
const Rule* RuleForRaisedIn(std::string_view text, std::string_view place);
const Rule* RuleForLine(std::string_view text);
const Rule* RuleForWitness(std::string_view text);
// There has to be one: of the program's own texts.
const Rule& RuleNamed(std::string_view name);

}  // namespace answers
