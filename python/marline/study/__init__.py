# SPDX-License-Identifier: Apache-2.0
"""`marline study FILE.yaml`: runs programs under several runtimes in turns and compares what they print.

The way of a study. declare/: document.py reads the YAML strictly, plan.py makes points and their order of it. measure/:
runner.py executes each run (launch.py, process.py, verdict.py; beside it noise.py and handover.py) and appends it to
the results file (store.py). evaluate/: summary.py, metg.py and statistics.py turn that file into figures, and
tables.py, plots.py and report.py write them down. Measuring and evaluating meet in the results file only, so a report
can be made again without a run."""
