"""The network of the BiLSTM encoder in compiled kernels, for parsing without torch.

In int8 where the processor has instructions for it: activations are bytes, weights signed bytes
with a scale for every output, sums exact integers. So a sentence has the same tree in every batch.
Elsewhere the same kernels run in float32. `tile` has the inner loops, `products` and `lstm` the
layers, `embeddings` what words bring along, `tags` and `labels` the heads; `network` puts them
together. Start there. Weights are those of a model directory; they are quantised when it is loaded.
`segmenter` is the network of the learned tokenizer, always in float32.
"""
