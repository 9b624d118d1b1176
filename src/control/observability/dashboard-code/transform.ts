/**
 * Runs a transform: user JavaScript, in an engine of its own (QuickJS compiled to WebAssembly) that offers only the
 * language. Data go in and come out as text; no object crosses the boundary. The clock always shows the time of the
 * data, and random numbers are the same in each run, so that equal data give equal output.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { QuickJS } from 'quickjs-wasi';
import { dashboardLimits } from '#domain/dashboard.ts';
import { shapeOf } from './shape.ts';

export type TransformJob = {
  kind: 'dashboard_transform';
  /** Script that `bundleTransform` built. */
  script: string;
  dataJson: string;
  /** Time that the transform's clock shows, in milliseconds since 1970. */
  nowMs: number;
};

/** The output and its shape, each as JSON text. */
export type TransformOutcome =
  | { ok: true; outputJson: string; shapeJson: string }
  | { ok: false; error: string };

export type TransformLimits = { processorMs: number; memoryMb: number; outputBytes: number };

const wasm = readFileSync(createRequire(import.meta.url).resolve('quickjs-wasi/quickjs.wasm'));

/** Maximum length of an error message, in characters. */
const messageChars = 1_000;

/**
 * Script that calls the transform inside the engine. It captures the built-ins that it needs before the transform is
 * loaded, so that a transform which changes prototypes does not affect it. It returns text: `+` and the output, or `-`
 * and the error.
 */
const caller = `(() => {
  const { parse, stringify } = JSON;
  const { apply } = Reflect;
  const text = String;
  const sliced = text.prototype.slice;
  const cut = (value) => apply(sliced, value, [0, ${messageChars}]);
  const describe = (error) => {
    try {
      const isError = typeof error === 'object' && error !== null;
      const name = isError ? text(error.name) : '';
      const message = isError ? text(error.message) : text(error);
      return cut(name === '' ? message : name + ': ' + message);
    } catch {
      return 'it threw a value that cannot be described';
    }
  };
  return (data, most) => {
    try {
      const made = globalThis.svcTransform;
      const transform = made && made.default;
      if (typeof transform !== 'function') {
        return '-has no function to call: write "export default function transform(data) { … }"';
      }
      const output = transform(parse(data));
      if (typeof output === 'object' && output !== null && typeof output.then === 'function') {
        return '-returned a promise: a transform cannot wait, so return the value itself';
      }
      const json = stringify(output);
      if (typeof json !== 'string') {
        return '-returned ' + typeof output + ', which is no JSON: return an object, a list, a text, a number or null';
      }
      if (json.length > most) {
        return '-returned ' + json.length + ' characters of JSON, more than the maximum of ' + most;
      }
      return '+' + json;
    } catch (error) {
      return '-' + describe(error);
    }
  };
})()`;

const nsPerMs = 1_000_000n;

/** Builds the WASI functions of the engine: a stopped clock and constant random bytes. */
const stillSystem =
  (nowMs: number) =>
  (memory: { readonly buffer: ArrayBuffer }): Record<string, (...args: never[]) => number> => ({
    clock_time_get: (_: number, __: bigint, at: number): number => {
      new DataView(memory.buffer).setBigUint64(at, BigInt(nowMs) * nsPerMs, true);
      return 0;
    },
    random_get: (at: number, length: number): number => {
      new Uint8Array(memory.buffer, at, length).fill(7);
      return 0;
    },
    fd_write: (): number => 0,
  });

const wordsOf = (error: unknown, most: TransformLimits): string => {
  const { name = '', message = '' } = error as { name?: string; message?: string };
  if (message === 'interrupted')
    return `took more than ${most.processorMs / 1_000} s of a processor`;
  if (message === 'out of memory') return `took more than ${most.memoryMb} MiB of memory`;
  return `${name}: ${message}`.slice(0, messageChars);
};

/**
 * Creates a function that returns true once the job has used its CPU time. It measures only the job's thread, so that
 * other work of Node does not count.
 */
const createTimer = (processorMs: number): (() => boolean) => {
  const before = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000 > processorMs;
  };
};

/**
 * Replaces the engine's messages about exceeded limits by messages that state the limit; returns other messages
 * unchanged.
 */
const translateError = (text: string, most: TransformLimits): string => {
  const known = /^InternalError: (interrupted|out of memory)$/.exec(text);
  return known === null ? text : wordsOf({ message: known[1] ?? '' }, most);
};

/** Runs the transform in a new engine, which is disposed of afterwards. */
export const runTransform = async (
  { script, dataJson, nowMs }: Omit<TransformJob, 'kind'>,
  most: TransformLimits = dashboardLimits,
): Promise<TransformOutcome> => {
  const engine = await QuickJS.create({
    wasm,
    memoryLimit: most.memoryMb * 1024 * 1024,
    interruptHandler: createTimer(most.processorMs),
    wasi: stillSystem(nowMs),
  });
  try {
    const call = engine.evalCode(caller, 'caller');
    engine.evalCode(script, 'transform').dispose();
    const [data, bytes] = [engine.newString(dataJson), engine.newNumber(most.outputBytes)];
    const result = engine.callFunction(call, engine.undefined, data, bytes).toString();
    if (!result.startsWith('+')) return { ok: false, error: translateError(result.slice(1), most) };
    const outputJson = result.slice(1);
    return { ok: true, outputJson, shapeJson: JSON.stringify(shapeOf(JSON.parse(outputJson))) };
  } catch (error) {
    return { ok: false, error: wordsOf(error, most) };
  } finally {
    engine.dispose();
  }
};
