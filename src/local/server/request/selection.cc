#include "local/server/request/selection.h"

#include <utility>

#include "api/names.h"

namespace local::server {

Answer<Selection> Selection::Of(const RestRequest& request) {
  Selection selection;
  auto labels = api::LabelSelector::Parse(request.target.Query("labelSelector"));
  if (!labels) {
    return Refuse(BadRequest(labels.error().Wrap("unable to parse requirement").message));
  }
  auto fields = api::FieldSelector::Parse(request.target.Query("fieldSelector"));
  if (!fields) return Refuse(BadRequest(fields.error().message));
  if (const auto has = fields->CheckFor(*request.resource); !has) {
    return Refuse(BadRequest(has.error().message));
  }
  selection.labels_ = std::move(*labels);
  selection.fields_ = std::move(*fields);
  return selection;
}

bool Selection::MatchesText(std::string_view json) const {
  if (IsAll()) return true;
  if (fields_.is_empty()) {
    // For a long list this is most of the work, so it parses nothing beyond the metadata.
    const std::string_view text = text::FindText(json, {"metadata", "labels"});
    auto labels = text.empty() ? text::Json(text::Object()) : text::ParseJson(text);
    return labels && labels_.Matches(
                         text::Object{{"metadata", text::Object{{"labels", std::move(*labels)}}}});
  }
  const auto object = text::ParsePart(json, store::SelectableParts());
  return object && Matches(*object);
}

store::ListQuery Selection::Narrow(const RestRequest& request) const {
  store::ListQuery query;
  query.resource = store::ResourceName(*request.resource);
  query.namespace_name = request.namespace_name;
  query.name = fields_.ExactValue("metadata.name").value_or("");
  query.job = labels_.ExactValue(api::kJobNameLabel).value_or("");
  if (query.job.empty()) query.release = labels_.ExactValue("release").value_or("");
  if (const auto ns = fields_.ExactValue("metadata.namespace");
      ns && query.namespace_name.empty()) {
    query.namespace_name = *ns;
  }
  return query;
}

}  // namespace local::server
