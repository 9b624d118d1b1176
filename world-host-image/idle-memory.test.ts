/** Tests under which conditions an idle host collects its garbage. */
import { expect, it } from 'vitest';
import { createLook } from './idle-memory.ts';

const mebibyte = 1024 ** 2;

/** Returns a simulated heap that a test fills. A collection leaves ten mebibytes in it. */
const playedHeap = () => {
  const heap = { physicalMb: 25, usedMb: 20, busy: 0, collected: 0 };
  const look = createLook({
    heap: () => ({
      total_physical_size: heap.physicalMb * mebibyte,
      used_heap_size: heap.usedMb * mebibyte,
    }),
    busyShare: () => heap.busy,
    collect() {
      heap.collected += 1;
      heap.physicalMb = 10;
    },
  });
  return { heap, look };
};

it('garbage is collected once when the host is idle, and again only after the heap has grown', () => {
  const { heap, look } = playedHeap();
  look();
  look();
  heap.physicalMb = 12;
  look();
  expect(heap.collected).toBe(1);
  heap.physicalMb = 14;
  look();
  expect(heap.collected).toBe(2);
});

it('garbage is not collected while the host is busy', () => {
  const { heap, look } = playedHeap();
  heap.busy = 0.5;
  look();
  expect(heap.collected).toBe(0);
  heap.busy = 0;
  look();
  expect(heap.collected).toBe(1);
});

it('garbage is not collected in a heap so large that calls would wait', () => {
  const { heap, look } = playedHeap();
  Object.assign(heap, { physicalMb: 150, usedMb: 120 });
  look();
  expect(heap.collected).toBe(0);
});
