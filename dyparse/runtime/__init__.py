"""Process plumbing that every program needs and that knows nothing about parsing: `entry` turns
errors into messages and exit statuses, `console` prints, `signals` handles Ctrl-C and SIGTERM,
`atomic_files` and `locks` protect files and directories, `device` and `threads` set up torch,
`launch` reads rank and cores from the environment, `gpu_usage` samples the GPU's load, and
`kernels` compiles and caches numba functions. Start with `entry`, which all programs go through.
"""
