/** The page of the template `code-hosting`: issues and pull requests, over nothing but the world's own API. */
import { startPage } from '../pieces/start.tsx';
import { createAppRouter } from './router.tsx';

startPage(createAppRouter());
