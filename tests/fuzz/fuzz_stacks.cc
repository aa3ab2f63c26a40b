#include <cstdint>

#include "answers/stall/stall.h"
#include "witness/stall_word.h"

// Two ranks: what one says of where it stands is the first half.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::map<int, std::string> dumps = {{0, text.substr(0, size / 2)}, {1, text}};
  answers::StallWatch watch(std::chrono::seconds(3), true, 2);
  answers::StallWatch::Instant now{};
  const std::vector<answers::RankLook> looks = {{0, 1, false, true, {'S'}},
                                                {1, 2, false, false, {'S'}}};
  std::string said;
  for (int i = 0; i < 20; ++i) {
    now += std::chrono::seconds(1);
    if (watch.See(now, looks)) {
      watch.Judge(now, {dumps, dumps},
                  [](std::string_view file, int) { return std::string(file); });
    }
    if (watch.stall()) said = answers::Say(*watch.stall(), now);
  }
  said += answers::RenderStacks({{"rank 0", dumps.at(0), "none"}, {"rank 1", text, "none"}}, true);
  for (const char c : said) {
    if ((c < ' ' && c != '\n') || c > '~') __builtin_trap();
  }
  if (const auto word = witness::ParseStallWord(text, now)) {
    const std::string written = witness::FormatStallWord(*word);
    const auto again = witness::ParseStallWord(written, now);
    if (!again || witness::FormatStallWord(*again) != written) __builtin_trap();
  }
  return 0;
}
