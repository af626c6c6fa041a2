CHECK_SUITES += 'tests/golden/run.sh'
