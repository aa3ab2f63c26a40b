// labelSelector and fieldSelector of a request.
#pragma once

#include <string_view>

#include "api/selector.h"
#include "local/server/request/api_error.h"
#include "local/server/request/rest_request.h"
#include "local/store/store.h"
#include "text/json.h"

namespace local::server {

class Selection {
 public:
  // 400 when one of them cannot be parsed.
  static Answer<Selection> Of(const RestRequest& request);

  bool IsAll() const { return labels_.is_empty() && fields_.is_empty(); }
  bool Matches(const text::Json& object) const {
    return labels_.Matches(object) && fields_.Matches(object);
  }
  // Also false for invalid JSON.
  bool MatchesText(std::string_view json) const;
  // The part of the selection that the store's indexes can answer.
  store::ListQuery Narrow(const RestRequest& request) const;

 private:
  api::LabelSelector labels_;
  api::FieldSelector fields_;
};

}  // namespace local::server
