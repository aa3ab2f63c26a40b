// Which resource of the API server an object is: asked of the server, one request a group version.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "cluster/client.h"

namespace arena {

// Not thread safe. Borrows the client.
class KindFinder {
 public:
  // `cluster_is_this_machine`: what an error says of kinds that are missing.
  KindFinder(cluster::Client& client, bool cluster_is_this_machine)
      : client_(client), cluster_is_this_machine_(cluster_is_this_machine) {}
  KindFinder(const KindFinder&) = delete;
  KindFinder& operator=(const KindFinder&) = delete;

  // Valid as long as this. kInvalidArgument when the server has no such kind: names it and says how
  // to install it. Blocks.
  base::Result<const api::Resource*> Find(std::string_view api_version, std::string_view kind);
  // The next Find asks again: a definition of kinds was applied.
  void Forget() { known_.clear(); }

 private:
  struct Kind {
    std::string group, version, plural, singular, kind;
    api::Resource resource;  // views of the strings above
  };
  using Kinds = std::vector<const api::Resource*>;

  base::Result<const Kinds*> KindsOf(const std::string& api_version);
  base::Error Missing(std::string_view api_version, std::string_view kind,
                      const Kinds* others) const;

  cluster::Client& client_;
  const bool cluster_is_this_machine_;
  std::deque<Kind> kinds_;  // never moved, never dropped
  std::map<std::string, Kinds> known_;
};

}  // namespace arena
