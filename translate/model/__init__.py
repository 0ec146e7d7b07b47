"""The network: masks, caches, positions, the one attention class, layers, the Transformer, a language model.

Needs no packages but torch and numpy; of ours it imports `kernels`, and `config` for annotations.

Shapes are written with one legend throughout:

    B batch rows      S source length     M d_model            D head_dim    V vocabulary
    N beam size       T target length     H num_heads          R = H // G    C cache capacity
    Q query length    K key length        G num_kv_heads     L kv_latent_dim

Masks are bool and True means "real token" (`src_mask` [B, S]) or "may attend" (`attn_mask`, broadcastable to
[B, H, Q, K]).
"""
