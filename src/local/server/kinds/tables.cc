#include "local/server/kinds/tables.h"

#include <fmt/format.h>

#include <iterator>

#include "api/job/training_summary.h"
#include "api/stall.h"
#include "base/strings.h"
#include "local/server/kinds/kind_rules.h"

namespace local::server {
namespace {

std::string MetadataOf(const text::Json& object) {
  const text::Json* metadata = text::Find(object, {"metadata"});
  return metadata == nullptr ? "{}" : text::ToJson(*metadata);
}

std::string PartialOf(std::string_view metadata) {
  return fmt::format(
      R"({{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{}}})",
      metadata);
}

}  // namespace

Form FormOf(std::string_view accept) {
  for (const std::string& offer : base::Split(accept, ',')) {
    if (offer.find("g=meta.k8s.io") == std::string::npos ||
        offer.find("v=v1beta1") != std::string::npos) {
      if (offer.find("as=") == std::string::npos && offer.find("json") != std::string::npos) {
        return Form::kObject;
      }
      continue;
    }
    if (offer.find("as=Table") != std::string::npos) return Form::kTable;
    if (offer.find("as=PartialObjectMetadata") != std::string::npos) return Form::kPartial;
  }
  return Form::kObject;
}

IncludeObject IncludeObjectOf(std::string_view text) {
  if (text == "None") return IncludeObject::kNone;
  if (text == "Object") return IncludeObject::kObject;
  return IncludeObject::kMetadata;
}

void TableBuilder::Add(const text::Json& object) {
  if (&resource_ == &api::kPyTorchJobs) {
    return Add(SummarizeJob(object, {}, now_),
               include_ == IncludeObject::kObject ? text::ToJson(object) : "");
  }
  rows_ += rows_.empty() ? R"({"cells":[)" : R"(,{"cells":[)";
  Cells cells(rows_);
  RulesOf(resource_).cells(object, now_, cells);
  rows_ += ']';
  AddObject(include_ == IncludeObject::kObject ? text::ToJson(object) : "",
            include_ == IncludeObject::kMetadata ? MetadataOf(object) : "");
}

void TableBuilder::Add(const JobRow& row, std::string_view object) {
  rows_ += rows_.empty() ? R"({"cells":[)" : R"(,{"cells":[)";
  Cells cells(rows_);
  cells.Plain(row.name);
  if (row.state.empty()) {
    cells.Null();
  } else {
    cells.Text(row.state);
  }
  cells.Plain(Age(row.created, now_));
  cells.Plain(row.status);
  cells.Plain("PYTORCHJOB");
  cells.Plain(base::ShortDuration(row.DurationAt(now_)));
  cells.Number(row.requested_gpus);
  cells.Number(row.allocated_gpus);
  cells.Text(row.node);
  cells.Plain(base::FormatRfc3339Micro(row.created));  // `list` sorts by it
  cells.Text(api::SayStall(row.stall_note, now_));
  rows_ += ']';
  AddObject(object, row.metadata);
}

void TableBuilder::AddObject(std::string_view json, std::string_view metadata) {
  if (include_ == IncludeObject::kObject) {
    rows_ += R"(,"object":)";
    rows_ += json;
  } else if (include_ == IncludeObject::kMetadata) {
    rows_ += R"(,"object":)";
    rows_ += PartialOf(metadata);
  } else {
    rows_ += R"(,"object":null)";
  }
  rows_ += '}';
}

std::string TableBuilder::Finish(std::string_view metadata, bool with_columns) {
  std::string table = fmt::format(
      R"({{"kind":"Table","apiVersion":"meta.k8s.io/v1","metadata":{},"columnDefinitions":)",
      metadata);
  if (with_columns) {
    table += '[';
    for (const Column& column : RulesOf(resource_).columns) {
      fmt::format_to(
          std::back_inserter(table),
          R"({}{{"name":"{}","type":"{}","format":"{}","description":"","priority":{}}})",
          table.back() == '[' ? "" : ",", column.name, column.type,
          column.name == "Name" ? "name" : "", column.priority);
    }
    table += ']';
  } else {
    table += "null";
  }
  table += R"(,"rows":[)";
  table += rows_;
  table += "]}";
  return table;
}

std::string PartialObject(const text::Json& object) { return PartialOf(MetadataOf(object)); }

}  // namespace local::server
