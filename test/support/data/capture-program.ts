/**
 * Runs a capture as a process of its own, for tests that kill it. It reports that it is ready, waits for standard
 * input to begin, and ends by itself only when everything is captured.
 *
 * Its arguments are the folder of the world and the maximum number of argument sets that come from rows.
 */
import { once } from 'node:events';
import { limits } from '#domain/limits.ts';
import { compileTree } from '#language/compile/compile.ts';
import { captureVendor } from '#mirror/capture/capture.ts';
import { createSecrets } from '#mirror/redact/secrets.ts';
import { createAsker } from '#mirror/vendor/asker.ts';
import { pause } from '#runtime/pause.ts';
import { readTree } from '#runtime/tree.ts';

const [folder = '', mostItems = '0'] = process.argv.slice(2);
process.stdout.write('ready\n');
await once(process.stdin, 'data');
const compiled = compileTree(readTree(folder));
if (!compiled.ok) throw new Error(JSON.stringify(compiled.problems));
const { contract } = compiled;
const { vendor } = contract;
if (vendor === null) throw new Error('the world has no vendor');
const { signal } = new AbortController();
const shared = { secrets: createSecrets(), time: { now: Date.now, wait: pause }, signal };
const asker = createAsker({ ...shared, vendor, env: {}, mostBytes: limits.treeFileBytes });
await captureVendor({
  ...{ ...shared, asker, folder, mostItems: Number(mostItems) },
  contract: { ...contract, vendor },
  operations: vendor.operations.filter(({ method }) => method === 'GET'),
  given: { everywhere: new Map(), byOperation: new Map(), sets: new Map() },
});
process.exit(0);
