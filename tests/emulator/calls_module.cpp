// SPDX-License-Identifier: Apache-2.0
// The driver's functions about images, kernels and global variables. Loading an image loads its x86-64 twin into the
// device's process; a kernel is the twin's function of the same name, a global variable the twin's, which lives in the
// device's memory. Any thread; a module's own lock guards what it has handed out.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "driver.hpp"

using namespace emulator;

namespace {

// libomptarget asks for these if the image has constructors; the twin's run when it is loaded.
bool runs_at_loading(const std::string& kernel) {
  return kernel == "nvptx$device$init" || kernel == "nvptx$device$fini";
}

bool runs_kernels() { return settings().model_above != 0; }

std::uint64_t floor_page(std::uint64_t address) { return address / kPage * kPage; }

// Gives each part of the twin's data a place in the device's memory.
bool place_segments(Module& module) {
  for (const Elf64_Phdr& header : module.host->elf.segments()) {
    if (header.p_type != PT_LOAD || (header.p_flags & PF_X) != 0) {
      continue;
    }
    const std::uint64_t start = floor_page(header.p_vaddr);
    const std::uint64_t size = floor_page(header.p_vaddr + header.p_memsz + kPage - 1) - start;
    const DevicePointer address = module.device.memory.allocate(size, kPage);
    if (address == 0 || module.segments.size() == kMaxSegments) {
      return false;
    }
    const int protection = PROT_READ | ((header.p_flags & PF_W) != 0 ? PROT_WRITE : 0);
    module.segments.push_back({start, size, address, protection});
  }
  return true;
}

bool start_process(Device& device) {
  if (device.process.started()) {
    return true;
  }
  if (!device.process.start(static_cast<std::uint32_t>(device.index), driver()->memory_files(),
                            driver()->shared.size())) {
    return false;
  }
  for (std::uint32_t peer = 0; peer < driver()->devices.size(); peer++) {
    if ((device.open_peers.load() >> peer & 1) != 0 && !device.process.open_peer(peer)) {
      return false;
    }
  }
  const std::lock_guard lock(device.mapped_mutex);
  for (const auto& memory : device.mapped) {
    if (!device.process.map(memory->base(), memory->size(), memory->file())) {
      return false;
    }
  }
  return true;
}

Result load_twin(Module& module) {
  if (!module.host) {
    warn("no x86-64 image for the kernels: build with -fopenmp-targets=nvptx64-nvidia-cuda,x86_64-pc-linux-gnu");
    return kInvalidImage;
  }
  if (!place_segments(module)) {
    return kOutOfMemory;
  }
  if (!start_process(module.device)) {
    return kUnknown;
  }
  module.load_address = module.device.process.load(module.host->file, module.segments);
  return module.load_address != 0 ? kSuccess : kInvalidImage;
}

void free_memory(Module& module) {
  for (const auto& [name, global] : module.globals) {
    (void)module.device.memory.release(
        global.address);  // refused for the twin's variables: they are parts of a segment
  }
}

// The twin's variable, if it has one.
DevicePointer twin_address(const Module& module, const char* name) {
  const std::optional<Symbol> symbol = module.host ? module.host->elf.symbol(name) : std::nullopt;
  if (!symbol) {
    return 0;
  }
  for (const ImageSegment& segment : module.segments) {
    const std::uint64_t offset = symbol->value - segment.image_offset;
    if (symbol->value >= segment.image_offset && offset < segment.size) {
      return segment.address + offset;
    }
  }
  return 0;
}

Global make_global(Module& module, const char* name, const Symbol& symbol) {
  if (const DevicePointer address = twin_address(module, name); address != 0) {
    return {address, symbol.size};
  }
  const std::size_t size = std::max<std::size_t>(symbol.size, 1);
  const DevicePointer address = module.device.memory.allocate(size);
  if (address != 0) {
    std::byte* view = module.device.memory.host_view(address);
    const std::span<const std::byte> value = module.cubin->initial_value(symbol);
    std::fill(std::copy(value.begin(), value.end(), view), view + size, std::byte{0});
  }
  return {address, symbol.size};
}

bool has_kernel(const Module& module, const char* name) {
  return module.cubin ? module.cubin->has_kernel(name) : ptx_parameter_sizes(module.ptx, name).has_value();
}

// A word per parameter: what the x86-64 function takes. Narrower parameters are extended by zeros.
std::unique_ptr<std::uint64_t[]> pack(const Function& function, void** parameters) {
  auto words = std::make_unique<std::uint64_t[]>(function.parameter_sizes.size());
  for (std::size_t i = 0; i < function.parameter_sizes.size(); i++) {
    std::copy_n(static_cast<const std::byte*>(parameters[i]), std::min<std::size_t>(function.parameter_sizes[i], 8),
                reinterpret_cast<std::byte*>(&words[i]));
  }
  return words;
}

// The other way to pass parameters: one buffer, in `extra` as pairs of a key and a pointer.
std::vector<void*> parameters_in_buffer(const Function& function, void** extra) {
  constexpr std::uintptr_t kEnd = 0, kBuffer = 1;
  std::vector<void*> result;
  for (; reinterpret_cast<std::uintptr_t>(extra[0]) != kEnd; extra += 2) {
    if (reinterpret_cast<std::uintptr_t>(extra[0]) != kBuffer) {
      continue;
    }
    std::size_t offset = 0;
    for (const std::size_t size : function.parameter_sizes) {
      offset = (offset + size - 1) / size * size;
      result.push_back(static_cast<std::byte*>(extra[1]) + offset);
      offset += size;
    }
  }
  return result;
}

}  // namespace

EMULATOR_ENTRY cuModuleLoadDataEx(Module** module, const void* image, unsigned, void*, void**) {
  Device* device = current_device();
  const auto* file = static_cast<const std::byte*>(image);
  const bool is_ptx = std::strncmp(static_cast<const char*>(image), ".version", 8) == 0;
  if (device == nullptr || (!is_ptx && !Cubin::is_cubin(file))) {
    return log_call("cuModuleLoadDataEx", device == nullptr ? kInvalidContext : kInvalidImage);
  }
  Result result = device->error.load();
  if (result == kSuccess) {
    auto made = std::make_unique<Module>(*device);
    if (is_ptx) {
      made->ptx = static_cast<const char*>(image);
      made->host = ptx_twins(own_folder());
    } else {
      made->cubin.emplace(file);
      made->host = find_host_image(*made->cubin);
    }
    result = runs_kernels() ? load_twin(*made) : kSuccess;
    *module = result == kSuccess ? made.release() : nullptr;
  }
  return log_call("cuModuleLoadDataEx", result, "device %d", device->index);
}

// The twin stays in the device's process, and so does the memory of its variables.
EMULATOR_ENTRY cuModuleUnload(Module* module) {
  if (module == nullptr) {
    return kInvalidHandle;
  }
  driver()->engine.synchronize(module->device);
  free_memory(*module);
  delete module;
  return log_call("cuModuleUnload", kSuccess);
}

EMULATOR_ENTRY cuModuleGetFunction(Function** function, Module* module, const char* name) {
  if (module == nullptr || !has_kernel(*module, name)) {
    return log_call("cuModuleGetFunction", module == nullptr ? kInvalidHandle : kNotFound, "%s", name);
  }
  const std::lock_guard lock(module->mutex);
  auto& known = module->functions[name];
  if (!known) {
    const std::optional<Symbol> twin = module->host ? module->host->elf.symbol(name) : std::nullopt;
    if (!twin && runs_kernels() && !runs_at_loading(name)) {
      warn("the program's x86-64 image has no kernel %s, its GPU image has", name);
      return log_call("cuModuleGetFunction", kNotFound, "%s", name);
    }
    const std::vector<std::size_t> sizes =
        module->cubin ? module->cubin->parameter_sizes(name) : *ptx_parameter_sizes(module->ptx, name);
    if (std::any_of(sizes.begin(), sizes.end(), [](std::size_t size) { return size > 8; })) {
      warn("kernel %s has a parameter of more than 8 bytes: the emulator passes words only", name);
      return log_call("cuModuleGetFunction", kNotFound, "%s", name);
    }
    known = std::make_unique<Function>(
        Function{module->device, name, twin ? module->load_address + twin->value : 0, sizes});
  }
  *function = known.get();
  return log_call("cuModuleGetFunction", kSuccess, "%s, %zu parameters", name, known->parameter_sizes.size());
}

EMULATOR_ENTRY cuModuleGetGlobal_v2(DevicePointer* address, std::size_t* size, Module* module, const char* name) {
  const bool has_any = module != nullptr && module->cubin;
  const std::optional<Symbol> symbol = has_any ? module->cubin->elf().symbol(name) : std::nullopt;
  if (!symbol) {
    return log_call("cuModuleGetGlobal", module == nullptr ? kInvalidHandle : kNotFound, "%s", name);
  }
  const std::lock_guard lock(module->mutex);
  auto found = module->globals.find(name);
  if (found == module->globals.end()) {
    found = module->globals.emplace(name, make_global(*module, name, *symbol)).first;
  }
  if (address != nullptr) {
    *address = found->second.address;
  }
  if (size != nullptr) {
    *size = found->second.size;
  }
  return log_call("cuModuleGetGlobal", found->second.address != 0 ? kSuccess : kOutOfMemory, "%s, %zu bytes", name,
                  found->second.size);
}
EMULATOR_ALIAS(cuModuleGetGlobal);

EMULATOR_ENTRY cuLaunchKernel(Function* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared, Stream* stream, void** parameters,
                              void** extra) {
  stream = stream_or_default(stream);
  Result result = function == nullptr ? kInvalidHandle : check(stream);
  if (result == kSuccess && strikes(Fault::kLaunch, stream->device)) {
    result = kLaunchOutOfResources;
  }
  if (result == kSuccess) {
    const std::size_t count = function->parameter_sizes.size();
    std::vector<void*> buffer =
        parameters == nullptr && extra != nullptr ? parameters_in_buffer(*function, extra) : std::vector<void*>();
    void** list = parameters != nullptr ? parameters : buffer.data();
    if (count > kMaxWords || (parameters == nullptr && buffer.size() != count)) {
      return log_call("cuLaunchKernel", kInvalidValue, "%s, %zu parameters", function->name.c_str(), count);
    }
    result = submit(stream, Launch{function, pack(*function, list), static_cast<std::uint32_t>(count),
                                   strikes(Fault::kIllegal, stream->device)});
  }
  return log_call("cuLaunchKernel", result, "%s, grid %u %u %u, block %u %u %u, shared %u, stream %p",
                  function != nullptr ? function->name.c_str() : "(null)", grid_x, grid_y, grid_z, block_x, block_y,
                  block_z, shared, static_cast<void*>(stream));
}

// CUlaunchConfig. The attributes say how a GPU places blocks, which count for nothing here.
struct LaunchConfiguration {
  unsigned grid[3], block[3], shared;
  Stream* stream;
  const void* attributes;
  unsigned attribute_count;
};

EMULATOR_ENTRY cuLaunchKernelEx(const LaunchConfiguration* how, Function* function, void** parameters, void** extra) {
  if (how == nullptr) {
    return log_call("cuLaunchKernelEx", kInvalidValue);
  }
  return cuLaunchKernel(function, how->grid[0], how->grid[1], how->grid[2], how->block[0], how->block[1], how->block[2],
                        how->shared, how->stream, parameters, extra);
}

EMULATOR_ENTRY cuFuncGetAttribute(int* value, int attribute, Function* function) {
  constexpr int kMaxThreads = 0, kRegisters = 4;
  *value = attribute == kMaxThreads ? 1024 : attribute == kRegisters ? 32 : 0;
  return function != nullptr ? kSuccess : kInvalidHandle;
}

EMULATOR_ENTRY cuFuncSetAttribute(Function* function, int, int) {
  return function != nullptr ? kSuccess : kInvalidHandle;
}

EMULATOR_ENTRY cuFuncGetParamInfo(Function* function, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (function == nullptr || index >= function->parameter_sizes.size()) {
    return kInvalidValue;
  }
  std::size_t at = 0;
  for (std::size_t i = 0; i <= index; i++) {
    const std::size_t width = std::max<std::size_t>(function->parameter_sizes[i], 1);
    at = (at + width - 1) / width * width;
    *offset = at;
    at += width;
  }
  if (size != nullptr) {
    *size = function->parameter_sizes[index];
  }
  return kSuccess;
}

EMULATOR_ENTRY cuOccupancyMaxPotentialBlockSize(int* grid, int* block, Function* function, void*, std::size_t,
                                                int limit) {
  *block = limit > 0 ? std::min(limit, 1024) : 1024;
  *grid = 132 * (2048 / *block);
  return function != nullptr ? kSuccess : kInvalidHandle;
}

EMULATOR_ENTRY cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Function* function, int block, std::size_t) {
  if (function == nullptr || block <= 0) {
    return function == nullptr ? kInvalidHandle : kInvalidValue;
  }
  *blocks = block <= 1024 ? 2048 / block : 0;
  return kSuccess;
}
