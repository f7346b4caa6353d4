"""What torch keeps in C++."""

sync_mode = 0
hooks = []


class _autograd:
    @staticmethod
    def _top_saved_tensors_default_hooks(ignore_is_tracing):
        return (hooks[-1].pack, hooks[-1].unpack) if hooks else None


def _cuda_set_sync_debug_mode(mode):
    global sync_mode
    sync_mode = mode
