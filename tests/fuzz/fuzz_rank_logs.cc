#include <algorithm>
#include <cstdint>

#include "api/rank_label.h"
#include "arena/history/mask.h"
#include "arena/history/ranks.h"
#include "arena/logs/log_fold.h"
#include "arena/logs/rank_lines.h"

// Lines of four ranks and other lines, at times that their own bytes decide.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  arena::LogFold fold({4, false, false});
  std::string shown, last_time;
  size_t count = 0;
  for (arena::TimedLine& line : arena::SplitTimedLines(text, last_time)) {
    const auto label = api::ReadRankLabel(line.text);
    const int by_size = static_cast<int>(line.text.size() % 5);
    fold.Add(label         ? std::optional(label->number)
             : by_size < 4 ? std::optional(by_size)
                           : std::nullopt,
             "pod", line, {});
    (void)arena::StepIn(label ? label->text : line.text);
    ++count;
    shown += fold.Take({});
  }
  shown += fold.TakeAll();
  // A count of repeats stands for at least one line.
  if (static_cast<size_t>(std::count(shown.begin(), shown.end(), '\n')) > count) __builtin_trap();

  arena::Mask mask;
  mask.Learn(text::Object{{"name", "A_TOKEN"}, {"value", "tiger-22"}});
  text.insert(size / 2, "tiger-22");
  if (mask.Of(text).find("tiger-22") != std::string::npos) __builtin_trap();
  return 0;
}
