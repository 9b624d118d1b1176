/** Page of the template `code-hosting`: issues and pull requests, using only the world's own API. */
import { startPage } from '../pieces/start.tsx';
import { createAppRouter } from './router.tsx';

startPage(createAppRouter());
