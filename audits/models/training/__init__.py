"""Train the two small models that this package ships: on drawn scenes, on two CPU cores, in minutes."""
