// Label and field selectors of the Kubernetes API.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/resources.h"
#include "base/result.h"
#include "text/json.h"

namespace api {

// `a=b,c==d,e!=f,g,!h,i in (x,y),j notin (x),k>1,l<2`; "" matches everything.
class LabelSelector {
 public:
  // kInvalidArgument names the requirement that cannot be parsed.
  static base::Result<LabelSelector> Parse(std::string_view text);
  // A LabelSelector object: {matchLabels, matchExpressions}. An empty object matches everything.
  static base::Result<LabelSelector> FromJson(const text::Json& selector);

  bool Matches(const text::Json& object) const;  // matches metadata.labels
  bool MatchesLabels(const text::Object* labels) const;
  bool is_empty() const { return requirements_.empty(); }
  // The value that the selector requires `key` to have, if it requires one: for indexes.
  std::optional<std::string_view> ExactValue(std::string_view key) const;

 private:
  enum class Operator { kIn, kNotIn, kExists, kDoesNotExist, kGreater, kLess };
  struct Requirement {
    std::string key;
    Operator op = Operator::kExists;
    std::vector<std::string> values;
  };
  class Parser;

  static bool Matches(const Requirement& requirement, const text::Object* labels);

  std::vector<Requirement> requirements_;
};

// `metadata.name=a,status.phase!=Running`; "" matches everything. An absent field equals "".
// Each kind has metadata.name and metadata.namespace, and pods, services, secrets, nodes,
// namespaces and events have more.
class FieldSelector {
 public:
  // kInvalidArgument names the part that cannot be parsed.
  static base::Result<FieldSelector> Parse(std::string_view text);

  // kInvalidArgument, in the words of kube-apiserver: the kind does not have one of the fields.
  base::Status CheckFor(const Resource& resource) const;

  bool Matches(const text::Json& object) const;
  bool is_empty() const { return requirements_.empty(); }
  std::optional<std::string_view> ExactValue(std::string_view field) const;

 private:
  struct Requirement {
    std::string field;
    std::string value;
    bool is_equal = true;
  };
  std::vector<Requirement> requirements_;
};

}  // namespace api
