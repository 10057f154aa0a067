"""Makes snapshot.pickle: a snapshot of the form that torch.cuda.memory._snapshot describes, of a small run."""
import pickle

model = [{"filename": "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", "line": 116, "name": "forward"},
         {"filename": "/home/me/model.py", "line": 12, "name": "forward"}, {"filename": "/home/me/train.py", "line": 7, "name": "step"}]
loss = [{"filename": "??", "line": 0, "name": "at::native::empty_cuda"}, {"filename": "/home/me/train.py", "line": 9, "name": "step"}]
base = 1_700_000_000_000_000  # us


def entry(action, at, addr, size, frames=()):
    return {"action": action, "addr": 0x7F0000000000 + addr, "size": size, "stream": 0, "time_us": base + at, "frames": list(frames) if not frames else frames, "compile_context": None}


trace = [entry("segment_alloc", 30, 0, 2 << 20, model), entry("alloc", 31, 0, 1000, model), entry("alloc", 40, 1024, 512, loss), entry("free_requested", 50, 1024, 512),
         entry("free_completed", 51, 1024, 512), entry("alloc", 60, 4096, 300, model), entry("snapshot", 90, 0, 0)]
blocks = [{"address": 0x7F0000000000, "size": 1000, "requested_size": 990, "state": "active_allocated", "frames": model}]
segment = {"device": 0, "address": 0x7F0000000000, "total_size": 20 << 20, "allocated_size": 5300, "active_size": 5300, "requested_size": 5290, "stream": 0,
           "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False, "frames": [], "blocks": blocks}
pickle.dump({"segments": [segment], "device_traces": [trace, []], "external_annotations": [], "allocator_settings": {"max_split_size": -1, "garbage_collection_threshold": 0.0}},
            open("snapshot.pickle", "wb"))
