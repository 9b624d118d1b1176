import { describe, expect, it } from 'vitest';
import { announcedBytes, createUploads } from './uploads.ts';

const mib = 1024 * 1024;
const ofProject = (holder: string, bytes: number) => ({ holder, bytes, isKept: true });

describe('the memory budget for bodies', () => {
  it('is refused to a project that holds too much, and to all callers when it is used up', () => {
    const uploads = createUploads({ oneMib: 64, allMib: 100 });
    uploads.begin(ofProject('a', 60 * mib));
    expect(() => uploads.begin(ofProject('a', 5 * mib))).toThrow(/"upload_mib", 64 MiB/);
    uploads.begin(ofProject('b', 40 * mib));
    expect(() => uploads.begin(ofProject('c', mib))).toThrow('too much is sent to the service');
    expect(uploads.begin(ofProject('c', 1_000))).toBeDefined();
  });

  it('limits the number of small bodies, however small they are', () => {
    const uploads = createUploads({ oneMib: 48, allMib: 48 });
    for (let count = 0; count < (24 * mib) / (16 * 1024); count += 1) {
      uploads.begin(ofProject('a', 1));
    }
    expect(() => uploads.begin(ofProject('a', 1))).toThrow(/"upload_mib", 24 MiB/);
  });

  it('is released once: when the client disconnects or the work has ended', async () => {
    const uploads = createUploads({ oneMib: 64, allMib: 100 });
    const left = uploads.begin(ofProject('a', 40 * mib));
    left.end();
    left.end();
    expect(uploads.bytes()).toBe(0);
    const begun = uploads.begin(ofProject('a', 40 * mib));
    const work = Promise.withResolvers<void>();
    const done = begun.during(() => work.promise);
    begun.read();
    begun.end();
    expect(uploads.bytes()).toBe(40 * mib);
    work.reject(new Error('it fails'));
    await expect(done).rejects.toThrow('it fails');
    expect(uploads.bytes()).toBe(0);
  });

  it('is released once a body that is small or need not be kept has been read', () => {
    const uploads = createUploads({ oneMib: 64, allMib: 100 });
    uploads.begin(ofProject('a', 1_000)).read();
    uploads.begin({ holder: 'a', bytes: 4 * mib, isKept: false }).read();
    expect(uploads.bytes()).toBe(0);
  });

  it('is reserved for the announced length, or for the maximum if the body is chunked', () => {
    expect(announcedBytes({ 'content-length': '12' }, 100)).toBe(12);
    expect(announcedBytes({ 'content-length': '101' }, 100)).toBe(0);
    expect(announcedBytes({ 'transfer-encoding': 'chunked' }, 100)).toBe(100);
    expect(announcedBytes({}, 100)).toBe(0);
  });
});
