/** Page of the template `issue-tracking`: boards, issues and versions, using only the world's own API. */
import { startPage } from '../pieces/start.tsx';
import { createAppRouter } from './router.tsx';

startPage(createAppRouter());
