/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with annotations for NVTX: pushed ranges of the default domain in a serial part, in a team and in a task;
 * a domain whose range overlaps one of the default domain; a range that ends in another thread; marks; names. */
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

static nvtxRangeId_t whole;

int main(void) {
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "driver");
  nvtxDomainHandle_t domain = nvtxDomainCreateA("solver");
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.colorType = NVTX_COLOR_ARGB;
  event.color = 0xff112233;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "smooth");

  whole = nvtxRangeStartA("whole");
  nvtxRangePushA("setup");
  nvtxRangePop();
#pragma omp parallel num_threads(2)
  {
    nvtxRangePushW(L"Fl\u00e4che \u20ac \U0001d11e");
#pragma omp barrier
    nvtxRangePop();
#pragma omp single
    {
#pragma omp task
      {
        nvtxRangePushA("in a task");
        nvtxRangePop();
      }
    }
#pragma omp master
    nvtxMarkA("checkpoint");
  }
  nvtxRangePushA("outer");
  nvtxDomainRangePushEx(domain, &event);
  nvtxRangePop();
  nvtxDomainRangePop(domain);
  nvtxDomainMarkEx(domain, &event);
#pragma omp parallel num_threads(2)
#pragma omp single
  nvtxRangeEnd(whole);
  return 0;
}
