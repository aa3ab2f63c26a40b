// A train.yaml for tests, with parts to replace.
#pragma once

#include <string>

namespace ads {

struct TrainYaml {
  std::string infrastructure =
      "      projectId: p1\n      compartmentId: c1\n      displayName: Training\n"
      "      subnetId: s1\n      shapeName: VM.GPU2.1\n      blockStorageSize: 50\n";
  std::string cluster_kind = "pytorch";
  std::string cluster =
      "      image: iad.ocir.io/ns/img:1\n      workDir: \"oci://b@n/p\"\n"
      "      main: {name: m, replicas: 1}\n      worker: {name: w, replicas: 2}\n";
  std::string runtime_type;
  std::string runtime = "      entryPoint: train.py\n      args: [--a, 1]\n";

  std::string Text() const {
    return "kind: distributed\napiVersion: v1.0\nspec:\n  infrastructure:\n    kind: "
           "infrastructure\n"
           "    type: dataScienceJob\n    spec:\n" +
           infrastructure + "  cluster:\n    kind: " + cluster_kind + "\n    spec:\n" + cluster +
           "  runtime:\n    kind: python\n" +
           (runtime_type.empty() ? "" : "    type: " + runtime_type + "\n") + "    spec:\n" +
           runtime;
  }
};

}  // namespace ads
