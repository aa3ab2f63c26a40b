// What the API server fills into a Service.
#pragma once

#include "text/json.h"

namespace local::server {

// Type and ports as Kubernetes defaults them.
void SetServiceDefaults(text::Json& service);
// What Kubernetes fills in when the service is stored, and nobody owns: its families. No cluster IP
// is handed out: pods share this machine's network, and reach each other by name.
void SetServiceFamilies(text::Json& service);

}  // namespace local::server
