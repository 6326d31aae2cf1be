# SPDX-License-Identifier: Apache-2.0 OR MIT
"""Functions of JAX compiled by IREE for this processor."""
import iree.compiler
import iree.runtime
import jax


def turn_of(function, arguments, threads):
    text = jax.jit(function).lower(*(jax.ShapeDtypeStruct(given.shape, given.dtype) for given in arguments)).as_text()
    code = iree.compiler.compile_str(text, input_type="stablehlo", target_backends=["llvm-cpu"],
                                     extra_args=["--iree-llvmcpu-target-cpu=host", "--iree-opt-level=O3"])
    config = iree.runtime.Config("local-sync" if threads == 1 else "local-task")
    context = iree.runtime.SystemContext(config=config)
    context.add_vm_module(iree.runtime.VmModule.copy_buffer(context.instance, code))
    module = next(found for name, found in context.modules.items() if name != "hal")
    placed = [iree.runtime.asdevicearray(config.device, given) for given in arguments]
    return lambda: module["main"](*placed)
