/**
 * Reads the rows of a file or a stream in any supported format. The format is detected from the name and the first
 * bytes; gzip and zstd are unpacked. Rows are returned in batches, so that a file of any length takes little memory.
 */
import { AppError } from '#domain/error.ts';
import { readCsv } from './csv.ts';
import { entityOf, formatOf } from './format-of.ts';
import { type FoundBatch, type ReadOptions, type RowSource, startingWith } from './found.ts';
import { readDocument } from './json.ts';
import { readLines } from './jsonl.ts';
import { readParquet } from './parquet.ts';
import { unpack } from './unpack.ts';
import { checkedUtf8 } from './utf8.ts';

/** Reads the rows of one source. Throws `invalid` with file and place when it cannot be read. */
export async function* readRows(
  source: RowSource,
  options: ReadOptions,
): AsyncGenerator<FoundBatch> {
  const { name } = source;
  const unpacked = await unpack(source, name);
  const first = await unpacked?.bytes.next();
  if (unpacked === undefined || first === undefined || first.done === true) {
    throw new AppError('invalid', `${name} is empty`);
  }
  const bytes = startingWith(first.value, unpacked.bytes);
  const bareEntity = () => entityOf(name, options);
  const format = formatOf(name, first.value);
  if (format === 'parquet') {
    const { contract, otherColumns } = options;
    const path = unpacked.wasPacked ? undefined : source.path;
    yield* readParquet({ name, path }, bytes, {
      contract,
      entity: bareEntity(),
      otherColumns,
    });
    return;
  }
  const text = checkedUtf8(name, bytes);
  if (format === 'json') yield* readDocument(name, text, bareEntity);
  else if (format === 'jsonl') {
    yield* readLines(name, text, { mayName: options.entity === undefined, bareEntity });
  } else {
    const { contract, otherColumns } = options;
    if (contract === undefined) {
      throw new AppError(
        'invalid',
        `${name} can be read only with the world's fields, which are unknown`,
      );
    }
    yield* readCsv(name, text, { contract, entity: bareEntity(), otherColumns });
  }
}
