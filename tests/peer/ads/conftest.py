import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "compat", "ads"))

from oci_user import oci_key, user  # noqa: E402,F401  (fixtures, found by the line above)
