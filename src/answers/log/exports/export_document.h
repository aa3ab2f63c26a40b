// Documents as the tools of log collectors write them: one that contains all records.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/json.h"

namespace answers {

// The records of an array, of "events" (`aws logs get-log-events`, `filter-log-events`), "entries"
// (Cloud Logging), "data" (Datadog) and "hits" (Elasticsearch), of the streams of Loki, of the
// columns of CloudWatch Insights and Log Analytics, of indented objects one after another
// (journalctl -o json-pretty, jq), of YAML (`gcloud logging read`), and of tables with commas
// whose first row names a column of times, then called "timestamp", and one of texts, "message".
// All are objects. Empty for another text, for a log that has a record on each line, for a text
// over 64 MiB, and for one whose labels or names of columns would take more than 256 MiB in all its
// records.
std::vector<text::Json> RecordsOfDocument(std::string_view text);

// The texts of several lines in one JSON document: what a service answers about a job ("logs"), a
// notebook's file. "" if there are none. Pure.
std::string TextsOfDocument(std::string_view text);

}  // namespace answers
