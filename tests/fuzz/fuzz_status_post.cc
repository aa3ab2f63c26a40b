#include <cstdint>
#include <string_view>

#include "runs/progress/history.h"
#include "runs/progress/status_post.h"

// What a program posts of its progress: what is taken is taken again as it was answered.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto post = runs::ReadStatusPost({reinterpret_cast<const char*>(data), size});
  if (!post) return 0;
  // A control character of a name takes six bytes in the answer.
  if (post->answer.size() <= runs::kMostPostBytes) {
    const auto again = runs::ReadStatusPost(post->answer);
    if (!again || again->answer != post->answer) __builtin_trap();
  }
  runs::History history;
  history.Note("status posts", 1, post->progress, post->percent);
  runs::History::Read(history.TakeNew()).Latest();
  return 0;
}
