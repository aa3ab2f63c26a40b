// JSON documents as the tools of log collectors print them: one that contains all records.
#pragma once

#include <string_view>
#include <vector>

#include "text/json.h"

namespace answers {

// The records of an array, of "events" (`aws logs get-log-events`, `filter-log-events`), "entries"
// (Cloud Logging), "data" (Datadog) and "hits" (Elasticsearch), of the streams of Loki, of the
// columns of CloudWatch Insights and Log Analytics, and of indented objects one after another
// (journalctl -o json-pretty, jq). All are objects. Empty for another text, for one line of a log
// that has a record on each, and for a text over 64 MiB.
std::vector<text::Json> RecordsOfDocument(std::string_view text);

}  // namespace answers
