// Mends the ranks that files tell by a comparison of all files, for read_log.h.
#pragma once

#include <optional>
#include <vector>

#include "answers/files/file.h"

namespace answers {

// Takes back the ranks that are fields of records where they are other numbers: those of the
// processes on each of several hosts, or of others than the one that the file's name tells.
void DropOtherFields(std::vector<File>& files);

// The number of a pod that is described without a label for it may be in the name of its log.
void NameDescribedByLogs(std::vector<File>& files);

// Gives logs whose names say no rank those of the pods of these names, that kubectl has described.
void NameLogsByDescribed(std::vector<File>& files);

// Of files whose names end in a number: forgets the numbers where torchrun's table in one of them
// has another rank, because they are the nodes'.
void DropNumbersOfNodes(std::vector<File>& files);

// Where an agent of torchrun's has several processes, Slurm's tasks are agents: forgets how srun
// says that they ended.
void DropEndsOfAgents(std::vector<File>& files);

// By what torchrun's agents say of the only process of each file, or of each pod in it: in an
// elastic job the number in a pod's name is not its rank.
void NameRanksByAgents(std::vector<File>& files);

// By the environments that the files of single processes, or the pods in them, show.
void NameRanksByEnvironment(std::vector<File>& files);

// DeepSpeed's launcher says of no process which one ended: each uses the GPU of its local rank, and
// the exception that its memory is too small names that.
void NameRanksByGpus(std::vector<File>& files);

// Names the ranks of Ray's session files, "worker-ID-JOB-PID.err", by the PIDs in Ray Train's table
// of workers, which the driver prints.
void NameRaysFiles(std::vector<File>& files);

// Launchers' tables name the error file; otherwise its own name has to do.
std::optional<int> RankOfErrorFile(const File& error, const std::vector<File>& logs);

}  // namespace answers
