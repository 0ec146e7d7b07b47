"""Settings of the optimizer, its schedule and the loss."""

from __future__ import annotations

from dataclasses import dataclass

from translate.config.fields import check_settings, setting


@dataclass
class OptimConfig:
    """Settings of the optimizer, its schedule and the loss."""

    algorithm: str = setting(
        "adamw",
        "adamw, or muon (Jordan et al. 2024): the matrices of the layers take orthogonalized steps, all other weights "
        "those of AdamW. Muon learns more from the same number of tokens, with the lr of adamw or a higher one; not "
        "with trainer.strategy=fsdp.",
        choices=("adamw", "muon"),
    )
    lr: float = setting(1e-3, "Peak learning rate, reached at the end of the warm-up.", above=0)
    beta1: float = setting(0.9, "Decay of Adam's first moment.", at_least=0, below=1)
    beta2: float = setting(0.98, "Decay of Adam's second moment.", at_least=0, below=1)
    eps: float = setting(1e-9, "Added to the square root of the second moment.", at_least=0)
    weight_decay: float = setting(
        0.0, "Decoupled weight decay of matrices (never of biases, norms and embeddings); 0 = off.", at_least=0
    )
    schedule: str = setting(
        "inverse_sqrt",
        "Learning rate after the warm-up; cosine and linear fall until the first of trainer.max_epochs, "
        "trainer.max_steps and trainer.max_time.",
        choices=("inverse_sqrt", "cosine", "linear", "constant"),
    )
    warmup_steps: int = setting(1000, "Optimizer steps in which the learning rate rises linearly to lr.", at_least=0)
    min_lr_ratio: float = setting(0.0, "cosine and linear end at lr times this.", at_least=0, below=1)
    label_smoothing: float = setting(
        0.1, "Share of the target probability that is spread over the whole vocabulary; 0 = off.", at_least=0, below=1
    )
    r_drop: float = setting(
        0.0,
        "Weight of R-Drop (Liang et al. 2021): every sentence passes through the network twice, with different "
        "dropout masks, and the divergence of the two predictions is added to the training loss; 5 is usual, 0 = off. "
        "A step costs a little more than twice as much.",
        at_least=0,
    )
    teachers: list[str] = setting(
        [],
        "Word-level distillation (Hinton et al. 2015; Kim and Rush 2016): model or run directories with the same "
        'tokenizer and languages, whose mean prediction of each token is learnt beside the token itself; "{NAME}" is '
        "an earlier stage. The teachers read every batch too; the validation loss is the usual one.",
    )
    teacher_share: float = setting(0.5, "Share of the teachers in the training loss.", above=0, below=1)
    lora_rank: int = setting(
        0,
        "LoRA (Hu et al. 2021): instead of the weights of init_from, learn a change of this rank to each matrix of "
        "attention and feed-forward, added to it at the end. Far less memory for gradients and optimizer; 8 to 64 is "
        "usual, with an lr of 5e-4 and more; 0 = off.",
        at_least=0,
    )
    lora_alpha: float = setting(32.0, "The change is scaled by this divided by lora_rank.", above=0)
    weight_bits: int | None = setting(
        None,
        "Quantization-aware training (Jacob et al. 2018): the network computes with its matrices rounded to integers "
        "of so many bits, as an export with quantization=int8, int6 or int4 (8, 6 and 4 bits) rounds them; null = off.",
        at_least=2,
        at_most=8,
    )
    weight_bits_from: float = setting(
        0.0,
        "Share of the training after which weight_bits begins, by steps or trainer.max_time, whichever is further; "
        "validation scores rounded weights from the start.",
        at_least=0,
        below=1,
    )
    clip_norm: float = setting(
        1.0,
        "Largest norm of the gradient of the mean loss per token; 0 = off.",
        at_least=0,
    )

    def __post_init__(self) -> None:
        check_settings("optim", self)
        if self.teachers and self.r_drop:
            raise ValueError(f"optim.r_drop ({self.r_drop}) and optim.teachers are two losses; choose one of them")
        if not self.teachers and self.teacher_share != OptimConfig.teacher_share:
            raise ValueError(f"optim.teacher_share ({self.teacher_share}) does nothing without optim.teachers")
        if not self.lora_rank and self.lora_alpha != OptimConfig.lora_alpha:
            raise ValueError(f"optim.lora_alpha ({self.lora_alpha}) does nothing without optim.lora_rank")
        if self.weight_bits_from and not self.weight_bits:
            raise ValueError(f"optim.weight_bits_from ({self.weight_bits_from}) does nothing without optim.weight_bits")
        if self.lora_rank and self.weight_bits:
            raise ValueError(
                f"optim.lora_rank ({self.lora_rank}) changes matrices that optim.weight_bits ({self.weight_bits}) "
                "would round; leave one of them out"
            )
        if self.lora_rank and self.algorithm == "muon":
            raise ValueError(
                f"optim.lora_rank ({self.lora_rank}) leaves no whole matrices to optim.algorithm=muon; use adamw"
            )
