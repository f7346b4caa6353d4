sync_mode = 0


def _cuda_set_sync_debug_mode(mode):
    global sync_mode
    sync_mode = mode
