"""The Lightning module, the loss, the schedules and the callbacks of a training run."""
