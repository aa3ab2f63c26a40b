// Finds the API server's resource for an object, with one request per group version.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/clock.h"
#include "cluster/client.h"

namespace arena {

// Not thread safe. Borrows the client.
class KindFinder {
 public:
  static constexpr std::chrono::seconds kDefinitionTimeout{30};

  // `cluster_is_this_machine` affects the error about missing kinds.
  KindFinder(cluster::Client& client, bool cluster_is_this_machine)
      : client_(client), cluster_is_this_machine_(cluster_is_this_machine) {}
  KindFinder(const KindFinder&) = delete;
  KindFinder& operator=(const KindFinder&) = delete;

  // Valid while this lives. kInvalidArgument when the server does not have the kind: names it and
  // says how to install it. Blocks.
  base::Result<const api::Resource*> Find(std::string_view api_version, std::string_view kind);
  // A CustomResourceDefinition was applied: Find asks again, and waits up to kDefinitionTimeout for
  // the kind that it defines, calling `pause` between two requests. There is no event for this:
  // only discovery shows that a server has begun to serve a kind.
  void Expect(const text::Json& definition, std::function<void(base::Duration)> pause);

 private:
  struct Kind {
    std::string group, version, plural, singular, kind;
    api::Resource resource;  // views of the strings above
  };
  using Kinds = std::vector<const api::Resource*>;

  struct Definition {
    std::string group, kind, name;  // name: that of the definition
  };

  base::Result<const api::Resource*> FindNow(std::string_view api_version, std::string_view kind);
  const Definition* DefinitionOf(std::string_view api_version, std::string_view kind) const;
  // Why the kind of a definition does not exist yet; may be "".
  std::string WhatDelays(const Definition& definition);
  base::Result<const Kinds*> KindsOf(const std::string& api_version);
  // Another version of the kind's group in which the cluster has it, as an apiVersion, or of any
  // group for "v1", "batch/v1" and others of Kubernetes' own, which are easily mistaken; "" if none
  // is known. Groups with a dot have kinds of the same names: Knative's Service is none of
  // Kubernetes'.
  std::string OtherVersion(std::string_view api_version, std::string_view kind);
  base::Error Missing(std::string_view api_version, std::string_view kind, const Kinds* others);

  cluster::Client& client_;
  const bool cluster_is_this_machine_;
  std::deque<Kind> kinds_;  // never moved or removed
  std::map<std::string, Kinds> known_;
  std::vector<Definition> expected_;
  std::function<void(base::Duration)> pause_;
};

}  // namespace arena
