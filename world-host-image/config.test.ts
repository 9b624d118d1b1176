import { expect, it } from 'vitest';
import { readConfig } from './config.ts';

const env = {
  SVC_CONTROL_URL: 'http://127.0.0.1:4500/',
  SVC_HOST_ID: 'hst-1',
  SVC_HOST_GENERATION: '0',
  SVC_HOST_TOKEN_FILE: '-',
};

it('the configuration has defaults for variables that are not set', () => {
  expect(readConfig(env)).toMatchObject({
    controlUrl: 'http://127.0.0.1:4500',
    listen: { host: '127.0.0.1', port: 0 },
    reportAddress: false,
    python: 'python3',
    userCode: { memoryMb: 192, boundary: 'auto' },
    namespaces: [],
    logLevel: 'info',
  });
  expect(readConfig({ ...env, SVC_LISTEN: '[::]:8080' }).listen).toEqual({
    host: '::',
    port: 8080,
  });
});

it('a configuration with several mistakes is refused with all of them', () => {
  expect(readConfig({ ...env, SVC_NAMESPACES: 'net,pid' }).namespaces).toEqual(['pid', 'net']);
  const strange = { ...env, SVC_NAMESPACES: 'pid,time' };
  expect(() => readConfig(strange)).toThrow('SVC_NAMESPACES names time');
  const wrong = { ...env, SVC_LISTEN: 'here', SVC_HOST_ID: '', SVC_REPORT_ADDRESS: 'maybe' };
  expect(() => readConfig(wrong)).toThrow(/SVC_LISTEN.*SVC_HOST_ID.*SVC_REPORT_ADDRESS/);
});
