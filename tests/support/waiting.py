"""How tests wait for what they look at."""
import time


def pause(began, longest=0.5):
    """Before the next look at what has been waited for since `began` (time.monotonic()): short at first; what takes long is looked at
    less often, since each look takes the processor from what is waited for."""
    time.sleep(min(longest, max(0.05, (time.monotonic() - began) / 10)))
