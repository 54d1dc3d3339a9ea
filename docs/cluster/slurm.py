"""Evaluate on Slurm: workers start as jobs of dask-jobqueue, 8 to 64 as there is work, and end with this script."""

import sys

from dask_jobqueue import SLURMCluster

from metrics import evaluate

CLUSTER = {
    "queue": "compute",
    "cores": 16,  # of a job
    "processes": 16,  # one thread a worker
    "memory": "64GB",
    "walltime": "02:00:00",
    "interface": "eth0",  # that the jobs reach this machine by
}

if __name__ == "__main__":
    suite, *outputs = sys.argv[1:]
    with SLURMCluster(**CLUSTER) as cluster:
        cluster.adapt(minimum=8, maximum=64)
        print(evaluate(suite, outputs, scheduler=cluster.scheduler_address))
