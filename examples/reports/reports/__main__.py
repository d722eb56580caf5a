"""python -m reports --limit 2 < log"""

import argparse
import sys

from reports.page import page

parser = argparse.ArgumentParser(prog="reports")
parser.add_argument("--limit", type=int, help="show at most so many entries")
arguments = parser.parse_args()
print(page([line.strip() for line in sys.stdin], limit=arguments.limit))
