"""dyparse inside other libraries: the spaCy component.

`spacy_component.py` is the component, its settings and how it is saved; `spacy_docs.py` goes from
spaCy's documents to sentences, and from their trees back.
"""
