"""The app as a service: as many processes as cores behind nginx on one machine, and what runs that on many machines."""
