/** `svc media`: media attached to traces and to items of datasets. */
import { basename, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import * as api from '#wire/public-api/operations.ts';
import { type MediaBody, mediaFields } from '#wire/public-api/projects/media.ts';
import { typeOfName } from '../files/local-files.ts';
import { fetchMedia, sendMedia } from '../service/media.ts';
import type { Context } from '../terminal/context.ts';
import { withProgress } from '../terminal/progress.ts';
import { describeMedia } from '../views/context.ts';
import { usageError } from '../views/report.ts';
import { addCommand, clientFor, printAnswer, type ServiceOptions, withService } from './command.ts';
import { addRequestCommand } from './request-command.ts';

type PutOptions = ServiceOptions & {
  trace?: string;
  observation?: string;
  dataset?: string;
  item?: string;
  field: MediaBody['field'];
  type?: string;
};

/** Returns the owner of the media from the options. */
const ownerOf = ({ trace, observation, dataset, item }: PutOptions) => {
  if (trace !== undefined && dataset === undefined && item === undefined) {
    return { traceId: trace, ...(observation === undefined ? {} : { observationId: observation }) };
  }
  if (trace === undefined && dataset !== undefined && item !== undefined) {
    return { datasetId: dataset, datasetItemId: item };
  }
  throw usageError(
    'name what the media belongs to: --trace, optionally with --observation; or --dataset and --item',
  );
};

const addPut = (media: Command, context: Context): void => {
  const command = addCommand(media, {
    usage: 'put <file>',
    summary: 'upload a file and print the reference to use in a trace or an item',
    example: 'svc media put shot.png --trace 7f… --field output',
  })
    .option('--trace <id>', 'id of the trace that the file belongs to')
    .option('--observation <id>', 'id of the observation in the trace')
    .option('--dataset <id>', 'id of the dataset that has the item')
    .option('--item <id>', 'id of the dataset item that the file belongs to')
    .addOption(
      new Option('--field <field>', 'the field that contains the reference')
        .choices([...mediaFields])
        .default('input'),
    )
    .option('--type <type>', "media type (default: by the ending of the file's name)");
  withService(command).action(async (file: string, options: PutOptions) => {
    const client = clientFor(context, options);
    const owner = { ...ownerOf(options), field: options.field };
    const contentType = options.type ?? typeOfName(basename(file));
    const wanted = { at: resolve(context.cwd, file), contentType, owner };
    const work = () => sendMedia(client, wanted);
    const sent = await withProgress({ out: context.err, step: `sending ${file}` }, work);
    printAnswer(context, options, sent, () => sent.reference);
  });
};

const addGet = (media: Command, context: Context): void => {
  addRequestCommand(media, context, {
    usage: 'show <media>',
    summary: 'show the metadata of media by its id',
    example: 'svc media show 5c1g… --json',
    operation: api.getMedia,
    input: ([mediaId]) => ({ params: { mediaId } }),
    text: describeMedia,
  });
  const get = addCommand(media, {
    usage: 'get <media> <file>',
    summary: 'download media into a file',
    example: 'svc media get 5c1g… shot.png',
  });
  withService(get).action(async (mediaId: string, file: string, options: ServiceOptions) => {
    const client = clientFor(context, options);
    const { body } = await client.send(api.getMedia, { params: { mediaId } });
    const work = () => fetchMedia(client, body, resolve(context.cwd, file));
    await withProgress({ out: context.err, step: `fetching ${mediaId}` }, work);
    printAnswer(context, options, body, () => `${file} has ${body.contentLength} bytes`);
  });
};

export const addMedia = (program: Command, context: Context): void => {
  const media = program
    .command('media')
    .description('pictures, sounds and documents attached to traces and dataset items');
  addPut(media, context);
  addGet(media, context);
};
