// Sums of resource quantities, printed as Kubernetes prints them.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "text/json.h"

namespace reconcile {

class ResourceSum {
 public:
  // Adds every quantity of a core/v1 ResourceList; skips a value that is not a quantity.
  void Add(const text::Object& resources);
  // {"cpu": "1500m", "memory": "2Gi"}, sorted by name.
  text::Object ToJson() const;

 private:
  struct Quantity {
    int64_t milli = 0;
    bool is_binary = false;  // written with Ki, Mi, ...; the first one added decides
  };
  static std::string ToText(const Quantity& quantity);

  std::map<std::string, Quantity> sums_;
};

}  // namespace reconcile
