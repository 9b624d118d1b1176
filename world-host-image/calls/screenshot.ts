/** Call `screenshot`: returns a screenshot of the session's browser, as base64. */
import { isObject } from '#domain/json.ts';
import type { Row } from '#language/contract.ts';
import { pictureFormats } from '#wire/browser-link/exchange.ts';
import { CallFailure } from './answers/failure.ts';
import { type RunCall, refuseUnknown } from './call.ts';

const invalid = (path: string, message: string): CallFailure =>
  new CallFailure({ code: 'invalid_input', message, path });

const readWanted = (input: Row) => {
  refuseUnknown(input, ['format', 'fullPage']);
  const { format = 'png', fullPage = false } = input;
  const known = pictureFormats.find((one) => one === format);
  if (known === undefined) {
    throw invalid('/format', `format must be one of ${pictureFormats.join(', ')}`);
  }
  if (typeof fullPage !== 'boolean') throw invalid('/fullPage', 'fullPage must be true or false');
  return { format: known, fullPage };
};

export const callScreenshot: RunCall = async ({ browser }, _call, input) => {
  const wanted = readWanted(input);
  if (browser == null) {
    throw new CallFailure({
      code: 'no_browser',
      message: 'the session was opened without the surface "browser"',
    });
  }
  const picture = await browser.picture(wanted);
  if ('error' in picture) throw new CallFailure(picture.error);
  return { output: isObject(picture.output) ? picture.output : null, changes: {} };
};
