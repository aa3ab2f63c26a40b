#include "answers/traceback.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "answers/symptoms.h"
#include "base/launcher_report.h"
#include "base/strings.h"

namespace answers {
namespace {

constexpr std::string_view kInTable = "  traceback : ";
constexpr std::string_view kDuring =
    "During handling of the above exception, another exception occurred:";
constexpr std::string_view kDirect =
    "The above exception was the direct cause of the following exception:";
constexpr std::string_view kGroup = "+ Exception Group Traceback (most recent call last):";
constexpr std::string_view kDebuggers = "Exception has occurred: ";
constexpr std::string_view kJavas = "Exception in thread \"main\" ";
constexpr std::string_view kNccls = "NCCL error in: ";
constexpr std::string_view kSpawns = "-- Process ";  // of torch.multiprocessing.spawn
constexpr std::string_view kBuildEnds = "ninja: build stopped";
constexpr std::string_view kBoxEnds = "\xe2\x95\xb0";  // of rich: its corner
constexpr size_t kMostOfBuild = 1000;
constexpr size_t kMostFrames = 200;
constexpr size_t kMostDetails = 40;
constexpr size_t kLongestText = 4000;
constexpr size_t kMostDrawn = 400;

bool IsIndented(std::string_view text) {
  return text.empty() || text[0] == ' ' || text[0] == '\t' || text[0] == '|' ||
         text.starts_with("> File \"");  // of loguru
}

// Whether it may be a part of an exception's type: "torch.cuda.OutOfMemoryError".
bool IsOfType(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

// Matches "ValueError: boom", "torch.cuda.OutOfMemoryError: ..." and "KeyboardInterrupt", but not a
// single other word.
bool NamesException(std::string_view text) {
  static constexpr auto kLevels = std::to_array<std::string_view>(
      {"WARNING", "WARN", "Warning", "INFO", "Info", "DEBUG", "NOTICE", "NOTE", "Note"});
  const std::string_view type = text.substr(0, text.find(':'));
  if (type.empty() || type.size() > 120) return false;
  if (std::find(kLevels.begin(), kLevels.end(), type) != kLevels.end()) return false;
  const bool is_name = std::all_of(type.begin(), type.end(), IsOfType);
  const bool is_of_module = type.find('.') != std::string_view::npos && type.size() < text.size();
  const char first = type[type.rfind('.') + 1];  // if there is no dot, of the whole word
  return is_name && (is_of_module || (first >= 'A' && first <= 'Z') || first == '_');
}

// Matches "ValueError: boom": text that a program prints on purpose rarely begins like this.
bool EndsTraceback(std::string_view text) {
  // These need no message.
  if (text == "KeyboardInterrupt" || text == "AssertionError" || text == "NotImplementedError") {
    return true;
  }
  const std::string_view type = text.substr(0, text.find(':'));
  return NamesException(text) && type.size() < text.size() && !type.starts_with("nccl") &&
         type != "LustreError" &&  // a message of the kernel
         (type.ends_with("Error") || type.ends_with("Exception")) && type.size() > 5;
}

// Returns the text after the type in "CRITICAL Uncaught ValueError: boom"; "" for other lines.
std::string_view UncaughtIn(std::string_view text) {
  for (const std::string_view words :
       {"Uncaught exception: ", "Unhandled exception: ", "uncaught exception: ",
        "unhandled exception: ", "Uncaught ", "Unhandled "}) {
    const size_t at = text.find(words);
    if (at == std::string_view::npos) continue;
    const std::string_view rest = text.substr(at + words.size());
    if (EndsTraceback(rest)) return rest;
  }
  return "";
}

// Returns the exception's type in IPython's heading, "KeyError      Traceback (most recent call
// last)", which has no colon; "" for other lines.
std::string_view TypeInNotebook(std::string_view text) {
  constexpr std::string_view kHeading = " Traceback (most recent call last)";
  text = base::Trim(text);
  if (!text.ends_with(kHeading)) return "";
  const std::string_view type = base::Trim(text.substr(0, text.size() - kHeading.size()));
  return std::all_of(type.begin(), type.end(), IsOfType) ? type : "";
}

// Whether it is a line of code with its number, as IPython shows it: "     3 def f():", "----> 4
// g()".
bool IsNumberedCode(std::string_view text) {
  const size_t dashes = std::min(text.find_first_not_of(' '), text.size());
  size_t digit = std::min(text.find_first_not_of('-', dashes), text.size());
  if (digit > dashes) {
    if (!text.substr(digit).starts_with("> ")) return false;
    digit += 2;
  } else if (dashes == 0) {
    return false;
  }
  const size_t end = std::min(text.find_first_not_of("0123456789", digit), text.size());
  return end > digit && (end == text.size() || text[end] == ' ');
}

// Reads "File /w/a.py:3, in f(x)", "Cell In[1], line 6, in f()" and those of older versions,
// "/w/a.py in f(x)", "<ipython-input-1-5a> in f(x)" and "Input In [1], in f(x)".
Frame ReadNotebookFrame(std::string_view text) {
  constexpr std::string_view kIn = " in ";
  constexpr std::string_view kFile = "File ";
  Frame frame;
  const bool is_cell = text.starts_with("Cell In[") || text.starts_with("Input In [");
  const bool is_file = text.starts_with(kFile) && text.find(':') != std::string_view::npos;
  const bool is_old =
      text.starts_with("<ipython-input-") || text.starts_with('/') || text.starts_with("~/");
  const size_t in = text.find(kIn, is_cell ? text.find(']') : is_file ? kFile.size() : 0);
  if ((!is_cell && !is_file && !is_old) || (is_old && in == std::string_view::npos)) return frame;
  std::string_view place = text.substr(0, in);
  if (is_file) place.remove_prefix(kFile.size());
  if (place.ends_with(',')) place.remove_suffix(1);
  constexpr std::string_view kLine = ", line ";
  const size_t mark = is_cell ? place.find(kLine) : place.rfind(':');
  if (mark != std::string_view::npos) {
    const auto line = base::ParseInt(place.substr(mark + (is_cell ? kLine.size() : 1)));
    if (!line || *line < 0 || *line > 100'000'000) return frame;
    frame.line = static_cast<int>(*line);
    place = place.substr(0, mark);
  }
  frame.file = place;
  if (in != std::string_view::npos) {
    frame.function = text.substr(in + kIn.size());
    frame.function = frame.function.substr(0, frame.function.find('('));
  }
  return frame;
}

// Whether the line is part of the box that rich draws around a traceback.
bool IsDrawn(std::string_view text) {
  return text.starts_with("\xe2\x94\x82") || text.starts_with("\xe2\x95");
}

// Reads "│ /w/train.py:12 in main        │".
Frame ReadDrawnFrame(std::string_view text) {
  Frame frame;
  text = base::Trim(text.substr(std::min<size_t>(3, text.size())));
  const size_t colon = text.find(".py:");
  const size_t in = text.find(" in ");
  if (colon == std::string_view::npos || in == std::string_view::npos || in < colon) return frame;
  const auto line = base::ParseInt(text.substr(colon + 4, in - colon - 4));
  if (!line || *line < 0 || *line > 100'000'000) return frame;
  frame.file = text.substr(0, colon + 3);
  frame.line = static_cast<int>(*line);
  frame.function = text.substr(in + 4);
  frame.function = frame.function.substr(0, frame.function.find(' '));
  return frame;
}

// Returns the lines without the tree that Python draws around the exceptions of a group: "  | "
// before each line, and "  +-+---------------- 1 ----------------" between exceptions.
std::vector<std::string_view> WithoutTree(std::span<const Line> lines) {
  std::vector<std::string_view> texts;
  texts.reserve(lines.size());
  bool is_in_tree = false;
  for (const Line& line : lines) {
    std::string_view text = line.text;
    const std::string_view drawn = base::Trim(text);
    if (drawn.starts_with(kGroup)) is_in_tree = true;
    if (!drawn.starts_with('|') && !drawn.starts_with('+')) is_in_tree = false;
    if (is_in_tree && drawn.starts_with('|')) {
      text = text.substr(text.find('|') + 1);
      if (text.starts_with(' ')) text.remove_prefix(1);
    } else if (is_in_tree && !drawn.starts_with(kGroup)) {
      text = "";
    }
    texts.push_back(text);
  }
  return texts;
}

// Whether CANN, the software of Ascend's devices, goes on in this line about the exception above:
// "[ERROR] 2025-04-08-18:07:20 (PID:7, Device:1, RankID:1) ERR01100 ..." or "EI0006: ...".
bool IsOfCann(std::string_view line) {
  if (line.starts_with("[ERROR] ")) return line.find(" (PID:") != std::string_view::npos;
  const auto is_capital = [line](size_t i) { return line[i] >= 'A' && line[i] <= 'Z'; };
  const std::string_view digits = line.substr(std::min<size_t>(2, line.size()), 4);
  return line.size() > 6 && line[0] == 'E' && is_capital(1) && line[6] == ':' &&
         std::all_of(digits.begin(), digits.end(), base::IsDigit);
}

class Reader {
 public:
  explicit Reader(std::span<const Line> lines) : lines_(lines), texts_(WithoutTree(lines)) {}

  std::vector<Chain> Read() {
    std::vector<Chain> chains;
    while (at_ < lines_.size()) {
      const std::string_view text = Text(at_);
      if (text.find(kTracebackHeader) != std::string_view::npos) {
        if (Chain chain = ReadChain(); !chain.raised.empty()) chains.push_back(std::move(chain));
      } else if (IsNotebooks(at_)) {
        if (Chain chain = ReadNotebook(); !chain.raised.empty()) chains.push_back(std::move(chain));
      } else if (text.starts_with(kDebuggers)) {
        chains.push_back(ReadDebuggers());
      } else if (text.starts_with(kJavas)) {
        chains.push_back(ReadJavas());
      } else if (!ReadFrame(text).file.empty()) {
        if (Chain chain = ReadHeadless(); !chain.raised.empty()) chains.push_back(std::move(chain));
      } else if (EndsTraceback(text) || IsBelowBox(at_)) {
        chains.push_back(ReadEnd());
      } else if (!UncaughtIn(text).empty()) {
        chains.push_back(ReadUncaught());
      } else {
        ++at_;
      }
    }
    return chains;
  }

 private:
  std::string_view Text(size_t index) const { return texts_[index]; }

  // Whether the line names the exception below rich's box around frames, whatever its type.
  bool IsBelowBox(size_t line) const {
    if (line < 2 || !Text(line - 1).starts_with(kBoxEnds) || !NamesException(Text(line))) {
      return false;
    }
    for (size_t i = line - 1; i-- > 0 && line - i <= kMostDrawn && IsDrawn(Text(i));) {
      if (!ReadDrawnFrame(Text(i)).file.empty()) return true;
    }
    return false;
  }

  // Reads from the frames on. Afterwards `at_` is behind the exception's line, or where the
  // traceback is cut. `indent` is that of the exception's line. `is_named`: the line after the
  // frames is the exception's, whatever its type looks like.
  bool ReadRaised(Raised& raised, size_t indent = 0, bool is_named = false) {
    const auto is_end = [this, indent](std::string_view text) {
      return indent > 0 && text.find_first_not_of(' ') == indent &&
             EndsTraceback(text.substr(indent));
    };
    for (; at_ < lines_.size() && IsIndented(Text(at_)) && !is_end(Text(at_)); ++at_) {
      const Frame frame = ReadFrame(Text(at_));
      if (!frame.file.empty()) {
        if (raised.frames.size() < kMostFrames) raised.frames.push_back(frame);
      } else if (!raised.frames.empty() && raised.frames.back().code.empty()) {
        raised.frames.back().code = base::Trim(Text(at_));
      }
    }
    if (at_ == lines_.size()) return false;
    if (!is_named && !is_end(Text(at_)) && !NamesException(Text(at_))) return false;
    raised.line = at_;
    raised.text = base::Trim(Text(at_++));
    if (const size_t build = raised.text.find(kBuildError); build != std::string::npos) {
      // Without a colon the compiler has printed its output above.
      if (raised.text.find("':", build) != std::string::npos) ReadBuild(raised);
    }
    // The exception's text may begin below "ImportError: ", also after an empty line.
    const bool is_below = raised.text.ends_with(':');
    if (is_below && BeginsBelowEmptyLine(raised)) ++at_;
    for (size_t i = 0; i < kMostDetails && at_ < lines_.size(); ++i, ++at_) {
      const std::string_view more = Text(at_);
      const bool is_next = more.find(kTracebackHeader) != std::string_view::npos ||
                           !ReadFrame(more).file.empty() ||
                           (IsOfLauncher(more) && !more.starts_with(kNccls)) ||
                           more.find(base::kReportHeading) != std::string_view::npos;
      if (more.empty() || is_next || IsCauseBelow(raised, more)) break;
      if (!IsIndented(more) && !GoesOn(Text(at_ - 1), more) && !is_below) break;
      if (raised.text.size() + more.size() < kLongestText) raised.text.append("\n").append(more);
    }
    return true;
  }

  // Whether the text of an exception that has only its type in its own line begins in the line
  // after next.
  bool BeginsBelowEmptyLine(const Raised& raised) const {
    const bool is_type = raised.text.find(' ') == std::string::npos;
    if (!is_type || at_ + 1 >= lines_.size() || !Text(at_).empty()) return false;
    const std::string_view text = Text(at_ + 1);
    return !text.empty() && text != kDuring && text != kDirect && !text.starts_with(kSpawns) &&
           text.find(kTracebackHeader) == std::string_view::npos;
  }

  // Adds the lines in which a compiler or linker says what is wrong: the commands between them are
  // endless. Afterwards `at_` is behind ninja's last line. Without that line nothing is added: what
  // follows may be of a program that went on.
  void ReadBuild(Raised& raised) {
    const size_t last = std::min(at_ + kMostOfBuild, lines_.size());
    std::string words;
    size_t errors = 0;
    for (size_t i = at_; i < last; ++i) {
      const std::string_view text = Text(i);
      if (text.find(kTracebackHeader) != std::string_view::npos || IsOfLauncher(text)) return;
      if (text.starts_with(kBuildEnds)) {
        raised.text += words;
        at_ = i + 1;
        return;
      }
      if (!NamesBuildError(text) || ++errors > kMostDetails) continue;
      words.append("\n").append(text.substr(0, kLongestText));
    }
  }

  // Whether the exception that was raised stands below a line such as "BackendCompilerFailed:
  // backend='inductor' raised:".
  static bool IsCauseBelow(const Raised& raised, std::string_view below) {
    return raised.text.ends_with(':') && raised.text.find(' ') != std::string::npos &&
           EndsTraceback(below);
  }

  void ReadCauseBelow(Chain& chain) {
    while (at_ < lines_.size() && IsCauseBelow(chain.raised.front(), Text(at_))) {
      Raised cause;
      cause.frames = chain.raised.front().frames;
      if (!ReadRaised(cause)) return;
      chain.raised.insert(chain.raised.begin(), std::move(cause));
    }
  }

  // Whether another exception of the same chain begins within the next lines; skips to its header.
  bool SkipToNext() {
    size_t i = at_;
    for (size_t blanks = 0; i < lines_.size() && blanks < 3; ++i) {
      const std::string_view text = Text(i);
      // It comes from a data loader's worker, or from another rank of torch.distributed.checkpoint.
      if (text.find("Original Traceback") != std::string_view::npos ||
          (text.starts_with(kTracebackHeader) && text.find("(RANK ") != std::string_view::npos)) {
        is_inner_ = true;
        at_ = i;
        return true;
      }
      if (text.starts_with(kSpawns)) {
        is_inner_ = true;
        continue;
      }
      if (is_inner_ && EndsTraceback(text)) {  // the child's traceback is left out
        is_bare_ = true;
        at_ = i;
        return true;
      }
      if (text == kDuring || text == kDirect) {
        is_linked_ = true;
        is_aside_ = text == kDuring;
        continue;
      }
      if (is_linked_ && !TypeInNotebook(text).empty()) {
        at_ = i;
        return true;
      }
      if (text.find(kTracebackHeader) != std::string_view::npos) {
        is_inner_ = is_inner_ || (is_in_group_ && !is_linked_);
        if (!is_inner_ && !is_linked_) return false;
        at_ = i;
        return true;
      }
      if (!text.empty()) return false;
      ++blanks;
    }
    return false;
  }

  Chain ReadChain() {
    Chain chain;
    chain.begin = at_;
    if (ReadUnderHeader(chain)) ReadOthers(chain);
    Close(chain);
    return chain;
  }

  // Reads the exception whose header is the current line. Returns false if it is cut.
  bool ReadUnderHeader(Chain& chain) {
    const bool is_inner = is_inner_;
    Raised raised;
    raised.is_aside = is_aside_;
    is_inner_ = is_linked_ = is_aside_ = false;
    if (const std::string_view type = TypeInNotebook(Text(at_)); !type.empty()) {
      ++at_;
      if (!ReadNotebookRaised(raised, type)) return false;
      chain.raised.push_back(std::move(raised));
      return true;
    }
    // torchrun's table indents the whole traceback by two blanks.
    const bool is_in_table = Text(at_).starts_with(kInTable);
    if (!is_bare_) ++at_;
    is_bare_ = false;
    if (!ReadRaised(raised, is_in_table ? 2 : 0)) return false;
    // The text of the exception may be the traceback of another process, as PyTorch's data loaders
    // wrote it before 1.2 (torch/utils/data/dataloader.py: exc_type(exc_msg)).
    while (raised.text.ends_with(kTracebackHeader)) {
      Raised inner;
      inner.is_aside = raised.is_aside;
      if (!ReadRaised(inner)) break;
      inner.frames.insert(inner.frames.begin(), raised.frames.begin(), raised.frames.end());
      raised = std::move(inner);
    }
    is_in_group_ = is_in_group_ || raised.Type().ends_with("ExceptionGroup");
    // An exception raised in another process is the cause of this process's exception about it.
    const size_t place =
        is_inner && !chain.raised.empty() ? chain.raised.size() - 1 : chain.raised.size();
    chain.raised.insert(chain.raised.begin() + static_cast<ptrdiff_t>(place), std::move(raised));
    if (chain.raised.size() == 1) ReadCauseBelow(chain);
    return true;
  }

  // Whether a traceback of IPython begins here, or the part of one that the log has: a frame with
  // numbered code below it.
  bool IsNotebooks(size_t line) const {
    if (!TypeInNotebook(Text(line)).empty()) return true;
    return line + 1 < lines_.size() && IsNumberedCode(Text(line + 1)) &&
           !ReadNotebookFrame(Text(line)).file.empty();
  }

  // Reads IPython's frames and code from the current line on, and the exception below them. `type`
  // is its type in the heading; "" if the log has no heading. Returns false if it is cut.
  bool ReadNotebookRaised(Raised& raised, std::string_view type) {
    const auto is_exception = [type](std::string_view text) {
      if (type.empty()) return EndsTraceback(text);
      return text.starts_with(type) && (text.size() == type.size() || text[type.size()] == ':');
    };
    for (; at_ < lines_.size() && !is_exception(Text(at_)); ++at_) {
      const std::string_view text = Text(at_);
      const Frame frame = ReadNotebookFrame(text);
      if (!frame.file.empty() && raised.frames.size() < kMostFrames) {
        raised.frames.push_back(frame);
        // Older versions mark the line below the frame.
        continue;
      }
      if (!raised.frames.empty() && raised.frames.back().line == 0 && text.starts_with('-')) {
        const size_t digit = text.find_first_of("0123456789");
        const auto line = digit == std::string_view::npos
                              ? std::nullopt
                              : base::ParseInt(text.substr(digit, text.find(' ', digit) - digit));
        if (line && *line < 100'000'000) raised.frames.back().line = static_cast<int>(*line);
      }
      if (!text.empty() && !IsIndented(text) && !IsNumberedCode(text)) return false;
    }
    return at_ < lines_.size() && ReadRaised(raised, 0, !type.empty());
  }

  // Reads a traceback of IPython, also without its heading.
  Chain ReadNotebook() {
    const size_t begin = at_;
    Chain chain;
    chain.begin = begin;
    bool is_whole = false;
    if (TypeInNotebook(Text(at_)).empty()) {
      Raised raised;
      is_whole = ReadNotebookRaised(raised, "");
      if (is_whole) chain.raised.push_back(std::move(raised));
    } else {
      is_whole = ReadUnderHeader(chain);
    }
    if (is_whole) ReadOthers(chain);
    at_ = std::max(at_, begin + 1);
    Close(chain);
    return chain;
  }

  void ReadOthers(Chain& chain) {
    while (SkipToNext() && ReadUnderHeader(chain)) {
    }
  }

  void Close(Chain& chain) {
    is_inner_ = is_linked_ = is_aside_ = is_in_group_ = is_bare_ = false;
    chain.end = at_;
  }

  // Reads the end of a traceback whose beginning is missing, or the frame of a SyntaxError.
  Chain ReadHeadless() {
    const size_t begin = at_;
    Chain chain = ReadSyntaxError();
    if (!chain.raised.empty()) return chain;
    at_ = begin;
    chain.begin = begin;
    // Only that of a SyntaxError names no function.
    const bool has_function = !ReadFrame(Text(begin)).function.empty();
    Raised raised;
    if (ReadRaised(raised) && ((has_function && raised.text.find(':') != std::string::npos) ||
                               EndsTraceback(raised.text))) {
      chain.raised.push_back(std::move(raised));
      ReadOthers(chain);
    }
    at_ = std::max(at_, begin + 1);
    Close(chain);
    return chain;
  }

  // Reads an exception's line that stands by itself: the traceback is missing, or rich has drawn
  // it.
  Chain ReadEnd() {
    Chain chain;
    chain.begin = at_;
    Raised raised;
    for (size_t i = at_; i-- > 0 && chain.begin - i <= kMostDrawn && IsDrawn(Text(i));) {
      const Frame frame = ReadDrawnFrame(Text(i));
      if (!frame.file.empty()) raised.frames.insert(raised.frames.begin(), frame);
    }
    if (IsSyntaxError(Text(at_))) {
      if (const Frame frame = FrameAbove(at_); !frame.file.empty()) raised.frames = {frame};
    }
    ReadRaised(raised);
    chain.raised.push_back(std::move(raised));
    ReadCauseBelow(chain);
    ReadOthers(chain);
    Close(chain);
    return chain;
  }

  // Reads an exception from a logger's line that a hook for uncaught exceptions has written.
  Chain ReadUncaught() {
    Chain chain;
    chain.begin = at_;
    Raised raised;
    raised.line = at_;
    raised.text = base::Trim(UncaughtIn(Text(at_++)));
    chain.raised.push_back(std::move(raised));
    chain.end = at_;
    return chain;
  }

  // Reads Java's `Exception in thread "main" java.lang.IllegalStateException: boom`, which ends its
  // program, the frames, and below them "Caused by: java.io.IOException: ...".
  Chain ReadJavas() {
    constexpr std::string_view kCause = "Caused by: ";
    const auto is_frame = [](std::string_view text) {
      const std::string_view frame = base::Trim(text);
      return IsIndented(text) && (frame.starts_with("at ") || frame.starts_with("... "));
    };
    Chain chain;
    chain.begin = at_;
    size_t words = kJavas.size();
    do {
      Raised raised;
      raised.line = at_;
      raised.text = base::Trim(Text(at_).substr(words));
      chain.raised.insert(chain.raised.begin(), std::move(raised));
      for (++at_; at_ < lines_.size() && is_frame(Text(at_));) ++at_;
      words = kCause.size();
    } while (at_ < lines_.size() && Text(at_).starts_with(kCause));
    chain.end = at_;
    return chain;
  }

  // Reads a debugger's form, with the type in one line and the message in the next.
  Chain ReadDebuggers() {
    Chain chain;
    chain.begin = at_;
    Raised raised;
    std::string_view type = Text(at_).substr(kDebuggers.size());
    type = type.substr(0, type.find(' '));
    const std::string_view words = ++at_ < lines_.size() ? Text(at_++) : "";
    raised.line = at_ - 1;
    raised.text = std::string(type) + ": " + std::string(base::Trim(words));
    for (; at_ < lines_.size() && IsIndented(Text(at_)) && !Text(at_).empty(); ++at_) {
      const Frame frame = ReadFrame(Text(at_));
      if (!frame.file.empty() && raised.frames.size() < kMostFrames) raised.frames.push_back(frame);
    }
    chain.raised.push_back(std::move(raised));
    chain.end = at_;
    return chain;
  }

  static bool IsSyntaxError(std::string_view text) {
    return text.starts_with("SyntaxError: ") || text.starts_with("IndentationError: ") ||
           text.starts_with("TabError: ");
  }

  // The frame of a SyntaxError in this line without a header, above it and its line of code: Python
  // writes them one by one, so that lines of other threads and processes may stand between.
  Frame FrameAbove(size_t line) const {
    constexpr size_t kFarthest = 40;
    for (size_t i = line; i-- > 0 && line - i <= kFarthest;) {
      const std::string_view text = Text(i);
      if (text.find(kTracebackHeader) != std::string_view::npos || IsSyntaxError(text)) break;
      const Frame frame = ReadFrame(text);
      if (!frame.file.empty()) return frame.function.empty() ? frame : Frame{};
    }
    return {};
  }

  // Reads `  File "x.py", line 3`, the line of code, a mark, and the exception.
  Chain ReadSyntaxError() {
    constexpr size_t kLines = 5;
    Chain chain;
    chain.begin = at_;
    const Frame frame = ReadFrame(Text(at_++));
    for (size_t i = 0; i < kLines && at_ < lines_.size(); ++i, ++at_) {
      const std::string_view text = Text(at_);
      if (IsIndented(text)) continue;
      if (IsSyntaxError(text)) chain.raised.push_back({at_, std::string(text), {frame}});
      break;
    }
    chain.end = chain.raised.empty() ? at_ : ++at_;
    return chain;
  }

  std::span<const Line> lines_;
  const std::vector<std::string_view> texts_;
  size_t at_ = 0;
  bool is_inner_ = false;
  bool is_linked_ = false;
  bool is_aside_ = false;
  bool is_bare_ = false;      // the next exception has no header
  bool is_in_group_ = false;  // an ExceptionGroup, whose exceptions are its causes
};

}  // namespace

bool Frame::IsUsers() const {
  static constexpr auto kForeign = std::to_array<std::string_view>(
      {"site-packages/", "dist-packages/", "site-packages\\", "/lib/python", "/lib64/python",
       "\\lib\\", "\\Lib\\", "<frozen", "<string>", "<stdin>", "<muster>", "<__array_function__"});
  // Cython names the files of an installed package as they were when it was built:
  // "cupy_backends/cuda/api/runtime.pyx".
  if (file.ends_with(".pyx") && !file.starts_with('/')) return false;
  return std::none_of(kForeign.begin(), kForeign.end(), [this](std::string_view part) {
    return file.find(part) != std::string_view::npos;
  });
}

std::string_view Raised::Type() const {
  std::string_view type = text;
  type = type.substr(0, type.find_first_of(":\n"));
  const size_t dot = type.rfind('.');
  return dot == std::string_view::npos ? type : type.substr(dot + 1);
}

bool GoesOn(std::string_view before, std::string_view line) {
  static constexpr auto kCauses = std::to_array<std::string_view>(
      {"[Errno ", "Caused by", "caused by",
       "Cause: ", "cause: ", "Reason: ", "reason: ", "Input/output error",
       "No space left on device", "Stale file handle", "Disk quota exceeded"});
  if (line.empty() || line.starts_with("Traceback ")) return false;
  return base::Trim(before).ends_with(':') || IsOfCann(line) || line.starts_with("nccl") ||
         line == "Last error:" || line.find(" (os error ") != std::string_view::npos ||
         std::any_of(kCauses.begin(), kCauses.end(),
                     [line](std::string_view cause) { return line.starts_with(cause); });
}

std::string_view ReportedIn(std::string_view line) {
  static constexpr auto kWords = std::to_array<std::string_view>(
      {"essage", "rror", "err", "eason", "xception", "ause", "msg", "log"});
  for (size_t open = line.find('"'); open != std::string_view::npos;
       open = line.find('"', open + 1)) {
    const size_t word = line.find_last_not_of(" =:\"", open);
    const size_t close = line.rfind('"');
    if (word == std::string_view::npos || close <= open) continue;
    const std::string_view value = line.substr(open + 1, close - open - 1);
    const bool is_value = std::any_of(kWords.begin(), kWords.end(), [&](std::string_view each) {
      return line.substr(0, word + 1).ends_with(each);
    });
    if (is_value && EndsTraceback(value)) return value;
  }
  return "";
}

std::string_view FlattenedIn(std::string_view line) {
  constexpr size_t kLongest = 400;
  const size_t header = line.find(kTracebackHeader);
  if (header == std::string_view::npos) return "";
  const std::string_view traceback = line.substr(header + kTracebackHeader.size());
  for (size_t at = traceback.rfind(": "); at != std::string_view::npos && at > 0;
       at = traceback.rfind(": ", at - 1)) {
    size_t begin = at;
    while (begin > 0 && IsOfType(traceback[begin - 1])) --begin;
    if (begin > 0 && traceback[begin - 1] == '\\') ++begin;  // the n of "\n"
    const std::string_view text = traceback.substr(begin, kLongest);
    if (EndsTraceback(text)) return base::Trim(text);
  }
  return "";
}

Frame ReadFrame(std::string_view line) {
  constexpr std::string_view kFile = "File \"";
  constexpr std::string_view kLine = "\", line ";
  Frame frame;
  const size_t file = line.find(kFile);
  if (file == std::string_view::npos ||
      line.substr(0, file).find_first_not_of(" |>\t") != std::string_view::npos) {
    return frame;
  }
  const size_t name = file + kFile.size();
  const size_t end = line.find(kLine, name);
  if (end == std::string_view::npos) return frame;
  size_t digit = end + kLine.size();
  int number = 0;
  for (; digit < line.size() && base::IsDigit(line[digit]) && number < 100'000'000; ++digit) {
    number = number * 10 + (line[digit] - '0');
  }
  frame.file = line.substr(name, end - name);
  frame.line = number;
  const size_t in = line.find(" in ", digit);
  if (in != std::string_view::npos) frame.function = line.substr(in + 4);
  return frame;
}

size_t AboveTraceback(std::span<const Line> lines, size_t line) {
  size_t header = line;
  while (header > 0 && lines[header].text != kTracebackHeader &&
         lines[header - 1].text.starts_with(' ')) {
    --header;
  }
  if (header > 0 && header < line) --header;
  return header > 0 && lines[header].text == kTracebackHeader ? header - 1 : line;
}

size_t LastSaid(std::span<const Line> lines) {
  const auto last_before = [&lines](size_t end, auto is_passed) {
    while (end > 0 && is_passed(lines[end - 1].text)) --end;
    return end > 0 ? end - 1 : lines.size();
  };
  const auto is_empty = [](std::string_view text) { return base::Trim(text).empty(); };
  size_t last = last_before(lines.size(), SaysNothing);
  if (last == lines.size()) last = last_before(lines.size(), is_empty);
  if (last == lines.size()) return last;
  size_t header = last;
  while (header > 0 && IsIndented(lines[header].text)) --header;
  if (lines[header].text.find(kTracebackHeader) == std::string::npos) return last;
  const size_t before = last_before(header, is_empty);
  if (before < lines.size()) return before;
  for (size_t i = last; i > header; --i) {
    if (!ReadFrame(lines[i].text).file.empty()) return i;
  }
  return last;
}

std::vector<Chain> FindChains(std::span<const Line> lines) { return Reader(lines).Read(); }

}  // namespace answers
