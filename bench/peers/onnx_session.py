# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Graphs for ONNX Runtime, written by hand, and sessions whose inputs and outputs lie in place."""
import numpy as np
import onnx
import onnxruntime


def node(kind, inputs, outputs, **attributes):
    return onnx.helper.make_node(kind, inputs.split(), outputs.split(), **attributes)


def kind_of(array):
    return onnx.helper.np_dtype_to_tensor_dtype(array.dtype)


def turn_of(nodes, feeds, constants, output, threads, others=()):
    """The turn, which answers the output as an array, over feeds and constants by name. `others` are outputs that nobody reads."""
    graph = onnx.helper.make_graph(
        nodes, "graph", [onnx.helper.make_tensor_value_info(name, kind_of(given), given.shape) for name, given in feeds.items()],
        [onnx.helper.make_empty_tensor_value_info(name) for name in (output, *others)],
        [onnx.numpy_helper.from_array(np.asarray(given), name) for name, given in constants.items()])
    model = onnx.shape_inference.infer_shapes(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 21)], ir_version=10))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    binding, kept = session.io_binding(), {}
    for name, given in feeds.items():
        kept[name] = onnxruntime.OrtValue.ortvalue_from_numpy(given)
        binding.bind_ortvalue_input(name, kept[name])
    for name, found in zip((output, *others), session.run([output, *others], feeds)):
        kept[name] = onnxruntime.OrtValue.ortvalue_from_numpy(np.ascontiguousarray(found))
        binding.bind_ortvalue_output(name, kept[name])

    def turn():
        session.run_with_iobinding(binding)
        return kept[output]

    return turn
