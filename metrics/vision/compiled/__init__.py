"""The loops of object detection, compiled by numba once a machine (`object_code`). Import on use.

Objects are named by their row in the input. Loops release the interpreter lock, so threads share the work. numba's own
threads are not used, since a process pool may fork. Numba functions that need its runtime (reshape, max, cumsum,
assignment to slices of several dimensions) are refused when a loop is compiled.
"""
