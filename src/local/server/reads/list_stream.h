// A list that is too long to hold in memory: its rows are read as the peer reads them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "local/server/backend/backend.h"
#include "local/store/store.h"
#include "net/http/types.h"

namespace local::server {

// Appends the text of a row's item; none for a row that is not part of the list.
using PutItem = std::function<void(const store::Row& row, std::string& items)>;

// Answers with `head`, the items separated by commas, and `tail`. A short list is sent whole at
// once; for a longer one the peer has a minute, after which the answer is cut off.
void SendList(Backend& backend, std::unique_ptr<store::ListCursor> cursor, PutItem put,
              std::string head, std::string tail, std::shared_ptr<net::Responder> responder);

}  // namespace local::server
