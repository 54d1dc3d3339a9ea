"""The loops of object detection, compiled by numba and kept in its on-disk cache. Import on use: numba takes a while.

Objects are named by their row in the input. Loops release the interpreter lock, so threads share the work. numba's own
threads are not used, since a process pool may fork.
"""
