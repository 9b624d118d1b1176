import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

const complete = {
  SVC_CONTROL_URL: 'http://10.0.0.5:4502/',
  SVC_GATEWAY_TOKEN: 'gt',
  SVC_GATEWAY_URL: 'https://{session}--{surface}.worlds.example.com',
};

describe('readConfig', () => {
  it('uses defaults for settings that are left out', () => {
    expect(readConfig(complete)).toMatchObject({
      listen: [{ host: '127.0.0.1', port: 4600 }],
      controlUrl: 'http://10.0.0.5:4502',
      template: { scheme: 'https', suffix: '.worlds.example.com', port: '' },
      trustedHops: 0,
      hosts: {
        networks: [
          { ip: '10.0.0.0', bits: 8 },
          { ip: '172.16.0.0', bits: 12 },
          { ip: '192.168.0.0', bits: 16 },
          { ip: '100.64.0.0', bits: 10 },
          { ip: 'fc00::', bits: 7 },
        ],
        ports: [{ first: 1_024, last: 65_535 }],
      },
      limits: { bodyBytes: 268_435_456, perSession: 256, answerMs: 120_000 },
      shutdown: { drainMs: 0, finishMs: 10_000 },
      logLevel: 'info',
    });
  });

  it('requires the ports of hosts if the address of the control plane is a host name', () => {
    const named = { ...complete, SVC_CONTROL_URL: 'http://control:4502' };
    expect(() => readConfig(named)).toThrow('SVC_HOST_PORTS is not set: "control" is a name');
    expect(readConfig({ ...named, SVC_HOST_PORTS: '8080' }).hosts.ports).toEqual([
      { first: 8080, last: 8080 },
    ]);
  });

  it('reports every mistake at once', () => {
    const wrong = {
      SVC_GATEWAY_URL: 'https://x',
      SVC_TRUSTED_HOPS: '-1',
      SVC_BODY_BYTES: 'much',
      SVC_HOST_NETWORKS: '10.0.0.0/8, 10.0.0.1',
      SVC_HOST_PORTS: '8080 9-1',
    };
    for (const mistake of [
      'SVC_CONTROL_URL is not set',
      'SVC_GATEWAY_TOKEN is not set',
      'SVC_GATEWAY_URL is "https://x", not of the form https://{session}--{surface}.',
      'SVC_TRUSTED_HOPS is "-1"',
      'SVC_BODY_BYTES is "much"',
      'SVC_HOST_NETWORKS has "10.0.0.1"',
      'SVC_HOST_PORTS has "9-1"',
    ]) {
      expect(() => readConfig(wrong)).toThrow(mistake);
    }
  });
});
