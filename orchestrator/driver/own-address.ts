/** Decides which addresses belong to this machine. */
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Returns true if an address belongs to this machine. It tries to listen there, since a bridge without containers
 * belongs to the machine but appears in no list.
 */
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
