"""Models for other people: `card.py` describes a model in a README, with its scores, commands and
limits; `upload.py` sends model and card to the Hugging Face Hub, `wheel.py` makes a package of them
that pip installs. How such models are found and loaded is in `dyparse/model/sources.py`.
"""
