# ext/FORMAT.md as a reader and writer in Python, against the kept files and the extension.
GATE_SUITES += '/usr/bin/python3 -B tests/format/run.py'
