// The file of a rule, rules/NAME.rule, which the program carries with it. Each of its lines is a
// word and what belongs to it:
//
//   # a comment
//   class cuda-out-of-memory         Rule::kind
//   title the GPU has no memory left
//   do fix-first                     Rule::advice
//   advice Use less: a smaller batch
//   level symptom                    also undecided, consequence, peer-lost; else deciding
//   overrules unknown data-loader    Rule::overrules
//   exception "CUDA out of memory"   Rule::exceptions; line, witness: those
//   symptom line "ERROR 403: "       a line's, of level symptom: a script may go on after it
//   file "FileNotFoundError: *ckpt"  Rule::files
//   words "GPU*out of memory"        Rule::words
//   text "QUOTA_EXCEEDED"            an exception's, and a line's
//   kernel "oom-kill:constraint="    a line's, and a witness'
//   raised "^EOFError$" in "multiprocessing/"
//   sample exception "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB"
//
// A sample is a text that the rule decides, in which \n and \t stand for what they do in C: the
// exception that ended a program, a line of a log, or a whole log.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/rule.h"
#include "base/result.h"

namespace answers {

struct RuleText {
  std::string_view name, text;
};

// All rules, in the order in which they are tried (rules/order).
std::span<const RuleText> RuleTexts();

struct Sample {
  std::string_view form;  // "exception", "line", "log"
  std::string text;
};

struct RuleFile {
  Rule rule;  // views into the text
  std::vector<std::string_view> symptom_lines;
  std::vector<Sample> samples;
};

// kInvalidArgument names the line that is wrong, or the word that is missing. Pure.
base::Result<RuleFile> ReadRule(const RuleText& text);

}  // namespace answers
