/**
 * `svc worlds data import` and `check`: import rows of files of any size into a world. Rejected rows are reported by
 * file and line. An interrupted import continues when the same command is run again.
 */
import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { importModes, redactModes } from '#domain/batch.ts';
import { AppError } from '#domain/error.ts';
import { createRowChecker } from '#language/schema/checkers.ts';
import type { Client } from '#wire/client.ts';
import { getVersion } from '#wire/public-api/operations.ts';
import type { BatchView, RefusalView } from '#wire/public-api/worlds/data.ts';
import { openNote } from '../files/import-note.ts';
import { cutChunks, type PlacedFault, type RowChunk } from '../files/row-chunks.ts';
import { openSources, type UserRows } from '../files/row-sources.ts';
import { replaceFile } from '../files/write-tree.ts';
import { findContract } from '../service/contracts.ts';
import { type ImportEnd, type ImportHow, importRows } from '../service/import-rows.ts';
import type { Sent } from '../service/send-chunks.ts';
import { readReport } from '../service/signed-address.ts';
import type { Context } from '../terminal/context.ts';
import { formatCount } from '../terminal/print.ts';
import { withProgress } from '../terminal/progress.ts';
import { listenForStop } from '../terminal/stopping.ts';
import {
  describeImport,
  describeRefusals,
  formatBar,
  formatBytes,
  mostShown,
  type ShownRefusal,
  showRefusal,
} from '../views/data.ts';
import {
  addCommand,
  clientFor,
  printAnswer,
  type ServiceOptions,
  setVerdict,
  withService,
} from './command.ts';

type Options = ServiceOptions & {
  entity?: string;
  mode?: (typeof importModes)[number];
  redact?: (typeof redactModes)[number];
  atomic: boolean;
  dryRun?: boolean;
  publish?: 'later';
  message?: string;
  report?: string;
};

/** Rejected rows: the first ones, which are shown, and the total number. */
type Refused = { shown: ShownRefusal[]; total: number };

const showFault = ({ source, at, entity, field, detail }: PlacedFault): ShownRefusal => ({
  place: `${source}:${at}`,
  entity: entity || null,
  field,
  detail,
});

const refusedError = (refused: Refused, dryRun: boolean, hint: string | undefined): AppError => {
  const rows = formatCount(refused.total, 'row');
  const were = refused.total === 1 ? 'was' : 'were';
  const what = dryRun
    ? `${rows} would be refused`
    : `${rows} ${were} refused, so nothing was written`;
  const list = describeRefusals(refused.shown, refused.total);
  return new AppError('invalid', `${what}:\n${list}`, {
    detail: {
      refused: refused.total,
      refusals: refused.shown.slice(0, mostShown),
      ...(hint === undefined ? {} : { hint }),
    },
  });
};

/**
 * Yields chunks until a row is rejected. The import is then refused, and further rows are read only to report their
 * faults, up to `mostShown`.
 */
async function* refusingFaults(
  chunks: AsyncGenerator<RowChunk>,
  left: Refused,
  dryRun: boolean,
): AsyncGenerator<RowChunk> {
  for await (const chunk of chunks) {
    if (left.total === 0) yield chunk;
    else if (left.total >= mostShown) break;
  }
  if (left.total > 0) throw refusedError(left, dryRun, undefined);
}

const readPart = (sources: readonly UserRows[]): number | undefined => {
  const total = sources.reduce((sum, { file }) => sum + (file?.bytes ?? Number.NaN), 0);
  const read = sources.reduce((sum, { readBytes }) => sum + readBytes(), 0);
  return total > 0 ? read / total : undefined;
};

/** Formats the progress line that is shown while rows are sent. */
const sendingText = (sources: readonly UserRows[], sent: Sent, beganMs: number): string => {
  const part = readPart(sources);
  const seconds = Math.max(0.001, (performance.now() - beganMs) / 1_000);
  const rate = Math.round(sent.rows / seconds).toLocaleString('en-US');
  return [
    ...(part === undefined ? [] : [formatBar(part)]),
    `sending: ${formatCount(sent.rows, 'row')}, ${formatBytes(sent.bytes)}, ${rate} rows/s`,
  ].join(' ');
};

const batchText = ({ state, progress, chunkCount, rowCount }: BatchView): string => {
  if (progress === null) return `${formatCount(rowCount, 'row')} sent, ${state}`;
  const { phase, validatedChunks, appliedRows } = progress;
  if (phase === 'validating') {
    const part = formatBar(chunkCount === 0 ? 0 : validatedChunks / chunkCount);
    return `${part} validating: ${validatedChunks} of ${formatCount(chunkCount, 'chunk')}`;
  }
  if (appliedRows >= rowCount) {
    return `applying: all ${formatCount(rowCount, 'row')} read; creating the version`;
  }
  const part = formatBar(appliedRows / rowCount);
  return `${part} applying: ${appliedRows.toLocaleString('en-US')} of ${formatCount(rowCount, 'row')}`;
};

/** Writes all rejected rows as JSONL, each with its file and line if known. */
const writeReport = async (
  path: string,
  client: Client,
  { batch, placeOf }: ImportEnd,
  left: Refused,
): Promise<void> => {
  const lines: string[] = [];
  const write = (value: unknown): void => void lines.push(`${JSON.stringify(value)}\n`);
  for (const refusal of left.shown) write(refusal);
  const { reportUrl } = batch;
  const bytes = reportUrl === null ? undefined : await readReport(client, reportUrl);
  const text = new TextDecoder().decode(bytes);
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const refusal = JSON.parse(line) as RefusalView;
    write({ place: placeOf(refusal) ?? null, ...refusal });
  }
  replaceFile(path, lines.join(''));
};

const howOf = (options: Options): ImportHow => ({
  ...(options.mode === undefined ? {} : { mode: options.mode }),
  ...(options.redact === undefined ? {} : { redact: options.redact }),
  ...(options.atomic ? {} : { atomic: false }),
  ...(options.dryRun === true ? { dryRun: true } : {}),
  ...(options.publish === undefined ? {} : { publish: options.publish }),
  ...(options.message === undefined ? {} : { message: options.message }),
});

/**
 * Returns an identity of the import, by which it is recognized if it is repeated. Returns undefined if it reads
 * standard input, which cannot be read again.
 */
const identityOf = (
  sources: readonly UserRows[],
  parts: { url: string; slug: string; how: ImportHow; entity: string | undefined },
): unknown =>
  sources.every(({ file }) => file !== undefined)
    ? { ...parts, files: sources.map(({ file }) => file) }
    : undefined;

type Interrupted = {
  slug: string;
  /** True if repeating the command continues the import. */
  isKept: boolean;
  batchId: string | undefined;
  /** True if the service has all rows, and finishes the import without this command. */
  isSealed: boolean;
};

const hintOf = ({ slug, isKept, batchId, isSealed }: Interrupted): string => {
  if (isSealed) {
    const batch = `${slug} ${batchId}`;
    return `all rows are uploaded, and the service continues the import: "svc worlds data batches ${batch}" shows the progress, "svc worlds data cancel ${batch}" cancels it`;
  }
  const begin = batchId === undefined ? '' : 'no row is in the world yet; ';
  return isKept
    ? `${begin}run the same command again: it continues where it stopped and sends nothing twice`
    : `${begin}give the rows again; bytes that the service has already are not sent again`;
};

/** Builds the error for an interruption, with the state of the import and the way to continue it. */
const wayOn = (reason: AppError, left: Interrupted): AppError => {
  const at = left.batchId === undefined ? '' : ` (batch ${left.batchId})`;
  const detail = { ...reason.detail, hint: hintOf(left) };
  return new AppError(reason.code, `interrupted${at}`, { detail });
};

type Run = { end: ImportEnd; left: Refused };

const run = async (
  context: Context,
  slug: string,
  names: readonly string[],
  options: Options & { checkHere: boolean },
): Promise<Run> => {
  const client = clientFor(context, options);
  const { contract } = await findContract(client, slug);
  const sources = openSources(context, names);
  const how = howOf(options);
  const identity = identityOf(sources, { url: client.baseUrl, slug, how, entity: options.entity });
  const note = openNote(context, identity);
  const left: Refused = { shown: [], total: 0 };
  const checker = options.checkHere ? createRowChecker(contract) : undefined;
  const cut = cutChunks(sources, {
    entity: options.entity,
    contract,
    check: checker && ((entity, row) => checker.check(entity, row)),
    leaveOut(fault) {
      left.total += 1;
      if (left.shown.length < 1_000) left.shown.push(showFault(fault));
    },
  });
  const chunks = options.atomic ? refusingFaults(cut, left, options.dryRun === true) : cut;
  const stopping = listenForStop();
  let isSealed = false;
  try {
    const beganMs = performance.now();
    const end = await withProgress(
      { out: context.err, step: `importing rows into ${slug}` },
      ({ showStep }) =>
        importRows(
          {
            client,
            slug,
            how,
            note,
            signal: stopping.signal,
            onSent: (sent) => showStep(sendingText(sources, sent, beganMs)),
            onBatch: (batch) => {
              isSealed = true;
              showStep(batchText(batch));
            },
          },
          chunks,
        ),
    );
    note.forget();
    return { end, left };
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    const { batchId, isKept } = note;
    const reason = stopping.signal.reason as AppError;
    throw wayOn(reason, { slug, isKept, batchId, isSealed });
  } finally {
    stopping.release();
  }
};

const refusedOf = ({ end: { batch, placeOf }, left }: Run): Refused => ({
  total: left.total + batch.refused,
  shown: [
    ...left.shown,
    ...batch.refusals.map((refusal) => showRefusal(refusal, placeOf(refusal))),
  ],
});

const showEnd = async (
  context: Context,
  slug: string,
  done: Run,
  options: Options,
): Promise<void> => {
  const { batch } = done.end;
  const client = clientFor(context, options);
  const refused = refusedOf(done);
  if (options.report !== undefined) {
    await writeReport(resolve(context.cwd, options.report), client, done.end, done.left);
  }
  const all =
    options.report === undefined
      ? `"svc worlds data batches ${slug} ${batch.batchId} --report <file>" writes all refused rows into a file`
      : `all refused rows are in ${options.report}`;
  if (batch.state === 'failed') {
    const why = batch.error?.message ?? 'the service gives no reason';
    throw new AppError('conflict', `the import failed: ${why}`, {
      detail: { hint: 'run the same command again to retry' },
    });
  }
  if (batch.state === 'refused') {
    const hint = refused.total > mostShown || options.report !== undefined ? all : undefined;
    throw refusedError(refused, batch.dryRun, hint);
  }
  const leftOut =
    refused.total === 0 ? '' : `\n\nleft out:\n${describeRefusals(refused.shown, refused.total)}`;
  if (batch.versionId === null) {
    const rows = formatCount(
      Object.values(batch.landed ?? {}).reduce((a, b) => a + b, 0),
      'row',
    );
    const text = batch.dryRun
      ? `${rows} would be imported; nothing was written`
      : `${rows} of batch ${batch.batchId} are stored: "svc worlds data publish ${slug}" publishes them as a version`;
    printAnswer(context, options, batch, () => `${text}${leftOut}`);
    return;
  }
  const params = { slug, version: batch.versionId };
  const { body: version } = await client.send(getVersion, { params });
  const { landed } = batch;
  printAnswer(
    context,
    options,
    batch,
    () => `${describeImport({ slug, version, landed, refused: refused.total })}${leftOut}`,
  );
};

const addRowOptions = (command: Command): Command =>
  command
    .option('--entity <name>', 'entity of rows that do not name one themselves')
    .addOption(
      new Option(
        '--mode <mode>',
        'how the rows are combined with those of the world (default: append)',
      ).choices([...importModes]),
    )
    .addOption(
      new Option(
        '--redact <mode>',
        "how the world's [redact] policy is applied to the rows (default: off)",
      ).choices([...redactModes]),
    )
    .option('--no-atomic', 'leave out invalid rows instead of refusing all rows')
    .option('--report <file>', 'write all refused rows into a file, as JSONL');

const formats = `
Files are JSON ([row, …] or {"entity": [row, …]}), JSONL (one row a line, or {"entity": …, "row": …}), CSV with the
field names in its first line, or Parquet; each plain, or compressed with gzip or zstd. "-", or no file, means standard input.`;

/** Adds the commands `import` and `check`. */
export const addDataImport = (data: Command, context: Context): void => {
  const importing = addCommand(data, {
    usage: 'import <world> [files...]',
    summary: 'import rows into a world, as its next version',
    example: [
      'svc worlds data import crm contacts.csv',
      'svc worlds data import crm ./export/*.jsonl.gz --mode merge -m "May"',
      'psql -c "copy …" | svc worlds data import crm --entity contacts',
    ].join('\n'),
  })
    .option('--dry-run', 'check all rows against the world and write nothing')
    .addOption(
      new Option(
        '--publish <when>',
        'later: apply the rows, but make them a version only with "svc worlds data publish"',
      ).choices(['later']),
    )
    .option('-m, --message <text>', 'reason recorded on the version')
    .addHelpText('after', formats);
  withService(addRowOptions(importing)).action(
    async (slug: string, names: string[], options: Options) => {
      const done = await run(context, slug, names, { ...options, checkHere: false });
      await showEnd(context, slug, done, options);
    },
  );
  const checking = addCommand(data, {
    usage: 'check <world> [files...]',
    summary: 'check rows against a world and write nothing',
    example: 'svc worlds data check crm contacts.csv',
    decides: true,
  }).addHelpText('after', formats);
  withService(addRowOptions(checking)).action(
    async (slug: string, names: string[], given: Options) => {
      const options = { ...given, dryRun: true };
      // The client checks rows only if the service would check the same row: not one that is merged or redacted there.
      const checkHere = options.mode !== 'merge' && options.redact !== 'apply';
      const done = await run(context, slug, names, { ...options, checkHere });
      await showEnd(context, slug, done, options);
      setVerdict(context, refusedOf(done).total === 0);
    },
  );
};
