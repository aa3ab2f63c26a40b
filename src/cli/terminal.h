// The output of a command, and the properties of its terminal.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace cli {

class Output {
 public:
  virtual ~Output() = default;
  // Writes everything at once, without buffering.
  virtual base::Status Write(std::string_view text) = 0;
  virtual bool IsTerminal() const { return false; }
  // Whether the output may be coloured.
  virtual bool HasColour() const { return false; }
  // Columns; 0 when unknown.
  virtual int Width() const { return 0; }
};

// A borrowed file descriptor. After a failed write, all later ones fail with the same error.
class FdOutput : public Output {
 public:
  explicit FdOutput(int fd);
  base::Status Write(std::string_view text) override;
  bool IsTerminal() const override { return is_terminal_; }
  bool HasColour() const override;
  int Width() const override;

 private:
  int fd_;
  bool is_terminal_;
  int failed_errno_ = 0;
};

class StringOutput : public Output {
 public:
  base::Status Write(std::string_view text) override {
    text_ += text;
    return {};
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

enum class Paint { kGood, kBusy, kWaiting, kBad, kStrong };
// `text` in that colour if `output` has colours, otherwise unchanged.
std::string Painted(const Output& output, Paint paint, std::string_view text);

// A state of a job, an instance or a node, coloured by its meaning.
std::string PaintedState(const Output& output, std::string_view state);

// One status line that overwrites itself on a terminal, plain lines elsewhere.
class LinePrinter {
 public:
  explicit LinePrinter(Output& output) : output_(output) {}
  ~LinePrinter() { Finish(); }

  // Replaces the status line; shortened in the middle to the terminal's width. Without a terminal:
  // printed as a line.
  void Status(std::string_view line);
  // Prints a permanent line.
  void Line(std::string_view line);
  // Removes the status line.
  void Clear();
  // Keeps the present status line and ends it.
  void Finish();

 private:
  Output& output_;
  bool has_status_ = false;
};

// `text` shortened to `width` columns by "..." in its middle.
std::string ElideMiddle(std::string_view text, size_t width);

}  // namespace cli
