// Exceptions in what a Python program has printed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "answers/evidence.h"

namespace answers {

inline constexpr std::string_view kTracebackHeader = "Traceback (most recent call last):";

struct Frame {
  std::string_view file;
  int line = 0;
  std::string_view function;
  // Of the program's own code: not of Python, nor of what is installed into it.
  bool IsUsers() const;
};

struct Raised {
  size_t line = 0;            // index of the line that names the exception
  std::string text;           // "ValueError: boom", with the indented lines that belong to it
  std::vector<Frame> frames;  // the outermost first
  // While the one before it in the chain was being handled, and not because of it.
  bool is_aside = false;
  std::string_view Type() const;
};

// Exceptions that caused each other, as Python and whatever carries them between processes prints
// them. The views are parts of the lines.
struct Chain {
  size_t begin = 0;
  size_t end = 0;              // the index after its last line
  std::vector<Raised> raised;  // not empty; the cause before what came of it
};

// In the order of the log; SyntaxError has no header, and counts too.
std::vector<Chain> FindChains(std::span<const Line> lines);

// Whether a message that is in `before` goes on in `line`, which is not indented: "... the
// following error:", and what NCCL says of its own failures, up to its "Last error:".
bool GoesOn(std::string_view before, std::string_view line);

// What a report says of an exception, as the value of a word: `ErrorMessage "pkg.Err: boom"`,
// `error="pkg.Err: boom"`. "" of another line.
std::string_view ReportedIn(std::string_view line);

// "  File "x.py", line 3, in f"; a Frame without a file when it is none.
Frame ReadFrame(std::string_view line);

}  // namespace answers
