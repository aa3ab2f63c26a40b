// What the launcher of another node tells, read and judged by as the host does.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "check.h"
#include "launch/agent/node_news.h"

namespace {

constexpr const char* kWaits =
    "Current thread 0x00007f2 (most recent call first):\n"
    "  File \"/opt/torch/distributed/distributed_c10d.py\", line 30 in barrier\n"
    "  File \"/home/me/train.py\", line 12 in <module>\n";

std::string NoLine(std::string_view, int) { return ""; }

bool IsPrintable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
}

// Rank 0 is the host's, and waits; the other node has rank 1.
std::string SayOf(launch::NodeNews news) {
  answers::StallWatch watch(std::chrono::seconds(3), true, 2);
  answers::StallWatch::Instant now{};
  std::vector<answers::RankLook> looks = std::move(news.looks);
  looks.push_back({0, 1, false, false, {'S'}});
  answers::StallWatch::Testimony testimony{{{0, kWaits}}, {}};
  if (news.testimony) testimony.Add(std::move(*news.testimony));
  std::string said;
  for (int i = 0; i < 20; ++i) {
    now += std::chrono::seconds(1);
    if (watch.See(now, looks)) watch.Judge(now, testimony, NoLine);
    if (watch.stall()) said = answers::Say(*watch.stall(), now);
  }
  return said;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto news = launch::DecodeNews({reinterpret_cast<const char*>(data), size});
  if (!news) return 0;
  const std::string written = launch::EncodeNews(*news);
  const auto again = launch::DecodeNews(written);
  fuzz::Hold("what is written can be read", again.has_value());
  fuzz::Same("it is the same", written, launch::EncodeNews(*again));
  fuzz::Hold("the line can be printed", IsPrintable(news->line));
  if (launch::IsOf(*news, 1, 1)) {
    fuzz::Hold("what the host says can be printed", IsPrintable(SayOf(std::move(*news))));
  }
  return 0;
}
