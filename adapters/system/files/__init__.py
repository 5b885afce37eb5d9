"""Read and write files safely."""
