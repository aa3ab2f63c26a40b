#include "runs/bucket.h"

#include <array>

namespace runs {
namespace {

struct Words {
  std::string_view name, meaning;
};

constexpr std::array<Words, kBuckets> kWords = {{
    {"queued", "waiting for its turn"},
    {"admitted", "scheduled, nothing has started yet"},
    {"image/code", "images, code and init containers"},
    {"interpreters", "programs start, until their first line"},
    {"rendezvous", "ranks find each other"},
    {"first step", "up to the first step"},
    {"steps", "steps whose result was kept"},
    {"data wait", "waiting for the next batch"},
    {"checkpoint save", "saving, without a step"},
    {"restore", "loading a checkpoint"},
    {"lost progress", "steps that were repeated or interrupted"},
    {"recovery", "from a failure until the programs run again"},
    {"stalled", "ranks wait for one that does not arrive"},
    {"suspended", "suspended"},
    {"ending", "from the last step to the end"},
    {"unknown", "no source covers it"},
}};

}  // namespace

std::string_view NameOf(Bucket bucket) { return kWords[static_cast<size_t>(bucket)].name; }

std::string_view MeaningOf(Bucket bucket) { return kWords[static_cast<size_t>(bucket)].meaning; }

}  // namespace runs
