/** `svc up`: runs the whole service on this machine until it is stopped. */
import { dirname, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { type BrowserTier, browserTiers } from '#domain/session.ts';
import { minimumOf, readCheckContext } from '#pools/check.ts';
import { defaultDataFolder, wayToCredentials } from '../service/connection.ts';
import type { Context, Output } from '../terminal/context.ts';
import { formatCount, formatDuration, formatFields, formatJson } from '../terminal/print.ts';
import { withProgress } from '../terminal/progress.ts';
import { listenForStop, type Stopping } from '../terminal/stopping.ts';
import { countWarm, type OpenSessions } from '../up/pool-look.ts';
import { describePorts, rangeSize } from '../up/ports.ts';
import { type RuntimeWish, runtimeWishes } from '../up/runtime.ts';
import { startUp, type Up, usualGatewayPort } from '../up/up.ts';
import { reportError, usageError } from '../views/report.ts';
import { addCommand, parseNumber } from './command.ts';

type Options = {
  data?: string;
  port: number;
  runtime: RuntimeWish;
  pool: number;
  pools?: string;
  browsers?: number;
  browserTier?: BrowserTier;
  gateway?: number;
  tls?: boolean;
  json?: boolean;
  metrics?: number;
};

const parsePort = parseNumber({ min: 0, max: 65_535, whole: true });

/** Parses the first port of the metrics. The four programs use this port and the next three. */
const parseMetricsPort = parseNumber({ min: 0, max: 65_532, whole: true });

/** Returns the addresses at which running programs serve metrics and status. */
const describeMetrics = ({ ports: { metrics }, surfaceTemplate }: Up): string | undefined => {
  if (metrics === undefined) return undefined;
  const { control, orchestrator, gateway, sender } = metrics;
  const own = surfaceTemplate === undefined ? [] : [gateway];
  const ports = [control, orchestrator, ...own, sender];
  return ports.map((port) => `http://127.0.0.1:${port}/metrics`).join(' ');
};

/**
 * Returns the output of `--json`: the addresses of the service and its surfaces, its credentials, and the certificate
 * authority.
 */
const asJson = (up: Up) => ({
  url: up.url,
  ports: up.ports,
  surfaces: up.surfaceTemplate ?? null,
  publicKey: up.secrets.publicKey,
  secretKey: up.secrets.secretKey,
  credentialsFile: up.folder.credentialsFile,
  caFile: up.authority?.caFile ?? null,
  caBundleFile: up.authority?.bundleFile ?? null,
  runtime: up.runtime.runtime,
  logs: up.folder.logDir,
});

/**
 * Formats how to make clients trust the certificates. Some clients trust only the given file, and no other authorities;
 * these need the bundle.
 */
const describeTrust = ({ authority }: Up): string => {
  if (authority === undefined) return '';
  const { caFile, bundleFile, until, wasRenewed } = authority;
  const renewed = wasRenewed
    ? '\nthe authority was renewed: give clients the new file before the one that they have expires'
    : '';
  const ways = formatFields([
    ['curl', `curl --cacert ${caFile} …`],
    ['Node', `export NODE_EXTRA_CA_CERTS=${caFile}`],
    ['Python', `export SSL_CERT_FILE=${bundleFile} REQUESTS_CA_BUNDLE=${bundleFile}`],
    ['Go', `export SSL_CERT_FILE=${bundleFile}`],
    ['browsers', `import ${caFile} as an authority for websites`],
  ]);
  const end = until.toISOString().slice(0, 10);
  return `\n\nthe certificates are only for names of this machine, and valid until ${end}; make clients trust them by\n${ways}${renewed}`;
};

const describe = (up: Up, { colors }: Context): string => {
  const { credentialsFile, logDir } = up.folder;
  const fields = formatFields([
    ['url', colors.bold(up.url)],
    ['ports', describePorts(up.ports)],
    ['surfaces', up.surfaceTemplate],
    ['metrics', describeMetrics(up)],
    ['public key', up.secrets.publicKey],
    ['secret key', up.secrets.secretKey],
    ['credentials', `${credentialsFile} (${wayToCredentials(dirname(credentialsFile))})`],
    ['runtime', `${up.runtime.runtime} (${up.runtime.why})`],
    ['browsers', up.browsers.says],
    ['logs', logDir],
  ]);
  return `${fields}${describeTrust(up)}`;
};

/**
 * Returns the output for messages to people. With `--json` that is standard error, because the JSON goes to standard
 * output.
 */
const tellsOn = ({ out, err }: Context, { json }: Options): Output => (json ? err : out);

/** Waits until a host is warm. If the wait fails, stops all programs. */
const awaitFirstHost = async (up: Up, signal: AbortSignal): Promise<void> => {
  try {
    await up.watchHosts((hosts) => countWarm(hosts) > 0, signal);
  } catch (error) {
    await up.stop();
    signal.throwIfAborted();
    throw error;
  }
};

/** Pools file, if one is given, and the total of the minimum numbers of warm hosts. */
type Pools = { poolsFile?: string; warm: number };

/** Reads the pools from the options. */
const readPools = async ({ cwd, env }: Context, { pool, pools }: Options): Promise<Pools> => {
  if (pools === undefined) return { warm: pool };
  const poolsFile = resolve(cwd, pools);
  return { poolsFile, warm: await minimumOf(poolsFile, readCheckContext(env)) };
};

/**
 * Starts all programs. If the pools keep hosts warm, the service is up once a host is warm; otherwise it is up at once.
 */
const start = async (
  context: Context,
  options: Options,
  { poolsFile, warm }: Pools,
  stopping: Stopping,
): Promise<Up> => {
  const { data = context.env.SVC_DATA ?? defaultDataFolder, port, runtime, pool } = options;
  const progress = { out: tellsOn(context, options), step: 'starting' };
  return withProgress(progress, async ({ showStep, print }) => {
    const up = await startUp({
      data: resolve(context.cwd, data),
      port,
      runtime,
      poolSize: pool,
      browsers: options.browsers,
      browserTier: options.browserTier,
      poolsFile,
      gatewayPort: options.gateway,
      tls: options.tls,
      metricsPort: options.metrics,
      env: context.env,
      signal: stopping.signal,
      showStep,
      say: (message) => print(`${message}\n`),
    });
    if (warm > 0) {
      showStep('waiting for the first world host');
      await awaitFirstHost(up, stopping.signal);
    }
    return up;
  });
};

type Warm = { count: number; signal: AbortSignal };

/** Prints a message once the pool is warm. Until then, a session may have to wait for its host. */
const announceWarm = async (context: Context, out: Output, up: Up, { count, signal }: Warm) => {
  try {
    await up.watchHosts((hosts) => countWarm(hosts) >= count, signal);
    out.write(`${formatCount(count, 'world host')} warm; Ctrl-C stops the service\n`);
  } catch (error) {
    if (!signal.aborted) reportError(context, error);
  }
};

const whenStopped = (signal: AbortSignal): Promise<void> =>
  new Promise((done) => {
    if (signal.aborted) done();
    else signal.addEventListener('abort', () => done(), { once: true });
  });

/** Formats what stopping the service does to open sessions. */
const describeStop = (open: OpenSessions | undefined): string => {
  const { served, waiting } = open ?? { served: 0, waiting: 0 };
  const ends = `${formatCount(served, 'open session')} end${served === 1 ? 's' : ''} with the service, as FAILED (reclaimed)`;
  const waits = `${formatCount(waiting, 'session')} without a host wait${waiting === 1 ? 's' : ''} until the next svc up`;
  const parts = [...(served === 0 ? [] : [ends]), ...(waiting === 0 ? [] : [waits])];
  return `${['stopping', ...parts].join('; ')}\n`;
};

const run = async (context: Context, options: Options, stopping: Stopping): Promise<void> => {
  const startedAt = performance.now();
  const pools = await readPools(context, options);
  const up = await start(context, options, pools, stopping);
  const out = tellsOn(context, options);
  const took = formatDuration(performance.now() - startedAt);
  if (options.json) context.out.writeExactly(formatJson(asJson(up)));
  else out.write(`${describe(up, context)}\n\nup after ${took}\n`);
  announceWarm(context, out, up, { count: pools.warm, signal: stopping.signal });
  await whenStopped(stopping.signal);
  out.write(describeStop(await up.openSessions()));
  const stopped = up.stop();
  const wasForced = await Promise.race([
    stopped.then(() => false),
    stopping.forced.then(() => true),
  ]);
  if (wasForced) {
    up.kill();
    out.write('killed; the next svc up on this folder cleans up\n');
    const left = await up.describeLeft();
    if (left !== undefined) out.write(`${left}\n`);
  }
};

export const addUp = (program: Command, context: Context): void => {
  addCommand(program, {
    usage: 'up',
    summary: 'run the whole service on this machine until Ctrl-C',
    example:
      'svc up\nsvc up --gateway\nsvc up --tls\nsvc up --data ~/svc-data --port 0 --runtime process',
  })
    .option('--data <folder>', `folder for all data (default: $SVC_DATA or ${defaultDataFolder})`)
    .option(
      '--port <number>',
      `port of the API on 127.0.0.1, 0: any free one; other programs use the first free ones of the ${rangeSize - 1} ports after it`,
      parsePort,
      4500,
    )
    .addOption(
      new Option('--runtime <runtime>', 'how world hosts run; auto: in Docker if that is available')
        .choices(runtimeWishes)
        .default('auto'),
    )
    .option(
      '--pool <number>',
      'number of warm world hosts',
      parseNumber({ min: 0, max: 64, whole: true }),
      2,
    )
    .option(
      '--browsers <number>',
      'number of warm browsers (default: none; browsers start when a session needs one)',
      parseNumber({ min: 0, max: 16, whole: true }),
    )
    .addOption(
      new Option('--browser-tier <tier>', 'browser tier of sessions that name none').choices(
        browserTiers,
      ),
    )
    .option(
      '--pools <file>',
      'pools file, which replaces the pool of --pool; its changes are applied',
    )
    .addOption(
      new Option(
        '--gateway [port]',
        'also run a gateway on this port; each session gets its own host name below .localhost',
      )
        .argParser(parsePort)
        .preset(String(usualGatewayPort)),
    )
    .option(
      '--tls',
      'API and gateway over https, with certificates of an authority of this data folder (docs/use/https.md)',
    )
    .option(
      '--json',
      'print addresses, keys and files as JSON once the service is up; everything else goes to standard error',
    )
    .addOption(
      new Option(
        '--metrics [port]',
        'serve Prometheus metrics of control plane, orchestrator, gateway and sender, on this port and the next three',
      )
        .argParser(parseMetricsPort)
        .preset('9464'),
    )
    .action(async (options: Options) => {
      if (context.env.SVC_METRICS_LISTEN !== undefined) {
        throw usageError(
          'SVC_METRICS_LISTEN is the address of a single program, but svc up runs several; use --metrics [port]',
        );
      }
      const stopping = listenForStop();
      await run(context, options, stopping);
      stopping.release();
    });
};
