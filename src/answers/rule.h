// What a rule is: texts that decide a class of failure, and what is to be done about it. Each
// family of rules is a file in rules/, each class has its fixtures in rules_test.cc.
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
  std::string_view kind;
  std::string_view title;
  Advice advice = Advice::kFixFirst;
  std::string_view advice_text;
  // Of the exception that ended the program: "Type: message".
  std::vector<std::string_view> exceptions;
  // Of a line of the log's end, which no program catches.
  std::vector<std::string_view> lines{};
  Level level = Level::kDeciding;
  // Of what the machine told when the program had failed (Rank::witnesses). They decide only where
  // the program's own words give one of the kinds `overrules`; of words of both kinds, this one's.
  std::vector<std::string_view> witnesses{};
  std::vector<std::string_view> overrules{};
  // Of an exception and of what raised it: the text, a line break, and the file and function
  // ("/x/torch/serialization.py load"). They are asked before the texts alone.
  std::vector<std::string_view> raised_in{};

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
const Rule* RuleForRaisedIn(std::string_view text_and_place);
const Rule* RuleForLine(std::string_view text);
const Rule* RuleForWitness(std::string_view text);

// Whether a message of CUDA says that other programs hold more of the GPU than this one.
bool IsTakenByOthers(std::string_view out_of_memory);
extern const Rule kGpuTakenByOthers;

// The families, in rules/.
std::vector<Rule> MemoryRules();
std::vector<Rule> StorageRules();
std::vector<Rule> FileRules();
std::vector<Rule> NanRules();
std::vector<Rule> CheckpointRules();
std::vector<Rule> PythonRules();
std::vector<Rule> TensorRules();
std::vector<Rule> GpuRules();
std::vector<Rule> CollectiveRules();
std::vector<Rule> NetworkRules();
std::vector<Rule> CredentialRules();
std::vector<Rule> ClusterRules();

}  // namespace answers
