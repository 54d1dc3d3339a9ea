"""The loops of object detection, compiled by numba once a machine (`jit`). Import on use.

Objects are named by their row in the input. Loops release the interpreter lock, so threads share the work.
"""
