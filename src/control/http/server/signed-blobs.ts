/**
 * Receives and serves bytes at signed addresses, see `platform/blobs/signed.ts`. These addresses have a path of their
 * own. An upload is streamed to a file and becomes a blob only if it has the size and digest that its address states.
 * At most that many bytes are read.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '#domain/error.ts';
import { isId } from '#domain/id.ts';
import type { Digest } from '#domain/world.ts';
import type { Queryable } from '../../db/core/database.ts';
import * as awaitedFiles from '../../db/projects/awaited-files.ts';
import * as chunks from '../../db/worlds/chunks.ts';
import type { Parts } from '../../parts.ts';
import {
  type AwaitedBlob,
  attachmentOf,
  checkAwaited,
  defaultContentType,
} from '../../platform/blobs/blobs.ts';
import { withReceived } from '../../platform/blobs/receive.ts';
import { signedPath } from '../../platform/blobs/signed.ts';

/** Maximum number of concurrent uploads. */
const mostAtOnce = 32;

type Awaiting = {
  isAwaited(db: Queryable, name: string, digest: Digest): Promise<boolean>;
  markReceived(db: Queryable, name: string, digest: Digest): Promise<void>;
};

type Address = { Params: { sha256: string }; Querystring: Record<string, unknown> };

const busy = (): AppError =>
  new AppError('unavailable', 'too much is sent to the service at once; try again in a moment', {
    detail: { retryAfterMs: 1_000 },
  });

const notAwaited = ({ digest }: AwaitedBlob): AppError =>
  new AppError('forbidden', `no upload of ${digest} is pending any more: request a new address`);

/**
 * Refuses a request whose headers announce a size other than the one that the address states, before the body is read.
 */
const checkAnnounced = ({ headers }: FastifyRequest, awaited: AwaitedBlob): void => {
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new AppError('invalid', 'uploads are stored as they are sent: send no Content-Encoding');
  }
  const announced = headers['content-length'];
  if (announced === undefined) return;
  checkAwaited({ digest: awaited.digest, bytes: Number(announced) }, awaited);
};

/** Checks the content type, and the checksum header if there is one; vendors name that header differently. */
const checkSaid = ({ headers }: FastifyRequest, terms: AwaitedBlob & { type?: string }): void => {
  const sum = Buffer.from(terms.digest.slice('sha256:'.length), 'hex').toString('base64');
  const said = Object.entries(headers).find(([name]) => /^x-[a-z]+-checksum-sha256$/.test(name));
  if (said !== undefined && said[1] !== sum) {
    throw new AppError(
      'invalid',
      `${said[0]} is not the checksum that the upload was announced with, ${sum}`,
    );
  }
  if (terms.type !== undefined && headers['content-type'] !== terms.type) {
    throw new AppError('invalid', `the bytes must be sent with "Content-Type: ${terms.type}"`);
  }
};

/**
 * Returns the kind of object that an upload is for, by the form of its name: a chunk of a batch, or a file of a
 * project.
 */
const awaitingOf = (name: string): Awaiting =>
  isId('chk', name)
    ? { isAwaited: chunks.isAwaited, markReceived: chunks.markReceived }
    : { isAwaited: awaitedFiles.isFileAwaited, markReceived: awaitedFiles.markFileReceived };

const refuseMethod = (reply: FastifyReply): FastifyReply => {
  const message = 'the address accepts only the method that it was issued for, GET or PUT';
  return reply.code(405).header('allow', 'GET, PUT').send({ message, error: 'method_not_allowed' });
};

/** Adds the routes in a separate context, because their bodies are not JSON and are not held in memory. */
export const addSignedBlobRoutes = (
  app: FastifyInstance,
  { addresses, blobs, config, db }: Pick<Parts, 'addresses' | 'blobs' | 'config' | 'db'>,
): void => {
  let underWay = 0;

  const receive = async (awaited: AwaitedBlob, body: IncomingMessage): Promise<void> => {
    if (underWay >= mostAtOnce) throw busy();
    underWay += 1;
    try {
      await withReceived(config.workDir, body, awaited, (path) => blobs.putFile(path));
    } finally {
      underWay -= 1;
    }
  };

  const put = async (request: FastifyRequest<Address>, reply: FastifyReply) => {
    // A refused client may still be sending; closing the connection stops reading from it.
    reply.header('connection', 'close');
    const terms = addresses.readTerms('PUT', request.params.sha256, request.query);
    if (terms.method !== 'PUT') throw new Error('the terms of the signed address are not for PUT');
    checkAnnounced(request, terms);
    checkSaid(request, terms);
    const awaiting = awaitingOf(terms.name);
    if (!(await awaiting.isAwaited(db, terms.name, terms.digest))) throw notAwaited(terms);
    await receive(terms, request.raw);
    await awaiting.markReceived(db, terms.name, terms.digest);
    reply.removeHeader('connection');
    return reply.code(200).send({ digest: terms.digest, bytes: terms.bytes });
  };

  const get = async (request: FastifyRequest<Address>, reply: FastifyReply) => {
    const terms = addresses.readTerms('GET', request.params.sha256, request.query);
    if (terms.method !== 'GET') throw new Error('the terms of the signed address are not for GET');
    const [bytes, stream] = await Promise.all([blobs.size(terms.digest), blobs.read(terms.digest)]);
    reply
      .header('content-type', terms.type ?? defaultContentType)
      .header('content-length', bytes)
      .header('content-disposition', attachmentOf(terms.name))
      // Shown in a browser, the content can run no code and load nothing.
      .header('content-security-policy', "sandbox; default-src 'none'")
      .header('cache-control', 'private, no-store')
      .header('x-content-type-options', 'nosniff');
    return reply.send(stream);
  };

  app.register(async (own) => {
    own.removeAllContentTypeParsers();
    // The handler reads the body once it has checked the address.
    own.addContentTypeParser('*', (_, __, done) => done(null));
    const url = `${signedPath}/:sha256`;
    own.put<Address>(url, { config: { operation: 'putSignedBlob' } }, put);
    own.get<Address>(url, { config: { operation: 'getSignedBlob' } }, get);
    const others = ['DELETE', 'PATCH', 'POST', 'OPTIONS'];
    own.route({ method: others, url, handler: async (_, reply) => refuseMethod(reply) });
  });
};
