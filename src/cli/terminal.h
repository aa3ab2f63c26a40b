// The output of a command, and the properties of its terminal.
#pragma once

#include <string>
#include <string_view>
#include <vector>

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

// Lines at the bottom of a terminal that are redrawn again and again. For terminals only.
class BottomLines {
 public:
  explicit BottomLines(Output& output) : output_(output) {}

  // Replaces the current lines; each is shortened in the middle to the terminal's width.
  void Draw(const std::vector<std::string>& lines);
  // Removes them; the next output begins where they began.
  void Clear();
  bool has_lines() const { return !drawn_.empty(); }

 private:
  std::string ToTop() const;

  Output& output_;
  std::vector<std::string> drawn_;
};

// `text` shortened to `width` columns, a code point each, by "..." in its middle.
std::string ElideMiddle(std::string_view text, size_t width);

}  // namespace cli
