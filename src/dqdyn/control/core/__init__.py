"""What every controller is made of."""
