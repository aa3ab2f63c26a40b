#include "runs/bucket.h"

#include <array>

namespace runs {
namespace {

struct Words {
  std::string_view name, meaning;
};

constexpr std::array<Words, kBuckets> kWords = {{
    {"queued", "waits for its turn"},
    {"admitted", "has its place, nothing is started yet"},
    {"image/code", "images, code and init containers"},
    {"interpreters", "programs start, up to their first line"},
    {"rendezvous", "ranks find each other"},
    {"first step", "up to the first step"},
    {"steps", "steps that stayed"},
    {"data wait", "waits for the next batch"},
    {"checkpoint save", "saves, and makes no step"},
    {"restore", "loads a checkpoint"},
    {"lost progress", "steps that were made again, or cut off"},
    {"recovery", "from a failure until programs start again"},
    {"stalled", "ranks wait for one that does not come"},
    {"suspended", "was suspended"},
    {"ending", "from the last step to the end"},
    {"unknown", "nothing tells"},
}};

}  // namespace

std::string_view NameOf(Bucket bucket) { return kWords[static_cast<size_t>(bucket)].name; }

std::string_view MeaningOf(Bucket bucket) { return kWords[static_cast<size_t>(bucket)].meaning; }

}  // namespace runs
