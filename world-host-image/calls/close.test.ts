import { describe, expect, it } from 'vitest';
import type { Session } from '../session/session.ts';
import { callClose } from './close.ts';

const noOther = () => Promise.reject(new Error('a close runs no other call'));

const close = (input: Record<string, unknown>) =>
  callClose(
    {} as Session,
    { id: 'call-1', seq: 1, kind: 'close', name: null, input },
    input,
    noOther,
  );

describe('a close call', () => {
  it.each([[{}], [{ keepWarm: true }], [{ keepWarm: false }]])('accepts %j', async (input) => {
    expect(await close(input)).toEqual({ output: {}, changes: {} });
  });

  it.each([
    [{ keepWarm: 'yes' }, '/keepWarm'],
    [{ keepWarm: null }, '/keepWarm'],
    [{ keep: true }, '/keep'],
  ])('refuses %j', async (input, path) => {
    await expect(close(input)).rejects.toMatchObject({ error: { code: 'invalid_input', path } });
  });
});
