/** `svc worlds session screenshot`: takes a screenshot of a session's browser. */

import { resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { AppError } from '#domain/error.ts';
import { pictureFormats } from '#wire/browser-link/exchange.ts';
import { replaceFile } from '../files/write-tree.ts';
import { runCall } from '../service/waits.ts';
import type { Context } from '../terminal/context.ts';
import { formatJson } from '../terminal/print.ts';
import { outputOf } from '../views/call.ts';
import { addCommand, clientFor, type ServiceOptions, withService } from './command.ts';

type Options = ServiceOptions & {
  output?: string;
  format: (typeof pictureFormats)[number];
  fullPage?: boolean;
};

type Picture = { format: string; base64: string };

const write = (path: string, picture: Picture): number => {
  const bytes = Buffer.from(picture.base64, 'base64');
  try {
    replaceFile(path, bytes);
  } catch (cause) {
    throw new AppError('invalid', `the picture cannot be written to ${path}`, { cause });
  }
  return bytes.length;
};

export const addSessionScreenshot = (sessions: Command, context: Context): void => {
  const command = addCommand(sessions, {
    usage: 'screenshot <session>',
    summary: 'take a screenshot of the browser of a session',
    example: 'svc worlds session screenshot <session> -o page.png',
  })
    .option('-o, --output <file>', 'output file (default: <session>.png)')
    .addOption(
      new Option('--format <format>', 'image format').choices(pictureFormats).default('png'),
    )
    .option('--full-page', 'the whole page, not only the visible part');
  withService(command).action(async (sessionId: string, options: Options) => {
    const { format, fullPage = false } = options;
    const client = clientFor(context, options);
    const input = { format, fullPage };
    const call = await runCall(context, { client, sessionId, call: { kind: 'screenshot', input } });
    if (options.json === true) {
      context.out.writeExactly(formatJson(call));
      return void outputOf(call);
    }
    const picture = outputOf(call) as Picture;
    const path = resolve(context.cwd, options.output ?? `${sessionId}.${format}`);
    const bytes = write(path, picture);
    context.out.write(`${path} (${Math.ceil(bytes / 1024)} KiB)\n`);
  });
};
