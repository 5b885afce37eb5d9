"""Installing a client's plugin: a plan of every file is made, shown, and carried out; the receipt undoes it."""
