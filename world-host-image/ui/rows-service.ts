/** The rows of the session as a service of the UI's origin, below `/__svc/ui/`; `rows/` answers. */
import { AppError } from '#domain/error.ts';
import type { Log } from '#runtime/log.ts';
import { answerRows, mostBodyBytes } from './rows/answer.ts';
import { servicePrefix, type UiRequest, type UiService } from './service.ts';

/** Where the page finds it. */
export const rowsPrefix = `${servicePrefix}ui/`;

const readBody = async ({ readBody: read }: UiRequest): Promise<Uint8Array> => {
  const bytes = await read();
  if (bytes !== undefined && bytes.length <= mostBodyBytes) return bytes;
  throw new AppError('invalid', `a body may have ${mostBodyBytes} bytes`);
};

/** Makes the service. */
export const createRowsService =
  (log: Log): UiService =>
  async (request, session) => {
    const { method, path, query, headers } = request;
    const mediaType = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
    const asked = {
      method,
      path: path.slice(rowsPrefix.length),
      query,
      mediaType,
      readBody: () => readBody(request),
    };
    return answerRows(session, asked, (err) => log.error({ err, path }, 'failed'));
  };
