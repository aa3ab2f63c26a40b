// Reflector keeps a handler informed of what exists: it lists, then watches without end. When a
// watch ends, it goes on from the last resourceVersion. It lists again if that version is too old,
// or newer than the server's own, as after the server was restored from a backup, and while watches
// end as soon as they begin, or are not answered although lists are, as behind some proxies.
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
  // The full list, at the start and after each relist. Objects that are not in it are gone.
  std::function<void(std::vector<text::Json> items)> replace;
  std::function<void(WatchEvent event)> apply;  // never a bookmark
  // The server keeps refusing to list or to watch: no permission, or no such kind. The reflector
  // goes on trying; a caller that waits for something may give up.
  std::function<void(const base::Error& error)> refused{};
  // Before a `replace` whose versions are lower than earlier ones.
  std::function<void()> history_lost{};
  // An attempt to list or to watch failed for another reason: the server does not answer. The
  // reflector goes on trying.
  std::function<void(const base::Error& error)> unreachable{};
  // After either of them: it watches again, with or without a new list.
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
