/**
 * Tests Python modules that depend on the system. A run may start as many threads as a thread pool makes, within the
 * memory of a worker, and threads leave nothing behind when they have ended.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bench, startBench } from '#test/support/host/user-code.ts';

const python = `
import asyncio, lzma, threading, time
from concurrent.futures import ThreadPoolExecutor

seen = 0

def count():
    global seen
    seen += 1
    return seen

def one(number):
    time.sleep(0.01)
    return number

def pool(workers):
    with ThreadPoolExecutor(workers) as executor:
        return sum(executor.map(one, range(100)))

async def to_thread():
    return sum(await asyncio.gather(*(asyncio.to_thread(one, number) for number in range(20))))

async def own_executor():
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(8) as executor:
        return await loop.run_in_executor(executor, one, 7)

def large():
    return len(bytearray(100 * 2**20))

def compress():
    return len(lzma.decompress(lzma.compress(b"x" * 1_000_000)))

def deep():
    found = []
    def descend(levels):
        return 0 if levels == 0 else 1 + descend(levels - 1)
    thread = threading.Thread(target=lambda: found.append(descend(900)))
    thread.start()
    thread.join()
    return found

def guess():
    import mimetypes
    return mimetypes.guess_type("a.json")[0]

def bare_pool():
    from multiprocessing.pool import ThreadPool
    with ThreadPool(2) as pool:
        return pool.map(one, range(3))
`;

let bench: Bench;
beforeAll(async () => {
  bench = await startBench();
  await bench.load({ 'tools.py': python });
});
afterAll(() => bench.close());

const value = (name: string, input = {}) => bench.value('python', name, { input });

it('a call can run a thread pool of any size within the worker’s limit', async () => {
  for (const workers of [2, 8, 32]) expect(await value('pool', { workers })).toBe(4950);
});

it('a call can use asyncio’s threads, whose executor ends with the call', async () => {
  for (const _ of [1, 2]) expect(await value('to_thread')).toBe(190);
  expect(await value('own_executor')).toBe(7);
});

it('after a call with threads, later calls still have the worker’s memory, in the same process', async () => {
  await value('pool', { workers: 8 });
  const before = Number(await value('count'));
  expect(await value('large')).toBe(100 * 2 ** 20);
  expect(await value('compress')).toBe(1_000_000);
  expect(await value('pool', { workers: 8 })).toBe(4950);
  expect(await value('count')).toBe(before + 1);
});

it('a thread’s stack is large enough for as many nested calls as Python allows', async () => {
  expect(await value('deep')).toEqual([900]);
});

it('a process pool of multiprocessing fails with an error that recommends thread pools', async () => {
  const result = await bench.run('python', 'bare_pool');
  const message = expect.stringContaining('concurrent.futures.ThreadPoolExecutor');
  expect(result).toMatchObject({ ok: false, error: { code: 'raised', message } });
});

it('the module mimetypes can read the system’s list of media types', async () => {
  expect(await value('guess')).toBe('application/json');
});
