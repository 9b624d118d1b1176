/**
 * The settings of a configuration file that may change while the program runs. The folder of the file is
 * watched, and the contents compared: editors put a new file in the place of the old one, and clusters
 * swap a link. A notice can be lost, so the file is also read every few seconds.
 *
 * A change with a mistake in it is refused whole and what held before stays, until the file is right. So it is
 * at the start: what held before is then what the last program has told of, which is kept elsewhere.
 */
import { watch } from 'node:fs';
import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { AppError } from '#domain/error.ts';
import { type FileText, readAs, readText } from '#pools/check.ts';
import {
  describeProblem,
  type PoolsFile,
  type PoolsFileContext,
  readPoolsFile,
} from '#pools/pools-file.ts';
import type { Settings } from '#pools/settings.ts';
import type { Log } from '#runtime/log.ts';
import { startLoop } from '#runtime/loop.ts';
import type { LoopView } from '#runtime/loop-board.ts';
import { pause } from '#runtime/pause.ts';
import type { ConfigurationLine } from '#wire/program-lines/lines.ts';

export type LiveSettingsParts = {
  /** Path of the file. */
  file: string;
  context: PoolsFileContext;
  log: Log;
  say(line: ConfigurationLine): void;
  /** The text that was in use last, as whoever ran before has told; asked when the file is wrong at first. */
  findKept?(): Promise<string | undefined>;
};

export type LiveSettings = {
  settings(): Settings;
  /** Why the file as it is now is not taken; undefined while it is. */
  refusal(): string | undefined;
  /** The text that the settings are of. */
  text(): string | undefined;
  /** What follows the file; none where there is no file. */
  loops: readonly LoopView[];
  stop(): Promise<void>;
};

const everyMs = 5_000;
/** A file is taken once it has not changed for so long: it may just be being written. */
const settledMs = 200;

const reportOf = (file: string, read: PoolsFile): ConfigurationLine['configuration'] => {
  const { problems, warnings, settings } = read;
  const pools = settings?.pools.map(({ pool }) => pool);
  return { file, problems, warnings, ...(pools === undefined ? {} : { pools }) };
};

/** Calls back when something in the folder may have changed. */
const watchFolder = (folder: string, onChange: () => void, log: Log): (() => void) => {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', (err) =>
      log.warn({ err, folder }, 'the folder cannot be watched any more'),
    );
    return () => watcher.close();
  } catch (err) {
    log.warn({ err, folder }, 'the folder cannot be watched; the file is read now and then');
    return () => undefined;
  }
};

/** Settings in use, with the text that they are of. */
type Held = { settings: Settings; text: string | undefined };

const mistakesIn = ({ problems }: PoolsFile): string => problems.map(describeProblem).join('; ');

/** What was in use before, where the file is wrong; undefined when that is not known, or wrong by now. */
const findHeld = async ({
  file,
  context,
  findKept,
}: LiveSettingsParts): Promise<Held | undefined> => {
  const text = await findKept?.();
  if (text === undefined) return undefined;
  const { settings } = readPoolsFile(file, text, context);
  return settings === undefined ? undefined : { settings, text };
};

/**
 * Reads the file and follows it. Throws `invalid` with every mistake when it has any now and nothing is known
 * that was in use before.
 */
export const openLiveSettings = async (parts: LiveSettingsParts): Promise<LiveSettings> => {
  const { file, context, log, say } = parts;
  const report = (read: PoolsFile): void => {
    say({ configuration: reportOf(file, read) });
    for (const warning of read.warnings) log.warn({ file }, describeProblem(warning));
  };
  let last = await readText(file);
  const first = readAs(file, last, context);
  report(first);
  const textOf = (read: FileText) => ('text' in read ? read.text : undefined);
  let refusal = first.settings === undefined ? mistakesIn(first) : undefined;
  const own = first.settings && { settings: first.settings, text: textOf(last) };
  const found = own ?? (await findHeld(parts));
  if (found === undefined) throw new AppError('invalid', `configuration: ${refusal}`);
  let current: Held = found;
  if (refusal !== undefined) {
    log.error({ file, problems: refusal }, 'configuration refused, the one used last is taken');
  }

  /** What the file says now, once it has settled; undefined when that is what it said before. */
  const readNews = async (signal: AbortSignal): Promise<FileText | undefined> => {
    for (let read = await readText(file); !isDeepStrictEqual(read, last); ) {
      await pause(settledMs, signal);
      signal.throwIfAborted();
      const again = await readText(file);
      if (isDeepStrictEqual(again, read)) return again;
      read = again;
    }
    return undefined;
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const news = await readNews(signal);
    if (news === undefined) return;
    last = news;
    const read = readAs(file, news, context);
    report(read);
    if (read.settings === undefined) {
      refusal = mistakesIn(read);
      log.error({ file, problems: refusal }, 'configuration refused, the last one stays');
      return;
    }
    current = { settings: read.settings, text: textOf(news) };
    refusal = undefined;
    const pools = current.settings.pools.map(({ pool }) => pool);
    log.info({ file, pools }, 'configuration changed');
  };
  const loop = startLoop({ name: 'configuration', everyMs, log, tick: follow });
  const unwatch = watchFolder(dirname(file), () => loop.nudge(), log);
  return {
    settings: () => current.settings,
    text: () => current.text,
    refusal: () => refusal,
    loops: [loop],
    async stop() {
      unwatch();
      await loop.stop();
    },
  };
};
