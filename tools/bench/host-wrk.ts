/** Generates load by one thread of `wrk`, controlled by a script. */
import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import type { Load, LoadRequest, Seen } from './host-load.ts';

const run = promisify(execFile);

/** Returns true if `wrk` is installed. */
export const hasWrk = (): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, 'wrk'), constants.X_OK);
      return true;
    } catch {
      return false; // not in this folder
    }
  });

/** Returns a text as a Lua literal, which uses the escapes of ASCII JSON texts. */
const quote = (text: string): string => JSON.stringify(text);

const formatRequest = ({ method, path, headers = {}, body }: LoadRequest): string => {
  const members = Object.entries(headers).map(
    ([name, value]) => `[${quote(name)}]=${quote(value)}`,
  );
  const last = body === undefined ? 'nil' : quote(body);
  return `wrk.format(${quote(method)}, ${quote(path)}, {${members.join(',')}}, ${last})`;
};

const scriptOf = (requests: readonly LoadRequest[]): string => `
local requests, count, at = {}, ${requests.length}, 0
init = function(args)
${requests.map((request, index) => `  requests[${index + 1}] = ${formatRequest(request)}`).join('\n')}
end
request = function()
  at = at % count + 1
  return requests[at]
end
done = function(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('SEEN {"requests":%d,"seconds":%f,"p50Ms":%f,"p99Ms":%f,"failed":%d}',
    summary.requests, summary.duration / 1e6,
    latency:percentile(50) / 1e3, latency:percentile(99) / 1e3, failed))
end
`;

export const askWithWrk = async (
  url: string,
  { requests, seconds, connections }: Load,
): Promise<Seen> => {
  const folder = await mkdtemp(join(tmpdir(), 'svc-wrk-'));
  const script = join(folder, 'requests.lua');
  try {
    await writeFile(script, scriptOf(requests));
    const options = ['--threads', '1', '--connections', String(connections)];
    const timed = ['--timeout', '30s', '--duration', `${seconds}s`, '--script', script, url];
    const { stdout } = await run('wrk', [...options, ...timed]);
    return JSON.parse(stdout.slice(stdout.indexOf('SEEN ') + 5)) as Seen;
  } finally {
    await rm(folder, { recursive: true });
  }
};
