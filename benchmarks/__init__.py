"""Measures `lsptools` beside the language servers people use now, and compares their answers place by place.

Not part of the package and never run by the tests: it takes minutes, needs the network once, and times depend on
the machine. Everything it fetches or writes goes to `benchmarks/work/`, which git ignores.
"""
