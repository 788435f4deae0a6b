# SPDX-License-Identifier: Apache-2.0
"""`measure.py FD COMMAND...` runs a command; what it cost goes to FD as JSON, its exit code is this one's."""
import json
import os
import sys
import time

start = time.perf_counter()
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
os.write(int(sys.argv[1]), json.dumps({"cpu": usage.ru_utime + usage.ru_stime, "wall": time.perf_counter() - start,
                                       "rss": usage.ru_maxrss * 1024}).encode())
sys.exit(os.waitstatus_to_exitcode(status))
