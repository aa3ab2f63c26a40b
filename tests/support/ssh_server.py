"""An SSH server for one account, its own: ssh_server.py PORT HOST-KEY AUTHORIZED-KEYS

Runs what a client that has one of the keys asks for as this user, by a shell, with this environment. Reads nothing of the machine's.
"""
import asyncio
import subprocess
import sys

import asyncssh


async def run(process):
    child = await asyncio.create_subprocess_shell(process.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                                  stderr=subprocess.PIPE)
    await process.redirect(stdin=child.stdin, stdout=child.stdout, stderr=child.stderr)
    code = await child.wait()
    await process.stdout.drain()
    await process.stderr.drain()
    process.exit(code)


async def serve(port, host_key, authorized_keys):
    server = await asyncssh.listen("127.0.0.1", int(port), server_host_keys=[host_key], encoding=None,
                                   authorized_client_keys=authorized_keys, process_factory=run)
    await server.wait_closed()


asyncio.run(serve(*sys.argv[1:]))
