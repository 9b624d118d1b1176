/**
 * Makes the stack traces of a bundled host lead to its sources. Node could do that by itself
 * (`--enable-source-maps`), but reads all maps at the start, which costs a host 40 ms and 14 MB; here a
 * map is read when the first one is asked for. The bundle begins with this file.
 */
import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const maps = new Map<string, SourceMap | undefined>();

const readMap = (file: string): SourceMap | undefined =>
  existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined;

const mapOf = (script: string): SourceMap | undefined => {
  if (!maps.has(script)) maps.set(script, readMap(`${fileURLToPath(script)}.map`));
  return maps.get(script);
};

/** A frame as Node words it, its place being that in the source where there is a map. */
const describeFrame = (frame: NodeJS.CallSite): string => {
  const [script, line, column] = [
    frame.getScriptNameOrSourceURL(),
    frame.getLineNumber(),
    frame.getColumnNumber(),
  ];
  if (!script?.startsWith('file:') || line === null || column === null) return String(frame);
  const origin = mapOf(script)?.findOrigin(line, column);
  if (origin === undefined || !('fileName' in origin)) return String(frame);
  const { fileName, lineNumber, columnNumber } = origin;
  const source = join(dirname(fileURLToPath(script)), fileName);
  return String(frame).replace(
    `${script}:${line}:${column}`,
    () => `${source}:${lineNumber}:${columnNumber}`,
  );
};

/** Node asks for the stack trace of each abort, which is an end that somebody wanted: no map is read for it. */
const isAbort = (error: Error): boolean => error.name === 'AbortError';

Error.prepareStackTrace = (error, frames) => {
  const described = frames.map(isAbort(error) ? String : describeFrame);
  return [Error.prototype.toString.call(error), ...described].join('\n    at ');
};
