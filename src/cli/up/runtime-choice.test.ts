import { describe, expect, it } from 'vitest';
import { AppError } from '#domain/error.ts';
import { chooseRuntime, fallBack } from './runtime.ts';

const alive = { answers: true as const, version: '28.1' };
const dead = { answers: false as const, why: 'unix:///x: its socket does not exist' };

describe('choosing the runtime', () => {
  it('takes Docker if it is available, or else processes, and gives the reason', () => {
    expect(chooseRuntime('auto', alive)).toEqual({
      runtime: 'docker',
      why: 'a Docker engine answers, version 28.1',
    });
    expect(chooseRuntime('auto', dead)).toEqual({
      runtime: 'process',
      why: 'no Docker engine (unix:///x: its socket does not exist)',
    });
  });

  it('uses the requested runtime', () => {
    expect(chooseRuntime('process', alive).runtime).toBe('process');
    expect(chooseRuntime('docker', alive).runtime).toBe('docker');
    expect(() => chooseRuntime('docker', dead)).toThrow('no Docker engine answers (unix:///x');
  });

  it('replaces a Docker that cannot be prepared by processes, unless Docker was requested', () => {
    const reason = new AppError('unavailable', 'no base image');
    expect(fallBack('auto', reason)).toMatchObject({ runtime: 'process' });
    expect(fallBack('auto', reason).why).toContain('no base image');
    expect(() => fallBack('docker', reason)).toThrow('no base image');
  });
});
