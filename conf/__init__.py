"""The options of training and evaluation as yaml files; installed as `dyparse.conf`."""
