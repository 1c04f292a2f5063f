"""The formulations of the papers, each as short as its theorem."""
