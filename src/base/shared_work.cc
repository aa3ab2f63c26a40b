#include "base/shared_work.h"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

namespace base {

Status ShareWork(size_t size, size_t least,
                 const std::function<Status(size_t from, size_t count)>& work) {
  const size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const size_t share = std::max(least, size / processors + 1);
  std::vector<std::future<Status>> others;
  for (size_t from = share; from < size; from += share) {
    others.push_back(std::async(std::launch::async, work, from, std::min(share, size - from)));
  }
  Status status = work(0, std::min(share, size));
  for (auto& other : others) {
    const Status ended = other.get();
    if (status) status = ended;
  }
  return status;
}

}  // namespace base
