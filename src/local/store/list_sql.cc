#include "local/store/list_sql.h"

namespace local::store {
namespace {

// A job or an owner has few objects, so its index is better than the one in list order.
bool IsNarrow(const ListQuery& query) {
  return !query.job.empty() || !query.owner.empty() || !query.release.empty();
}

// The plus keeps the planner from using the other index.
std::string Where(const ListQuery& query) {
  std::string sql = " WHERE resource=?1";
  if (!query.namespace_name.empty())
    sql += IsNarrow(query) ? " AND +namespace=?2" : " AND namespace=?2";
  if (!query.name.empty()) sql += " AND name=?3";
  if (!query.job.empty()) sql += " AND job=?4 AND job<>''";
  if (!query.owner.empty()) sql += " AND owner=?5 AND owner<>''";
  if (!query.release.empty()) sql += " AND release=?8 AND release<>''";
  if (!query.after.second.empty()) {
    // Within one namespace, SQLite would sort all that follows, with the objects' text, for each
    // page of a list.
    const bool is_within =
        !query.namespace_name.empty() && query.after.first == query.namespace_name;
    sql += is_within ? " AND name > ?7" : " AND (namespace, name) > (?6, ?7)";
  }
  // Unused arguments are bound too, so ?8 must exist.
  sql += " AND ?8 IS NOT NULL";
  return sql;
}

}  // namespace

std::string ListSql(const ListQuery& query) {
  return "SELECT namespace, name, version, json FROM objects" + Where(query) +
         (IsNarrow(query) ? " ORDER BY +namespace, +name" : " ORDER BY resource, namespace, name");
}

std::string CountSql(const ListQuery& query) {
  return "SELECT count(*) FROM objects" + Where(query);
}

}  // namespace local::store
