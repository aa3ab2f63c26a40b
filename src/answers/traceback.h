// Exceptions in the output of a Python program.
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
  std::string_view code = {};  // of a traceback: the line of source; "" if the log does not show it
  // Whether it is the program's own code: neither Python's nor an installed package's.
  bool IsUsers() const;
};

struct Raised {
  size_t line = 0;            // index of the line that names the exception
  std::string text;           // "ValueError: boom", with the indented lines that belong to it
  std::vector<Frame> frames;  // the outermost first
  // It was raised while the one before it in the chain was being handled, but not because of it.
  bool is_aside = false;
  std::string_view Type() const;
};

// Exceptions that caused each other, as Python and whatever carries them between processes prints
// them. The views are parts of the lines.
struct Chain {
  size_t begin = 0;
  size_t end = 0;              // the index after its last line
  std::vector<Raised> raised;  // not empty; causes come before their consequences
};

// In the order of the log; a SyntaxError has no header, and counts too.
std::vector<Chain> FindChains(std::span<const Line> lines);

// Whether a message that is in `before` continues in `line`, which is not indented: "... the
// following error:", a line that begins with its errno or its cause, and NCCL's reports about its
// own failures, up to their "Last error:".
bool GoesOn(std::string_view before, std::string_view line);

// The text of an exception in a report, as the value of a key: `ErrorMessage "pkg.Err: boom"`,
// `error="pkg.Err: boom"`. "" for another line.
std::string_view ReportedIn(std::string_view line);

// The exception, "ValueError: boom", of a traceback whose lines somebody has put into one, with the
// breaks between them written out (`\n`). "" for another line.
std::string_view FlattenedIn(std::string_view line);

// The line above the traceback that begins or ends in this line; the line itself if none does.
size_t AboveTraceback(std::span<const Line> lines, size_t line);

// The line that says most at the end of a log: the last one that says anything (SaysNothing) or, if
// a traceback is cut there, the last one before it. If nothing stands before it, its innermost
// frame. If no line says anything, the last one that is not empty; the number of lines if all are.
size_t LastSaid(std::span<const Line> lines);

// "  File "x.py", line 3, in f"; a Frame without a file for another line.
Frame ReadFrame(std::string_view line);

}  // namespace answers
