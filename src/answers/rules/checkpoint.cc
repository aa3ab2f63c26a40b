#include "answers/rule.h"

namespace answers {

std::vector<Rule> CheckpointRules() {
  return {
      {.kind = "checkpoint-mismatch",
       .title = "the checkpoint is not of this model",
       .advice = Advice::kFixFirst,
       .advice_text = "Load it into the model that wrote it: the message names the keys and sizes "
                      "that differ (a \"module.\" before them comes from DistributedDataParallel).",
       .exceptions = {"Error(s) in loading state_dict for",
                      "loaded state dict contains a parameter group that doesn't match the size",
                      "loaded state dict has a different number of parameter groups",
                      "Missing key in checkpoint state_dict",
                      "ValueError: Size mismatch between saved",
                      "The checkpoint being loaded used a DP world size of",
                      "value from checkpoint (*is not equal to the input argument value",
                      "You set `ignore_mismatched_sizes` to `False`, thus raising an error",
                      "Trying to restore optimizer state but checkpoint contains only the model",
                      "ValueError: Trying to set a tensor of shape *this look",
                      "Missing key(s) in state_dict",
                      "Unexpected key(s) in state_dict",
                      "size mismatch for *: copying a param with shape",
                      "ize mismatch *: copying a param",
                      "is not compatible with the checkpoint",
                      "Wrong state_dict format",
                      "checkpoint version: * is not supported",
                      "doesn't match the one used while generating the checkpoint",
                      "ank at save time was",
                      "not fully initialized after checkpoint load"},
       // A class that the checkpoint was saved with, and this program has not.
       .raised_in = {"^AttributeError: Can't get attribute *\n*torch/serialization.py",
                     "^AttributeError: Can't get attribute *\n*torch/_weights_only"}},
      {.kind = "checkpoint-mismatch",
       .title = "torch.load refuses what is in the checkpoint",
       .advice = Advice::kFixFirst,
       .advice_text = "It holds more than tensors: allow its classes by "
                      "torch.serialization.add_safe_globals, or load it with weights_only=False if "
                      "you trust it.",
       .exceptions = {"Weights only load failed"}},
      {.kind = "checkpoint-corrupt",
       .title = "the checkpoint is damaged or was written in part",
       .advice = Advice::kFixFirst,
       .advice_text =
           "Resume from the one before it. Write to another name and rename it, so that a "
           "stopped job leaves none in part.",
       .exceptions = {"PytorchStreamReader failed",
                      "The file might be corrupted",
                      "invalid load key, '",
                      "pickle data was truncated",
                      "^EOFError: Ran out of input",
                      "Error while deserializing header",
                      "SafetensorError: *MetadataIncompleteBuffer",
                      "file in archive is not in a subdirectory",
                      "unexpected EOF, expected",
                      "Invalid magic number; corrupt file?",
                      "unpickling stack underflow",
                      "Unable to load weights from pytorch checkpoint file for",
                      "BadZipFile: ",
                      "storage has wrong byte size: expected",
                      "incorrect header check",
                      "read(): fd * failed with",
                      "UnpicklingError: ",
                      "config file at '*' is not a valid JSON file",
                      "Unable to open file (truncated file: ",
                      "Unable to synchronously open file (truncated file: "},
       // What a file system says of a zip file that was cut (torch 1).
       .raised_in = {"OSError: [Errno 22] Invalid argument\n*torch/serialization.py"}},
      {.kind = "checkpoint-write",
       .title = "the checkpoint could not be written",
       .advice = Advice::kFixFirst,
       .advice_text = "Look at the folder's free space, quota and rights; torch does not say which "
                      "it was.",
       .exceptions = {"PytorchStreamWriter failed writing", "RuntimeError: File * cannot be opened",
                      "write(): fd * failed with", "^RuntimeError: unable to write to file",
                      "basic_ios::clear: iostream error", "inline_container.cc*unexpected pos",
                      "SafetensorError: Error while serializing: IoError",
                      "SafetensorError: Error while serializing: I/O error"}},
      {.kind = "checkpoint-missing",
       .title = "the checkpoint is not there",
       .advice = Advice::kFixFirst,
       .advice_text = "Check its path as the job sees it: its folder, its volumes (--data), and "
                      "whether the run before has written one.",
       .exceptions =
           {"FileNotFoundError: *.pt'", "FileNotFoundError: *.pth'", "FileNotFoundError: *.ckpt",
            "FileNotFoundError: *.safetensors", "FileNotFoundError: *checkpoint",
            "FileNotFoundError: Checkpoint", "FileNotFoundError: *.bin'",
            "FileNotFoundError: *.ckpt ", "Can't find a valid checkpoint at",
            "No valid checkpoint found in output directory",
            "does not appear to have a file named pytorch_model", "FileNotFoundError: *.metadata'",
            "does not appear to have a file named model", "Unable to find 'latest' file at ",
            "can't find *_states.pt files", "Error no file named pytorch_model.bin",
            "Error no file named model.safetensors"}},
  };
}

}  // namespace answers
