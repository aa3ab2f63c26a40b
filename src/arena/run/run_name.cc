#include "arena/run/run_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>

#include "base/strings.h"

namespace arena {
namespace {

constexpr size_t kMaxStem = 40;

constexpr std::array kWords = {
    "acorn", "amber", "aspen", "badge", "basil", "birch", "bison", "brook", "cabin", "cedar",
    "chalk", "cider", "cliff", "cloud", "clove", "coral", "crane", "daisy", "delta", "dune",
    "eagle", "ember", "fern",  "finch", "flint", "frost", "grove", "hazel", "heron", "holly",
    "ivory", "jade",  "kite",  "lark",  "lemon", "lilac", "lotus", "maple", "marsh", "mango",
    "mint",  "moss",  "oak",   "olive", "onyx",  "otter", "pearl", "pine",  "plum",  "quail",
    "raven", "reed",  "robin", "sage",  "shell", "slate", "stone", "swan",  "teal",  "thyme",
    "topaz", "tulip", "wren",  "zebra"};

// Returns what a name begins with: "my-train-v2" for the stem "My train.v2".
std::string NameStem(std::string_view stem) {
  std::string name;
  for (const char c : base::ToLower(stem)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    if (is_plain) {
      name += c;
    } else if (!name.empty() && !name.ends_with('-')) {
      name += '-';
    }
  }
  if (name.empty() || name.front() < 'a') name = "run-" + name;
  name.resize(std::min(name.size(), kMaxStem));
  while (name.ends_with('-')) name.pop_back();
  return name;
}

}  // namespace

std::string RandomName(std::string_view stem) {
  std::random_device random;
  return fmt::format("{}-{}", NameStem(stem), kWords[random() % kWords.size()]);
}

}  // namespace arena
