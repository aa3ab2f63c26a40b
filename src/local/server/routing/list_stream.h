// A list that is too long for one answer in memory: its rows are read as the peer takes them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "local/server/routing/backend.h"
#include "local/store/store.h"
#include "net/http/types.h"

namespace local::server {

// Text of a row's item is appended; nothing where the row is not of the list.
using PutItem = std::function<void(const store::Row& row, std::string& items)>;

// Answers with `head`, the items with commas between, and `tail`. Short ones at once and whole;
// else the peer gets a minute, and what is not taken then is broken off.
void SendList(Backend& backend, std::unique_ptr<store::ListCursor> cursor, PutItem put,
              std::string head, std::string tail, std::shared_ptr<net::Responder> responder);

}  // namespace local::server
