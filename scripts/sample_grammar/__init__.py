"""A hand-written generative dependency grammar of an English-like language, in UD v2.

dice        chance, the same under every Python
tree        words that hang on each other in surface order
lexicon     nouns, adjectives, adverbs, names
verbs       verbs with the arguments and adjuncts they like
morphology  inflection and word formation
words       closed-class words with their tags
nominal     noun phrases and their modifiers
adjunct     what may be added to a verb
conjugation tense, auxiliaries, negation, contractions
predicate   verbs and their complements
clause      finite clauses, coordination, extraposition
extraction  relative clauses, questions and topics: clauses with a gap
sentences   whole sentences
conllu      the ten columns
"""
