/**
 * Server-side request forgery through webhooks: URLs, names and answers that lead the service to an
 * internal address or keep it busy. The service connects to public addresses only, and refuses the
 * rest with a reason.
 */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PushFailure } from '#domain/push.ts';
import { mostAnswerBytes, type Outgoing, post } from '#egress/post.ts';
import { type Internet, makeInternet, publicAddress } from '#test/support/webhooks/receivers.ts';

let internet: Internet;
/** Requests that the receiver got. */
let received: { url: string | undefined; headers: Record<string, unknown>; body: string }[] = [];

const receiver = 'hooks.receiver.dev';
const otherAddress = '1.1.1.1';

beforeAll(async () => {
  internet = await makeInternet();
  await internet.serve([receiver, publicAddress, '2606:4700::1111'], (request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      received.push({ url: request.url, headers: request.headers, body });
      response.end('ok');
    });
  });
});
afterAll(() => internet.close());

const send = (url: string, more: Partial<Outgoing> = {}, mostMs?: number) =>
  post({ url, headers: {}, body: '{}', ...more }, internet.network, mostMs);

/** Refused URLs: the code of the reason, and a part of its message. */
type Refused = readonly [url: string, code: PushFailure, says: string];

const forms: Refused[] = [
  ['http://hooks.receiver.dev/', 'url', 'only https://'],
  ['ftp://hooks.receiver.dev/', 'url', 'only https://'],
  ['file:///etc/passwd', 'url', 'only https://'],
  ['gopher://hooks.receiver.dev/_x', 'url', 'only https://'],
  ['ws://hooks.receiver.dev/', 'url', 'only https://'],
  ['data:text/plain,x', 'url', 'only https://'],
  ['unix:///var/run/docker.sock', 'url', 'only https://'],
  ['//hooks.receiver.dev/', 'url', 'not a URL'],
  ['hooks.receiver.dev', 'url', 'not a URL'],
  ['', 'url', 'not a URL'],
  ['https://', 'url', 'not a URL'],
  ['https://hooks.receiver.dev:80/', 'url', 'port 80'],
  ['https://hooks.receiver.dev:8443/', 'url', 'port 8443'],
  ['https://hooks.receiver.dev:22/', 'url', 'port 22'],
  ['https://hooks.receiver.dev:0/', 'url', 'port 0'],
  ['https://hooks.receiver.dev:99999/', 'url', 'not a URL'],
  ['https://user:pass@hooks.receiver.dev/', 'url', 'credentials'],
  ['https://user@hooks.receiver.dev/', 'url', 'credentials'],
  ['https://:@hooks.receiver.dev/', 'url', 'credentials'],
  ['https://@hooks.receiver.dev/', 'url', 'credentials'],
  ['https://hooks.receiver.dev@127.0.0.1/', 'url', 'credentials'],
  ['https://hooks.receiver.dev%40x@10.0.0.1/', 'url', 'credentials'],
  ['https://hooks.receiver.dev\\@127.0.0.1/', 'url', 'backslash'],
  ['https:\\\\127.0.0.1\\', 'url', 'backslash'],
  ['https://hooks.receiver.dev/\r\nHost: inside', 'url', 'line break'],
  ['https://hooks.receiver\r.dev/', 'url', 'line break'],
  ['https://127.0.\n0.1/', 'url', 'line break'],
  [' https://hooks.receiver.dev/', 'url', 'space'],
  ['https://hooks.receiver.dev/\t', 'url', 'space'],
  ['https://hooks.receiver.dev/\u0000', 'url', 'space'],
  ['https://hooks.receiver.dev/ HTTP/1.1', 'url', 'space'],
  [`https://hooks.receiver.dev/${'x'.repeat(2_100)}`, 'url', 'longer than'],
  ['https://localhost/', 'url', 'localhost'],
  ['https://LOCALHOST/', 'url', 'localhost'],
  ['https://x.localhost/', 'url', 'localhost'],
  ['https://localhost./', 'url', 'ends in a dot'],
  ['https://kubernetes/', 'url', 'one label'],
  ['https://postgres/', 'url', 'one label'],
  ['https://kubernetes.default.svc.cluster.local/', 'url', '"local"'],
  ['https://metadata.google.internal/', 'url', '"internal"'],
  ['https://printer.home.arpa/', 'url', '"home.arpa"'],
  ['https://hooks..receiver.dev/', 'url', 'not a valid DNS name'],
  [`https://${'x'.repeat(64)}.dev/`, 'url', 'not a valid DNS name'],
  ['https://[fe80::1%25eth0]/', 'url', 'not a URL'],
  ['https://[::1%lo]/', 'url', 'not a URL'],
  ['https://1.2.3.4.5/', 'url', 'not a URL'],
  ['https://256.1.1.1/', 'url', 'not a URL'],
];

/** Addresses in the spellings that a URL allows, with the kind of each. */
const written: Refused[] = (
  [
    ['127.0.0.1', 'loopback'],
    ['127.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['2130706433', 'loopback'],
    ['0x7f000001', 'loopback'],
    ['0x7f.1', 'loopback'],
    ['017700000001', 'loopback'],
    ['0177.0.0.1', 'loopback'],
    ['127.0.0.1.', 'loopback'],
    ['127%2e0%2e0%2e1', 'loopback'],
    ['１２７.０.０.１', 'loopback'],
    ['127。0。0。1', 'loopback'],
    ['0.0.0.0', 'unspecified'],
    ['0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['10.0.0.1', 'private'],
    ['0xa.1', 'private'],
    ['167772161', 'private'],
    ['012.0.0.1', 'private'],
    ['172.16.0.1', 'private'],
    ['172.31.255.255', 'private'],
    ['192.168.1.1', 'private'],
    ['169.254.1.1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['2852039166', 'metadata'],
    ['0xa9fea9fe', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['168.63.129.16', 'metadata'],
    ['192.0.0.192', 'metadata'],
    ['100.64.0.1', 'shared'],
    ['100.127.255.255', 'shared'],
    ['192.0.0.1', 'reserved'],
    ['192.0.2.1', 'documentation'],
    ['198.51.100.1', 'documentation'],
    ['203.0.113.1', 'documentation'],
    ['198.18.0.1', 'benchmarks'],
    ['198.19.255.255', 'benchmarks'],
    ['192.88.99.1', '6to4 relay'],
    ['192.175.48.1', 'reverse DNS'],
    ['192.52.193.1', 'multicast tunnels'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['240.0.0.1', 'reserved'],
    ['255.255.255.255', 'broadcast'],
    ['[::]', 'unspecified'],
    ['[::1]', 'loopback'],
    ['[0:0:0:0:0:0:0:1]', 'loopback'],
    ['[::127.0.0.1]', 'not assigned'],
    ['[::ffff:127.0.0.1]', 'mapped'],
    ['[::ffff:7f00:1]', 'mapped'],
    ['[::ffff:93.184.216.34]', 'mapped'],
    ['[::ffff:0:127.0.0.1]', 'translated'],
    ['[64:ff9b::127.0.0.1]', 'NAT64'],
    ['[64:ff9b::a9fe:a9fe]', 'NAT64'],
    ['[64:ff9b:1::1]', 'NAT64'],
    ['[2002:7f00:1::]', '6to4'],
    ['[2002:a9fe:a9fe::1]', '6to4'],
    ['[2001::1]', 'Teredo'],
    ['[2001:0:53aa:64c::1]', 'Teredo'],
    ['[2001:2::1]', 'benchmarks'],
    ['[2001:db8::1]', 'documentation'],
    ['[3fff::1]', 'documentation'],
    ['[2001:10::1]', 'overlay'],
    ['[2001:20::1]', 'overlay'],
    ['[fc00::1]', 'unique local'],
    ['[fd12:3456:789a::1]', 'unique local'],
    ['[fd00:ec2::254]', 'metadata'],
    ['[fd20:ce::254]', 'metadata'],
    ['[fe80::1]', 'link-local'],
    ['[febf::1]', 'link-local'],
    ['[fec0::1]', 'site-local'],
    ['[ff02::1]', 'multicast'],
    ['[ff05::1:3]', 'multicast'],
    ['[100::1]', 'discard'],
    ['[5f00::1]', 'segment routing'],
    ['[4000::1]', 'not assigned'],
    ['[200::1]', 'not assigned'],
  ] as const
).map(([host, what]) => [`https://${host}/`, 'address', what]);

describe('a URL that leads to an internal address', () => {
  it.each([...forms, ...written])('%j is refused: %s, %s', async (url, code, says) => {
    const before = { asked: internet.asked.length, dialled: internet.dialled.length };
    expect(await send(url)).toMatchObject({
      status: 0,
      problem: { code, message: expect.stringContaining(says) },
    });
    expect([internet.asked.length, internet.dialled.length]).toEqual([
      before.asked,
      before.dialled,
    ]);
  });

  it('is refused for its address, not for its spelling: a public address in the same spellings is accepted', async () => {
    received = [];
    internet.lead('2606:4700::1111', 1);
    expect(await send(`https://${receiver}/a?b=c#d`, { body: '{"a":1}' })).toMatchObject({
      status: 200,
      note: null,
    });
    expect(await send('https://1572395042/'), 'a public one in one number').toMatchObject({
      status: 200,
    });
    expect(await send('https://[2606:4700::1111]/')).toMatchObject({
      problem: { code: 'connect' },
    });
    expect(received[0]).toMatchObject({
      url: '/a?b=c',
      body: '{"a":1}',
      headers: { host: receiver, 'content-length': '7', connection: 'close' },
    });
    expect(received[1]?.headers).toMatchObject({ host: publicAddress });
  });
});

describe('a name that leads to an internal address', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['10.96.0.1', 'private'],
    ['169.254.169.254', 'metadata'],
    ['100.64.3.4', 'shared'],
    ['::1', 'loopback'],
    ['::ffff:10.0.0.1', 'mapped'],
    ['fd00::1', 'unique local'],
    ['fe80::1%eth0', 'zone'],
    ['64:ff9b::7f00:1', 'NAT64'],
    ['2002:7f00:1::', '6to4'],
    ['0x7f.1', 'no IP address'],
    ['2130706433', 'no IP address'],
    ['017.0.0.1', 'no IP address'],
    ['', 'no IP address'],
  ])('is refused when it resolves to the address %j', async (address, what) => {
    internet.name('inside.receiver.dev', [address]);
    const dialled = internet.dialled.length;
    expect(await send('https://inside.receiver.dev/')).toMatchObject({
      problem: { code: 'address', message: expect.stringContaining(what) },
    });
    expect(internet.dialled.length).toBe(dialled);
  });

  it('is refused when one of its addresses is not public, at any place in the list', async () => {
    for (const addresses of [
      [publicAddress, '10.0.0.1'],
      ['10.0.0.1', publicAddress],
      [publicAddress, otherAddress, 'fd00::1'],
    ]) {
      internet.name('mixed.receiver.dev', addresses);
      const dialled = internet.dialled.length;
      expect(await send('https://mixed.receiver.dev/')).toMatchObject({
        problem: { code: 'address' },
      });
      expect(internet.dialled.length).toBe(dialled);
    }
  });

  it('is resolved once, and the connection uses the address that was checked', async () => {
    const port = await internet.serve(['rebinding.receiver.dev'], (_, response) => response.end());
    internet.lead('8.8.8.8', port);
    internet.name('rebinding.receiver.dev', ['8.8.8.8'], ['127.0.0.1']);
    internet.asked.length = 0;
    internet.dialled.length = 0;
    expect(await send('https://rebinding.receiver.dev/')).toMatchObject({ status: 200 });
    expect([internet.asked, internet.dialled]).toEqual([['rebinding.receiver.dev'], ['8.8.8.8']]);
    expect(await send('https://rebinding.receiver.dev/')).toMatchObject({
      problem: { code: 'address', message: expect.stringContaining('loopback') },
    });
    expect(internet.dialled).toEqual(['8.8.8.8']);
  });

  it('is refused without addresses, with far too many, and when the resolver fails', async () => {
    expect(await send('https://nowhere.receiver.dev/')).toMatchObject({ problem: { code: 'dns' } });
    internet.name(
      'many.receiver.dev',
      Array.from({ length: 65 }, (_, at) => `8.8.4.${at}`),
    );
    expect(await send('https://many.receiver.dev/')).toMatchObject({ problem: { code: 'dns' } });
    internet.name('broken.receiver.dev', Object.assign(new Error('x'), { code: 'ESERVFAIL' }));
    expect(await send('https://broken.receiver.dev/')).toMatchObject({
      problem: { code: 'dns', message: expect.stringContaining('ESERVFAIL') },
    });
  });

  it('must present a certificate for its own name', async () => {
    await internet.serve(['else.receiver.dev'], (_, response) => response.end(), '9.9.9.9');
    internet.name('posing.receiver.dev', ['9.9.9.9']);
    expect(await send('https://posing.receiver.dev/')).toMatchObject({ problem: { code: 'tls' } });
    const trusting = { ...internet.network };
    delete trusting.ca;
    const outgoing = { url: 'https://else.receiver.dev/', headers: {}, body: '' };
    expect(await post(outgoing, trusting)).toMatchObject({ problem: { code: 'tls' } });
  });
});

describe('headers that would change the request itself', () => {
  it.each<[Record<string, string>, string]>([
    [{ host: 'inside' }, 'host'],
    [{ 'Content-Length': '0' }, 'content-length'],
    [{ 'transfer-encoding': 'chunked' }, 'transfer-encoding'],
    [{ connection: 'upgrade' }, 'connection'],
    [{ upgrade: 'h2c' }, 'upgrade'],
    [{ expect: '100-continue' }, 'expect'],
    [{ 'x-a': 'b\r\nhost: inside' }, 'cannot be sent'],
    [{ 'x-a': 'b\nc' }, 'cannot be sent'],
    [{ 'x-a': 'b\u0000' }, 'cannot be sent'],
    [{ 'x-a': 'ā' }, 'cannot be sent'],
    [{ 'x-a': 'x'.repeat(9_000) }, 'cannot be sent'],
    [{ 'x-a\r\nhost': 'inside' }, 'not a valid header name'],
    [{ 'x a': 'b' }, 'not a valid header name'],
    [{ '': 'b' }, 'not a valid header name'],
    [{ 'x-a': 'b', 'X-A': 'c' }, 'twice'],
    [Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`x-${at}`, 'b'])), 'more than 64'],
  ])('%j are refused', async (headers, says) => {
    const dialled = internet.dialled.length;
    expect(await send(`https://${receiver}/`, { headers })).toMatchObject({
      problem: { code: 'header', message: expect.stringContaining(says) },
    });
    expect(internet.dialled.length).toBe(dialled);
  });
});

/** Serves a fixed answer, byte for byte. */
const answer = async (address: string, write: Parameters<Internet['serveRaw']>[1]) => {
  const name = `at-${address.replaceAll('.', '-')}.receiver.dev`;
  await internet.serveRaw(name, write, address);
  return `https://${name}/`;
};

describe('an answer', () => {
  it.each([301, 302, 303, 307, 308])('that redirects with %i is not followed', async (status) => {
    const url = await answer(`7.7.7.${status - 300}`, (socket) =>
      socket.end(`HTTP/1.1 ${status} Moved\r\nlocation: https://${receiver}/\r\n\r\n`),
    );
    received = [];
    const dialled = internet.dialled.length;
    expect(await send(url)).toMatchObject({ status, note: 'redirects are not followed' });
    expect([internet.dialled.length, received]).toEqual([dialled + 1, []]);
  });

  it('that never ends is read only up to the limit', async () => {
    let written = 0;
    const url = await answer('7.7.8.1', (socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write('x'.repeat(64 * 1024))) written += 1;
      };
      socket.on('drain', more);
      more();
    });
    expect(await send(url)).toMatchObject({
      status: 200,
      note: `only the first ${mostAnswerBytes} bytes of the receiver's answer were read`,
    });
    expect(written).toBeLessThan(1_000);
  });

  it('that would be huge when unpacked is not unpacked', async () => {
    const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024));
    expect(bomb.byteLength).toBeLessThan(mostAnswerBytes);
    const url = await answer('7.7.8.2', (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\n\r\n`);
      socket.end(bomb);
    });
    expect(await send(url)).toMatchObject({ status: 200, note: null });
  });

  it('that never arrives, or never ends, is waited for until the timeout', async () => {
    const never = await answer('7.7.8.3', () => undefined);
    expect(await send(never, {}, 200)).toMatchObject({ problem: { code: 'timeout' } });
    const headless = await answer('7.7.8.4', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a: '));
    expect(await send(headless, {}, 200)).toMatchObject({ problem: { code: 'timeout' } });
    const endless = await answer('7.7.8.5', (socket) => socket.write('HTTP/1.1 202 OK\r\n\r\nx'));
    expect(await send(endless, {}, 400)).toMatchObject({
      status: 202,
      note: "the rest of the receiver's answer did not arrive in time",
    });
  });

  it.each([
    ['is no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'answer'],
    ['has a head without an end', `HTTP/1.1 200 OK\r\nx-a: ${'x'.repeat(40_000)}`, 'answer'],
    [
      'has two lengths',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx',
      'answer',
    ],
    [
      'has a length and chunks',
      'HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n',
      'answer',
    ],
    [
      'changes the protocol',
      'HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n',
      'answer',
    ],
    ['is none', '', 'closed'],
    ['ends in its head', 'HTTP/1.1 200 OK\r\nx-a: b\r\n', 'closed'],
  ] as const)('that %s is reported as a failure', async (what, bytes, code) => {
    const url = await answer(`7.7.9.${what.length}`, (socket) => socket.end(bytes));
    expect(await send(url)).toMatchObject({ status: 0, problem: { code } });
  });

  it('with status 103 is skipped, and the final answer is used', async () => {
    const url = await answer('7.7.8.6', (socket) =>
      socket.end('HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'),
    );
    expect(await send(url)).toMatchObject({ status: 204, note: null });
  });
});

it('a receiver that refuses the connection, or does not complete TLS, is reported as a failure with its reason', async () => {
  internet.name('closed.receiver.dev', ['6.6.6.6', '6.6.6.7']);
  internet.dialled.length = 0;
  expect(await send('https://closed.receiver.dev/')).toMatchObject({
    problem: { code: 'connect', message: expect.stringContaining('ECONNREFUSED') },
  });
  expect(internet.dialled).toEqual(['6.6.6.6', '6.6.6.7']);
  await internet.serve(['silent.receiver.dev'], () => undefined, '6.6.6.9');
  expect(await send('https://silent.receiver.dev/', {}, 200)).toMatchObject({
    problem: { code: 'timeout' },
  });
});
