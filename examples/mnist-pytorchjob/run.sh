#!/usr/bin/env bash
# Runs the shapes of the training on bare metal: every node is a process group of this machine, started with
# the command that would start it on a separate machine.
#
#   ./run.sh [--print] SHAPE [FLAG OF THE PROGRAM...]
#
#   SHAPE       dp            one process for all GPUs: DataParallel
#               launch-2x4    2 nodes of 4 processes, by a launcher; launch-4x2 and launch-8x1 likewise
#               mp-8x1        8 nodes of 1 process, mp.spawn, ranks meet at tcp://
#               mp-2x4-env    2 nodes of 4 processes, mp.spawn, env://
#               mp-2x4-file   the same, file://
#               all           all shapes, one after the other
#   --print     only prints the commands, to be run on separate machines
#   FLAG        is passed to the program, after --epochs=1 --batch-size=256
#
# MASTER_ADDR and MASTER_PORT (127.0.0.1, 22222) are the address at which the ranks meet, DIST_FILE that of
# file://, PYTHON the interpreter, LAUNCHER the command that starts a node's launcher: "muster launch" if
# muster is installed, otherwise "python -m torch.distributed.launch". A machine needs four GPUs, as in the printed
# commands; with fewer, all ranks use the CPU. Every line of output begins with the number of its node.
set -euo pipefail
cd "$(dirname "$0")"

usage() { sed -n '5,18s/^# \{0,1\}//p' "$0" >&2; exit 2; }

addr=${MASTER_ADDR:-127.0.0.1}
port=${MASTER_PORT:-22222}
file=${DIST_FILE:-${TMPDIR:-/tmp}/mnist-pytorchjob-$(id -u)}
python=${PYTHON:-$(command -v python >/dev/null && echo python || echo python3)}
flags="--epochs=1 --batch-size=256"
gpus_of_a_machine=4

print_only=
[ "${1:-}" = --print ] && { print_only=yes; shift; }
shape=${1:-}
[ -n "$shape" ] || usage
shift

launcher=${LAUNCHER:-}
if [ -z "$launcher" ]; then
  if command -v muster >/dev/null; then launcher="muster launch"
  elif [ -x ../../build/muster-launch ]; then launcher=../../build/muster-launch
  else launcher="$python -m torch.distributed.launch"
  fi
fi
# Launchers that are no Python start this one.
export PYTHON_EXEC=${PYTHON_EXEC:-$python}

# GPUs of a node: its share of its machine's.
gpus_of() { # NODE PROCESSES
  local first=$(($1 * $2 % gpus_of_a_machine)) each list=
  for ((each = first; each < first + $2; each++)); do list+=${list:+,}$each; done
  echo "$list"
}

# The command of each node, one per line.
commands_of() { # SHAPE
  local nodes=1 processes=1 node start
  [[ $1 =~ ^[a-z]+-([0-9])x([0-9]) ]] && nodes=${BASH_REMATCH[1]} processes=${BASH_REMATCH[2]}
  local counts="--nproc_per_node=$processes --nnodes=$nodes"
  for ((node = 0; node < nodes; node++)); do
    start=
    [ "$processes" -eq $gpus_of_a_machine ] || start="CUDA_VISIBLE_DEVICES=$(gpus_of "$node" "$processes") "
    case $1 in
      dp) echo "$python mnist_dp.py $flags" ;;
      launch-*) echo "$start$launcher $counts --node_rank=$node --master_addr=\"$addr\" --master_port=$port mnist_ddp_launch.py $flags" ;;
      mp-8x1) echo "$start$python mnist_ddp_mp.py $counts --node_rank=$node --dist-url=\"tcp://$addr:$port\" $flags" ;;
      mp-*-env) echo "${start}MASTER_ADDR=$addr MASTER_PORT=$port $python mnist_ddp_mp.py $counts --node_rank=$node --dist-url=\"env://\" $flags" ;;
      mp-*-file) echo "$start$python mnist_ddp_mp.py $counts --node_rank=$node --dist-url=\"file://$file\" $flags" ;;
    esac
  done
}

nodes=() outputs=()
pipes=$(mktemp -d)
stop_nodes() { for pid in "${!nodes[@]}"; do kill -TERM "$pid" 2>/dev/null || true; done; }
trap 'rm -rf "$pipes"' EXIT
trap 'stop_nodes; wait; exit 130' INT TERM

start_node() { # NODE COMMAND
  local both from to
  rm -f "$pipes/$1" && mkfifo "$pipes/$1"
  # Both ends are open before one of the two can be ended: the other would wait for it for ever.
  exec {both}<>"$pipes/$1" {from}<"$pipes/$1" {to}>"$pipes/$1" {both}>&-
  sed -u "s/^/[$1] /" <&"$from" {from}<&- {to}>&- &
  outputs+=($!)
  (eval "exec env $2") >&"$to" 2>&1 </dev/null {from}<&- {to}>&- &
  nodes[$!]=$1
  exec {from}<&- {to}>&-
}

# The first exit code that is none of success. A node that fails ends its peers: they would wait for it.
await_nodes() {
  local failed=0 code ended=
  while [ ${#nodes[@]} -gt 0 ]; do
    code=0 ended=
    wait -n -p ended "${!nodes[@]}" 2>/dev/null || code=$?
    if [ -z "${ended:-}" ]; then
      # Those left have ended while another was looked at: bash has no job of them, but their codes.
      for ended in "${!nodes[@]}"; do break; done
      code=0
      wait "$ended" || code=$?
    fi
    if [ $code -ne 0 ] && [ $failed -eq 0 ]; then
      failed=$code
      echo "$shape: node ${nodes[$ended]} ended with exit code $code; its peers are ended" >&2
      stop_nodes
    fi
    unset "nodes[$ended]"
  done
  wait "${outputs[@]}"
  outputs=()
  return $failed
}

run_shape() { # FLAG...
  local commands line node=0 count extra=
  commands=$(commands_of "$shape")
  [ $# -eq 0 ] || extra=$(printf ' %q' "$@")
  if [ -n "$print_only" ]; then
    while read -r line; do echo "$line$extra"; done <<<"$commands"
    return
  fi
  count=$(nvidia-smi -L 2>/dev/null | grep -c '^GPU' || true)
  if [ "$shape" != dp ] && [ "$count" -lt 8 ]; then
    echo "$shape: 8 processes, and this machine has $count GPU(s): all train on the CPU"
    extra+=" --no-cuda"
    # Each takes its share of the cores: more threads than cores wait for each other.
    local cores
    cores=$(nproc)
    export OMP_NUM_THREADS=${OMP_NUM_THREADS:-$((cores > 8 ? cores / 8 : 1))}
  fi
  while read -r line; do
    start_node $((node++)) "$line$extra"
  done <<<"$commands"
  await_nodes
}

case $shape in
  dp | launch-2x4 | launch-4x2 | launch-8x1 | mp-8x1 | mp-2x4-env | mp-2x4-file) run_shape "$@" ;;
  all)
    for shape in dp launch-2x4 launch-4x2 launch-8x1 mp-8x1 mp-2x4-env mp-2x4-file; do
      [ -n "$print_only" ] && echo "# $shape" || echo "==> $shape"
      run_shape "$@"
    done
    ;;
  *) usage ;;
esac
