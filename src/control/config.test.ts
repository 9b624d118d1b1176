import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';

const complete = {
  SVC_DATABASE_URL: 'postgres://svc:password@127.0.0.1/svc',
  SVC_BLOB_DIR: '/var/lib/svc/blobs',
  SVC_SECRET: 'the secret',
  SVC_POOL_TOKEN: 'the pool token',
};

describe('readConfig', () => {
  it('has defaults for optional settings', () => {
    expect(readConfig(complete)).toMatchObject({
      listen: {
        public: [{ host: '127.0.0.1', port: 4500 }],
        host: [{ host: '127.0.0.1', port: 4501 }],
        internal: [{ host: '127.0.0.1', port: 4502 }],
      },
      pinHosts: true,
      publicUrl: null,
      hostMaxUses: 200,
      quotas: {
        sessions: 1_000,
        opensPerMinute: 10_000,
        callsPerMinute: 120_000,
        queuedCalls: 10_000,
        worlds: 1_000,
        blobMib: 10_240,
        ledgerMib: 4_096,
        links: 1_000,
        waits: 4_000,
        uploadMib: 128,
      },
      opens: { most: 1_000, waitMs: 100 },
      uploadMib: 512,
      compile: {
        processes: 2,
        queued: 16,
        timeLimitMs: 10_000,
        memoryMb: 512,
        secondsPerMinute: 30,
      },
      shutdown: { drainMs: 0, finishMs: 2_500 },
      bootstrap: [],
      gateway: null,
      logLevel: 'info',
      templatesDir: expect.stringMatching(/src\/templates$/),
    });
  });

  it('reads every address of a list', () => {
    const { listen } = readConfig({
      ...complete,
      SVC_LISTEN: '127.0.0.1:4500, 172.18.0.1:4500,[::1]:0,localhost:80',
      SVC_HOST_LISTEN: '0.0.0.0:1',
      SVC_INTERNAL_LISTEN: '[::1]:2',
    });
    expect(listen.host).toEqual([{ host: '0.0.0.0', port: 1 }]);
    expect(listen.internal).toEqual([{ host: '::1', port: 2 }]);
    expect(listen.public).toEqual([
      { host: '127.0.0.1', port: 4500 },
      { host: '172.18.0.1', port: 4500 },
      { host: '::1', port: 0 },
      { host: 'localhost', port: 80 },
    ]);
  });

  it('reports every mistake at once', () => {
    const read = () =>
      readConfig({
        SVC_LISTEN: 'nowhere,127.0.0.1:70000',
        SVC_HOST_LISTEN: ',',
        SVC_INTERNAL_LISTEN: 'there',
        SVC_HOST_MAX_USES: 'many',
        SVC_DRAIN_MS: '-1',
        SVC_QUOTA_SESSIONS: '0',
        SVC_QUOTA_OPENS_PER_MINUTE: 'few',
        SVC_PUBLIC_URL: 'not a url',
        SVC_BOOTSTRAP_PUBLIC_KEY: 'pk-x',
        SVC_GATEWAY_TOKEN: 'the gateway token',
        SVC_LOG_LEVEL: 'loud',
      });
    for (const name of [
      'SVC_DATABASE_URL is not set',
      'SVC_LISTEN has "nowhere"',
      'SVC_LISTEN has "127.0.0.1:70000"',
      'SVC_HOST_LISTEN has no address',
      'SVC_INTERNAL_LISTEN has "there"',
      'SVC_HOST_MAX_USES',
      'SVC_DRAIN_MS is "-1"',
      'SVC_QUOTA_SESSIONS is "0", not a whole number from 1',
      'SVC_QUOTA_OPENS_PER_MINUTE is "few"',
      'SVC_PUBLIC_URL',
      'go together',
      'SVC_LOG_LEVEL',
    ]) {
      expect(read).toThrow(name);
    }
  });

  it('accepts the database as the blob store', () => {
    const { SVC_BLOB_DIR, ...others } = complete;
    expect(readConfig({ ...others, SVC_BLOB_URL: 'database' }).blobs).toEqual({ kind: 'database' });
  });

  it('accepts a bucket as the blob store', () => {
    const { SVC_BLOB_DIR, ...others } = complete;
    const read = (given: Record<string, string>) => readConfig({ ...others, ...given }).blobs;
    expect(read({ SVC_BLOB_DIR })).toEqual({ kind: 'folder', folder: '/var/lib/svc/blobs' });
    const bucket = { kind: 's3', bucket: 'worlds', prefix: '', region: 'eu-central-1' };
    expect(read({ SVC_BLOB_URL: 's3://worlds', AWS_REGION: 'eu-central-1' })).toEqual({
      ...bucket,
      endpoint: null,
      pathStyle: false,
    });
    const own = { AWS_ENDPOINT_URL_S3: 'http://minio:9000' };
    expect(read({ SVC_BLOB_URL: 's3://worlds/of/svc/', ...own })).toEqual({
      ...bucket,
      prefix: 'of/svc',
      region: 'us-east-1',
      endpoint: 'http://minio:9000',
      pathStyle: true,
    });
    const hostStyle = { SVC_BLOB_URL: 's3://worlds', ...own, SVC_BLOB_PATH_STYLE: 'no' };
    expect(read(hostStyle)).toMatchObject({ pathStyle: false });
  });

  it.each([
    [
      {},
      'neither SVC_BLOB_DIR (a folder) nor SVC_BLOB_URL (s3://bucket/prefix or database) is set',
    ],
    [{ SVC_BLOB_DIR: '/b', SVC_BLOB_URL: 's3://worlds' }, 'are both set'],
    [{ SVC_BLOB_URL: 's3://worlds' }, 'AWS_REGION is not set'],
    [{ SVC_BLOB_URL: 'https://worlds' }, 'SVC_BLOB_URL is "https://worlds", not "database", s3://'],
    [{ SVC_BLOB_URL: 's3://worlds/../x' }, 'not "database", s3://'],
    [{ SVC_BLOB_URL: 's3://worlds', AWS_ENDPOINT_URL_S3: 'minio:9000' }, 'AWS_ENDPOINT_URL_S3 is'],
    [{ SVC_BLOB_URL: 's3://worlds', AWS_ENDPOINT_URL_S3: 'http://a:hush@b' }, 'without a user'],
  ])('refuses %o as a blob store', (given, why) => {
    const { SVC_BLOB_DIR, ...others } = complete;
    const read = () => readConfig({ ...others, ...given });
    expect(read).toThrow(why);
    expect(read).not.toThrow('hush');
  });

  it('never prints a secret', () => {
    const printed = JSON.stringify(
      readConfig({
        ...complete,
        SVC_BOOTSTRAP_PUBLIC_KEY: 'pk-x',
        SVC_BOOTSTRAP_SECRET_KEY: 'sk-y',
      }),
    );
    for (const secret of ['password', 'the secret', 'the pool token', 'sk-y']) {
      expect(printed).not.toContain(secret);
    }
  });

  it('accepts several key pairs, either all on one line or each on its own line', () => {
    const pairsOf = (publicKeys: string, secretKeys: string) =>
      readConfig({
        ...complete,
        SVC_BOOTSTRAP_PUBLIC_KEY: publicKeys,
        SVC_BOOTSTRAP_SECRET_KEY: secretKeys,
      }).bootstrap.map(({ publicKey, secretKey }) => [publicKey, secretKey.reveal()]);
    expect(readConfig(complete).bootstrap).toEqual([]);
    expect(pairsOf('pk-x pk-y', 'sk-x sk-y')).toEqual([
      ['pk-x', 'sk-x'],
      ['pk-y', 'sk-y'],
    ]);
    expect(pairsOf('pk-x\npk-y\n', 'sk-x\nsk-y\n')).toEqual(pairsOf('pk-x pk-y', 'sk-x sk-y'));
    expect(() => pairsOf('pk-x pk-y', 'sk-x')).toThrow('go together, key by key');
    expect(() => pairsOf('pk-x pk-x', 'sk-x sk-y')).toThrow('has a key twice');
    expect(() => pairsOf('pk-x', 'x')).toThrow('SVC_BOOTSTRAP_SECRET_KEY does not begin with sk-');
  });

  it('accepts the address of surfaces behind gateways, with the token of the gateways', () => {
    const url = 'https://{session}--{surface}.worlds.example.com';
    const { gateway } = readConfig({ ...complete, SVC_GATEWAY_URL: url, SVC_GATEWAY_TOKEN: 'gt' });
    expect(gateway?.template).toEqual({ scheme: 'https', suffix: '.worlds.example.com', port: '' });
    expect(`${gateway?.token}`).toBe('***');
    const wrong = { SVC_GATEWAY_URL: 'https://worlds.example.com', SVC_GATEWAY_TOKEN: 'gt' };
    expect(() => readConfig({ ...complete, ...wrong })).toThrow(
      'SVC_GATEWAY_URL is "https://worlds.example.com", not of the form https://{session}--{surface}.',
    );
  });
});
