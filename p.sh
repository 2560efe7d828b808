#!/bin/bash
cd /tmp/wt/h3; PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1 PYTHONPATH=lib /work/main/target/venv/3.11/bin/python -X faulthandler "$@"
