"""`python -m utterd_server` is `utterd`."""

import os
import sys

from utterd_server import find_utterd_bin

if __name__ == "__main__":
    binary = find_utterd_bin()
    os.execv(binary, [binary, *sys.argv[1:]])
