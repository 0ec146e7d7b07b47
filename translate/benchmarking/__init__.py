"""What the benchmarking door measures: speed, FLOPs, share of the machine's peak, parts of a step, memory, peers."""
