"""Free and spherical joints in any coordinates: Euler angles, quaternions, matrices, dual quaternions, or your own."""
