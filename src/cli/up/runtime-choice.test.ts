import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { chooseRuntime, fallBack } from './runtime.ts';

const alive = { answers: true as const, version: '28.1' };
const dead = { answers: false as const, why: 'unix:///x: no such socket' };

describe('chooseRuntime', () => {
  it('chooses Docker if it is available, else processes, and says why', () => {
    expect(chooseRuntime('auto', alive)).toEqual({
      runtime: 'docker',
      why: 'an engine answers, version 28.1',
    });
    expect(chooseRuntime('auto', dead)).toEqual({
      runtime: 'process',
      why: 'no Docker engine (unix:///x: no such socket)',
    });
  });

  it('uses the requested runtime', () => {
    expect(chooseRuntime('process', alive).runtime).toBe('process');
    expect(chooseRuntime('docker', alive).runtime).toBe('docker');
    expect(() => chooseRuntime('docker', dead)).toThrow('no Docker engine answers (unix:///x');
  });

  it('falls back from a Docker that cannot be prepared only when it may', () => {
    const reason = new AppError('unavailable', 'no base image');
    expect(fallBack('auto', reason)).toMatchObject({ runtime: 'process' });
    expect(fallBack('auto', reason).why).toContain('no base image');
    expect(() => fallBack('docker', reason)).toThrow('no base image');
  });
});
