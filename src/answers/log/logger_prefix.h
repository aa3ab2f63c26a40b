// The prefix of torch's own logger.
#pragma once

#include <vector>

#include "answers/log/log_line.h"

namespace answers {

// torch's logger writes its prefix before each line of a message
// (TorchLogsFormatter.format in torch/_logging/_internal.py):
//   I1210 18:28:01.790000 1 torch/distributed/elastic/agent/server/api.py:525]   global_ranks=[8,
//   9]
// and, before it took glog's form, behind a time that has been read already:
//   torch.distributed.elastic.agent.server.api: [INFO]   global_ranks=[8, 9]
// Removes it from the indented lines of torch.distributed's messages, so that these read as in logs
// of other loggers, which write it before the first line only.
void TakeLoggerPrefixes(std::vector<LogLine>& lines);

}  // namespace answers
