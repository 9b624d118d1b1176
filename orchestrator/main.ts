/**
 * Starts the orchestrator, or gets its runtime ready:
 *
 *   node orchestrator/main.ts            runs until SIGINT or SIGTERM
 *   node orchestrator/main.ts prepare    makes what hosts need (image, network), and prints the address
 *                                        on which the control plane has to listen for them
 *   node orchestrator/main.ts image      builds the world-host image alone
 *   node orchestrator/main.ts images     builds the images of all programs
 *   node orchestrator/main.ts dismantle  removes all that is left of an installation whose programs
 *                                        have ended
 *
 * Standard output carries one JSON object a line, for the program that started it: wire/program-lines.
 */

import { hostname } from 'node:os';
import { AppError, describeError } from '#domain/error.ts';
import type { HostKind } from '#domain/host.ts';
import { own } from '#domain/json.ts';
import { makeVisible } from '#domain/visible-text.ts';
import { createLog, type Log } from '#runtime/log.ts';
import { createLoopBoard } from '#runtime/loop-board.ts';
import { serveMetrics } from '#runtime/metrics.ts';
import { runProgram } from '#runtime/run.ts';
import { startTracer } from '#runtime/tracing.ts';
import { type Client, createClient } from '#wire/client.ts';
import { say } from '#wire/program-lines/lines.ts';
import { type Config, readConfig, readImageConfig, readPrepareConfig } from './config.ts';
import { readKeptPoolsFile } from './control-plane/pool.ts';
import type { Driver } from './driver/driver.ts';
import { buildImage, buildImages, openDriver } from './driver/open/open-driver.ts';
import { startOrchestrator } from './program.ts';
import { type LiveSettings, openLiveSettings } from './settings/live-settings.ts';
import { destroyAll } from './shut-down.ts';
import { createMetrics } from './signals/metrics.ts';

/**
 * Deadline for a stop, by the disposition of hosts, in milliseconds; removing hosts takes as long as their runtime
 * does.
 */
const stopDeadlineMs = { leave: 5_000, destroy: 30_000 } as const;

/** Reports progress on standard output; SIGINT and SIGTERM interrupt the work. */
const preparing = () => {
  const stopping = new AbortController();
  const reason = new AppError('unavailable', 'interrupted');
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stopping.abort(reason));
  return {
    onProgress: (progress: string): void => say({ progress }),
    signal: stopping.signal,
  };
};

/** Opens the settings of the file that the configuration names, or else those of the environment. */
const openSettings = async (config: Config, client: Client, log: Log): Promise<LiveSettings> => {
  const { poolsFile: file, settings, runtime, installation } = config;
  const none = () => undefined;
  if (file === undefined) {
    const stop = async () => undefined;
    return { settings: () => settings, refusal: none, text: none, loops: [], stop };
  }
  const context = { runtime: runtime.runtime, sessions: settings.sessions };
  const findKept = () => readKeptPoolsFile(client, installation);
  return await openLiveSettings({ file, context, findKept, log, say });
};

const start = async () => {
  const config = readConfig(process.env, hostname());
  const log = createLog('orchestrator', config.logLevel);
  const { installation, logLevel, hostControlUrl, authority } = config;
  const { userCodeBoundary, sharedSnapshots } = config;
  const host = {
    ...{ controlUrl: hostControlUrl, logLevel, userCodeBoundary, sharedSnapshots, authority },
  };
  const driver = await openDriver(config.runtime, { installation, host, log });
  const client = createClient({
    baseUrl: `${config.controlUrl}/api/pool`,
    authorization: `Bearer ${config.poolToken.reveal()}`,
  });
  const live = await openSettings(config, client, log);
  if (driver.isolation !== undefined) say({ isolation: driver.isolation });
  const { settings, refusal, text: poolsFile } = live;
  const metrics = createMetrics();
  const board = createLoopBoard();
  const { registry } = metrics;
  const details = () => ({ installation, holder: config.holder, ...metrics.shown() });
  const watched = { program: 'orchestrator', registry, loops: board.statuses, details, log };
  const watching = await serveMetrics(watched, config.metricsListen);
  const tracer = startTracer('svc-orchestrator', config.otlpEndpoint, log);
  for (const loop of [...live.loops, ...tracer.loops]) board.show(loop);
  const parts = {
    config,
    settings,
    refusal,
    poolsFile,
    client,
    driver,
    metrics,
    tracer,
    board,
    log,
    say,
  };
  const orchestrator = startOrchestrator(parts);
  const stack = new AsyncDisposableStack();
  for (const stop of [() => watching.stop(0), tracer.stop, orchestrator.stop, live.stop]) {
    stack.defer(stop);
  }
  return {
    stopDeadlineMs: stopDeadlineMs[config.onStop],
    stop: () => stack.disposeAsync(),
  };
};

/** Opens a driver that launches nothing, and so needs no real address of the control plane. */
const openIdleDriver = async (): Promise<{ driver: Driver; kinds: readonly HostKind[] }> => {
  const { installation, runtime, logLevel, kinds } = readPrepareConfig(process.env);
  const log = createLog('orchestrator', logLevel);
  const host = { controlUrl: 'http://127.0.0.1', logLevel };
  return { driver: await openDriver(runtime, { installation, host, log }), kinds };
};

const prepare = async (): Promise<void> => {
  const { driver, kinds } = await openIdleDriver();
  say({ ready: true, ...(await driver.prepare({ ...preparing(), kinds })) });
};

const dismantle = async (): Promise<void> => {
  await destroyAll((await openIdleDriver()).driver);
  say({ ready: true });
};

const image = async (): Promise<void> => {
  say({ ready: true, image: await buildImage(readImageConfig(process.env), preparing()) });
};

const images = async (): Promise<void> => {
  say({ ready: true, images: await buildImages(readImageConfig(process.env), preparing()) });
};

const commands: Record<string, () => Promise<void>> = {
  run: () => runProgram(start, { stopDeadlineMs: stopDeadlineMs.leave }),
  prepare,
  image,
  images,
  dismantle,
};

const name = process.argv[2] ?? 'run';
try {
  const command = own(commands, name);
  if (command === undefined) {
    throw new AppError('invalid', `"${name}" is not one of ${Object.keys(commands).join(', ')}`);
  }
  await command();
} catch (error) {
  process.stderr.write(`${makeVisible(describeError(error).replaceAll(/\s*\n\s*/g, ' '))}\n`);
  process.exitCode = 1;
}
