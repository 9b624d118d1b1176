import { describe, expect, it } from 'vitest';
import { networkPolicyOf } from './network-policy.ts';
import { readPeers } from './peers.ts';

const policyFor = (controlUrl: string, control = '', callers = '', controlPorts: number[] = []) =>
  networkPolicyOf({
    installation: 'here',
    namespace: 'hosts',
    controlUrl,
    controlPeers: readPeers(control).peers,
    controlPorts,
    callerPeers: readPeers(callers).peers,
  }).spec;

const podsIn = (namespace: string, matchLabels: Record<string, string>) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  podSelector: { matchLabels },
});

describe('peers', () => {
  it('may be networks and pods', () => {
    expect(readPeers('10.0.0.0/16 fd00::/8 svc/app=control,tier=a other/')).toEqual({
      peers: [
        { ipBlock: { cidr: '10.0.0.0/16' } },
        { ipBlock: { cidr: 'fd00::/8' } },
        podsIn('svc', { app: 'control', tier: 'a' }),
        { ...podsIn('other', {}), podSelector: {} },
      ],
      wrong: [],
    });
  });

  it('may be nothing else', () => {
    const wrong = ['10.0.0.1', '10.0.0.0/33', 'control', 'svc/app', '/app=x', 'SVC/app=x'];
    expect(readPeers(wrong.join(' '))).toEqual({ peers: [], wrong });
  });
});

describe('the policy of hosts', () => {
  it('allows an address at its port', () => {
    const peer = { ipBlock: { cidr: '192.0.2.7/32' } };
    expect(policyFor('http://192.0.2.7:4100')).toMatchObject({
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ _from: [peer], ports: [{ port: 8080 }] }],
      egress: [{ to: [peer], ports: [{ port: 4100 }] }],
    });
    expect(policyFor('https://[2001:db8::7]')?.egress).toEqual([
      { to: [{ ipBlock: { cidr: '2001:db8::7/128' } }], ports: [{ protocol: 'TCP', port: 443 }] },
    ]);
  });

  it('allows resolving a name, and the pods behind it', () => {
    const spec = policyFor('http://control.svc', 'svc/app=control', 'svc/app=gateway');
    const dns = podsIn('kube-system', { 'k8s-app': 'kube-dns' });
    expect(spec?.egress).toMatchObject([
      { to: [podsIn('svc', { app: 'control' })] },
      { to: [dns], ports: [{ port: 53 }, { port: 53 }] },
    ]);
    expect(spec?.ingress).toMatchObject([{ _from: [podsIn('svc', { app: 'gateway' })] }]);
  });

  it('allows only the ports for hosts of the pods that it names', () => {
    const portsOf = (...more: number[]) =>
      policyFor('http://control.svc:4501', 'svc/app=control', '', more)?.egress?.[0]?.ports;
    expect(portsOf()).toEqual([{ protocol: 'TCP', port: 4501 }]);
    expect(portsOf(8001, 8002)).toMatchObject([{ port: 8001 }, { port: 8002 }]);
  });

  it('refuses a name without configured peers', () => {
    expect(() => policyFor('http://control.svc')).toThrow(/SVC_KUBE_CONTROL/);
  });
});
