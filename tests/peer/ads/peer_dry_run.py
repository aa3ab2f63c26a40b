"""Oracle's `ads opctl` in this process: importing it takes seconds, a dry run milliseconds."""
import contextlib
import os

from click.testing import CliRunner


class PeerDryRun:
    def __init__(self, home):
        os.environ["HOME"] = home  # before it is imported: it looks for ~/.oci then
        from ads.opctl.cli import run
        self.command = run

    def __call__(self, folder, *args):
        """(exit code, stdout, what was raised) of `ads opctl run -f train.yaml --dry-run --nobuild` there."""
        with contextlib.chdir(folder):
            done = CliRunner().invoke(self.command, ["-f", "train.yaml", "--dry-run", "--nobuild", *args])
        return done.exit_code, done.stdout, done.exception
