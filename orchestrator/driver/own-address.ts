/** Which addresses are this machine's. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Whether an address is this machine's. A bridge without containers is, though no list shows it. */
export const isOurs = async (address: string): Promise<boolean> => {
  const server = createServer();
  try {
    server.listen(0, address);
    await once(server, 'listening');
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRNOTAVAIL') return false;
    throw error;
  } finally {
    server.close();
  }
};
