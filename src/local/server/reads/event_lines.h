// The lines that a watch is sent, in the format that its client has asked for.
#pragma once

#include <string>
#include <string_view>

#include "local/server/backend/backend.h"
#include "local/server/kinds/tables.h"
#include "local/server/request/selection.h"

namespace local::server {

// One thread at a time. Borrows the backend.
class EventLines {
 public:
  EventLines(Backend& backend, const api::Resource& resource, Selection selection, Form form,
             IncludeObject include)
      : backend_(backend),
        resource_(resource),
        selection_(std::move(selection)),
        form_(form),
        include_(include) {}

  const Selection& selection() const { return selection_; }
  // Watches with the same key get the same lines for an event.
  std::string Key() const;
  // {"type":..,"object":..}\n
  static std::string Line(std::string_view type, std::string_view object);
  // The line for an existing object; "" when the selectors do not match it.
  std::string Existing(std::string_view json);
  // What the event is for this watcher, "" for nothing: an object that starts to match the
  // selectors is added, one that stops is deleted. `object` is the event's, parsed, or null.
  std::string_view TypeFor(const store::Event& event, const text::Json* object) const;
  // The object as the lines have it.
  std::string Render(std::string_view json);
  // Whether its lines have the objects as they are stored.
  bool AreWhole() const { return form_ == Form::kObject; }
  std::string Bookmark(int64_t version, bool is_initial_end) const;
  // The client knows the table's columns.
  void ColumnsAreSent() { needs_columns_ = false; }

 private:
  Backend& backend_;
  const api::Resource& resource_;
  const Selection selection_;
  const Form form_;
  const IncludeObject include_;
  bool needs_columns_ = true;
};

}  // namespace local::server
