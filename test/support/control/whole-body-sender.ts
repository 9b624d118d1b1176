import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Sends a request with a body of `bytes` as many clients do, Python's among them: writes all of it before reading the
 * answer. Resolves with the answer as received, and with the errors.
 */
export const sendWhole = async (
  address: string,
  { path, headers = {}, bytes }: { path: string; headers?: Record<string, string>; bytes: number },
): Promise<{ answer: string; failed: string[] }> => {
  const { hostname, port, host } = new URL(address);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
  const failed: string[] = [];
  const chunks: Buffer[] = [];
  const ended = new Promise<void>((resolve) => {
    socket.once('end', resolve).once('error', (error) => {
      failed.push(String(error));
      resolve();
    });
  });
  await once(socket, 'connect');
  const given = Object.entries({ host, 'content-length': String(bytes), ...headers });
  const head = given.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n`);
  await new Promise((written) => socket.write(Buffer.alloc(bytes, ' '), written));
  socket.on('data', (chunk) => chunks.push(chunk));
  await ended;
  socket.destroy();
  return { answer: Buffer.concat(chunks).toString(), failed };
};
