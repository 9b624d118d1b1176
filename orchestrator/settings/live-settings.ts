/**
 * Follows the settings of a configuration file that may change while the program runs. It watches the folder of the
 * file and compares the contents: editors replace the file, and clusters swap a link. A notification can be lost, so
 * the file is also read every few seconds.
 *
 * A change with a mistake is refused as a whole, and the previous settings stay until the file is right. At the start
 * the previous settings are those that the last orchestrator used; the control plane keeps them.
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
  /** Returns the text of the file that an orchestrator used last; called when the file is invalid at the start. */
  findKept?(): Promise<string | undefined>;
};

export type LiveSettings = {
  settings(): Settings;
  /** Returns why the current file is refused; undefined while it is in use. */
  refusal(): string | undefined;
  /** Returns the text that the settings come from. */
  text(): string | undefined;
  /** Loops that follow the file; empty without a file. */
  loops: readonly LoopView[];
  stop(): Promise<void>;
};

const everyMs = 5_000;
/** Time without a change after which a file is read, in milliseconds, as an editor may still be writing it. */
const settledMs = 200;

const reportOf = (file: string, read: PoolsFile): ConfigurationLine['configuration'] => {
  const { problems, warnings, settings } = read;
  const pools = settings?.pools.map(({ pool }) => pool);
  return { file, problems, warnings, ...(pools === undefined ? {} : { pools }) };
};

/** Calls `onChange` when something in the folder may have changed; returns the function that stops this. */
const watchFolder = (folder: string, onChange: () => void, log: Log): (() => void) => {
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', (err) =>
      log.warn({ err, folder }, 'the folder cannot be watched any more'),
    );
    return () => watcher.close();
  } catch (err) {
    log.warn({ err, folder }, 'the folder cannot be watched; the file is read at intervals');
    return () => undefined;
  }
};

/** Settings in use, with the text that they come from. */
type Held = { settings: Settings; text: string | undefined };

const mistakesIn = ({ problems }: PoolsFile): string => problems.map(describeProblem).join('; ');

/**
 * Returns the settings that were used before, in place of an invalid file; undefined when none are known, or they are
 * no longer valid.
 */
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
 * Reads the file and follows it. Throws `invalid` with every mistake when it has any now and no earlier settings are
 * known.
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
    log.error({ file, problems: refusal }, 'configuration refused; the one used last applies');
  }

  /** Returns the file's text once it has settled; undefined when it is unchanged. */
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
      log.error(
        { file, problems: refusal },
        'configuration refused; the last valid one still applies',
      );
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
