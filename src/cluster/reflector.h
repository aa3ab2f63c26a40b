// Reflector: list, then watch, for ever: keeps a handler told of what exists. Resumes from the last
// resourceVersion when a watch ends, lists again when that is too old, or younger than the server
// itself: one that was restored from a copy of yesterday would be silent until it is there again.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "cluster/client.h"

namespace cluster {

struct ReflectorHandler {
  // All called on the reflector's thread.
  // The full list, at the start and after each relist: what is not in it is gone.
  std::function<void(std::vector<text::Json> items)> replace;
  std::function<void(WatchEvent event)> apply;  // never a bookmark
  // The server goes on refusing to list or to watch: no right to, or no such kind. Trying goes on;
  // a caller that waits for something may rather end.
  std::function<void(const base::Error& error)> refused{};
  // Before a `replace` whose versions begin anew below those of before.
  std::function<void()> history_lost{};
  // A try to list or to watch came to nothing for another reason: nobody answers there. Trying goes
  // on.
  std::function<void(const base::Error& error)> unreachable{};
  // After either: it is watched again, with or without a new list.
  std::function<void()> recovered{};
};

class Reflector {
 public:
  // Starts its thread. Retries with back-off (100 ms to 10 s) as long as it lives.
  Reflector(Client& client, const api::Resource& resource, ListOptions options,
            ReflectorHandler handler);
  ~Reflector();  // cancels and joins

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace cluster
