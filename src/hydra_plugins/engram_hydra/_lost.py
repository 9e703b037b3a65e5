"""What a launcher raises where it can't start its jobs, or loses one: told in a sentence."""

from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from engram_hydra.errors import ConfigError, EngramError


def explained(error: Exception, folder: Path) -> Exception:
    """An error in a sentence where a worker died or SLURM is not there; any other as it is.

    ``folder`` is the sweep's, where submitit keeps what its jobs wrote.
    """
    again = "the runs that ended well are kept: start the same sweep again"
    if isinstance(error, BrokenProcessPool):  # joblib's is one too
        return EngramError(
            f"a worker process of the sweep died, perhaps for want of memory; {again}, with a smaller"
            " hydra.launcher.n_jobs."
        )
    if type(error).__module__.startswith("submitit."):  # which need not be installed
        first = (str(error).splitlines() or [""])[0]
        return EngramError(
            f"a job was lost or could not be submitted ({type(error).__name__}: {first}), see"
            f" {folder / '.submitit'}; {again}."
        )
    if isinstance(error, RuntimeError) and '"srun"' in str(error):
        return ConfigError(
            "hydra/launcher=slurm needs SLURM's sbatch and srun, which are not here: start the sweep"
            " on a machine of the cluster that submits jobs."
        )
    return error
